// The course's Python: one worker for all cells of a page. It boots while the page is read, or at the
// first use where the reader saves data; to stop what it does is to end it and boot another one.
import { hasLoaded, keepProgress, noteLoaded, progress } from "./storage.js";
import { FILES, keepForOffline, prepareOffline, savesData } from "./offline.js";
import site from "./site.js";

const CANNOT_START = "Python could not be started: reload the page; if that does not help, use a current "
  + "Chrome, Edge, Firefox or Safari.";
const SOON = 1000; // ms after which a page is taken to be idle
const here = (path) => path && new URL(path, import.meta.url).href;
const waiting = new Map(); // number -> { request, hear, resolve, reject }
const listeners = new Set();
let worker = null;
let starts = 0;
let number = 0;
let known = null; // the progress that the worker has, as text
let state = { is: "asleep" };

// Why a request has no answer; the message is a sentence for the student.
export class NoAnswer extends Error {
  constructor(said, stopped = false) {
    super(said);
    this.stopped = stopped;
  }
}

// `listener` is told { is: "asleep" | "loading" | "ready" | "failed", … } now and at every change:
// while loading, `stage`, `part` of the download (0 to 1), and whether it is the `first` in this
// browser; after a failure, what is `said`.
export function watch(listener) {
  listeners.add(listener);
  listener(state);
}

export const isReady = () => state.is === "ready";

// Start to load, if nobody has. The service worker comes first, so that it sees what is fetched.
export function wake() {
  if (state.is === "loading" || state.is === "ready") return;
  tell({ is: "loading", stage: "python", part: 0, first: !hasLoaded(site.version) });
  const mine = ++starts;
  prepareOffline().then(() => mine === starts && boot());
}

// Start once the page is seen and has nothing else to do.
export function wakeWhenIdle() {
  if (savesData()) return;
  if (document.hidden) document.addEventListener("visibilitychange", wakeWhenIdle, { once: true });
  else whenIdle(wake);
}

// Safari has no requestIdleCallback.
function whenIdle(act) {
  if (self.requestIdleCallback) requestIdleCallback(act, { timeout: SOON });
  else setTimeout(act, SOON);
}

function boot() {
  const own = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker = own;
  own.onmessage = ({ data }) => own === worker && heard(data);
  own.onerror = (event) => {
    event.preventDefault();
    if (own === worker) fail(CANNOT_START);
  };
  known = progress();
  own.postMessage({
    kind: "boot",
    pyodide: here(site.pyodide),
    numpy: here(site.numpy),
    course: here(site.course),
    bytes: site.bytes,
    progress: known,
    memory: { cache: FILES, url: here("memory") },
  });
}

// The answer to a request of tab/requests.py; `hear` is told what of it is known early.
// Rejects with NoAnswer where there is none.
export function ask(request, hear = () => {}) {
  const id = ++number;
  const answered = new Promise((resolve, reject) => waiting.set(id, { request, hear, resolve, reject, sent: false }));
  answered.id = id;
  if (state.is === "ready") send(id);
  else wake();
  return answered;
}

// End the worker: the request `id` gets no answer, and the others are asked again.
export function stop(id) {
  const stopped = waiting.get(id);
  waiting.delete(id);
  end();
  for (const each of waiting.values()) each.sent = false;
  stopped?.reject(new NoAnswer("Stopped.", true));
  wake();
}

function send(id) {
  const entry = waiting.get(id);
  if (entry.sent) return;
  entry.sent = true;
  const kept = progress();
  if (kept !== null && kept !== known && entry.request.do !== "restore") {
    known = kept; // another page has gone on meanwhile
    worker.postMessage({ kind: "ask", id: 0, request: { do: "restore", file: kept } });
  }
  worker.postMessage({ kind: "ask", id, request: entry.request });
}

function heard(data) {
  if (data.kind === "stage") tell({ ...state, stage: data.stage, part: data.part });
  else if (data.kind === "ready") {
    noteLoaded(site.version);
    keepForOffline(data.fetched);
    tell({ is: "ready", versions: data.versions });
    for (const id of waiting.keys()) send(id);
  } else if (data.kind === "failed" && data.id === null) fail(data.said);
  else if (data.kind === "failed") {
    // Whatever went wrong inside, the next request meets a fresh one.
    const entry = waiting.get(data.id);
    waiting.delete(data.id);
    end();
    for (const each of waiting.values()) each.sent = false;
    entry?.reject(new NoAnswer(data.said));
    if (waiting.size) wake();
  } else if (data.kind === "early") waiting.get(data.id)?.hear(data.early);
  else if (data.kind === "answer") answered(data);
}

function answered({ id, answer }) {
  if (answer.ok && typeof answer.progress === "string" && id !== 0) {
    known = answer.progress;
    keepProgress(known);
  }
  const entry = waiting.get(id);
  waiting.delete(id);
  if (answer.ok) entry?.resolve(answer);
  else entry?.reject(new NoAnswer(answer.said));
}

function fail(said) {
  const left = [...waiting.values()];
  waiting.clear();
  end();
  tell({ is: "failed", said });
  for (const each of left) each.reject(new NoAnswer(said));
}

function end() {
  starts += 1; // whoever is about to boot gives up
  worker?.terminate();
  worker = null;
  tell({ is: "asleep" });
}

function tell(now) {
  state = now;
  for (const each of listeners) each(state);
}
