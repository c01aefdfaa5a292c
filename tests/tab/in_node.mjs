// Answers requests in Pyodide: node in_node.mjs PYODIDE_FOLDER NUMPY_WHEEL COURSE
// Requests come as lines of JSON on standard input. The first line that goes out says when each
// stage of the start was over; then comes one for each request. Times are milliseconds, on the
// clock and of the processor, `heap` is bytes.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// Node shows the whole line of a fault, and Pyodide's has a million letters.
process.on("uncaughtException", (fault) => {
  console.error(String(fault.stack).slice(-2000));
  process.exit(1);
});

const [folder, wheel, course] = process.argv.slice(2);
const used = () => {
  const { user, system } = process.cpuUsage();
  return { clock: performance.now(), processor: (user + system) / 1000 };
};
const since = (before) => {
  const now = used();
  const rounded = (name) => Math.round(now[name] - before[name]);
  return { clock: rounded("clock"), processor: rounded("processor") };
};

const started = used();
const stages = {};
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const py = await loadPyodide({ indexURL: folder, enableRunUntilComplete: false });
stages.python = since(started);
await py.loadPackage(wheel, { messageCallback() {}, checkIntegrity: false });
py.runPython("import numpy");
stages.numpy = since(started);
py.unpackArchive(new Uint8Array(readFileSync(course)), "tar", { extractDir: "/course" });
py.runPython("import sys; sys.path.insert(0, '/course')");
const answer = py.runPython("from course_lib.tab.requests import answer; answer");
stages.course = since(started);
const heap = () => py._module.HEAPU8.length;
console.log(JSON.stringify({ stages, heap: heap() }));
for await (const line of createInterface({ input: process.stdin })) {
  const asked = used();
  const said = answer(line);
  console.log(JSON.stringify({ said, took: since(asked), heap: heap() }));
}
