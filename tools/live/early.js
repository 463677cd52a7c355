// The kernel's Worker, begun before JupyterLite asks for it: Python starts while the lab does.
// `watch.js` makes it, and names the kernel's script as soon as the lab asks for that.
"use strict";

// What kernel and lessons import. Later each import would first look into the reader's folder,
// which lives in the page, and wait for its answer.
const imports = "IPython, ipywidgets, matplotlib.pyplot, micropip, calibkit_audit.cli, calibkit_course.explore";
const env = { HOME: "/home/pyodide", MPLBACKEND: "module://matplotlib_inline.backend_inline" };

self.onmessage = ({ data }) => {
  self.onmessage = null;
  self.importScripts(data.kernel);
};
self.importScripts("start.js");
self.loadPyodide({ indexURL: new URL("./", self.location).href, env })
  .then((python) => python.runPython(`import ${imports}`));
