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

const changed = (name, change) => {
  const file = path.join(folder, name);
  const buffer = change(new Uint8Array(fs.readFileSync(file))).toJs();
  fs.writeFileSync(file, buffer);
  return crypto.createHash("sha256").update(buffer).digest("hex");
};

const lockPath = path.join(folder, "pyodide-lock.json");
const lock = JSON.parse(fs.readFileSync(lockPath, "utf8"));
for (const one of Object.values(lock.packages)) one.sha256 = changed(one.file_name, compiled);
const add = (entry, name, data) => {
  entry.sha256 = changed(entry.file_name, (wheel) => withFile(wheel, name, data));
};
const save = () => fs.writeFileSync(lockPath, JSON.stringify(lock));
// IPython keeps a history in a database, which no page has; it wants the names all the same.
const database = "class Connection(Exception):\n    pass\n\n\n"
  + "DatabaseError = IntegrityError = OperationalError = Connection\n";
add(lock.packages.ipython, "sqlite3.py", new TextEncoder().encode(database));
save();

// Matplotlib lists its fonts on its first import, slowly and with a message. The list travels along.
// So does the bytecode of the standard library's modules that a page needs to start.
const other = await loadPyodide({ indexURL: folder + "/" });
await other.loadPackage(["calibkit", "pyodide-kernel"], { messageCallback: () => {} });
const started = other.runPython(`
import os, sys
os.environ["MPLBACKEND"] = "agg"
import IPython, calibkit_audit.cli, calibkit_course.explore, matplotlib.pyplot, zipfile
at = "/lib/python312.zip/"
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
"\\n".join(file.removeprefix(at) for file in files if file.startswith(at))
`);
const name = "matplotlib/fontlist.json";
add(lock.packages.matplotlib, name, other.FS.readFile(`/lib/python3.12/site-packages/${name}`));
changed("python_stdlib.zip", (zip) => compiled(zip, python.toPy(started.split("\n"))));
save();
process.exit(0);
