// Python in the page: one Worker for all that asks. `calibkitPython` is what the page's other
// scripts use. The tag of this script says where Python stands and how many megabytes it has.
window.calibkitPython = (() => {
  "use strict";

  const tag = document.currentScript;
  const at = (path) => new URL(path, tag.src).href;
  const folder = new URL(tag.dataset.python, document.baseURI).href;
  const megabytes = Number(tag.dataset.megabytes); // as a server sends them
  const total = Number(tag.dataset.bytes); // as they arrive, unpacked

  const waiting = new Map();
  let worker = null;
  let ready = null;
  let next = 0;
  let watch = () => {};

  // Why this page cannot run Python, in a sentence; empty if it can.
  const obstacle = () => {
    if (window.location.protocol === "file:") {
      return "This page was opened from disk. A browser runs Python only in a page that a server "
        + "sends; `python -m http.server` is one.";
    }
    if (typeof Worker === "undefined" || typeof WebAssembly === "undefined"
      || typeof DecompressionStream === "undefined") {
      return "This browser is too old to run Python in a page (it needs Worker, WebAssembly and "
        + "DecompressionStream).";
    }
    return "";
  };

  const sentence = (error) => {
    const text = String((error && error.message) || error || "");
    if (/out of memory|allocat|memory access|RangeError|MemoryError/i.test(text)) {
      return "This browser has not enough memory for Python. Close other tabs and try again.";
    }
    if (/^PART|fetch|network|importScripts|loadPyodide|digest|integrity/i.test(text)) {
      return "A part of Python did not arrive. Look at the connection and try again.";
    }
    const last = text.trim().split("\n").pop();
    return `Python stopped: ${last.slice(0, 300)}`;
  };

  const stop = (error = new Error("stopped")) => {
    if (worker) worker.terminate();
    worker = null;
    ready = null;
    waiting.forEach(({ no }) => no(error));
    waiting.clear();
  };

  const send = (message) => new Promise((yes, no) => {
    next += 1;
    waiting.set(next, { yes, no });
    worker.postMessage({ id: next, ...message });
  });

  const hear = ({ data }) => {
    if (data.bytes) {
      watch({ share: Math.min(1, data.bytes / total) });
    } else if (data.arrived) {
      watch({ arrived: true });
    } else {
      const { yes, no } = waiting.get(data.id) || {};
      waiting.delete(data.id);
      if (data.error !== undefined) no && no(new Error(data.error));
      else yes && yes(data.value);
    }
  };

  // The Worker begins in a blob: so the policy of this page binds it too.
  const open = () => {
    const first = `importScripts(${JSON.stringify(at("live_worker.js"))});`;
    const url = URL.createObjectURL(new Blob([first], { type: "text/javascript" }));
    worker = new Worker(url);
    worker.onmessage = hear;
    worker.onerror = (event) => stop(new Error(event.message || "PART live_worker.js"));
  };

  // Start Python, or wait until it has started; `progress` hears how far it is.
  const start = (progress = () => {}) => {
    watch = progress;
    if (!ready) {
      open();
      ready = send({ start: { folder, code: at("in_page.py") } });
      ready.catch(stop);
    }
    return ready;
  };

  // Call a function of in_page.py; `given` is a file to be put where Python finds it.
  const call = async (name, words, given = null) => {
    await start(watch);
    return send({ name, words, given });
  };

  return { call, megabytes, obstacle, parquet: Number(tag.dataset.parquet), sentence, start, stop };
})();
