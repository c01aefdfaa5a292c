// What stays in this browser: what was typed for each task, and the file of progress. Where the
// browser keeps nothing, it stays until the page is closed, and a sentence says so.
const PROGRESS = "matmul-ladder-progress";
const TYPED = "matmul-ladder-answer-";
const REPLACED = "matmul-ladder-replaced-"; // what stood there before a reset
const LOADED = "matmul-ladder-loaded"; // the version that has been loaded here before
const OFFLINE = "matmul-ladder-offline"; // the version of the site that is kept whole
const VERDICT = "matmul-ladder-verdict-"; // the last answer to a check, and the text it is about
const LONGEST = 50_000; // characters of a verdict that is kept
const unkept = new Map();
const listeners = new Set();
let complaint = "";

export const typed = (id) => read(TYPED + id);
export const keepTyped = (id, text) => write(TYPED + id, text);
export const replaced = (id) => read(REPLACED + id);
export const keepReplaced = (id, text) => write(REPLACED + id, text);
export const progress = () => read(PROGRESS);
export const offline = () => read(OFFLINE);
export const keepOffline = (version) => write(OFFLINE, version);
export const hasLoaded = (version) => read(LOADED) === version;
export const noteLoaded = (version) => write(LOADED, version);

export function keepProgress(text) {
  write(PROGRESS, text);
  for (const each of listeners) each();
}

// Calls `listener` whenever the progress or the complaint has changed, in this page or another one.
export function onChange(listener) {
  listeners.add(listener);
}

// Why nothing is kept, as a sentence; "" where all is well.
export const trouble = () => complaint;

// The verdict of just this text by just this version of the course, if it was the last one.
export function verdict(id, version, text) {
  try {
    const last = JSON.parse(read(VERDICT + id));
    return last.version === version && last.text === text ? last.answer : null;
  } catch {
    return null;
  }
}

export function keepVerdict(id, version, text, { html, marks, passed, waits, figures, offers_answer }) {
  const last = JSON.stringify({ version, text, answer: { html, marks, passed, waits, figures, offers_answer } });
  write(VERDICT + id, last.length > LONGEST ? null : last);
}

// What the file of progress says of a task: {} where it says nothing.
export function entry(id) {
  try {
    const answers = JSON.parse(progress() ?? "{}").answers;
    return Object.hasOwn(answers ?? {}, id) ? answers[id] : {};
  } catch {
    return {};
  }
}

function read(key) {
  if (unkept.has(key)) return unkept.get(key);
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key, text) {
  const before = complaint;
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    unkept.delete(key);
    if (!unkept.size) complaint = "";
  } catch (error) {
    unkept.set(key, text);
    complaint = error.name === "QuotaExceededError"
      ? "This browser's storage for the site is full: download progress.json before you close the page."
      : "This browser keeps nothing for the site (a private window?): download progress.json before "
        + "you close the page.";
  }
  if (complaint !== before) for (const each of listeners) each();
}

window.addEventListener("storage", ({ key }) => {
  if (key === PROGRESS || key === null) for (const each of listeners) each();
});
