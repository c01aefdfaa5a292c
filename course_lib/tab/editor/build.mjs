// Makes ../assets/codemirror.js, and beside it the licence of every package that went into it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const OUT = new URL("../assets/codemirror.js", import.meta.url);
const LICENCES = new URL("../assets/codemirror.LICENCES.txt", import.meta.url);
const NAMES = ["LICENSE", "LICENSE.md", "LICENCE"];

const made = await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ["names.js"],
  bundle: true,
  format: "esm",
  legalComments: "none",
  metafile: true,
  minify: true,
  target: "es2021",
  write: false,
});
const packages = new Set(Object.keys(made.metafile.outputs["<stdout>"]?.inputs ?? made.metafile.inputs)
  .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
  .filter(Boolean));
const described = [...packages].sort().map((name) => {
  const folder = new URL(`node_modules/${name}/`, import.meta.url);
  const { version, license } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  const file = NAMES.map((each) => new URL(each, folder)).find(existsSync);
  if (!file) throw new Error(`${name} has no licence text`);
  return { title: `${name} ${version} (${license})`, text: readFileSync(file, "utf8").trim() };
});
const titles = described.map((each) => each.title).join(", ");
const head = `/* CodeMirror, bundled: ${titles}. Texts: codemirror.LICENCES.txt */\n`;
writeFileSync(OUT, head + made.outputFiles[0].text);
writeFileSync(LICENCES, described.map(({ title, text }) => `${title}\n\n${text}\n`).join(`\n${"-".repeat(80)}\n\n`));
console.log(`${described.length} packages, ${made.outputFiles[0].text.length} bytes`);
