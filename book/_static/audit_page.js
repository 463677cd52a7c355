// The page "Audit a file": a form around the command `calibkit audit`, which Python runs in this
// page. The file goes from the disk into the page's own memory, and nowhere else.
(() => {
  "use strict";

  const python = window.calibkitPython;
  const form = document.querySelector(".ck-audit");
  const MOST_MEGABYTES = 100;
  const COLUMNS = ["group", "predicted", "second", "cluster", "time", "weight"]; // which may be left out
  if (!form || !python) return;

  const part = (role) => form.querySelector(`[data-role="${role}"]`);
  const field = (name) => form.querySelector(`#ck-${name}`);
  const progress = form.querySelector("progress");
  const steps = [...form.querySelectorAll("fieldset[data-step]")];
  let chosen = null; // what Python has to audit: its name, and the file if there is one
  let asked = 0; // counts what the reader asks, so that an old answer is not shown
  let links = [];
  let shown = ""; // the report
  let usualYes = ""; // the label that means yes, where no other can

  const say = (role, text) => { part(role).textContent = text; };

  const refuse = (role, text) => {
    part(role).textContent = text;
    part(role).hidden = !text;
  };

  const megabytes = (bytes) => `${Math.round(bytes / 1e6).toLocaleString("en")} MB`;

  const loading = ({ share, arrived }) => {
    progress.hidden = false;
    if (share) progress.value = share;
    if (arrived) {
      progress.removeAttribute("value");
      say("reading", "Starting Python …");
    }
  };

  // Ask Python; where it cannot answer, say why in `role` and return nothing.
  const ask = async (role, name, words, given) => {
    const obstacle = python.obstacle();
    if (obstacle) { refuse(role, obstacle); return null; }
    try {
      const value = await python.call(name, words, given);
      if (!value.refused) return value;
      refuse(role, value.refused);
      offerCures(value.cures ?? []);
    } catch (error) {
      if (error.message === "stopped") return null;
      python.stop(error);
      if (chosen) chosen.isLost = true;
      refuse(role, python.sentence(error));
    }
    return null;
  };

  const begin = async () => {
    if (python.obstacle()) return true; // `ask` says it
    say("reading", `Loading Python (${python.megabytes} MB, once) …`);
    try {
      await python.start(loading);
      return true;
    } catch (error) {
      refuse("unread", python.sentence(error));
      return false;
    } finally {
      progress.hidden = true;
      progress.value = 0;
      say("reading", "");
    }
  };

  const option = (text, value = text) => {
    const made = document.createElement("option");
    made.textContent = text;
    made.value = value;
    return made;
  };

  const box = (name) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "checkbox";
    input.value = name;
    label.append(input, ` ${name}`);
    return label;
  };

  // What was said of one file is not done to the next.
  const offer = (columns) => {
    form.elements.kind.value = "prob";
    ["drop-missing", "rescale"].forEach((name) => { field(name).checked = false; });
    ["classes", "title"].forEach((name) => { field(name).value = ""; });
    field("label").replaceChildren(option("choose …", ""), ...columns.map((name) => option(name)));
    COLUMNS.forEach((name) => {
      field(name).replaceChildren(option("none", ""), ...columns.map((one) => option(one)));
    });
    part("prob").replaceChildren(...columns.map(box));
    steps.forEach((step) => { step.hidden = false; });
    part("cures").replaceChildren();
    field("label").focus();
  };

  const tick = (name) => { field(name).checked = true; };

  // What one key can mend after a refusal: what it says, and what it does to the form.
  const CURES = {
    percent: ["These are percentages", () => { form.elements.kind.value = "percent"; }],
    "drop-missing": ["Leave those rows out, and say how many", () => tick("drop-missing")],
    rescale: ["Divide by the sums, and say how many", () => tick("rescale")],
  };
  const MOST_KEYS = 4;

  // The words of the column of labels, as far as they are known; one of them means yes.
  const wordsOfLabels = () => chosen?.words?.[field("label").value] ?? [];

  const meansYes = (word) => [`“${word}” means yes`, () => { field("positive").value = word; }];

  const offerCures = (names) => {
    const keys = names.flatMap((name) => (
      name === "positive" ? wordsOfLabels().slice(0, MOST_KEYS).map(meansYes) : [CURES[name]]));
    part("cures").replaceChildren(...keys.map(([text, mend]) => {
      const key = document.createElement("button");
      Object.assign(key, { type: "button", className: "ck-button", textContent: text });
      key.addEventListener("click", () => { mend(); form.requestSubmit(); });
      return key;
    }));
  };

  // One column of 0 and 1 beside one of numbers from 0 to 1: chosen, for the reader to confirm.
  const prefer = ([label, prob]) => {
    field("label").value = label;
    [...part("prob").querySelectorAll("input")].forEach((input) => {
      input.checked = input.value === prob;
    });
    say("reading", `${part("reading").textContent} Chosen below, for you to confirm: ${label} as labels, `
      + `${prob} as predictions.`);
  };

  // Of 0 and 1, or False and True, the second is yes: said in the field, so that the report says it.
  const offerWords = () => {
    const words = wordsOfLabels();
    field("words").replaceChildren(...words.map((word) => option(word)));
    const plain = words.length === 2 && words.every((word) => /^([01]|true|false)$/i.test(word));
    usualYes = plain ? words.find((word) => /^(1|true)$/i.test(word)) ?? "" : "";
    field("positive").value = usualYes;
  };

  const forget = () => {
    steps.forEach((step) => { step.hidden = true; });
    part("result").hidden = true;
    ["unread", "refused"].forEach((role) => refuse(role, ""));
    chosen = null;
  };

  const found = (value, file) => {
    chosen = { name: value.name, file, pasted: !file, isUsual: value.is_usual, words: value.words };
    const count = value.columns.length.toLocaleString("en");
    const marks = file && /\.[ct]sv(\.gz)?$/i.test(value.name);
    ["delimiter", "decimal"].forEach((name) => { field(name).value = marks ? value[name] : ""; });
    part("marks").open = Boolean(marks) && !(value.is_usual && value.decimal === ".");
    const told = (name) => field(name).selectedOptions[0].textContent;
    say("reading", `${value.name}: ${count} ${count === "1" ? "column" : "columns"}`
      + `${part("marks").open ? `, read with ${told("delimiter")} between them and decimal ${told("decimal")}` : ""}.`);
    offer(value.columns);
    if (value.likely) prefer(value.likely);
    offerWords();
    python.call("ready", []).catch(() => {}); // while columns are chosen; an audit says what is amiss
  };

  // A Parquet file begins and ends with four letters; a false one is told before its reader comes.
  const isFalseParquet = async (file) => {
    const text = (part_) => part_.text();
    const ends = await Promise.all([file.slice(0, 4), file.slice(-4)].map(text));
    return file.size < 12 || ends.some((end) => end !== "PAR1");
  };

  const readFile = async () => {
    const file = field("file").files[0];
    forget();
    if (!file) return;
    if (file.size > MOST_MEGABYTES * 1e6) {
      refuse("unread", `${file.name} has ${megabytes(file.size)}; this page reads up to `
        + `${MOST_MEGABYTES} MB. The command \`calibkit audit\` reads a file of any size.`);
      return;
    }
    asked += 1;
    const mine = asked;
    const isParquet = /\.(parquet|pq)$/i.test(file.name);
    if (isParquet && await isFalseParquet(file)) {
      refuse("unread", `${file.name} is no Parquet file: one begins and ends with the letters PAR1. `
        + "Was a file of another kind renamed?");
      return;
    }
    if (!await begin() || mine !== asked) return;
    say("reading", isParquet ? `Loading the reader of Parquet files (${python.parquet} MB, once) …`
      : `Reading ${file.name} …`);
    const words = [file.name, field("delimiter").value, field("decimal").value];
    const value = await ask("unread", "columns", words, { file, name: file.name });
    if (mine !== asked) return;
    say("reading", "");
    if (value) found({ name: file.name, ...value }, file);
  };

  const readText = async () => {
    forget();
    field("file").value = "";
    asked += 1;
    const mine = asked;
    if (!await begin() || mine !== asked) return;
    const value = await ask("unread", "pasted", [field("text").value]);
    if (value && mine === asked) found(value, null);
  };

  const example = async () => {
    forget();
    field("file").value = "";
    if (!await begin()) return;
    const text = await ask("unread", "example", []);
    if (text) {
      field("text").value = text;
      await readText();
      field("label").value = "happened";
      form.querySelector('[data-role="prob"] input[value="p"]').checked = true;
    }
  };

  const wishes = () => {
    const prob = [...part("prob").querySelectorAll("input:checked")].map((input) => input.value);
    const [fp, fn] = [field("fp").value.trim(), field("fn").value.trim()];
    const wish = { name: chosen.name, prob, costs: fp || fn ? `${fp}:${fn}` : "" };
    ["label", "positive", "bins", "view", "classes", "title", "seed", ...COLUMNS].forEach((name) => {
      wish[name] = field(name).value;
    });
    if (!chosen.pasted) {
      wish.delimiter = chosen.isUsual ? "" : field("delimiter").value;
      wish.decimal = field("decimal").value === "," ? "," : "";
    }
    if (wish.positive === usualYes && (prob.length > 1 || wish.predicted)) wish.positive = "";
    ["drop-missing", "rescale"].forEach((name) => { wish[name] = field(name).checked; });
    ["logits", "percent"].forEach((kind) => { wish[kind] = form.elements.kind.value === kind; });
    return wish;
  };

  const link = (role, name, text, type) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    links.push(url);
    part(role).href = url;
    part(role).download = name;
  };

  const show = (value) => {
    links.forEach((url) => URL.revokeObjectURL(url));
    links = [];
    const stem = chosen.name.replace(/\.(csv|tsv|gz|parquet|pq|npz|npy)\b/gi, "") || "report";
    link("html", `${stem}-audit.html`, value.html, "text/html");
    link("json", `${stem}-audit.json`, value.json, "application/json");
    say("command", value.command);
    const note = (text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    };
    part("notes").replaceChildren(...value.notes.map(note));
    part("notes").hidden = value.notes.length === 0;
    part("result").hidden = false;
    shown = value.html;
    display();
  };

  // The report follows the device's colours; here it follows those of the page.
  const display = () => {
    const isDark = document.documentElement.dataset.theme === "dark";
    const frame = form.querySelector("iframe");
    const fit = () => { frame.style.height = `${frame.contentDocument.body.offsetHeight + 4}px`; };
    frame.onload = () => {
      fit();
      new ResizeObserver(fit).observe(frame.contentDocument.body);
    };
    frame.srcdoc = shown.replace("(prefers-color-scheme:dark)", isDark ? "all" : "not all");
  };

  const working = (isWorking) => {
    part("stop").hidden = !isWorking;
    form.querySelector('[type="submit"]').disabled = isWorking;
  };

  const audit = async (event) => {
    event.preventDefault();
    if (!chosen) return;
    refuse("refused", "");
    offerCures([]);
    part("result").hidden = true;
    asked += 1;
    const mine = asked;
    working(true);
    say("auditing", "Auditing …");
    if (chosen.isLost) await putAgain();
    const value = await ask("refused", "audit", [wishes()]);
    if (mine !== asked) return;
    working(false);
    say("auditing", value ? value.headline : "");
    if (value) show(value);
  };

  // Python cannot be interrupted, so it is ended; the file is read again when it is needed.
  const stop = () => {
    asked += 1;
    python.stop();
    chosen.isLost = true;
    working(false);
    say("auditing", "Stopped.");
  };

  const putAgain = async () => {
    const { name, file, pasted } = chosen;
    const given = pasted ? null : { file, name };
    const words = pasted ? [field("text").value]
      : [name, field("delimiter").value, field("decimal").value];
    if (await ask("refused", pasted ? "pasted" : "columns", words, given)) chosen.isLost = false;
  };

  document.querySelectorAll(".ck-audit-absent").forEach((text) => text.remove());
  form.hidden = false;
  field("file").addEventListener("change", () => {
    ["delimiter", "decimal"].forEach((name) => { field(name).value = ""; }); // to be recognised
    readFile();
  });
  ["delimiter", "decimal"].forEach((name) => field(name).addEventListener("change", () => {
    if (name === "delimiter") field("decimal").value = ""; // what was recognised beside another one
    if (field("file").files.length) readFile();
  }));
  field("label").addEventListener("change", offerWords);
  part("read").addEventListener("click", readText);
  part("example").addEventListener("click", example);
  part("stop").addEventListener("click", stop);
  form.addEventListener("submit", audit);
  new MutationObserver(() => { if (shown) display(); })
    .observe(document.documentElement, { attributeFilter: ["data-theme"] });
})();
