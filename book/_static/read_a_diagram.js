// The page "Read a diagram in a paper": could chance have drawn it? Nothing leaves the browser.
"use strict";

const DIAGRAM = (() => {
  const DRAWS = 4000, LIMIT = 0.05, SMALL = 200, LARGE = 5000, ROUNDED = 0.005 + 1e-9;
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const whole = (value) => Math.round(value).toLocaleString("en");

  const generator = (seed) => () => { // mulberry32
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  // Cumulative binomial probabilities, from the mode outwards, as far as any draw gets.
  const binomial = (n, p) => {
    if (p <= 0 || p >= 1) return { first: p <= 0 ? 0 : n, law: [1] };
    const mode = Math.min(n, Math.floor((n + 1) * p)), up = [1], down = [];
    for (let k = mode, last = 1; k < n && last > 1e-15; k += 1) up.push(last *= ((n - k) / (k + 1)) * (p / (1 - p)));
    for (let k = mode, last = 1; k > 0 && last > 1e-15; k -= 1) down.push(last *= (k / (n - k + 1)) * ((1 - p) / p));
    const parts = [...down.reverse(), ...up], total = sum(parts);
    let reached = 0;
    return { first: mode - down.length, law: parts.map((part) => (reached += part / total)) };
  };
  const quantile = ({ first, law }, share) => {
    let low = 0, high = law.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (law[middle] < share) low = middle + 1; else high = middle;
    }
    return first + low;
  };

  const ece = (bins) => sum(bins.map(([p, f, n]) => n * Math.abs(p - f))) / sum(bins.map((bin) => bin[2]));

  // Mean and 95 % quantile of the ECE if each prediction is its bin's mean and right; p-value; band.
  const chance = (bins, seed = 0) => {
    const random = generator(seed), laws = bins.map(([p, , n]) => binomial(n, p)), value = ece(bins);
    const draws = Array.from({ length: DRAWS }, () => ece(bins.map(([p, , n], b) => [p, quantile(laws[b], random()) / n, n])));
    draws.sort((a, b) => a - b);
    return {
      value, mean: sum(draws) / DRAWS, high: draws[Math.floor(0.95 * DRAWS)],
      p: (1 + draws.filter((draw) => draw >= value - 1e-9).length) / (DRAWS + 1),
      band: bins.map(([, , n], b) => [0.05, 0.95].map((share) => quantile(laws[b], share) / n)),
    };
  };

  // Lines of mean, frequency and, where it is known, count; `total` where counts are missing.
  const parse = (text, total, clicked = false) => {
    const bins = [];
    for (const [k, line] of text.split(/\r?\n/).entries()) {
      const words = line.trim().split(/[\s;]+|,\s+/).filter(Boolean), where = `Line ${k + 1}`;
      if (!words.length) continue;
      const [p, f, n] = words.map(Number);
      if (words.length < 2 || words.length > 3 || words.some((word) => !Number.isFinite(Number(word)))) {
        throw new Error(`${where} is “${line.trim()}”: write mean prediction, frequency and, if known, count, as in 0.35 0.41 52.`);
      }
      const wrong = [p, f].find((value) => value < 0 || value > 1);
      if (wrong < 0) throw new Error(`${where}: ${wrong} lies below 0, where no probability does; look again.`);
      if (wrong > 1) throw new Error(`${where}: ${wrong} is no probability; divide percentages by 100.`);
      if (n !== undefined && (n < 1 || n !== Math.round(n) || n > 1e7)) throw new Error(`${where}: a count is a whole number from 1 to 10,000,000, not ${n}.`);
      if (n && !clicked && Math.abs(Math.round(f * n) - f * n) > ROUNDED * n) {
        throw new Error(`${where}: ${f} of ${n} cases is no whole number of events; look again at both.`);
      }
      bins.push(n ? [p, Math.round(f * n) / n, n] : [p, f]);
    }
    if (!bins.length) throw new Error("Write a line for each bin, or click the points of a picture.");
    const counted = bins.filter((bin) => bin.length === 3).length, n = sum(bins.map((bin) => bin[2] ?? 0));
    if (counted && counted < bins.length) throw new Error("Give the count of every bin, or of none.");
    if (counted && total && n !== total) throw new Error(`The counts add up to ${whole(n)}, but n is ${whole(total)}; mend one of them.`);
    return bins;
  };
  // As many cases in each bin; shares stay as they were read.
  const shared = (bins, n) => bins.map(([p, f]) => [p, f, Math.max(1, Math.round(n / bins.length))]);

  const judge = (bins, total = 0) => {
    const assumed = "Within a bin every prediction is taken for the bin's mean.";
    if (bins[0].length < 3 && !total) {
      const found = (n) => chance(shared(bins, n));
      const equal = `${assumed} The bins are taken for equally large.`;
      if (found(SMALL).p <= LIMIT) return { verdict: `Not by chance, if there are ${SMALL} cases or more: the counts are missing, but as few would show it.`, assumed: equal };
      if (found(LARGE).p > LIMIT) return { verdict: `Cannot be told: the counts are missing; up to n = ${whole(LARGE)} chance explains it.`, assumed: equal };
      let low = SMALL, high = LARGE;
      while (high / low > 1.05) {
        const middle = Math.sqrt(low * high);
        if (found(middle).p > LIMIT) low = middle; else high = middle;
      }
      const turn = Number(Math.sqrt(low * high).toPrecision(1 + (low >= 1000)));
      return { verdict: `Cannot be told: the counts are missing; between n = ${SMALL} and n = ${whole(LARGE)} the answer turns at about ${whole(turn)}.`, assumed: equal, turn };
    }
    const known = bins[0].length === 3, all = known ? bins : shared(bins, total), found = chance(all);
    const n = known ? sum(all.map((bin) => bin[2])) : total, often = Math.round(100 * found.p);
    const share = often < 1 ? "fewer than 1" : `${often}`;
    const verdict = `${found.p <= LIMIT ? "Not by chance: with" : "With"} n = ${whole(n)} cases a perfect model looks like this, or worse, in ${share} of 100 papers.`;
    const numbers = `The bins imply an ECE of ${found.value.toFixed(3)}; a perfect model would show ${found.mean.toFixed(3)} on average, in 95 of 100 papers below ${found.high.toFixed(3)} (p ${found.p < 0.001 ? "< 0.001" : `= ${found.p.toFixed(found.p < 0.1 ? 3 : 2)}`}).`;
    return { verdict, numbers, assumed: known ? assumed : `${assumed} The bins are taken for equally large.`, ...found };
  };
  const review = ({ verdict, numbers = "", assumed }) => `Re-reading the reliability diagram: ${verdict} ${numbers} ${assumed} Please state the number of cases in each bin, and what a calibrated model would show by chance (Bröcker and Smith, 2007).`.replace(/ +/g, " ");

  // From pixels to the axes, by two opposite corners [x, y] with their values.
  const axes = ([a, b], [low, high]) => ({
    value: ([x, y]) => [low[0] + ((x - a[0]) / (b[0] - a[0])) * (high[0] - low[0]), low[1] + ((y - a[1]) / (b[1] - a[1])) * (high[1] - low[1])],
    pixel: ([u, v]) => [a[0] + ((u - low[0]) / (high[0] - low[0])) * (b[0] - a[0]), a[1] + ((v - low[1]) / (high[1] - low[1])) * (b[1] - a[1])],
  });
  return { parse, judge, chance, review, axes, ece };
})();

if (typeof module !== "undefined") module.exports = DIAGRAM;

if (typeof document !== "undefined") (() => {
  const part = (name) => document.getElementById(`ck-diagram-${name}`);
  const table = part("table"), total = part("n"), canvas = part("canvas"), pen = canvas.getContext("2d");
  const LOW = [0, 0], HIGH = [1, 1], NEAR = 16, OFF = 0.02;
  const state = { picture: null, corners: [], points: [], held: null, cursor: [0, 0], found: null };
  const say = (text) => { part("problem").textContent = text; };
  const place = () => DIAGRAM.axes(state.corners, [LOW, HIGH]);

  const draw = () => {
    if (!state.picture) return;
    const size = canvas.width / 400, mark = ([x, y], colour, radius = 5) => {
      pen.beginPath(); pen.arc(x, y, radius * size, 0, 7); pen.lineWidth = 2 * size; pen.strokeStyle = colour; pen.stroke();
    };
    pen.drawImage(state.picture, 0, 0);
    state.corners.forEach((corner) => mark(corner, "#9c2c00", 7));
    if (state.corners.length === 2) {
      const { pixel } = place(), band = state.found && state.found.band;
      pen.strokeStyle = "rgb(0 100 160 / 45%)"; pen.lineWidth = 8 * size;
      (band || []).forEach(([low, high], k) => {
        pen.beginPath();
        for (const end of [low, high]) pen.lineTo(...pixel([state.found.means[k], end]));
        pen.stroke();
      });
    }
    state.points.forEach((point) => mark(point, "#d00070"));
    const [x, y] = state.cursor;
    if (document.activeElement === canvas) { mark([x, y], "#000", 3); mark([x, y], "#fff", 2); }
  };

  const answer = () => {
    state.found = null;
    for (const name of ["verdict", "numbers", "assumed", "review"]) part(name)[name === "review" ? "value" : "textContent"] = "";
    try {
      const n = Number(total.value.replace(/(?<=\d)[,\s](?=\d{3})/g, "")); // 1,500 and 1 500, too; nothing is 0
      if (!Number.isInteger(n) || n < 0 || n > 1e7) throw new Error("n is a whole number from 1 to 10,000,000, or empty.");
      if (table.value.trim()) {
        const bins = DIAGRAM.parse(table.value, n, state.points.length > 0), found = DIAGRAM.judge(bins, n);
        for (const name of ["verdict", "numbers", "assumed"]) part(name).textContent = found[name] || "";
        part("review").value = DIAGRAM.review(found);
        state.found = { ...found, means: bins.map((bin) => bin[0]) };
      }
      say("");
    } catch (error) { say(error.message); }
    draw();
  };

  // The table follows the points; counts that were typed stay with their lines.
  const write = () => {
    const counts = table.value.split("\n").map((line) => line.trim().split(/\s+/)[2] || "");
    const { value } = place(), edge = (one) => Math.min(1, Math.max(0, one)).toFixed(3);
    table.value = state.points.map((point, k) => `${value(point).map(edge).join(" ")} ${counts[k] || ""}`.trim()).join("\n");
    answer();
  };
  const next = () => {
    part("step").textContent = !state.picture ? "" : ["Click the corner of the axes at 0, 0.", "Click the opposite corner, at 1, 1.", "Click each point; drag one to correct it; Backspace takes the last one away."][state.corners.length];
  };
  const inside = (point) => place().value(point).every((one) => one >= -OFF && one <= 1 + OFF);
  const click = (point) => {
    if (!state.picture) return;
    say("");
    if (state.corners.length < 2) {
      const [first] = state.corners;
      if (first && first.some((one, k) => Math.abs(one - point[k]) < 0.02 * canvas.width)) say("Both corners lie on one line; click the opposite corner of the axes.");
      else state.corners.push(point);
    } else if (!inside(point)) say("That point lies outside the axes; click inside them, or undo and set the corners anew.");
    else { state.points.push(point); write(); }
    next(); draw();
  };
  const undo = () => {
    if (state.points.length) { state.points.pop(); write(); } else state.corners.pop();
    next(); draw();
  };

  const position = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * canvas.width / box.width, (event.clientY - box.top) * canvas.height / box.height];
  };
  canvas.addEventListener("pointerdown", (event) => {
    const at = position(event), near = NEAR * canvas.width / canvas.getBoundingClientRect().width;
    state.held = [...state.points.keys()].find((k) => Math.hypot(state.points[k][0] - at[0], state.points[k][1] - at[1]) < near) ?? null;
    if (state.held === null) click(at); else canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (state.held !== null && inside(position(event))) { state.points[state.held] = position(event); draw(); }
  });
  canvas.addEventListener("pointerup", () => { if (state.held !== null) { state.held = null; write(); } });
  canvas.addEventListener("keydown", (event) => {
    const step = (event.shiftKey ? 20 : 2) * canvas.width / 800, [x, y] = state.cursor;
    const to = { ArrowLeft: [x - step, y], ArrowRight: [x + step, y], ArrowUp: [x, y - step], ArrowDown: [x, y + step] }[event.key];
    if (to) state.cursor = [Math.min(canvas.width, Math.max(0, to[0])), Math.min(canvas.height, Math.max(0, to[1]))];
    else if (event.key === "Enter") click([...state.cursor]);
    else if (event.key === "Backspace") undo();
    else return;
    event.preventDefault(); draw();
  });
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, draw);

  const load = async (file) => {
    if (!file) return;
    try {
      const picture = await createImageBitmap(file);
      if (state.points.length) table.value = ""; // the counts of another picture
      Object.assign(state, { picture, corners: [], points: [], cursor: [picture.width / 2, picture.height / 2] });
      [canvas.width, canvas.height, canvas.hidden] = [picture.width, picture.height, false];
      next(); answer();
    } catch { say("This is no picture that the browser can read; save the figure as PNG or JPEG, or take a screenshot."); }
  };
  part("file").addEventListener("change", (event) => load(event.target.files[0]));
  document.addEventListener("paste", (event) => load([...event.clipboardData.files][0]));
  part("drop").addEventListener("dragover", (event) => event.preventDefault());
  part("drop").addEventListener("drop", (event) => { event.preventDefault(); load(event.dataTransfer.files[0]); });
  part("undo").addEventListener("click", undo);
  part("copy").addEventListener("click", () => navigator.clipboard.writeText(part("review").value).catch(() => part("review").select()));
  for (const input of [table, total]) input.addEventListener("input", answer);
  answer();
})();
