// Answers requests in Pyodide: node in_node.mjs PYODIDE_FOLDER NUMPY_WHEEL COURSE_ZIP
// Requests come as lines of JSON on standard input, answers go out likewise; the first line that
// goes out says how long each stage of the start took, in milliseconds.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// Node shows the line of a fault, and Pyodide's has a million letters.
process.on("uncaughtException", (fault) => { console.error(String(fault.stack).slice(-2000)); process.exit(1); });
const [folder, wheel, zip] = process.argv.slice(2);
const started = performance.now();
const stages = {};
const passed = (stage) => { stages[stage] = Math.round(performance.now() - started); };

const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const py = await loadPyodide({ indexURL: folder, enableRunUntilComplete: false });
passed("python");
await py.loadPackage(wheel, { messageCallback() {}, checkIntegrity: false });
py.runPython("import numpy");
passed("numpy");
py.unpackArchive(new Uint8Array(readFileSync(zip)), "zip", { extractDir: "/course" });
py.runPython("import sys; sys.path.insert(0, '/course'); from course_lib.tab.requests import answer");
const answer = py.globals.get("answer");
passed("course");
stages.heap = py._module.HEAPU8.length;
console.log(JSON.stringify(stages));
for await (const line of createInterface({ input: process.stdin })) {
  const asked = performance.now();
  const said = answer(line);
  console.log(JSON.stringify({ said, ms: performance.now() - asked, heap: py._module.HEAPU8.length }));
}
