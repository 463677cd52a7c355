// What JupyterLite does not say: why Python does not start, that storage is full or blocked, that a
// lesson is open twice or has changed. One sentence each, above the lesson.
(() => {
  const patience = window.ckPatience ?? 60; // seconds
  const folder = new URL("../static/pyodide/", location.href);

  const say = (text) => {
    let bar = document.getElementById("ck-watch");
    if (!bar) {
      bar = document.createElement("div");
      bar.id = "ck-watch";
      bar.setAttribute("role", "status");
      bar.style =
        "position:fixed;z-index:10000;bottom:0;left:0;right:0;padding:.6em 3em .6em 1em;" +
        "background:#fff8dc;color:#222;border-top:2px solid #b8860b;font:15px/1.4 sans-serif";
      const close = document.createElement("button");
      close.textContent = "×";
      close.setAttribute("aria-label", "Close");
      close.style = "position:absolute;right:1em;top:.5em;font-size:1.1em";
      close.onclick = () => bar.remove();
      bar.append(close);
      document.body.append(bar);
    }
    const line = document.createElement("div");
    line.textContent = text;
    bar.prepend(line);
  };

  // No kernel yet, or a cell that waits for it.
  const stuck = () => {
    const shown = document.querySelector(".jp-Notebook-ExecutionIndicator");
    const prompts = [...document.querySelectorAll(".jp-InputPrompt")];
    return !["idle", "busy"].includes(shown?.dataset.status) ||
      prompts.some((prompt) => prompt.textContent.includes("*"));
  };

  const hex = (buffer) =>
    [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  // What the first cell of a lesson needs: the archive of the packages, and what it depends on.
  const needed = (packages) =>
    ["calibkit", ...packages.calibkit.depends].map((name) => packages[name]);

  // The first file that Python needs and cannot get, as a sentence; nothing where all is well.
  const fault = async () => {
    const lock = await fetch(new URL("pyodide-lock.json", folder)).then((found) => found.json());
    for (const { file_name: name, sha256 } of needed(lock.packages)) {
      const found = await fetch(new URL(name, folder));
      if (!found.ok) return `${name} is not on the server. Please tell who publishes this site.`;
      const sum = hex(await crypto.subtle.digest("SHA-256", await found.arrayBuffer()));
      if (sum !== sha256)
        return `${name} arrived damaged. Reload the page with Ctrl+Shift+R to load it anew.`;
    }
    return "";
  };

  const wait = async () => {
    if (!stuck()) return;
    const found = await fault().catch(() => "the server does not answer. Look at your connection.");
    if (found) say(`Python cannot start: ${found} Your work in this browser is kept.`);
    else if (stuck()) say("Python is still at work, longer than usual. You can read on meanwhile.");
  };

  const space = async () => {
    const { quota, usage } = await navigator.storage.estimate();
    if (quota - usage > 5e6) return;
    clearInterval(looking);
    say(
      "This browser's storage is nearly full, so your work may not be kept. Take it home with " +
        "File > Download, then free space in the browser's settings.",
    );
  };

  const twice = () => {
    const tabs = new BroadcastChannel("ck " + location.pathname + location.search);
    const told = () =>
      say("This lesson is open in another tab. Work in one of them: what is saved last is kept.");
    tabs.onmessage = ({ data }) => {
      if (data === "opened") tabs.postMessage("here too");
      told();
    };
    tabs.postMessage("opened");
  };

  // What is saved in this browser stays as it is when the site gets another lesson.
  const changed = async () => {
    const path = new URLSearchParams(location.search).get("path");
    const name = `JupyterLite Storage - ${new URL("..", location.href).pathname}`;
    if (!path || !(await indexedDB.databases()).some((one) => one.name === name)) return;
    const heard = (request) => new Promise((done, failed) => {
      request.onsuccess = () => done(request.result);
      request.onerror = failed;
    });
    const storage = await heard(indexedDB.open(name));
    storage.onversionchange = () => storage.close(); // JupyterLite's own needs come first
    const files = storage.transaction("files").objectStore("files");
    const mine = await heard(files.get(path)).finally(() => storage.close());
    if (!mine) return;
    const now = await fetch(new URL(`../files/${path}`, location.href), { cache: "no-cache" });
    const theirs = await now.json();
    const madeFrom = ({ metadata }) => metadata.calibkit.source;
    if (madeFrom(mine.content) !== madeFrom(theirs))
      say(
        "This lesson has changed since you saved yours, which is kept. For the new one rename " +
          "yours (File > Rename), then open the lesson again from its page.",
      );
  };

  // Where storage is blocked JupyterLite opens nothing, unless its settings let memory do.
  const isBlocked = () => {
    try {
      return !window.localStorage || !window.indexedDB;
    } catch {
      return true;
    }
  };
  const useMemory = () => {
    const config = document.getElementById("jupyter-config-data");
    if (!config) return;
    new MutationObserver((_, written) => {
      written.disconnect();
      const given = { ...JSON.parse(config.textContent), enableMemoryStorage: true };
      ["contents", "settings"].forEach((name) => {
        given[`${name}StorageDrivers`] = ["memoryStorageDriver"];
      });
      config.textContent = JSON.stringify(given);
    }).observe(config, { childList: true });
  };

  // Python starts while the lab does: the kernel's Worker begins here, and is handed over when the
  // lab makes it. Any other Worker, and that of a restarted kernel, is the lab's own.
  const startEarly = () => {
    const Real = window.Worker;
    const early = new Real(new URL("early.js", folder));
    window.Worker = function (url, options) {
      if (!String(url).includes("/pyodide-kernel-extension/")) return new Real(url, options);
      window.Worker = Real;
      early.postMessage({ kernel: String(url) });
      return early;
    };
    window.Worker.prototype = Real.prototype;
  };

  let looking;
  const start = () => {
    const blocked = isBlocked();
    if (blocked) {
      useMemory();
      say(
        "This browser lets this site store nothing, so what you write lasts as long as this tab. " +
          "Take it home with File > Download, or allow the site to store data and reload.",
      );
    }
    const lacks = ["WebAssembly", "DecompressionStream"].find((name) => !window[name]);
    if (lacks) {
      say(`This browser cannot run Python: it has no ${lacks}. Any current browser has it.`);
      return;
    }
    // On a first visit no service worker knows the page yet, through which Python keeps files.
    const again = navigator.serviceWorker?.controller;
    if (again && /[?&]path=[^&]*\.ipynb/.test(location.search)) startEarly();
    if (!blocked) {
      twice();
      changed().catch(() => {}); // a file of the reader's own, or nothing is saved yet
    }
    setTimeout(wait, 1000 * patience);
    if (!blocked && navigator.storage?.estimate) {
      looking = setInterval(space, 30000);
      space();
    }
  };
  if (document.body) start();
  else addEventListener("DOMContentLoaded", start);
})();
