// Draw your guess: a canvas that Python has drawn takes a line by mouse, finger and arrow keys.
// JupyterLab calls `render`, a page of the book `wake` and `compare`; nothing here knows a truth
// that the page does not hold already.
const calibkitDraw = (() => {
  "use strict";

  const part = (svg, name) => svg.querySelector(`.ck-${name}`);
  const fill = (form, words) => form.replace(/\{(\w+)\}/g, (_, name) => words[name]);
  const read = (svg) => JSON.parse(svg.dataset.canvas);

  const put = (svg, heights) => {
    const { places, top, roof, floor } = read(svg);
    const spots = places.map((x, k) => [x, floor - ((floor - roof) * heights[k]) / top])
      .filter((_, k) => heights[k] !== null);
    part(svg, "drawn").setAttribute("d", spots.map((spot, k) => (k ? "L" : "M") + spot).join(""));
    part(svg, "drawn-dots").setAttribute("d", spots.map((spot) => `M${spot}h0`).join(""));
    return spots;
  };

  // A canvas that takes a line. `changed(heights, words)` follows every stroke and every key.
  const wake = (svg, changed) => {
    const { places, x, top, roof, floor, digits, axis, words, drawn } = read(svg);
    let heights = drawn ?? places.map(() => null);
    let at = 0, last = null, locked = false;
    const cursor = part(svg, "drawn").cloneNode();
    cursor.setAttribute("class", "ck-cursor");
    cursor.setAttribute("opacity", ".4");
    svg.append(cursor);
    svg.tabIndex = 0;
    svg.style.touchAction = "none";
    svg.style.cursor = "crosshair";
    svg.setAttribute("role", "slider");
    svg.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's arrow keys
    svg.setAttribute("aria-valuemin", 0);
    svg.setAttribute("aria-valuemax", top);

    const show = () => {
      put(svg, heights);
      cursor.setAttribute("d", `M${places[at]},${roof}V${floor}`);
      const there = heights.filter((height) => height !== null).length;
      const here = heights[at] === null ? words.DRAW_OPEN : heights[at].toFixed(digits);
      svg.setAttribute("aria-valuenow", heights[at] ?? 0);
      svg.setAttribute("aria-valuetext", fill(words.DRAW_AT, { place: `${axis} ${x[at]}`, height: here }));
      const said = there === places.length ? words.DRAWN_ALL : words.DRAW_HOW;
      changed([...heights], fill(said, { there, count: places.length }));
    };

    const set = (k, height) => {
      at = k;
      heights[k] = Number(Math.min(top, Math.max(0, height)).toFixed(digits));
    };
    const nearest = (a) => places.reduce((best, p, k) => (Math.abs(p - a) < Math.abs(places[best] - a) ? k : best), 0);
    const height = (b) => (top * (floor - b)) / (floor - roof);

    // A quick stroke jumps: what lies between two of its points gets heights between theirs.
    const stroke = (event) => {
      const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
      const [a, b] = [scale * (event.clientX - box.left), scale * (event.clientY - box.top)];
      const [from, level] = last ?? [a, b];
      places.forEach((p, k) => {
        if ((p - from) * (p - a) < 0) set(k, height(level + ((b - level) * (p - from)) / (a - from)));
      });
      set(nearest(a), height(b));
      last = [a, b];
      show();
    };
    svg.addEventListener("pointerdown", (event) => {
      if (locked) return;
      svg.setPointerCapture(event.pointerId);
      svg.focus({ preventScroll: true });
      last = null;
      stroke(event);
      event.preventDefault();
    });
    svg.addEventListener("pointermove", (event) => {
      if (!locked && svg.hasPointerCapture(event.pointerId)) stroke(event);
    });

    svg.addEventListener("keydown", (event) => {
      const up = { ArrowUp: 0.02, ArrowDown: -0.02, PageUp: 0.1, PageDown: -0.1 }[event.key];
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: places.length - 1 }[event.key];
      if (locked || (up === undefined && to === undefined)) return;
      event.preventDefault();
      event.stopPropagation();
      if (to !== undefined) at = Math.min(places.length - 1, Math.max(0, to));
      else set(at, (heights[at] ?? heights[at - 1] ?? 0) + up * top);
      show();
    });

    const restart = (line) => { heights = line ?? places.map(() => null); show(); };
    const lock = (isLocked) => { locked = isLocked; svg.style.cursor = isLocked ? "" : "crosshair"; };
    show();
    return { restart, lock, heights: () => [...heights] };
  };

  // Lay a line beside the truth that a canvas holds; return the sentence that Python would say.
  const compare = (svg, heights) => {
    const { places, x, top, roof, floor, digits, axis, words, truth } = read(svg);
    const spots = put(svg, heights), under = truth.map((height, k) => [places[k], floor - ((floor - roof) * height) / top]);
    part(svg, "between").setAttribute("points", [...spots, ...under.reverse()].join(" "));
    const off = (line) => line.reduce((sum, height, k) => sum + Math.abs(height - truth[k]), 0) / truth.length;
    const sorted = [...truth].sort((a, b) => a - b), half = sorted.length / 2;
    const middle = (sorted[Math.floor(half)] + sorted[Math.ceil(half) - 1]) / 2;
    const gaps = heights.map((height, k) => Math.abs(height - truth[k])), worst = gaps.indexOf(Math.max(...gaps));
    const said = (number) => number.toFixed(digits);
    const flat = off(truth.map(() => middle)), limit = flat <= top / 20 ? top / 10 : Math.min(top / 10, flat / 2);
    return fill(off(heights) <= limit ? words.LINE_NEAR : words.LINE_OFF, {
      off: said(off(heights)), flat: said(flat),
      place: `${axis} = ${x[worst]}`, you: said(heights[worst]), it: said(truth[worst]),
    });
  };

  const render = ({ model, el }) => {
    el.innerHTML = model.get("html");
    const svg = el.querySelector(".ck-canvas");
    const clear = document.createElement("button"), status = document.createElement("span");
    clear.textContent = read(svg).words.DRAW_CLEAR;
    status.setAttribute("role", "status");
    status.style.marginLeft = "0.8em";
    el.append(clear, status);
    const canvas = wake(svg, (heights, words) => {
      status.textContent = words;
      model.set("heights", heights);
      model.save_changes();
    });
    clear.addEventListener("click", () => canvas.restart());
  };

  return { wake, compare, render };
})();
