// The playground: any kernel and any launch, run by the emulator under every schedule.
import { Editor } from "./editor.js";
import * as storage from "./storage.js";
import { packed, unpacked } from "./link.js";
import { LOAD, Running, STATUS, STOP } from "./running.js";

const KEPT = "playground"; // the name under which the browser keeps what was typed
const KERNEL = /^@cuda\.jit(?!\([^)]*device\s*=\s*True)[^\n]*\n(?:@[^\n]*\n)*def\s+(\w+)\s*\(([^)]*)\)/gm;
const UNREAD = /("""|''')[\s\S]*?\1|#[^\n]*/g; // comments, and texts of several lines
const LAUNCH = /\w\s*\[[^\]]+\]\s*\(|\.forall\s*\(/; // kernel[grid, block](…), kernel.forall(n)(…)
const SIZES = /^\s*\(?\s*(\d+(?:\s*,\s*\d+){0,2})\s*,?\s*\)?\s*$/;
const FORMS = [
  "np.zeros(64, dtype=np.float32)", "np.ones((16, 16), dtype=np.float32)",
  "np.arange(64, dtype=np.int32)", "np.linspace(0, 1, 64, dtype=np.float32)",
  "np.random.default_rng(0).random((32, 32), dtype=np.float32)", "64", "0.5",
];

// A holder has the examples as JSON, and the first one's kernel to read where nothing runs. On the
// first page of the book it is a small one: the kernel, Run, and the report.
export class Playground extends Running {
  constructor(holder) {
    super(holder, "run", "Running");
    this.examples = JSON.parse(holder.querySelector("script[type='application/json']").textContent);
    this.small = holder.hasAttribute("data-small");
    holder.querySelector(".given").hidden = true;
    this.build();
    this.editor = new Editor({
      parent: this.part("editor"),
      text: "",
      label: "Your kernel",
      describedBy: "playground-keys",
      onCheck: () => this.play(),
      onChange: () => this.changed(),
    });
    this.begin();
    this.open();
    if (!this.small) addEventListener("hashchange", () => this.open());
  }

  build() {
    const forms = FORMS.map((each) => `<option value="${each}"></option>`).join("");
    this.part("given").insertAdjacentHTML("afterend", `
      <div class="head"><label>Start from <select class="example"></select></label></div>
      <div class="editor"></div>
      <div class="launch">
        <label>Kernel <select class="kernel"></select></label>
        <label>Grid <input type="text" class="grid" size="8" spellcheck="false" autocomplete="off"></label>
        <label>Block <input type="text" class="block" size="8" spellcheck="false" autocomplete="off"></label>
        <fieldset><legend>Arguments</legend><div class="arguments"></div></fieldset>
        <datalist id="playground-forms">${forms}</datalist>
      </div>
      <div class="bar">
        <button type="button" class="run">Run</button>${STOP}
        <button type="button" class="link">Copy a link to this</button>
        ${STATUS}
        <span class="keys" id="playground-keys">Shift+Enter runs. Escape, then Tab leaves the editor.</span>
      </div>${LOAD}`);
    for (const name of ["head", "launch", "link"]) this.part(name).hidden = this.small;
    const select = this.part("example");
    this.examples.forEach(({ title }, place) => select.add(new Option(title, place)));
    select.addEventListener("change", () => this.put(this.examples[select.value]));
    this.part("launch").addEventListener("input", () => this.keep());
    this.on("run", () => this.play());
    this.on("link", () => this.copyLink());
  }

  // What a link carries comes first, then what was typed here last, then the first example. A link
  // takes nothing away: what was typed stays kept until the next edit, and among the examples.
  async open() {
    const [first] = this.examples;
    if (this.small) return this.put(first);
    if (location.hash.length > 1) {
      try {
        const carried = await unpacked(location.hash.slice(1));
        this.offerTyped();
        return this.put(carried, false);
      } catch {
        this.say("This link is damaged, so what you typed last stands here.");
      }
    }
    try {
      this.put(JSON.parse(storage.typed(KEPT)) ?? first);
    } catch {
      this.put(first);
    }
  }

  offerTyped() {
    const typed = JSON.parse(storage.typed(KEPT));
    if (!typed) return;
    const place = this.examples.push({ title: "What I typed here before", ...typed }) - 1;
    this.part("example").add(new Option(this.examples[place].title, place));
  }

  put({ text, kernel, grid, block, args }, keeps = true) {
    this.filling = true;
    this.made = new Map(args.map(({ name, made }) => [name, made]));
    this.editor.replace(text);
    this.editor.mark([]);
    this.part("grid").value = grid;
    this.part("block").value = block;
    this.showKernels(kernel);
    this.filling = false;
    if (keeps) this.keep();
  }

  changed() {
    if (this.filling) return;
    this.showKernels(this.part("kernel").value);
    this.keep();
    this.wake();
  }

  keep() {
    if (this.small) return;
    storage.keepTyped(KEPT, JSON.stringify(this.state()));
    history.replaceState(null, "", location.pathname + location.search); // it is no link's any more
  }

  state() {
    const args = [...this.holder.querySelectorAll(".arguments input")].map((each) => {
      this.made.set(each.name, each.value);
      return { name: each.name, made: each.value };
    });
    return {
      text: this.editor.text,
      kernel: this.part("kernel").value,
      grid: this.part("grid").value,
      block: this.part("block").value,
      args,
    };
  }

  // The kernels of the text to choose from, and a field for each parameter of the chosen one. A text
  // with launches of its own needs no fields; of it, arrays and figures are those of the chosen kernel.
  showKernels(chosen) {
    const found = [...this.editor.text.matchAll(KERNEL)].map(([, name, inside]) => [name, inside]);
    const launches = LAUNCH.test(this.editor.text.replace(UNREAD, ""));
    this.holder.toggleAttribute("data-program", launches);
    const select = this.part("kernel");
    const names = found.map(([name]) => name);
    const name = names.includes(chosen) ? chosen : launches ? "" : names.at(-1) ?? "";
    const options = names.map((each) => new Option(each, each, false, each === name));
    if (launches) options.unshift(new Option("the last one launched", "", false, name === ""));
    select.replaceChildren(...options);
    select.onchange = () => this.showArguments(found);
    this.showArguments(found);
  }

  showArguments(found) {
    const name = this.part("kernel").value;
    const inside = found.find((each) => each[0] === name)?.[1] ?? "";
    const wanted = inside.split(",").map((each) => each.split(/[:=]/)[0].trim()).filter(Boolean);
    const place = this.part("arguments");
    const shown = [...place.querySelectorAll("input")].map((each) => each.name);
    if (!this.filling) {
      if (shown.join() === wanted.join()) return;
      for (const each of place.querySelectorAll("input")) this.made.set(each.name, each.value);
    }
    place.replaceChildren(...wanted.map((each) => this.field(each)));
  }

  field(name) {
    const label = document.createElement("label");
    const code = document.createElement("code");
    code.textContent = `${name} =`;
    const input = Object.assign(document.createElement("input"), {
      type: "text", name, value: this.made.get(name) ?? FORMS[0], spellcheck: false, autocomplete: "off",
    });
    input.setAttribute("list", "playground-forms");
    label.append(code, input);
    return label;
  }

  play() {
    const { args, grid, block, ...rest } = this.small ? this.smallState() : this.state();
    const request = { do: "play", ...rest, grid: sizes(grid), block: sizes(block), arrays: args, brief: this.small };
    this.run(request, (answer) => this.showAnswer(answer, request));
  }

  // The small one has no fields: its launch is the example's.
  smallState() {
    return { ...this.examples[0], text: this.editor.text };
  }

  showAnswer(answer, request) {
    this.showReport(answer.html);
    if (this.editor.text === request.text) this.editor.mark(answer.marks); // else the lines have moved
    this.part("outputs").replaceChildren(...(this.small ? [] : answer.outputs.map(output)));
    this.offerFigures(this.small ? [] : answer.figures, request);
    const first = answer.marks.find(({ severity }) => severity !== "other");
    this.say(first ? `Line ${first.line}: ${first.title}.` : answer.status);
  }

  async copyLink() {
    const url = new URL(location.href);
    url.hash = await packed(this.state());
    history.replaceState(null, "", url);
    try {
      await navigator.clipboard.writeText(url.href);
      this.say("Copied. The link holds the kernel and its launch; whoever opens it can run them.");
    } catch {
      this.say("The address of this page holds the kernel and its launch now: copy it from there.");
    }
  }
}

// An array after the launch, its first and last elements.
function output({ name, shape, dtype, changed, same_in_every_order, preview }) {
  const fold = document.createElement("details");
  const head = document.createElement("summary");
  const code = document.createElement("code");
  code.textContent = name;
  const order = same_in_every_order ? "" : ", and what stands in it depends on the order of the warps";
  head.append(code, ` in the end: ${shape.join(" × ")} ${dtype}${changed ? "" : ", unchanged"}${order}`);
  const numbers = document.createElement("pre");
  numbers.textContent = preview;
  fold.open = changed;
  fold.append(head, numbers);
  return fold;
}

// The sizes that somebody has typed, "16, 16" or "(16, 16)"; anything else as it is, to be complained of.
function sizes(typed) {
  const found = SIZES.exec(typed);
  return found ? found[1].split(",").map(Number) : typed;
}

for (const holder of document.querySelectorAll(".ml-playground")) new Playground(holder);
