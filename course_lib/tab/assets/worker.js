// The course's Python, beside the page so that the page never freezes. It needs no shared memory, no
// threads and no special headers. What a student has typed goes to the emulator as text.
import { forget, keep, kept } from "./memory.js";

const NUMPY_NAME = "numpy";
const EVERY = 100; // ms between two words about the download
const LATER = 5000; // ms after which Python's memory is packed and kept: the first verdict comes first
const COURSE = "/course";
let ready = null;
let stage = "python";
let total = 0;
let loaded = 0;
let lastSaid = 0;

onmessage = async ({ data }) => {
  if (data.kind === "boot") {
    ready = boot(data);
    try {
      const { versions } = await ready;
      const fetched = [location.href, ...performance.getEntriesByType("resource").map((each) => each.name)];
      postMessage({ kind: "ready", versions, fetched });
    } catch (error) {
      postMessage({ kind: "failed", id: null, said: whyNot(error, data[stage === "python" ? "pyodide" : stage]) });
    }
    return;
  }
  let answer;
  try {
    ({ answer } = await ready);
  } catch {
    return; // said already
  }
  const tell = (early) => postMessage({ kind: "early", id: data.id, early: JSON.parse(early) });
  try {
    postMessage({ kind: "answer", id: data.id, answer: JSON.parse(answer(JSON.stringify(data.request), tell)) });
  } catch (error) {
    const reason = String(error.message ?? error).trim().split("\n").at(-1);
    postMessage({
      kind: "failed",
      id: data.id,
      said: `Python broke down over this (${reason}); it starts afresh when you press Check again.`,
    });
  }
};

async function boot({ pyodide, numpy, course, bytes, progress, memory }) {
  total = bytes.python + bytes.numpy + bytes.course;
  fetchEarly(pyodide, numpy);
  countDownloads();
  const packed = fetched(course);
  packed.catch(() => {}); // awaited below, where its stage is named
  const python = await started(pyodide, packed, memory);
  enter("numpy");
  await python.loadPackage(numpy ?? NUMPY_NAME, { messageCallback() {}, errorCallback() {} });
  if (!(NUMPY_NAME in python.loadedPackages)) throw new TypeError("NumPy did not come");
  const versions = python.runPython(`
import sys
import numpy
from course_lib.tab.requests import answer, warm_up
{"pyodide": sys.modules["pyodide"].__version__, "numpy": numpy.__version__,
 "python": sys.version.split()[0]}
`).toJs({ dict_converter: Object.fromEntries });
  const answer = python.globals.get("answer");
  python.globals.get("warm_up")();
  if (progress !== null) answer(JSON.stringify({ do: "restore", file: progress }));
  return { answer, versions };
}

// Python with the course unpacked and compiled: from the memory that is kept, or afresh.
async function started(pyodide, packed, memory) {
  const { loadPyodide } = await import(`${pyodide}pyodide.mjs`);
  const options = { indexURL: pyodide, enableRunUntilComplete: false };
  const unpack = async (python) => {
    enter("course");
    python.unpackArchive(await packed, "tar", { extractDir: COURSE });
  };
  const before = await kept(memory);
  if (before) {
    try {
      const python = await loadPyodide({ ...options, _loadSnapshot: before });
      await unpack(python);
      python.runPython("import importlib; importlib.invalidate_caches()");
      return python;
    } catch {
      await forget(memory);
    }
  }
  const python = await loadPyodide({ ...options, _makeSnapshot: true });
  await unpack(python);
  python.runPython(`
import sys
sys.path.insert(0, "${COURSE}")
from course_lib.tab.compiled import compile_all
compile_all("${COURSE}")
`);
  const made = python.makeMemorySnapshot();
  setTimeout(() => keep(memory, made), LATER);
  return python;
}

// NumPy is fetched while Python starts, which takes it from the browser's own store then.
async function fetchEarly(pyodide, numpy) {
  try {
    const lock = numpy ? null : await (await fetch(`${pyodide}pyodide-lock.json`)).json();
    await (await fetch(numpy ?? pyodide + lock.packages[NUMPY_NAME].file_name)).arrayBuffer();
  } catch {
    // Whoever needs it will say so.
  }
}

async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new TypeError(`${url}: ${response.status}`);
  return response.arrayBuffer();
}

function enter(next) {
  stage = next;
  say();
}

function say() {
  lastSaid = performance.now();
  postMessage({ kind: "stage", stage, loaded, total, part: Math.min(1, loaded / total) });
}

// Every download of this worker is counted as it comes, Pyodide's own among them.
function countDownloads() {
  const plainFetch = self.fetch.bind(self);
  self.fetch = async (...wanted) => {
    const response = await plainFetch(...wanted);
    if (!response.body) return response;
    const counter = new TransformStream({
      transform(piece, out) {
        loaded += piece.byteLength;
        if (performance.now() - lastSaid > EVERY) say();
        out.enqueue(piece);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
  };
}

function whyNot(error, url) {
  const host = new URL(url ?? location.href, location.href).host;
  if (error instanceof TypeError || error.name === "NetworkError") {
    return navigator.onLine === false
      ? "You are offline, and this browser has not loaded Python yet: go online once, and press Check again."
      : `Python could not be loaded from ${host}: if a filter or firewall blocks that address, allow it; then press Check again.`;
  }
  const reason = String(error.message ?? error).trim().split("\n").at(-1);
  return `Python could not be started (${reason}): reload the page; if that does not help, use a current `
    + "Chrome, Edge, Firefox or Safari.";
}
