// One quiet line on a page with live cells: what is passed, and the file that carries it along.
import * as storage from "./storage.js";
import { keepWhole, savesData, wholeCourse } from "./offline.js";
import { ask, isReady, NoAnswer, watch } from "./python.js";
import site from "./site.js";

const NAME = "progress.json";

export class Panel {
  constructor(cells) {
    this.ids = cells.map((each) => each.id);
    this.box = document.createElement("div");
    this.box.className = "ml-progress";
    this.box.innerHTML = `
      <span class="count"></span>
      <span class="carry"><button type="button" class="export">Download progress.json</button>
      <button type="button" class="import">Load a progress.json</button>
      <input type="file" accept=".json,application/json" aria-label="A progress.json to load" hidden></span>
      <span class="offline"></span>
      <span class="said" role="status"></span>`;
    const [heading] = document.querySelectorAll("article h1");
    const intro = heading?.parentElement.querySelector(":scope > h1 + p");
    (intro ?? heading ?? cells[0].holder.previousElementSibling)?.after(this.box);
    this.box.querySelector(".export").addEventListener("click", () => this.save());
    const field = this.box.querySelector("input");
    this.box.querySelector(".import").addEventListener("click", () => field.click());
    field.addEventListener("change", () => this.load(field));
    storage.onChange(() => this.show());
    this.show();
    watch((state) => state.is === "ready" && this.offerOffline());
  }

  // Once Python is there, the rest of the course follows; its size is told, and who saves data is asked.
  async offerOffline() {
    const whole = this.whole ??= await wholeCourse();
    if (!whole) return;
    const place = this.box.querySelector(".offline");
    const size = `${Math.ceil((whole.bytes + site.bytes.python + site.bytes.numpy) / 1e6)} MB with Python`;
    const keep = async () => {
      place.textContent = `Keeping the whole course here for offline use (${size}) …`;
      whole.isHere = await keepWhole(whole);
      place.textContent = whole.isHere ? `The whole course works offline here (${size}).`
        : "Not all of the course could be kept for offline use; it is tried again at the next visit.";
    };
    if (whole.isHere) place.textContent = `The whole course works offline here (${size}).`;
    else if (!savesData()) await keep();
    else {
      const button = Object.assign(document.createElement("button"), {
        type: "button", textContent: `Keep the whole course for offline use (${size})`, onclick: keep,
      });
      place.replaceChildren(button);
    }
  }

  show() {
    const passed = this.ids.filter((id) => storage.entry(id).passed).length;
    const count = passed === 0 ? "What you pass here is kept in this browser."
      : `${passed} of ${this.ids.length} passed on this page, kept in this browser.`;
    this.box.querySelector(".count").textContent = count;
    this.say(storage.trouble());
  }

  say(words) {
    this.box.querySelector(".said").textContent = words;
  }

  save() {
    const link = document.createElement("a");
    const text = storage.progress() ?? '{"matmul_ladder": 1, "answers": {}}\n';
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = NAME;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  async load(field) {
    const [file] = field.files;
    field.value = "";
    if (!file) return;
    this.say(isReady() ? "Reading it …" : "Loading Python (about 10 MB, once), which reads it …");
    try {
      const { said } = await ask({ do: "restore", file: await file.text() });
      this.say(said);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      this.say(error.message);
    }
  }
}
