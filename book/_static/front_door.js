// The first exercise. Python has drawn both panels and prepared every draw of the perfect model;
// this script moves points, counts, and fills the null level. It computes a mean and a share.
(() => {
  "use strict";

  const MANY = 20; // draws at one press
  const PACE = 70; // milliseconds between them
  const GLIDE = 220; // milliseconds in which the points reach their new places
  const RANGE = 0.16; // the largest error that the axis shows
  const FLOOR = 126; // where the lowest dots stand
  const COLUMNS = 48;
  const ENOUGH = 20; // draws from which their mean is called the null level

  const svg = (name, attributes, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    element.textContent = text;
    return element;
  };
  const three = (number) => number.toFixed(3);
  const across = (value) => 40 + 0.27 * value; // as the panels were drawn
  const up = (value) => 238 - 0.23 * value;

  const start = (door) => {
    const { perfect, wrong, draws, elsewhere } = JSON.parse(door.querySelector('[type="application/json"]').textContent);
    const panel = (name) => door.querySelector(`[data-model="${name}"]`);
    const box = door.querySelector(".ck-verdict-box");
    const said = box.querySelector("[role=status]");
    const dots = box.querySelector(".ck-dots");
    const still = window.matchMedia("(prefers-reduced-motion: reduce)");
    const seen = [perfect.error];
    let shown = perfect.up;
    let frame = 0;
    let timer = 0;

    const place = (root, heights) => {
      root.querySelectorAll("circle").forEach((point, i) => point.setAttribute("cy", up(heights[i])));
      const line = perfect.across.map((x, i) => `${across(x)},${up(heights[i])}`).join(" ");
      root.querySelector("polyline").setAttribute("points", line);
    };

    const glide = (target) => {
      cancelAnimationFrame(frame);
      const from = shown;
      const began = performance.now();
      const move = (now) => {
        const part = still.matches ? 1 : Math.min(1, Math.max(0, (now - began) / GLIDE));
        const eased = 1 - (1 - part) ** 3;
        shown = from.map((height, i) => height + eased * (target[i] - height));
        place(panel("perfect"), shown);
        if (part < 1) frame = requestAnimationFrame(move);
      };
      move(began);
    };

    const allow = (name, model) => {
      const group = panel(name).querySelector(".ck-chance");
      model.across.forEach((x, i) => group.append(svg("rect", {
        x: across(x) - 7, width: 14, y: up(model.upper[i]), height: up(model.lower[i]) - up(model.upper[i]),
      })));
      panel(name).querySelectorAll("circle").forEach((point, i) => {
        const isOut = model.up[i] < model.lower[i] || model.up[i] > model.upper[i];
        point.classList.toggle("ck-out", isOut);
      });
      panel(name).querySelector("button").disabled = true;
    };

    const caption = (name, words, error) => {
      panel(name).querySelector("button > span").textContent = `${words}\nerror ${three(error)}`;
    };

    // Each draw is a dot at its error; equal ones stand on each other.
    const pile = () => {
      const width = Math.max(280, dots.clientWidth);
      const at = (error) => 8 + (width - 16) * Math.min(1, error / RANGE);
      const radius = Math.min(4, width / COLUMNS / 2 - 0.3);
      const heights = new Map();
      dots.setAttribute("viewBox", `0 0 ${width} 165`);
      dots.replaceChildren(svg("path", { class: "ck-axis", d: `M8 ${FLOOR + 5}H${width - 8}` }));
      seen.forEach((error, i) => {
        const column = Math.floor((COLUMNS * error) / RANGE);
        const height = heights.get(column) ?? 0;
        heights.set(column, height + 1);
        dots.append(svg("circle", {
          cx: at(((column + 0.5) * RANGE) / COLUMNS), cy: FLOOR - 2 * radius * height, r: radius,
          class: i === seen.length - 1 ? "ck-last" : "",
        }));
      });
      [0, 0.04, 0.08, 0.12, 0.16].forEach((error) => dots.append(svg("text", {
        x: at(error), y: FLOOR + 21, "text-anchor": ["start", "middle", "middle", "middle", "end"][Math.round(error / 0.04)],
      }, `${error}`)));
      const level = mean();
      [[level, "ck-null", "end", -6, `${seen.length < ENOUGH ? "average" : "null level"} ${three(level)}`],
        [wrong.error, "ck-wrong", "start", 6, `${three(wrong.error)} model B`]].forEach(([error, kind, anchor, gap, words]) => {
        dots.append(svg("path", { class: kind, d: `M${at(error)} 4V${FLOOR + 5}` }));
        dots.append(svg("text", { class: kind, x: at(error) + gap, y: 14, "text-anchor": anchor }, words));
      });
      dots.append(svg("text", { x: width / 2, y: FLOOR + 36, "text-anchor": "middle" }, "error of the perfect model, draw by draw"));
      dots.setAttribute("aria-label", `Errors of ${seen.length} draws of the perfect model, as a pile of dots: ${summary()}`);
    };

    const mean = () => seen.reduce((sum, error) => sum + error, 0) / seen.length;
    const summary = () => {
      const worse = seen.filter((error) => error > wrong.error).length;
      return `on average ${three(mean())}${seen.length < ENOUGH ? "" : ", its null level (what chance alone gives)"}; ${worse} of ${seen.length} look worse than model B.`;
    };

    const next = () => {
      const [error, ...heights] = draws[seen.length - 1];
      seen.push(error);
      glide(heights);
      caption("perfect", "Perfect: 150 forecasts", error);
      pile();
    };

    const tell = () => {
      const rest = draws.length + 1 - seen.length;
      const last = three(seen[seen.length - 1]);
      said.textContent = `Draw ${seen.length} of a perfect model: error ${last}. So far ${summary()}`
        + (rest ? "" : " These are all the draws that this page holds. Chance has made both models, too:"
          + ` in twenty others like them, ${elsewhere.join(" to ")} % of draws look worse.`);
      keys.forEach((key) => { key.disabled = rest === 0; });
    };

    const draw = (count) => {
      clearTimeout(timer);
      if (seen.length <= draws.length) next();
      if (count > 1 && seen.length <= draws.length) {
        timer = setTimeout(draw, still.matches ? 0 : PACE, count - 1);
      } else tell();
    };

    const key = (words, count) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "ck-button";
      button.textContent = words;
      button.addEventListener("click", () => draw(count));
      return button;
    };
    const keys = [key("Draw again", 1), key(`${MANY} more draws`, MANY)];

    const answer = (choice) => {
      door.dataset.answered = choice;
      allow("perfect", perfect);
      allow("wrong", wrong);
      caption("perfect", "Perfect: 150 forecasts", perfect.error);
      caption("wrong", "Over-confident: 3,000 forecasts", wrong.error);
      box.hidden = false;
      box.querySelector(".ck-row").append(...keys);
      const verdict = choice === "wrong" ? "Yes, model B" : "No, it is model B";
      said.textContent = `${verdict}: with 3,000 forecasts it leaves the grey bars, which are what chance allows. `
        + "The ragged one is perfect: chance alone does this to 150 forecasts. Draw again.";
      pile();
      keys[0].focus({ preventScroll: true });
      box.scrollIntoView({ block: "nearest", behavior: still.matches ? "auto" : "smooth" });
      window.addEventListener("resize", pile);
    };

    door.querySelectorAll(".ck-panel").forEach((button) => {
      button.disabled = false;
      button.addEventListener("click", () => answer(button.value), { once: true });
    });
  };

  document.querySelectorAll(".ck-door").forEach(start);

  // Each card counts the exercises that this browser has solved: of the core, and further ones.
  const answers = window.calibkitExercises?.read() ?? {};
  document.querySelectorAll(".ck-minutes").forEach((line) => {
    const { lesson, core } = line.dataset, ids = core.split(" ");
    const solved = Object.keys(answers).filter((id) => answers[id].state === "Correct" && parseInt(id) === Number(lesson));
    const further = solved.filter((id) => !ids.includes(id)).length;
    if (solved.length) line.append(` · ✓ ${solved.length - further} of ${ids.length} solved`, further ? `, further: ${further}` : "");
  });
})();
