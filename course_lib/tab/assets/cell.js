// A live cell: the student types a kernel, checks it, and reads the report below it.
import { Editor } from "./editor.js";
import * as storage from "./storage.js";
import { ask, isReady } from "./python.js";
import site from "./site.js";
import { LOAD, Running, STATUS, STOP } from "./running.js";

const AS_BEFORE = "Checked before, this same text:";

// A holder has the id of its task and the given code; a cell takes its place on the page.
export class Cell extends Running {
  constructor(holder) {
    super(holder, "check", "Checking");
    const { id, lesson, title } = holder.dataset;
    Object.assign(this, { id, lesson });
    this.given = holder.querySelector("pre").textContent.trimEnd();
    holder.querySelector(".given").hidden = true;
    this.build(title);
    this.editor = new Editor({
      parent: this.part("editor"),
      text: storage.typed(id) ?? this.passedText() ?? this.given,
      label: `Your code: ${title}`,
      describedBy: `${id}-keys`,
      onCheck: () => this.check(),
      onChange: (text) => this.changed(text),
    });
    this.showKept();
    storage.onChange(() => this.showKept());
    this.begin();
    const { text } = this.editor;
    const before = storage.verdict(id, site.version, text);
    if (before) this.show(before, this.request(text), AS_BEFORE);
  }

  build(title) {
    this.holder.insertAdjacentHTML("beforeend", `
      <div class="head"><span class="name"></span><code class="id"></code>
        <span class="passed" hidden>✓ Passed</span></div>
      <div class="editor"></div>
      <div class="bar">
        <button type="button" class="check">Check</button>
        ${STOP}
        <button type="button" class="reset">Reset</button>
        <button type="button" class="back" hidden>Bring back what I typed</button>
        <button type="button" class="show" hidden>Show one answer</button>
        ${STATUS}
        <span class="keys" id="${this.id}-keys">Shift+Enter checks. Escape, then Tab leaves the editor.</span>
      </div>
      ${LOAD}
      <div class="one-answer" hidden><p></p><pre tabindex="0"></pre></div>
      <div class="report" role="region" aria-label="Report: ${this.id}" tabindex="0" hidden></div>
      <div class="figures" hidden></div>`);
    this.part("name").textContent = title;
    this.part("id").textContent = this.id;
    this.on("check", () => this.check());
    this.on("reset", () => this.reset());
    this.on("back", () => this.bringBack());
    this.on("show", () => this.showAnswer());
  }

  // --- what was typed -----------------------------------------------------------------------

  passedText() {
    const { passed, text } = storage.entry(this.id);
    return passed && text ? text.trimEnd() : null;
  }

  changed(text) {
    storage.keepTyped(this.id, text);
    this.wake();
  }

  reset() {
    const text = this.editor.text;
    if (text === this.given) return this.say("This is the given code already.");
    storage.keepReplaced(this.id, text);
    this.editor.replace(this.given);
    this.showKept();
    this.say("Back to the given code. What you typed can be brought back, with Ctrl+Z too.");
    this.editor.focus();
  }

  bringBack() {
    this.editor.replace(storage.replaced(this.id));
    storage.keepReplaced(this.id, null);
    this.showKept();
    this.say("What you typed is back.");
    this.editor.focus();
  }

  // What the browser has kept of this task, from here or another page.
  showKept() {
    const before = storage.replaced(this.id);
    this.part("back").hidden = before === null || before === this.editor?.text;
    this.part("passed").hidden = !storage.entry(this.id).passed;
    const late = storage.typed(this.id) === null && this.passedText();
    if (late && this.editor.text === this.given) this.editor.replace(late);
  }

  // --- checking -----------------------------------------------------------------------------

  request(text) {
    return { do: "check", id: this.id, lesson: this.lesson, text };
  }

  // Until Python is there, the verdict stands that this text has had before.
  check() {
    const request = this.request(this.editor.text);
    const before = isReady() ? null : storage.verdict(this.id, site.version, request.text);
    const checked = this.run(request, (answer) => {
      storage.keepVerdict(this.id, site.version, request.text, answer);
      this.show(answer, request);
    }, (early) => this.showEarly(early));
    if (before && this.asked) this.showBefore(before, request);
    return checked;
  }

  showBefore(answer, request) {
    this.show(answer, request, AS_BEFORE);
    this.part("report").toggleAttribute("data-early", true);
    this.standing = `${this.part("status").textContent} Checking it again …`;
    this.say(this.standing);
  }

  // The verdict stands, and its cause is being searched for: what belonged to the last report goes.
  showEarly({ html }) {
    this.showReport(html, true);
    this.editor.mark([]);
    this.part("one-answer").hidden = true;
    this.offerFigures([]);
    return "Not right yet. Looking for the cause …";
  }

  // `said` comes before the verdict in short.
  show(answer, request, said = "") {
    this.showReport(answer.html);
    if (this.editor.text === request.text) this.editor.mark(answer.marks); // else the lines have moved
    this.part("show").hidden = !answer.offers_answer;
    this.part("one-answer").hidden = true;
    this.offerFigures(answer.figures, { ...request, do: "figure" });
    this.say(`${said} ${inShort(answer)}`.trim());
  }

  async showAnswer() {
    try {
      const { text } = await ask({ do: "answer", id: this.id, lesson: this.lesson });
      const [words, code] = this.part("one-answer").children;
      words.textContent = "One answer. The next lesson asks you for it again, unaided.";
      code.textContent = text;
      this.part("one-answer").hidden = false;
      this.part("show").hidden = true;
      code.focus();
    } catch (error) {
      this.sayWhyNot(error);
    }
  }
}

function inShort({ passed, waits, marks }) {
  if (passed) return marks.length ? "Passed, with a remark below." : "Passed.";
  if (waits) return "No answer yet.";
  const [first] = marks;
  return first ? `Not yet. Line ${first.line}: ${first.title}.` : "Not yet: the report is below.";
}
