// Explorers that go live: a button starts Python in the page, which then draws every value of every
// control. The states that the page holds stay until then, and where Python cannot start.
(() => {
  "use strict";

  const python = window.calibkitPython;
  if (!python) return;

  const element = (name, className, text = "") => {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  };

  const { position, place, frameOf } = window.calibkitControls; // from explorer.js

  const inputsOf = (root) => [...root.querySelectorAll(".ck-controls input, .ck-controls select")];

  // What stands below an explorer: the button, then how far Python is, then what became of it.
  const bar = (root) => {
    const button = element("button", "ck-button", `Make it live (${python.megabytes} MB once)`);
    button.type = "button";
    button.dataset.role = "live";
    const progress = element("progress", "ck-progress");
    progress.max = 1;
    progress.hidden = true;
    progress.setAttribute("aria-label", "Loading Python");
    const status = element("span", "ck-live-status");
    status.setAttribute("role", "status");
    const row = element("div", "ck-live");
    row.append(button, progress, status);
    root.append(row);
    const note = root.querySelector(".ck-note");
    if (note) note.textContent = note.textContent.replace("In JupyterLab", "Live, or in JupyterLab,");
    return { row, button, progress, status };
  };

  // Put all values into the controls, at the places where the reader has left them.
  const widen = (root, data, every) => {
    const kept = new Map(inputsOf(root).map((input, i) => (
      [data.names[i], data.texts[i][position(input)]]
    )));
    const old = root.querySelector(".ck-controls");
    const fresh = old.cloneNode(false); // without what listened to the old ones
    fresh.innerHTML = every.html;
    old.replaceWith(fresh);
    fresh.querySelector(".ck-more")?.setAttribute("open", "");
    inputsOf(root).forEach((input, i) => {
      const here = every.texts[i].indexOf(kept.get(every.names[i]));
      place(input, here < 0 ? every.starts[i] : here);
    });
  };

  const liveExplorer = (root, data, every, { status }) => {
    const address = root.dataset.explorer;
    const start = JSON.stringify(data.start);
    widen(root, data, every);
    const inputs = inputsOf(root);
    const { form, show } = frameOf(root);
    const readout = root.querySelector(".ck-readout");
    let busy = false;
    let stale = false;

    const write = () => inputs.forEach((input, i) => {
      if (input.type !== "range") return;
      const text = every.texts[i][position(input)];
      input.setAttribute("aria-valuetext", text);
      input.closest(".ck-control").querySelector(".ck-value").textContent = text;
    });

    // Only the newest state is drawn: those that were passed meanwhile are left out.
    const draw = async () => {
      write();
      if (busy) { stale = true; return; }
      busy = true;
      root.setAttribute("aria-busy", "true");
      try {
        do {
          stale = false;
          const state = await python.call("state", [address, start, inputs.map(position), form()]);
          if (!stale) {
            show(state);
            readout.textContent = state.text;
            root.dataset.seconds = state.seconds;
          }
        } while (stale);
        status.textContent = "";
      } catch (error) {
        status.textContent = `${python.sentence(error)} The figure shows the state before.`;
      }
      busy = false;
      root.removeAttribute("aria-busy");
    };

    const reset = () => {
      inputs.forEach((input, i) => place(input, every.starts[i]));
      draw();
    };

    inputs.forEach((input) => input.addEventListener("input", draw));
    root.querySelector('[data-role="reset"]').addEventListener("click", reset);
    write();
    const states = every.texts.reduce((product, texts) => product * texts.length, 1);
    root.querySelector(".ck-note").textContent =
      `Live: Python in this page draws each of the ${states.toLocaleString("en")} states.`;
  };

  // A quiz of the page repeats its draws; live, the next one is drawn while this one is looked at.
  const liveQuiz = (root, data, { status }) => {
    let step = data.draws.length;
    const more = async () => {
      try {
        const draw = await python.call("draw", [root.dataset.explorer, step, frameOf(root).form()]);
        step += 1;
        root.dispatchEvent(new CustomEvent("ck-draw", { detail: draw }));
        root.dataset.draws = step;
      } catch (error) {
        status.textContent = python.sentence(error);
      }
    };
    root.querySelector('[data-role="again"]').addEventListener("click", more);
    more();
    status.textContent = "Live: Python in this page draws ever new ones.";
  };

  const goLive = async (root, parts) => {
    const { button, progress, status } = parts;
    const obstacle = python.obstacle();
    const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    const remain = "What the page holds still works.";
    if (obstacle) { status.textContent = `${obstacle} ${remain}`; return; }
    const hadFocus = document.activeElement === button;
    button.disabled = true;
    progress.hidden = false;
    status.textContent = "Loading Python; the figure can be used meanwhile.";
    try {
      await python.start(({ share, arrived }) => {
        if (share) progress.value = share;
        if (arrived) { progress.removeAttribute("value"); status.textContent = "Starting Python …"; }
      });
      progress.removeAttribute("value");
      status.textContent = "Starting Python …";
      if (root.matches(".ck-quiz")) {
        liveQuiz(root, data, parts);
      } else {
        const every = await python.call(
          "controls", [root.dataset.explorer, JSON.stringify(data.start)],
        );
        liveExplorer(root, data, every, parts);
        const more = inputsOf(root).filter((_, i) => !data.names.includes(every.names[i]))
          .map((input) => input.closest(".ck-control").querySelector("label").firstChild.data.trim());
        root.querySelector(".ck-frame").before(parts.row); // what is new is said below the controls
        const { top, bottom } = root.getBoundingClientRect();
        if (top < window.innerHeight && bottom > 0) root.scrollIntoView();
        status.textContent = `Ready, with more values${more.length ? `. New: ${more.join(", ")}` : ""}.`;
      }
      root.dataset.live = "";
      button.remove();
      progress.remove();
      if (hadFocus) (inputsOf(root)[0] || root).focus();
    } catch (error) {
      python.stop(error);
      button.disabled = false;
      button.textContent = "Try again";
      progress.hidden = true;
      progress.value = 0;
      status.textContent = `${python.sentence(error)} ${remain}`;
    }
  };

  document.querySelectorAll("[data-explorer]").forEach((root) => {
    if (root.querySelector(".ck-note[data-all]")) return; // nothing would be new
    const parts = bar(root);
    parts.button.addEventListener("click", () => goLive(root, parts));
  });
})();
