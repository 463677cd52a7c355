// Python for a page, in a Worker of its own: it starts once, then answers one question at a time.
// The page tells it where Python stands; it asks no other host, and keeps nothing.
"use strict";

let python;

const tell = (message) => self.postMessage(message);

// Counts what arrives, so that the page can show how far the download is.
const counted = (fetch) => {
  let bytes = 0;
  let told = 0;
  return async (...request) => {
    const response = await fetch(...request);
    if (!response.ok || !response.body) return response;
    const body = response.body.pipeThrough(new TransformStream({
      transform(chunk, out) {
        bytes += chunk.byteLength;
        if (bytes - told > 2e5) { told = bytes; tell({ bytes }); }
        out.enqueue(chunk);
      },
    }));
    const { status, headers } = response;
    return new Response(body, { status, headers });
  };
};

// Pyodide never answers where its core did not arrive, or found no memory; so this tells.
const brokenCore = () => new Promise((_, fail) => {
  ["instantiate", "instantiateStreaming"].forEach((name) => {
    const real = WebAssembly[name].bind(WebAssembly);
    WebAssembly[name] = (...given) => {
      const made = real(...given);
      made.catch(fail);
      return made;
    };
  });
});

const start = async ({ folder, code }) => {
  self.fetch = counted(self.fetch.bind(self));
  self.importScripts(`${folder}start.js`);
  const env = { HOME: "/home/pyodide", MPLBACKEND: "agg" }; // a Worker has no window to draw into
  const broken = brokenCore();
  python = await Promise.race([self.loadPyodide({ indexURL: folder, env }), broken]);
  tell({ arrived: true });
  const answer = await self.fetch(code);
  if (!answer.ok) throw new Error("PART in_page.py");
  python.runPython(await answer.text());
};

const put = async ({ file, name }) => {
  const folder = python.globals.get("clear")();
  python.FS.writeFile(`${folder}/${name}`, new Uint8Array(await file.arrayBuffer()));
};

const ask = async ({ name, words, given }) => {
  if (given) await put(given);
  if (given && /\.(parquet|pq)$/i.test(given.name)) {
    await python.loadPackage("pyarrow", { messageCallback: () => {} });
  }
  const call = python.runPython(
    "lambda name, words: json.dumps(globals()[name](*json.loads(words)))",
  );
  try {
    return JSON.parse(call(name, JSON.stringify(words)));
  } finally {
    call.destroy();
  }
};

self.onmessage = async ({ data }) => {
  const { id } = data;
  try {
    tell({ id, value: data.start ? await start(data.start) : await ask(data) });
  } catch (error) {
    tell({ id, error: String((error && error.message) || error) });
  }
};
