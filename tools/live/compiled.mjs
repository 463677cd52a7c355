// Compile the Python files of the wheels in a Pyodide folder, by that very Pyodide: the page then
// need not. Usage: node compiled.mjs FOLDER; the lock is written anew.
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = path.resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")));
const python = await loadPyodide({ indexURL: folder + "/", packages: [] });
python.runPython(fs.readFileSync(new URL("./compiled.py", import.meta.url), "utf8"));
const compiled = python.globals.get("compiled");

const lockPath = path.join(folder, "pyodide-lock.json");
const lock = JSON.parse(fs.readFileSync(lockPath, "utf8"));
for (const entry of Object.values(lock.packages)) {
  const file = path.join(folder, entry.file_name);
  const buffer = compiled(new Uint8Array(fs.readFileSync(file))).toJs();
  fs.writeFileSync(file, buffer);
  entry.sha256 = crypto.createHash("sha256").update(buffer).digest("hex");
}
fs.writeFileSync(lockPath, JSON.stringify(lock));
process.exit(0);
