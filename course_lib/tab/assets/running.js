// What a live cell and the playground share: asking the worker, saying how it goes, and the figures.
import { framed } from "./frame.js";
import { ask, isReady, NoAnswer, stop, watch } from "./python.js";

const PATIENCE = 8; // seconds of a run, after which the status speaks of Stop
const MEGABYTES = "about 10 MB, once";
const UNSAFE = "script, iframe, object, embed, form, link, meta, base";

export const BAR = `
  <button type="button" class="stop" hidden>Stop</button>`;
export const BELOW = `
  <progress class="load" max="1" value="0" aria-label="Loading Python" hidden></progress>
  <p class="status" role="status"></p>`;

// A part of the page that asks the worker, one thing at a time. Its `holder` has the elements of BAR
// and BELOW and a `.figures`; `verb` says what it does: "Checking".
export class Running {
  constructor(holder, verb, button) {
    Object.assign(this, { holder, verb, button, asked: null });
  }

  // To be called when the elements are there.
  begin() {
    this.on("stop", () => this.asked && stop(this.asked.id));
    watch((state) => this.showLoading(state));
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

  // Ask, and hand the answer to `show`; whatever goes wrong is said.
  async run(request, show) {
    if (this.asked) return;
    this.since = performance.now();
    this.asked = ask(request);
    this.busy(true);
    const clock = setInterval(() => this.sayHowLong(), 500);
    try {
      const answer = await this.asked;
      this.holder.removeAttribute("data-trouble");
      show(answer);
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
    this.part("stop").hidden = !is;
    this.part("report").setAttribute("aria-busy", is);
    if (is) this.sayHowLong();
    else {
      if (document.activeElement === this.part("stop")) this.part(this.button).focus();
      this.part("load").hidden = true;
    }
  }

  sayHowLong() {
    if (!isReady()) {
      this.since = performance.now(); // loading is no running
      return;
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

  showReport(html) {
    this.part("report").hidden = false;
    this.part("report").replaceChildren(safe(html));
  }

  // Buttons for the figures of a run; `request` is what was asked, to be asked again for a figure.
  offerFigures(figures, request) {
    const place = this.part("figures");
    place.hidden = !figures.length;
    place.replaceChildren();
    if (!figures.length) return;
    const shown = document.createElement("div");
    const buttons = figures.map(({ id, title }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = title;
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
    const load = this.part("load");
    const wanted = Boolean(this.asked) || this.holder.contains(document.activeElement);
    load.hidden = !(state.is === "loading" && wanted);
    if (state.is === "loading") {
      load.value = state.part ?? 0;
      if (wanted) {
        this.say(state.part >= 1 ? "Starting Python …"
          : `Loading Python and the judge into this browser (${MEGABYTES}) …`);
      }
    } else if (state.is === "ready" && !this.asked && wanted) this.say("Ready.");
    else if (state.is === "failed" && wanted) this.say(state.said);
  }
}

// A report is HTML of our own in which every word from outside is escaped. Should that fail once,
// nothing in it runs.
export function safe(html) {
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
