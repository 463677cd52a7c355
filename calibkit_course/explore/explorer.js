// Explorers on a page without a kernel. Python has rendered every state beforehand, wide and narrow;
// this script picks the one that the controls and the screen ask for. It computes nothing but an
// index and a running score. The book keeps the pictures in files of their own, which are fetched
// when the explorer comes near the screen (_ext/narrow_figures.py).
(() => {
  "use strict";

  const phone = window.matchMedia("screen and (max-width: 48rem)"); // as in page.py

  const open = (root) => {
    // JupyterLab and themes bind arrow keys; inside an explorer they belong to its controls.
    root.addEventListener("keydown", (event) => event.stopPropagation());
    root.querySelector(".ck-controls").hidden = false;
  };

  // In points, 0.72 to a pixel.
  const sizeOf = (svg) => svg.match(/width="([\d.]+)pt" height="([\d.]+)pt"/).slice(1).map(Number);

  // Return what puts the picture of a state before the reader, in the form that the screen asks for.
  const frame = (root, data) => {
    const picture = root.querySelector(".ck-figure");
    const fetched = {};
    let shown = null;

    const form = () => (phone.matches ? "narrow" : "wide");

    const fetchAll = (which) => {
      if (!data[which]) return Promise.resolve(); // the page itself holds them
      fetched[which] ||= new Promise((done) => {
        const script = document.createElement("script");
        script.src = data[which];
        script.onload = () => {
          script.pictures.forEach((svg, i) => { data.states[i][which] = svg; });
          root.dataset[which] = "here";
          done();
        };
        script.onerror = () => { delete fetched[which]; script.remove(); done(); };
        document.head.append(script);
      });
      return fetched[which];
    };

    const show = async (state) => {
      const isFirst = !shown; // which the page's own picture shows
      shown = state;
      if (isFirst) return;
      const which = form();
      if (!state[which]) await fetchAll(which);
      const svg = state[which] ?? state.wide ?? state.narrow;
      if (shown !== state || !svg) return;
      root.querySelector("picture > source")?.remove();
      [picture.width, picture.height] = sizeOf(svg).map((points) => Math.round(points / 0.72));
      picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
      picture.alt = state.alt;
    };

    phone.addEventListener("change", () => { if (!root.querySelector("picture > source")) show(shown); });
    new IntersectionObserver(([seen], watch) => {
      if (!seen.isIntersecting) return;
      watch.disconnect();
      fetchAll(form());
    }, { rootMargin: "100%" }).observe(root);
    return { form, show };
  };

  const frames = new WeakMap();

  const parts = (root) => {
    const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    frames.set(root, frame(root, data));
    return {
      data,
      show: frames.get(root).show,
      readout: root.querySelector(".ck-readout"),
      inputs: [...root.querySelectorAll("input, select")],
      button: (role) => root.querySelector(`[data-role="${role}"]`),
    };
  };

  // Where a control stands, as an index into its texts. What makes a page live asks the same.
  const position = (input) => {
    if (input.type === "checkbox") return Number(input.checked);
    return input.type === "range" ? Number(input.value) : input.selectedIndex;
  };

  const place = (input, index) => {
    if (input.type === "checkbox") input.checked = index === 1;
    else if (input.type === "range") input.value = String(index);
    else input.selectedIndex = index;
  };

  window.calibkitControls = { position, place, frameOf: (root) => frames.get(root) };

  const startExplorer = (root) => {
    const { data, show, readout, inputs, button } = parts(root);

    const update = () => {
      let index = 0;
      inputs.forEach((input, i) => {
        const here = position(input);
        index = index * data.texts[i].length + here;
        if (input.type !== "range") return;
        input.setAttribute("aria-valuetext", data.texts[i][here]);
        input.closest(".ck-control").querySelector(".ck-value").textContent = data.texts[i][here];
      });
      const state = data.states[index];
      show(state);
      readout.textContent = state.text;
    };

    const reset = () => {
      inputs.forEach((input, i) => place(input, data.starts[i]));
      update();
    };

    inputs.forEach((input) => input.addEventListener("input", update));
    button("reset").addEventListener("click", reset);
    reset();
    open(root);
  };

  // The play key runs one control through its values, ten a second, until it is pressed again, the
  // reader moves something, or the figure is out of sight. Who asks for no motion gets single steps.
  const FRAME = 90; // milliseconds
  const REST = 10; // frames for which the last value stands

  const startPlay = (root) => {
    if (!root.querySelector('[data-role="play"]')) return;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)");
    const readout = root.querySelector(".ck-readout");
    let timer = null;
    let rested = 0;

    const key = () => root.querySelector('[data-role="play"]'); // another one once the page is live
    const write = () => {
      const [sign, word] = timer ? ["▮▮", "Pause"] : ["▶", still.matches ? "Step" : "Play"];
      key().textContent = `${sign} ${word}`;
      key().setAttribute("aria-label", `${word}: ${key().dataset.label}`);
      readout.setAttribute("aria-live", timer ? "off" : "polite"); // nobody hears ten a second
    };

    const step = () => {
      if (root.hasAttribute("aria-busy")) return; // live: Python draws the last one still
      const inputs = root.querySelectorAll(".ck-controls input, .ck-controls select");
      const input = inputs[Number(key().dataset.place)];
      const last = (input.type === "range" ? Number(input.max) : input.length - 1);
      const here = position(input);
      rested += 1;
      if (timer && here === last && rested < REST) return;
      rested = 0;
      place(input, here === last ? 0 : here + 1);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    };

    const stop = () => {
      if (!timer) return;
      clearInterval(timer);
      timer = null;
      write();
      const said = readout.textContent;
      readout.textContent = "";
      readout.textContent = said; // read aloud where it stopped
    };

    const start = () => {
      rested = REST;
      if (!still.matches) timer = setInterval(step, FRAME);
      step();
      write();
    };

    root.addEventListener("click", ({ target }) => {
      const role = target.dataset.role;
      if (role === "play" && !timer) start();
      else if (role) stop();
    });
    root.addEventListener("input", (event) => { if (event.isTrusted) stop(); });
    document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); });
    new IntersectionObserver(([seen]) => { if (!seen.isIntersecting) stop(); }).observe(root);
    still.addEventListener("change", () => { stop(); write(); });
    write();
  };

  const startQuiz = (root) => {
    const { data, show, readout, inputs, button } = parts(root);
    let draw = 0;
    let right = 0;
    let seen = 0;
    const table = root.querySelector(".ck-tally");
    const rows = table ? [...table.rows] : [];
    const won = rows.map(() => 0);

    // What each player won so far, as numbers and as bars.
    const tally = () => {
      if (!table) return;
      rows.forEach((row, player) => {
        row.querySelector(".ck-won").textContent = String(won[player]);
        row.querySelector("meter").value = won[player];
      });
      table.hidden = seen === 0;
    };

    const lock = (isLocked) => {
      inputs.forEach((input) => { input.disabled = isLocked; });
      button("reveal").disabled = isLocked;
    };

    const say = (lines) => {
      readout.replaceChildren(...lines.flatMap((line, i) => (
        i ? [document.createElement("br"), line] : [line]
      )));
    };

    const score = () => data.score.replace("{right}", right).replace("{seen}", seen);

    const ask = () => {
      show(data.states[2 * draw]);
      inputs.forEach((input) => { input.checked = false; });
      say(seen ? [data.question, score()] : [data.question]);
      lock(false);
    };

    const reveal = () => {
      const { lines, right: perfect, points } = data.draws[draw];
      const ticks = inputs.map((input) => Number(input.checked));
      right += ticks.filter((tick, i) => tick === perfect[i]).length;
      seen += ticks.length;
      won.forEach((_, player) => {
        won[player] += ticks.reduce((sum, tick, i) => sum + points[i][tick][player], 0);
      });
      tally();
      show(data.states[2 * draw + 1]);
      say([...ticks.map((tick, i) => lines[i][tick]), score()]);
      lock(true);
      button("again").focus();
    };

    const again = () => {
      draw = (draw + 1) % data.draws.length;
      ask();
    };

    button("reveal").addEventListener("click", reveal);
    button("again").addEventListener("click", again);
    root.addEventListener("ck-draw", ({ detail }) => { // from live.js
      data.draws.push(detail);
      data.states.push(...detail.states);
    });
    ask();
    open(root);
  };

  const startAll = () => {
    document.querySelectorAll(".ck-explorer").forEach((root) => {
      startExplorer(root);
      startPlay(root);
    });
    document.querySelectorAll(".ck-quiz").forEach(startQuiz);
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startAll);
  else startAll();
})();
