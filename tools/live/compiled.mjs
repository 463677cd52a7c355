// Compile the Python files of the wheels in a Pyodide folder, by that very Pyodide: the page then
// need not. Usage: node compiled.mjs FOLDER; the lock is written anew.
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = path.resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")));
const python = await loadPyodide({ indexURL: folder + "/", packages: [] });
for (const name of ["compiled.py", "left_out.toml"]) {
  python.FS.writeFile(name, fs.readFileSync(new URL(name, import.meta.url)));
}
python.runPython("import sys; sys.path.append('')");
const { compiled, with_file: withFile } = python.pyimport("compiled");

const lockPath = path.join(folder, "pyodide-lock.json");
const lock = JSON.parse(fs.readFileSync(lockPath, "utf8"));
for (const entry of Object.values(lock.packages)) {
  const file = path.join(folder, entry.file_name);
  const buffer = compiled(new Uint8Array(fs.readFileSync(file))).toJs();
  fs.writeFileSync(file, buffer);
  entry.sha256 = crypto.createHash("sha256").update(buffer).digest("hex");
}
const save = () => fs.writeFileSync(lockPath, JSON.stringify(lock));
save();

// Matplotlib lists its fonts on its first import, slowly and with a message. The list travels along.
const entry = lock.packages.matplotlib;
const name = "matplotlib/fontlist.json";
const other = await loadPyodide({ indexURL: folder + "/" });
await other.loadPackage("matplotlib", { messageCallback: () => {} });
other.runPython("import matplotlib.font_manager");
const list = other.FS.readFile(`/lib/python3.12/site-packages/${name}`);
const file = path.join(folder, entry.file_name);
const wheel = new Uint8Array(fs.readFileSync(file));
const buffer = withFile(wheel, name, list).toJs();
fs.writeFileSync(file, buffer);
entry.sha256 = crypto.createHash("sha256").update(buffer).digest("hex");
save();
process.exit(0);
