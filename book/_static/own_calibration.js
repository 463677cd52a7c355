// The page "Your calibration": twenty statements to forecast, and what `my_calibration` says about
// all forecasts that this browser keeps. Words, statements and stand-in come from the course.
"use strict";

(() => {
  const root = document.getElementById("ck-own");
  const { words, statements, stand_in: STAND_IN } = JSON.parse(document.getElementById("ck-own-data").textContent);
  const HEAD = "forecast,options,sure,right", BINS = 5, Z = 1.959963984540054, TIE = 1e-9;
  const SVG = "http://www.w3.org/2000/svg";

  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const spell = (n) => `${n.toLocaleString("en")} forecast${n === 1 ? "" : "s"}`;
  const shown = (value) => (Number.isFinite(value) ? (value + TIE).toFixed(2) : words.INFINITE);
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const points = (share) => {
    const whole = Math.floor(100 * share + 0.5 + TIE);
    return `${whole < 0 ? "-" : "+"}${Math.abs(whole)}`;
  };

  // --- the file: the same lines as in Python, refused in the same words ---------------------------

  const problem = (line, rows) => {
    const [name, options, sure, right] = line;
    if (line.length !== 4) return fill(words.CSV_FIELDS, { count: line.length, wanted: 4 });
    if (!/^[A-Za-z0-9_.-]{1,20}$/.test(name) || name in rows) return fill(words.CSV_NAME, { name });
    if (!/^[0-9]{1,2}$/.test(options) || options < 2 || options > 20) {
      return fill(words.CSV_OPTIONS, { found: options, most: 20 });
    }
    if (!/^([01]|[01]?\.[0-9]{1,6})$/.test(sure) || sure <= 0 || sure > 1) {
      return fill(words.CSV_SURE, { found: sure });
    }
    return ["", "0", "1"].includes(right) ? "" : fill(words.CSV_RIGHT, { found: right });
  };

  const parse = (text) => {
    const [head, ...lines] = text.replace(/^\ufeff/, "").split(/\r?\n/);
    if (head !== HEAD) throw new Error(fill(words.CSV_HEAD, { found: head.slice(0, 60), wanted: HEAD }));
    const rows = Object.create(null);
    lines.forEach((line, place) => {
      if (!line) return;
      const wrong = problem(line.split(","), rows);
      if (wrong) throw new Error(fill(words.CSV_LINE, { line: place + 2, problem: wrong }));
      const [name, options, sure, right] = line.split(",");
      rows[name] = { options: Number(options), sure: Number(sure), right: right ? right === "1" : null };
    });
    return rows;
  };

  const known = (rows) => Object.entries(rows).filter(([, row]) => row && row.right !== null)
    .map(([name, row]) => ({ name, ...row }));
  const csv = (rows) => [HEAD, ...known(rows).map(({ name, options, sure, right }) => (
    `${name},${options},${sure},${Number(right)}`)), ""].join("\n");

  // --- what the forecasts say -------------------------------------------------------------------

  // How probable each number of right guesses is, if each confidence is honest.
  const lawOf = (sures) => sures.reduce((law, sure) => Array.from({ length: law.length + 1 },
    (_, k) => (law[k] ?? 0) * (1 - sure) + (law[k - 1] ?? 0) * sure), [1]);

  const quantile = (law, level) => {
    let total = 0;
    return law.findIndex((share) => { total += share; return total >= level - TIE; });
  };

  const binsOf = (rows) => Array.from({ length: BINS }, (_, b) => {
    const own = rows.filter(({ sure }) => Math.min(BINS - 1, Math.floor(BINS * sure + TIE)) === b);
    const n = own.length, total = sum(own.map(({ sure }) => sure)), hits = own.filter((r) => r.right).length;
    const law = lawOf(own.map(({ sure }) => sure));
    const null_ = sum(law.map((share, k) => share * Math.abs(k - total)));
    return { n, mean: total / n, share: hits / n, gap: Math.abs(hits - total), null_,
             low: quantile(law, 0.05) / n, high: quantile(law, 0.95) / n };
  });

  const scores = (rows, said) => {
    const own = rows.map((row) => (row.right ? said(row) : 1 - said(row)));
    return [-sum(own.map(Math.log)) / rows.length, sum(own.map((p) => (1 - p) ** 2)) / rows.length];
  };

  const look = (rows) => {
    const n = rows.length, share = rows.filter((row) => row.right).length / n;
    const mean = sum(rows.map(({ sure }) => sure)) / n, scale = 1 + Z ** 2 / n;
    const centre = (share + Z ** 2 / (2 * n)) / scale;
    const half = Z * Math.sqrt(share * (1 - share) / n + Z ** 2 / (4 * n * n)) / scale;
    const low = mean - Math.min(1, centre + half), high = mean - Math.max(0, centre - half);
    return { n, mean, share, gap: mean - share, low, high, bins: binsOf(rows),
             reach: Z * Math.sqrt(sum(rows.map(({ sure }) => sure * (1 - sure)))) / n,
             verdict: low > 0 ? "over" : high < 0 ? "under" : "open" };
  };

  const sentences = (rows, isStandIn) => {
    const found = look(rows), { n, mean, share, gap, low, high } = found;
    const [log, brier] = scores(rows, ({ sure }) => sure).map(shown);
    const [log_chance, brier_chance] = scores(rows, ({ options }) => 1 / options).map(shown);
    const per = (name) => shown(sum(found.bins.map((bin) => bin[name])) / n);
    const right = rows.filter((row) => row.right).length;
    return [
      fill(isStandIn ? words.OWN_STAND_IN : words.OWN_YOURS, { n: spell(n), right }),
      fill(words.OWN_MEANS, { sure: points(mean).slice(1), right: points(share).slice(1) }),
      fill(words[`OWN_${found.verdict.toUpperCase()}`],
        { gap: points(gap), size: points(gap).slice(1), low: points(low), high: points(high) }),
      fill(words.OWN_LITTLE, { reach: points(found.reach).slice(1) }),
      fill(words.OWN_SCORES, { log, log_chance, brier, brier_chance }),
      fill(words.OWN_BINS, { ece: per("gap"), null: per("null_") }),
    ];
  };

  // --- what is shown ----------------------------------------------------------------------------

  const make = (tag, attributes = {}, ...children) => {
    const made = tag in { svg: 0, g: 0, line: 0, rect: 0, circle: 0, text: 0 }
      ? document.createElementNS(SVG, tag) : document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...children);
    return made;
  };

  const button = (name, act) => {
    const made = make("button", { type: "button", class: "ck-button" }, name);
    made.addEventListener("click", () => act(made));
    return made;
  };

  const diagram = (rows, title) => {
    const x = (p) => 50 + 300 * p, y = (p) => 330 - 300 * p, used = look(rows).bins.filter(({ n }) => n);
    const most = Math.max(...used.map(({ n }) => n)), [across, up] = [words.OWN_SURE, words.OWN_RIGHT];
    const label = used.map(({ n, mean, share, low, high }) => `${spell(n)} at ${shown(mean)}: `
      + `share right ${shown(share)}, by chance ${shown(low)} to ${shown(high)}`).join("; ");
    const line = (x1, y1, x2, y2, more) => make("line", { x1, y1, x2, y2, stroke: "currentColor", ...more });
    const text = (at, down, said, anchor = "middle") => (
      make("text", { x: at, y: down, "text-anchor": anchor }, said));
    const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].flatMap((p) => [
      line(x(p), y(0), x(p), y(1), { opacity: 0.15 }), line(x(0), y(p), x(1), y(p), { opacity: 0.15 }),
      text(x(p), 425, `${p}`), text(42, y(p) + 4, `${p}`, "end")]);
    const drawn = used.flatMap(({ n, mean, share, low, high }) => [
      line(x(mean), y(low), x(mean), y(high), { "stroke-width": 9, opacity: 0.35, class: "band" }),
      line(x(mean), y(mean), x(mean), y(share), { class: mean > share ? "ck-over" : "ck-under" }),
      make("circle", { cx: x(mean), cy: y(share), r: 5, fill: "currentColor" }),
      make("rect", { x: x(Math.min(0.8, Math.floor(mean * BINS + TIE) / BINS)) + 1, width: 58,
                     y: 405 - 40 * n / most, height: 40 * n / most, fill: "currentColor", opacity: 0.45 }),
      text(x(Math.min(0.8, Math.floor(mean * BINS + TIE) / BINS) + 0.1), 400 - 40 * n / most, `${n}`)]);
    return make("svg", { viewBox: "0 20 380 430", role: "img", "aria-label": `${title}. ${label}.` }, ...ticks,
      line(x(0), y(0), x(1), y(1), { "stroke-dasharray": "6 4" }), ...drawn, text(x(0.5), 445, across),
      make("text", { x: -y(0.5), y: 13, "text-anchor": "middle", transform: "rotate(-90)" }, up));
  };

  const byLesson = (rows) => {
    const lesson = ({ name }) => (/^\d+/.exec(name) ?? [""])[0].padStart(2, "0");
    const cells = (tag, values) => make("tr", {}, ...values.map((value) => make(tag, {}, `${value}`)));
    const body = [...new Set(rows.map(lesson))].sort().map((number) => {
      const { n, mean, share, gap } = look(rows.filter((row) => lesson(row) === number));
      return cells("td", [number, n, ...[mean, share].map((p) => `${points(p).slice(1)} %`), points(gap)]);
    });
    const head = cells("th", ["lesson", "forecasts", "sure", "right", "gap"]);
    return make("div", { class: "ck-frame", tabindex: 0 }, make("table", { class: "table" },
      make("thead", {}, head), make("tbody", {}, ...body)));
  };

  const download = (text, name, type) => {
    const href = URL.createObjectURL(new Blob([text], { type }));
    make("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  };

  const addWork = (text) => {
    try {
      window.calibkitWork.add(text);
      return "Your guesses, forecasts and answers are here now; what stood here already stays.";
    } catch { return "This is no file of work from this book. Choose a calibkit-work.json."; }
  };

  const show = (said = "") => {
    const kept = window.calibkitForecasts.read(), mine = known(kept), isStandIn = !mine.length;
    const rows = isStandIn ? known(parse(STAND_IN)) : mine;
    const form = isStandIn ? words.OWN_TITLE_STAND_IN : words.OWN_TITLE;
    const title = fill(form, { n: spell(rows.length) });
    const file = make("input", { type: "file", accept: ".csv,.json", "aria-label": "A file of forecasts" });
    file.addEventListener("change", async () => {
      try {
        const text = await file.files[0].text();
        if (file.files[0].name.endsWith(".json")) { show(addWork(text)); return; }
        const found = parse(text), old = Object.keys(kept).length;
        const all = { ...Object.fromEntries(known(found).map(({ name, ...row }) => [name, row])), ...kept };
        window.calibkitForecasts.write(all);
        const count = Object.keys(all).length - old;
        show(fill(words.IMPORTED, { new: count, known: known(found).length - count }));
      } catch (error) { show(error.message); }
    });
    const takeHome = () => download(JSON.stringify(window.calibkitWork.tables(), null, 1),
      "calibkit-work.json", "application/json");
    const forget = (made) => {
      if (made.dataset.asked) { window.calibkitForecasts.write({}); show("Forgotten."); return; }
      made.dataset.asked = "yes";
      made.textContent = "Really forget all of them?";
    };
    const aside = [];
    try {
      aside.push(...Object.keys(localStorage).filter((key) => key.startsWith("calibkit-forecasts-damaged")));
    } catch { /* nothing is stored, which `notKept` says */ }
    said += window.calibkitWork.notKept();
    if (aside.length) said += ` What nobody could read is kept in this browser as ${aside.join(", ")}.`;
    const buttons = isStandIn ? []
      : [button("Export as CSV", () => download(csv(kept), "forecasts.csv", "text/csv")),
         button("Forget my forecasts", forget)];
    buttons.push(button("Take all my work home", takeHome));
    root.replaceChildren(make("p", {}, make("strong", {}, title)), diagram(rows, title),
      ...sentences(rows, isStandIn).map((text) => make("p", {}, text)), byLesson(rows),
      make("div", { class: "ck-row" }, ...buttons, make("label", {}, "Import: ", file)),
      make("p", { role: "status" }, said.trim()));
    nextStatement();
  };

  // --- twenty statements: one at a time, and its truth as soon as it is answered -------------------

  const nameOf = (number) => `1-${String(number + 1).padStart(2, "0")}`; // as the workbook names it
  const asPercent = (share) => `${Math.round(100 * share)} %`;

  const ask = (card) => {
    const lead = make("p", {}), claim = make("p", { class: "ck-claim", id: "ck-claim" });
    const slider = make("input", { type: "range", min: 0, max: 100, step: 5, autocomplete: "off",
                                   "aria-label": "How probable is it that this is true?", "aria-describedby": "ck-claim" });
    const stated = make("span", { "aria-hidden": "true" }), status = make("p", { role: "status" }), list = make("ol", {});
    const form = make("div", {}, claim, make("label", { class: "ck-sure" }, "How probable is it that this is true? ",
      slider, stated), button("Answer", () => answer()), button("Skip", () => next(1)));
    const answers = make("details", {}, make("summary", {}, "Your answers"), list);
    let place = 0;

    // What was stated: the confidence belongs to the likelier side, which at one half is "false".
    const told = ([text, isTrue], { sure, right }) => (
      `${text} ${isTrue ? "True" : "False"}. You said ${asPercent(right === isTrue ? sure : 1 - sure)}.`);

    const say = () => {
      stated.textContent = `${slider.value} %${Number(slider.value) === 50 ? ", no idea" : ""}`;
      slider.setAttribute("aria-valuetext", stated.textContent);
    };

    // Show the first one from here on that has no answer yet; after the last comes the first.
    const next = (step = 0) => {
      const kept = window.calibkitForecasts.read(), all = [...statements.keys()], from = place + step;
      const isDone = (number) => Boolean(kept[nameOf(number)]), done = all.filter(isDone);
      const open = [...all.slice(from), ...all.slice(0, from)].filter((number) => !isDone(number));
      lead.textContent = `${done.length} of ${all.length} answered.`;
      list.replaceChildren(...done.map((number) => (
        make("li", { value: number + 1 }, told(statements[number], kept[nameOf(number)])))));
      answers.hidden = !done.length;
      form.hidden = !open.length;
      if (!open.length) return;
      [place] = open;
      claim.textContent = `${place + 1}. ${statements[place][0]}`;
      slider.value = 50;
      say();
    };

    const answer = () => {
      const kept = window.calibkitForecasts.read(), [text, isTrue] = statements[place];
      const percent = Number(slider.value);
      const row = kept[nameOf(place)] // another page may have stored it
        ?? { options: 2, sure: Math.max(percent, 100 - percent) / 100, right: (percent > 50) === isTrue };
      window.calibkitForecasts.write({ ...kept, [nameOf(place)]: row });
      status.textContent = told([text, isTrue], row);
      show();
      (form.hidden ? answers.querySelector("summary") : slider).focus({ preventScroll: true });
    };

    slider.addEventListener("input", say);
    slider.addEventListener("keydown", (event) => {
      event.stopPropagation(); // the theme binds arrow keys
      if (event.key === "Enter") answer();
    });
    card.replaceChildren(lead, form, status, answers);
    return next;
  };

  const nextStatement = ask(document.getElementById("ck-statements"));
  show();
})();
