// Run lessons in Pyodide inside Node: the engine of the page, without the page.
// Usage: node lessons.mjs FOLDER_OF_PYODIDE LESSON.ipynb …; one line of JSON per lesson.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...lessons] = process.argv.slice(2).map((name) => path.resolve(name));
const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")));
const seconds = () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
const say = (found) => console.log(JSON.stringify(found));

let start = seconds();
const silent = { messageCallback: () => {} };
const python = await loadPyodide({ indexURL: folder + "/", packages: [] });
const boot = seconds() - start;
await python.loadPackage("calibkit", silent);
const unpack = seconds() - start - boot;
python.runPython(fs.readFileSync(new URL("./lessons.py", import.meta.url), "utf8"));
say({ boot, unpack, imports: seconds() - start - boot - unpack });
const run = python.globals.get("run_lesson");
for (const lesson of lessons) {
  start = seconds();
  let found;
  try {
    const text = fs.readFileSync(lesson, "utf8");
    if (text.includes("import pandas")) await python.loadPackage("pandas", silent); // as the kernel does
    found = JSON.parse(run(text));
  } catch (error) {
    found = { crash: String(error).slice(-1500) };
  }
  say({ lesson: path.basename(lesson), seconds: seconds() - start, ...found });
}
process.exit(0);
