// Exercises in the page: an editor, Run and check, Hint, Solution, Start again. Python runs in the
// worker that explorers use; what was typed and reached stays in this browser.
(() => {
  "use strict";

  const python = window.calibkitPython, kept = window.calibkitExercises;
  const cells = document.getElementById("ck-cells");
  if (!python || !cells) return;
  const lesson = cells.dataset.lesson, text = cells.textContent;
  const given = Object.fromEntries(JSON.parse(text).filter(({ exercise }) => exercise)
    .map(({ exercise, source }) => [exercise, source]));
  const MARKS = { Correct: "✓", "Self-assessed": "☑", Almost: "≈" };

  // The table of progress at the end of a lesson has a row for each exercise.
  const rows = [...document.querySelectorAll(".cell_output tr")].map(({ cells: [name, state] }) => [name, state]);
  const NOT_YET = "… Not attempted";
  const inTable = Object.fromEntries(rows.filter(([, state]) => state?.textContent.trim() === NOT_YET)
    .map(([name, state]) => [name.textContent, state]));
  const inRow = (id) => {
    const { state } = kept.read()[id] || {};
    if (inTable[id]) inTable[id].textContent = MARKS[state] ? `${MARKS[state]} ${state}` : NOT_YET;
  };

  const make = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...children);
    return made;
  };

  const button = (name, act) => {
    const made = make("button", { type: "button", class: "ck-button" }, name);
    made.addEventListener("click", act);
    return made;
  };

  // Where the carried editor did not arrive, a plain field does.
  const plainEditor = ({ parent, text: start, label, changed, run }) => {
    const field = make("textarea", { "aria-label": label, spellcheck: "false", autocapitalize: "off" });
    field.value = start;
    const fit = () => { field.rows = field.value.split("\n").length + 1; };
    field.addEventListener("input", () => { fit(); changed(field.value); });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
      event.preventDefault();
      run();
    });
    fit();
    parent.append(field);
    return { text: () => field.value, focus: () => field.focus(),
             write: (all) => { field.value = all; fit(); changed(all); } };
  };

  const ask = (method, ...words) => python.call("exercise", [lesson, text, method, ...words]);

  let running = null; // the exercise that has Python

  const wake = (root) => {
    const id = root.dataset.exercise;
    const stub = given[id];
    const static_ = root.querySelector(".tag_exercise .cell_input");
    const solution = root.querySelector(".tag_solution");
    const hints = [];
    for (let one = root.previousElementSibling; one; one = one.previousElementSibling) {
      if (one.matches("details") && /Hint \d/.test(one.firstElementChild.textContent)) hints.unshift(one);
    }
    const shuffled = window.calibkitShuffled?.(solution.querySelector("pre").textContent);
    if (shuffled) hints.push(shuffled);
    const entry = () => kept.read()[id] || {};
    const note = (more) => kept.note(id, { ...entry(), ...more });

    const place = make("div", { class: "ck-editor" });
    const progress = make("progress", { class: "ck-progress", max: 1, "aria-label": "Getting ready" });
    const status = make("span", { class: "ck-live-status", role: "status" });
    const output = make("div", { class: "ck-answer", "aria-live": "polite" });
    const mark = make("span", { class: "ck-reached" });
    root.before(make("p", { class: "ck-keys" }, mark));
    progress.hidden = true;

    const reached = () => {
      const { state } = entry();
      mark.textContent = MARKS[state] ? `${MARKS[state]} ${state} in this browser.` : "";
      again.hidden = !entry().code;
      inRow(id);
    };

    const show = (said) => {
      const parts = [];
      if (said.printed) parts.push(make("pre", {}, said.printed));
      said.shown.forEach((html) => parts.push(fragment(html)));
      if (said.error) parts.push(make("pre", { class: "ck-error" }, said.error));
      if (said.html) parts.push(fragment(said.html));
      if (said.points && said.points.length) parts.push(rubric(said.points));
      output.replaceChildren(...parts);
    };

    const fragment = (html) => {
      const made = make("div");
      made.innerHTML = html;
      return made;
    };

    // The points of a free text, for its writer to tick; what is ticked is its writer's own reading.
    const rubric = (points) => {
      const boxes = points.map((point, k) => {
        const box = make("input", { type: "checkbox", value: k + 1 });
        return make("label", {}, box, ` ${point}`);
      });
      const done = () => check(boxes.flatMap(({ firstChild: box }) => (box.checked ? [+box.value] : [])));
      return make("div", { class: "ck-points", role: "group", "aria-label": "Points of a good text" },
        ...boxes, button("These are in my text", done));
    };

    const busy = (isBusy) => {
      running = isBusy ? id : null;
      run.disabled = isBusy;
      halt.hidden = !isBusy;
      progress.hidden = !isBusy;
      root.toggleAttribute("aria-busy", isBusy);
    };

    const prepare = async () => {
      status.textContent = "Starting Python …";
      await python.start(({ share, arrived }) => {
        if (share) { progress.value = share; status.textContent = `Loading Python (${python.megabytes} MB, once) …`; }
        if (arrived) { progress.removeAttribute("value"); status.textContent = "Starting Python …"; }
      });
      const needed = await ask("needed", id, editor.text());
      for (const [done, number] of needed.entries()) {
        progress.value = done / needed.length;
        status.textContent = `Running what this exercise needs: cell ${done + 1} of ${needed.length} …`;
        await ask("run", number);
      }
      progress.removeAttribute("value");
      status.textContent = "Running your code …";
    };

    const check = async (contains) => {
      const obstacle = python.obstacle();
      if (obstacle) { status.textContent = `${obstacle} The solution can be read all the same.`; return; }
      if (running) { status.textContent = `Exercise ${running} is still running.`; return; }
      busy(true);
      try {
        await prepare();
        const code = editor.text();
        const said = await ask("check", id, code, ...(contains ? [contains] : []));
        note({ code, state: said.state || "Error" });
        show(said);
        status.textContent = "";
      } catch (error) {
        if (error.message !== "stopped") python.stop(error);
        status.textContent = error.message === "stopped" ? "Stopped." : python.sentence(error);
      }
      busy(false);
      reached();
    };

    const run = button("Run and check", () => check());
    const halt = button("Stop", () => python.stop());
    let opened = 0;
    const hint = button("Hint", () => {
      const next = hints[Math.min(opened, hints.length - 1)];
      next.hidden = false;
      next.open = true;
      opened += 1;
      if (opened >= hints.length) hint.disabled = true;
      else hint.textContent = `Hint ${opened + 1} of ${hints.length}`;
      next.firstElementChild.focus();
    });
    const reveal = button("Solution", () => {
      solution.hidden = false;
      solution.querySelector("details").open = true;
      reveal.disabled = true;
    });
    const again = button("Start again", () => {
      editor.write(stub);
      kept.note(id, null);
      output.replaceChildren();
      status.textContent = "";
      reached();
      editor.focus();
    });
    run.classList.add("ck-primary");
    halt.hidden = true;
    hint.hidden = !hints.length;

    const helps = make("div", { class: "ck-helps" }, ...hints, solution);
    [...hints, solution].forEach((one) => { one.hidden = true; });
    static_.before(place);
    static_.hidden = true; // paper and other scripts still find it
    root.append(make("div", { class: "ck-live" }, run, halt, hint, reveal, again, progress, status),
      output, helps);
    const editor = (window.calibkitEditor || plainEditor)({
      parent: place,
      text: entry().code ?? stub,
      label: `Your code for exercise ${id}. Control and Enter run it; Escape, then Tab, leaves the editor.`,
      changed: (code) => {
        if (code === (entry().code ?? stub)) return;
        note({ code });
        again.hidden = false;
      },
      run: () => { check(); return true; },
    });
    // The theme binds keys; inside an editor they belong to it.
    place.addEventListener("keydown", (event) => event.stopPropagation());
    run.title = "Control and Enter";
    reached();
  };

  Object.keys(inTable).forEach(inRow); // those of the lesson's other page, too
  document.querySelectorAll(".ck-exercise").forEach(wake);
})();
