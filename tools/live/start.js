// Pyodide with the packages of the lessons, from one archive that the browser itself unpacks: much
// faster than wheel by wheel in Python. A library is loaded when it is imported, and none in vain.
"use strict";

{
  // The files of a tar archive: folder, name and bytes of each, which are no copies.
  function* filesOf(buffer) {
    const text = (at, length) =>
      new TextDecoder().decode(new Uint8Array(buffer, at, length)).split("\0", 1)[0];
    for (let at = 0; text(at, 1); ) {
      const size = parseInt(text(at + 124, 12), 8);
      const path = [text(at + 345, 155), text(at, 100)].filter(Boolean).join("/");
      const cut = path.lastIndexOf("/") + 1;
      yield [path.slice(0, cut), path.slice(cut), new Uint8Array(buffer, at + 512, size)];
      at += 512 + 512 * Math.ceil(size / 512);
    }
  }

  const unpacked = async (folder, lock) => {
    const { file_name: name, sha256 } = (await lock).packages.calibkit;
    const sum = String.fromCharCode(...sha256.match(/../g).map((pair) => parseInt(pair, 16)));
    const found = await fetch(folder + name, { integrity: `sha256-${btoa(sum)}` });
    if (!found.ok) throw new Error(`PART ${name}`);
    return new Response(found.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  };

  const started = async ({ indexURL, ...options }) => {
    self.importScripts(`${indexURL}pyodide.js`);
    const lock = fetch(`${indexURL}pyodide-lock.json`).then((found) => found.json());
    const archive = unpacked(indexURL, lock);
    archive.catch(() => {}); // told below, when Python itself has started
    const { depends } = (await lock).packages.calibkit;
    const python = await self.loadPyodide({ ...options, indexURL, packages: depends });
    const site = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
    const made = new Set();
    for (const [folder, name, bytes] of filesOf(await archive)) {
      if (!made.has(folder)) python.FS.mkdirTree(`${site}/${folder}`);
      made.add(folder);
      python.FS.createDataFile(`${site}/${folder}`, name, bytes, true, true, true);
    }
    python.loadedPackages.calibkit = "default channel";
    python.runPython("import importlib; importlib.invalidate_caches()");
    return python;
  };

  // Who asks a second time gets the Python that is there, or on its way.
  self.loadPyodide = (options) => {
    self.calibkitStarted ??= started(options);
    return self.calibkitStarted;
  };
}
