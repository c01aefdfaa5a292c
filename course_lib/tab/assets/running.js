// What a live cell and the playground share: asking the worker, saying how it goes, and the figures.
import { framed } from "./frame.js";
import { ask, isReady, NoAnswer, stop, wake, wakeWhenIdle, watch } from "./python.js";

const PATIENCE = 8; // seconds of a run, after which the status speaks of Stop
const SOON = 300; // ms: whoever hears something early is not told where the answer comes so soon
const SIZE = "about 10 MB, once";
const UNSAFE = "script, iframe, object, embed, form, link, meta, base";

export const STOP = '<button type="button" class="stop" hidden>Stop</button>';
export const STATUS = '<p class="status" role="status"></p>';
export const LOAD = '<progress class="load" max="1" value="0" aria-label="Loading Python" hidden></progress>';

// A part of the page that asks the worker for one thing at a time. Its `holder` has the elements of
// STOP, STATUS and LOAD, a `.report` and a `.figures`; `button` names the one that asks, and `verb` says
// what it does: "Checking".
export class Running {
  constructor(holder, button, verb) {
    Object.assign(this, { holder, button, verb, asked: null });
  }

  // To be called when the elements are there.
  begin() {
    this.on("stop", () => this.asked && stop(this.asked.id));
    watch((state) => this.showLoading(state));
    if (this.holder === document.querySelector(".ml-live")) this.offerSkip();
    wakeWhenIdle();
  }

  // A link beside the theme's own, for whoever goes by keyboard: past the menus, to the first editor.
  offerSkip() {
    const link = document.createElement("a");
    link.href = "#main-content";
    link.textContent = "Skip to the editor";
    link.addEventListener("click", (event) => (event.preventDefault(), this.editor.focus()));
    document.querySelector("#pst-skip-link")?.append(link);
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

  // Start to load, and let this part say so.
  wake() {
    this.isWaking = !isReady();
    wake();
    this.showLoading(this.loading);
  }

  // Ask, and hand the answer to `show`, and what is known of it early to `showEarly`, which returns
  // what the status says from then on; whatever goes wrong is said.
  async run(request, show, showEarly) {
    if (this.asked) return;
    let later;
    this.since = performance.now();
    this.standing = "";
    this.busy(true);
    this.asked = ask(request, (early) => {
      later = setTimeout(() => this.say(this.standing = showEarly(early)), SOON);
    });
    const clock = setInterval(() => this.sayHowLong(), 500);
    try {
      show(await this.asked);
    } catch (error) {
      this.sayWhyNot(error);
    } finally {
      clearInterval(clock);
      clearTimeout(later);
      this.asked = null;
      this.busy(false);
    }
  }

  busy(is) {
    this.holder.toggleAttribute("data-busy", is);
    if (is) {
      this.holder.removeAttribute("data-trouble");
      this.part("report").removeAttribute("data-early");
    }
    this.part("stop").hidden = !is;
    this.part("report").setAttribute("aria-busy", is);
    if (is) this.sayHowLong();
    else {
      if (document.activeElement === this.part("stop")) this.part(this.button).focus();
      this.part("load").hidden = true;
    }
  }

  sayHowLong() {
    if (this.standing) return this.say(this.standing);
    if (!isReady()) {
      this.since = performance.now(); // loading is no running
      return this.showLoading(this.loading);
    }
    const seconds = Math.floor((performance.now() - this.since) / 1000);
    this.say(seconds < PATIENCE ? `${this.verb} …`
      : `Still ${this.verb.toLowerCase()}. If your kernel may never end, press Stop: nothing that you typed is lost.`);
  }

  sayWhyNot(error) {
    if (!(error instanceof NoAnswer)) throw error;
    this.say(error.stopped ? "Stopped. What you typed is still there." : error.message);
    this.holder.toggleAttribute("data-trouble", !error.stopped);
  }

  // One that is shown early is already of this run, and not the whole.
  showReport(html, isEarly = false) {
    this.part("report").hidden = false;
    this.part("report").toggleAttribute("data-early", isEarly);
    this.part("report").replaceChildren(safe(html));
  }

  // Buttons for the figures of a run; `request` is asked with the name of one that is wanted.
  offerFigures(figures, request) {
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
        if (!pressed) await this.showFigure(shown, title, { ...request, figure: id });
      });
      return button;
    });
    const words = document.createElement("span");
    words.className = "ml-muted";
    words.textContent = "Look at your own run:";
    place.append(words, ...buttons, shown);
  }

  async showFigure(place, title, request) {
    this.say("Drawing …");
    try {
      const { html } = await ask(request);
      place.replaceChildren(framed(html, title));
      this.say("");
    } catch (error) {
      this.sayWhyNot(error);
    }
  }

  showLoading(state) {
    const before = this.loading;
    this.loading = state;
    const wanted = this.asked || this.isWaking;
    const load = this.part("load");
    load.hidden = !(wanted && state.is === "loading" && state.first);
    load.value = state.part ?? 0;
    if (!wanted || this.standing) return;
    if (state.is === "loading") {
      const downloads = state.first && !(state.part >= 1);
      this.say(downloads ? `Loading Python and the judge into this browser (${SIZE}) …` : "Starting Python …");
    } else if (state.is === "failed") this.say(state.said);
    else if (state.is === "ready" && this.asked) this.sayHowLong();
    else if (state.is === "ready" && before?.is === "loading") this.say("Ready to check.");
    if (state.is !== "loading") this.isWaking = false;
  }
}

// A report is HTML of our own in which every word from outside is escaped. Should that fail once,
// nothing in it runs.
function safe(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const each of body.querySelectorAll(UNSAFE)) each.remove();
  for (const each of body.querySelectorAll("*")) {
    for (const { name, value } of [...each.attributes]) {
      if (name.startsWith("on") || /^\s*javascript:/i.test(value)) each.removeAttribute(name);
    }
  }
  // Beside this page, so that nothing is lost that was typed here.
  for (const link of body.querySelectorAll("a[href]")) Object.assign(link, { target: "_blank", rel: "noopener" });
  const whole = document.createDocumentFragment();
  whole.append(...body.childNodes);
  return whole;
}
