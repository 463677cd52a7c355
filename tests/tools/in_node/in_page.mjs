// Ask in_page.py in Pyodide inside Node, as a page's Worker does.
// Usage: node in_page.mjs FOLDER_OF_PYODIDE < QUESTIONS; a question is [function, words], as JSON in
// a list; one line of JSON per answer.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = path.resolve(process.argv[2]);
const questions = JSON.parse(fs.readFileSync(0, "utf8"));
const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")));
const env = { HOME: "/home/pyodide", MPLBACKEND: "agg" };
const python = await loadPyodide({ indexURL: `${folder}/`, env });
await python.loadPackage("calibkit", { messageCallback: () => {} });
python.runPython(fs.readFileSync(new URL("../../../book/_static/in_page.py", import.meta.url), "utf8"));
const ask = python.runPython("lambda name, words: json.dumps(globals()[name](*json.loads(words)))");
const answers = [];
for (const [name, words] of questions) {
  try {
    answers.push(ask(name, JSON.stringify(words)));
  } catch (error) {
    answers.push(JSON.stringify({ error: String(error).slice(-1000) }));
  }
}
process.stdout.write(`${answers.join("\n")}\n`, () => process.exit(0));
