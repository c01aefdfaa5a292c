// A live cell: the student types a kernel, checks it, and reads the report below it.
import { Editor } from "./editor.js";
import { framed } from "./frame.js";
import * as kept from "./kept.js";
import { ask, isReady, NoAnswer, stop, wake, watch } from "./python.js";

const PATIENCE = 8; // seconds of a check, after which the status speaks of Stop
const SIZE = "about 10 MB, once";
const UNSAFE = "script, iframe, object, embed, form, link, meta, base";

// A holder has the id of its task and the given code; a cell takes its place on the page.
export class Cell {
  constructor(holder) {
    const { id, lesson, title } = holder.dataset;
    Object.assign(this, { holder, id, lesson });
    this.given = holder.querySelector("pre").textContent.trimEnd();
    holder.querySelector(".given").hidden = true;
    this.build(title);
    this.editor = new Editor({
      parent: this.part("editor"),
      text: kept.typed(id) ?? this.passedText() ?? this.given,
      label: `Your code: ${title}`,
      describedBy: `${id}-keys`,
      onCheck: () => this.check(),
      onChange: (text) => this.changed(text),
    });
    this.showKept();
    kept.onChange(() => this.showKept());
    watch((state) => this.showLoading(state));
  }

  build(title) {
    this.holder.insertAdjacentHTML("beforeend", `
      <div class="head"><span class="name"></span><code class="id"></code>
        <span class="passed" hidden>✓ Passed</span></div>
      <div class="editor"></div>
      <div class="bar">
        <button type="button" class="check">Check</button>
        <button type="button" class="stop" hidden>Stop</button>
        <button type="button" class="reset">Reset</button>
        <button type="button" class="back" hidden>Bring back what I typed</button>
        <button type="button" class="show" hidden>Show one answer</button>
        <p class="status" role="status"></p>
        <span class="keys" id="${this.id}-keys">Shift+Enter checks. Escape, then Tab leaves the editor.</span>
      </div>
      <progress class="load" max="1" value="0" aria-label="Loading Python" hidden></progress>
      <div class="one-answer" hidden><p></p><pre tabindex="0"></pre></div>
      <div class="report" role="region" aria-label="Report: ${this.id}" tabindex="0" hidden></div>
      <div class="figures" hidden></div>`);
    this.part("name").textContent = title;
    this.part("id").textContent = this.id;
    this.on("check", () => this.check());
    this.on("stop", () => this.asked && stop(this.asked.id));
    this.on("reset", () => this.reset());
    this.on("back", () => this.bringBack());
    this.on("show", () => this.showAnswer());
  }

  part(name) {
    return this.holder.querySelector(`:scope .${name}`);
  }

  on(name, act) {
    this.part(name).addEventListener("click", act);
  }

  say(words) {
    const status = this.part("status");
    if (status.textContent !== words) status.textContent = words;
  }

  // --- what was typed -----------------------------------------------------------------------

  passedText() {
    const { passed, text } = kept.entry(this.id);
    return passed && text ? text.trimEnd() : null;
  }

  changed(text) {
    kept.keepTyped(this.id, text);
    if (this.loading?.is === "asleep") this.isWaking = true; // by this cell, so it says so
    wake();
  }

  reset() {
    const text = this.editor.text;
    if (text === this.given) return this.say("This is the given code already.");
    kept.keepReplaced(this.id, text);
    this.editor.replace(this.given);
    this.showKept();
    this.say("Back to the given code. What you typed can be brought back, with Ctrl+Z too.");
    this.editor.focus();
  }

  bringBack() {
    this.editor.replace(kept.replaced(this.id));
    kept.keepReplaced(this.id, null);
    this.showKept();
    this.say("What you typed is back.");
    this.editor.focus();
  }

  // What the browser has kept of this task, from here or another page.
  showKept() {
    const before = kept.replaced(this.id);
    this.part("back").hidden = before === null || before === this.editor?.text;
    this.part("passed").hidden = !kept.entry(this.id).passed;
    const late = kept.typed(this.id) === null && this.passedText();
    if (late && this.editor.text === this.given) this.editor.replace(late);
  }

  // --- checking -----------------------------------------------------------------------------

  async check() {
    if (this.asked) return;
    const text = this.editor.text;
    this.since = performance.now();
    this.busy(true);
    this.asked = ask({ do: "check", id: this.id, lesson: this.lesson, text });
    const clock = setInterval(() => this.sayHowLong(), 500);
    try {
      this.showReport(await this.asked, text);
    } catch (error) {
      this.sayWhyNot(error);
    } finally {
      clearInterval(clock);
      this.asked = null;
      this.busy(false);
    }
  }

  busy(is) {
    this.holder.toggleAttribute("data-busy", is);
    if (is) this.holder.removeAttribute("data-trouble");
    this.part("stop").hidden = !is;
    this.part("report").setAttribute("aria-busy", is);
    if (is) this.sayHowLong();
    else {
      if (document.activeElement === this.part("stop")) this.part("check").focus();
      this.part("load").hidden = true;
    }
  }

  sayHowLong() {
    if (!isReady()) {
      this.since = performance.now(); // loading is no checking
      return this.showLoading(this.loading);
    }
    const seconds = Math.floor((performance.now() - this.since) / 1000);
    this.say(seconds < PATIENCE ? "Checking …"
      : "Still checking. If your kernel may never end, press Stop: nothing that you typed is lost.");
  }

  sayWhyNot(error) {
    if (!(error instanceof NoAnswer)) throw error;
    this.say(error.stopped ? "Stopped. What you typed is still there." : error.message);
    this.holder.toggleAttribute("data-trouble", !error.stopped);
  }

  showReport(answer, text) {
    this.part("report").hidden = false;
    this.part("report").replaceChildren(safe(answer.html));
    if (this.editor.text === text) this.editor.mark(answer.marks); // else the lines have moved
    this.part("show").hidden = !answer.offers_answer;
    this.part("one-answer").hidden = true;
    this.offerFigures(answer.figures, text);
    this.say(inShort(answer));
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

  // --- figures of the student's own kernel ----------------------------------------------------

  offerFigures(figures, text) {
    const place = this.part("figures");
    place.hidden = !figures.length;
    place.replaceChildren();
    if (!figures.length) return;
    const shown = document.createElement("div");
    const buttons = figures.map(({ id, title }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = title.split(/[:,]/)[0];
      button.title = title;
      button.setAttribute("aria-label", title);
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", async () => {
        const pressed = button.getAttribute("aria-pressed") === "true";
        for (const each of buttons) each.setAttribute("aria-pressed", String(each === button && !pressed));
        shown.replaceChildren();
        if (!pressed) await this.showFigure(shown, id, title, text);
      });
      return button;
    });
    const words = document.createElement("span");
    words.className = "ml-muted";
    words.textContent = "Look at your own run:";
    place.append(words, ...buttons, shown);
  }

  async showFigure(place, figure, title, text) {
    this.say("Drawing …");
    try {
      const { html } = await ask({ do: "figure", id: this.id, lesson: this.lesson, text, figure });
      place.replaceChildren(framed(html, `${title}: ${this.id}`));
      this.say("");
    } catch (error) {
      this.sayWhyNot(error);
    }
  }

  // --- loading ------------------------------------------------------------------------------

  showLoading(state) {
    const before = this.loading;
    this.loading = state;
    const wanted = this.asked || this.isWaking;
    const load = this.part("load");
    load.hidden = !(wanted && state.is === "loading" && state.first);
    load.value = state.part ?? 0;
    if (!wanted) return;
    if (state.is === "loading") {
      const downloads = state.first && !(state.part >= 1);
      this.say(downloads ? `Loading Python and the judge into this browser (${SIZE}) …` : "Starting Python …");
    } else if (state.is === "failed") this.say(state.said);
    else if (state.is === "ready" && before?.is === "loading" && !this.asked) this.say("Ready to check.");
    if (state.is !== "loading") this.isWaking = false;
  }
}

// The verdict is HTML of our own in which every word from outside is escaped. Should that fail once,
// nothing in it runs.
function safe(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const each of body.querySelectorAll(UNSAFE)) each.remove();
  for (const each of body.querySelectorAll("*")) {
    for (const { name, value } of [...each.attributes]) {
      if (name.startsWith("on") || /^\s*javascript:/i.test(value)) each.removeAttribute(name);
    }
  }
  const whole = document.createDocumentFragment();
  whole.append(...body.childNodes);
  return whole;
}

function inShort({ passed, waits, marks }) {
  if (passed) return marks.length ? "Passed, with a remark below." : "Passed.";
  if (waits) return "Nothing to check yet.";
  const [first] = marks;
  return first ? `Not yet. Line ${first.line}: ${first.title}.` : "Not yet: the report is below.";
}
