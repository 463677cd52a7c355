// Guess first: the buttons of a prediction open the folds that hold its outcome. The browser
// remembers the guesses, and as forecasts how sure the reader was before an outcome was first open.
// Without this script each fold is opened by hand.
(() => {
  "use strict";

  const KEY = "calibkit-guesses", FORECASTS = "calibkit-forecasts", EXERCISES = "calibkit-exercises";
  const CODE = "calibkit-code"; // "all" where a reader wants to see it
  const NEAR = 1.25;
  const folds = () => [...document.querySelectorAll("details.ck-fold")];
  const ids = (fold) => fold.dataset.predictions.split(" ").filter(Boolean);

  // Some browsers forbid storage; the guesses then last as long as the page.
  // A forecast is {options, sure, right}, or null where the outcome was open before.
  let guesses = {}, forecasts = {};
  let notKept = ""; // or the sentence that says so
  const tried = (act) => {
    try { return act(); } catch {
      notKept = " This browser stores nothing for this site: what you do lasts as long as this page.";
      return null;
    }
  };
  const stored = (key) => tried(() => localStorage.getItem(key));
  const store = (key, text) => tried(() => localStorage.setItem(key, text));
  const isForecast = (row) => row === null || (Number.isInteger(row.options) && row.options > 1
    && typeof row.sure === "number" && row.sure > 0 && row.sure <= 1 && typeof row.right === "boolean");

  const isExercise = (row) => typeof row.code === "string" && row.code.length < 1e5;

  // What nobody can read is kept under a name of its own, which no later one takes.
  const readTable = (key, isRow) => {
    const text = stored(key) ?? "{}";
    try {
      const rows = JSON.parse(text);
      if (rows.constructor === Object && Object.values(rows).every(isRow)) return rows;
    } catch { /* it is damaged */ }
    let number = 1;
    while (stored(`${key}-damaged-${number}`) !== null) number += 1;
    store(`${key}-damaged-${number}`, text);
    store(key, "{}");
    return {};
  };
  const readForecasts = () => {
    const rows = readTable(FORECASTS, isForecast);
    return notKept ? { ...forecasts, ...rows } : rows; // what another page forgot stays forgotten
  };
  const writeForecasts = (rows) => {
    forecasts = rows;
    store(FORECASTS, JSON.stringify(rows));
  };
  window.calibkitForecasts = { read: readForecasts, write: writeForecasts };

  // Answers to exercises, {code, state}: what was typed, and what its check said last.
  let answers = {}; // where nothing is stored
  const readAnswers = () => { answers = { ...answers, ...readTable(EXERCISES, isExercise) }; return answers; };
  window.calibkitExercises = {
    read: readAnswers,
    note: (id, row) => {
      readAnswers();
      if (row) answers[id] = row; else delete answers[id];
      store(EXERCISES, JSON.stringify(answers));
      countAgain();
    },
  };

  // The sentences below the table of progress count what this browser knows of the ids they name.
  const countAgain = () => {
    const known = readAnswers();
    document.querySelectorAll("p[data-counts]").forEach((line) => {
      const ids = line.dataset.counts.split(" ");
      const counts = [ids.filter((id) => known[id]?.state === "Correct"), ids.filter((id) => id in guesses)];
      line.textContent = line.textContent.replace(/\d+(?= of )/g, () => counts.shift().length);
    });
  };

  // All that this browser keeps, to be taken to another; what stands there already stays.
  const tables = () => {
    load();
    return { guesses, forecasts, exercises: readAnswers() };
  };
  const add = (text) => {
    const found = JSON.parse(text);
    const isRow = { guesses: (row) => typeof row === "string", forecasts: isForecast, exercises: isExercise };
    const parts = Object.entries(isRow).map(([name, fits]) => {
      const rows = found[name];
      if (rows?.constructor !== Object || !Object.values(rows).every(fits)) throw new Error(name);
      return rows;
    });
    const old = tables();
    guesses = { ...parts[0], ...old.guesses };
    forecasts = { ...parts[1], ...old.forecasts };
    save();
    answers = { ...parts[2], ...old.exercises };
    store(EXERCISES, JSON.stringify(answers));
  };
  window.calibkitWork = { tables, add, notKept: () => notKept };

  const load = () => {
    try {
      const rows = JSON.parse(stored(KEY));
      guesses = notKept ? { ...guesses, ...rows } : { ...rows };
    } catch { /* none */ }
    forecasts = readForecasts();
  };
  const save = () => {
    store(KEY, JSON.stringify(guesses));
    writeForecasts(forecasts);
    countAgain();
  };

  const WORDS = { "coin flip": 50, rather: 75, sure: 95 }; // percent
  const quoted = (text, unit, isNumber) => (isNumber ? `${text} ${unit}`.trim() : `"${text}"`);

  const form = (root) => {
    const id = root.dataset.prediction;
    const field = root.querySelector("input[type=number]");
    const slider = root.querySelector("input[type=range]");
    const sureness = root.querySelector(".ck-sure span");
    let isSaid = false; // a slider has a value from the start; only one that was moved says it
    const buttons = [...root.querySelectorAll("button.ck-button")];
    const status = root.querySelector('[role="status"]');
    const forget = root.querySelector(".ck-forget");
    const line = document.querySelector(`.ck-verdict[data-prediction="${id}"]`);
    const isGuess = (guess) => typeof guess === "string" && guess !== ""
      && (field ? Number.isFinite(Number(guess)) : buttons.some(({ value }) => value === guess));

    const isRight = (guess) => {
      const { outcome } = line.dataset, [one, other] = [Number(guess), Number(outcome)];
      if (!field) return guess === outcome;
      return one === other || (one > 0 && other > 0 && one <= NEAR * other && other <= NEAR * one);
    };

    const showSure = () => {
      const forecast = forecasts[id];
      slider.disabled = id in forecasts || isGuess(guesses[id]);
      if (forecast) slider.value = Math.round(100 * forecast.sure);
      sureness.textContent = forecast || (isSaid && !(id in forecasts)) ? `${slider.value} %`
        : slider.disabled ? "no forecast" : "not said";
      slider.setAttribute("aria-valuetext", sureness.textContent);
    };

    const show = () => {
      root.querySelector(".ck-three")?.remove();
      showSure();
      const guess = isGuess(guesses[id]) ? guesses[id] : null;
      buttons.forEach((button) => {
        button.disabled = guess !== null && (field !== null || button.value !== guess);
        if (!field) button.setAttribute("aria-pressed", String(button.value === guess));
      });
      if (field) {
        field.disabled = false;
        field.readOnly = guess !== null;
        field.value = guess ?? "";
      }
      forget.hidden = guess === null;
      line.hidden = guess === null;
      if (guess === null) {
        status.textContent = "";
        line.textContent = "";
        return;
      }
      const { outcome, unit } = line.dataset;
      const said = `You chose ${quoted(guess, unit, field)}`;
      const isExact = field ? Number(guess) === Number(outcome) : guess === outcome;
      status.textContent = `The outcome is open below.${notKept}`;
      line.textContent = isExact
        ? `${said}; so it is.`
        : `${said}; it is ${quoted(outcome, unit, field)}.`;
    };

    // Who has left the slider alone says it in a word, after the answer and before the outcome.
    const ask = (guess) => {
      root.querySelector(".ck-three")?.remove();
      const row = document.createElement("span");
      row.className = "ck-three";
      row.setAttribute("role", "group");
      row.append(`${quoted(guess, line.dataset.unit, field)}, and how sure? `);
      row.setAttribute("aria-label", row.textContent);
      Object.entries(WORDS).forEach(([word, percent]) => {
        const button = document.createElement("button");
        Object.assign(button, { type: "button", className: "ck-button", textContent: word });
        button.addEventListener("click", () => {
          slider.value = percent; // not below its least
          isSaid = true;
          choose(guess);
        });
        row.append(button);
      });
      status.before(row);
      row.querySelector("button").focus({ preventScroll: true });
    };

    const choose = (guess) => {
      if (!isGuess(guess) || guesses[id] === guess) return;
      if (!isSaid && !(id in forecasts)) return ask(guess);
      load(); // another page may have stored some
      guesses[id] = guess;
      const options = Number(root.dataset.options), sure = Number(slider.value) / 100;
      if (!(id in forecasts)) forecasts[id] = isSaid ? { options, sure, right: isRight(guess) } : null;
      save();
      show();
      openGuessed();
      if (field) field.focus({ preventScroll: true }); // its button sleeps now
    };

    buttons.forEach((button) => {
      button.addEventListener("click", () => choose(field ? field.value.trim() : button.value));
    });
    ["input", "pointerup", "keydown"].forEach((kind) => slider.addEventListener(kind, ({ key }) => {
      if (["Tab", "Shift"].includes(key)) return;
      isSaid = true;
      showSure();
    }));
    // The theme binds arrow keys; inside a form they belong to its field.
    root.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" || event.target !== field) return;
      event.preventDefault();
      choose(field.value.trim());
    });
    forget.addEventListener("click", () => forgetAll(field || buttons[0]));
    return { id, show, isAnswered: () => isGuess(guesses[id]) };
  };

  // A line is drawn on the canvas of the cell above; the canvas in its fold holds the truth.
  const drawing = (root) => {
    const id = root.dataset.prediction;
    const [canvas, outcome] = document.querySelectorAll(`.ck-canvas[data-prediction="${id}"]`);
    const line = document.querySelector(`.ck-verdict[data-prediction="${id}"]`);
    const [done, clear] = root.querySelectorAll("button.ck-button");
    const status = root.querySelector('[role="status"]'), forget = root.querySelector(".ck-forget");
    let isKept = false;

    const pen = calibkitDraw.wake(canvas, (heights, words) => {
      status.textContent = words;
      done.disabled = heights.includes(null);
    });
    const kept = () => {
      try {
        const line = JSON.parse(guesses[id]), { length } = pen.heights();
        return line.length === length && line.every(Number.isFinite) ? line : null;
      } catch { return null; }
    };
    const show = () => {
      const guess = kept();
      if (guess || isKept) pen.restart(guess);
      isKept = guess !== null;
      pen.lock(isKept);
      clear.disabled = isKept;
      done.disabled = isKept || pen.heights().includes(null);
      forget.hidden = line.hidden = !isKept;
      line.textContent = isKept ? calibkitDraw.compare(outcome, guess) : "";
      if (isKept) status.textContent = `The outcome is open below.${notKept}`;
    };
    done.addEventListener("click", () => {
      load(); // another page may have stored some
      guesses[id] = JSON.stringify(pen.heights());
      save();
      show();
      openGuessed();
      canvas.focus({ preventScroll: true });
    });
    clear.addEventListener("click", () => pen.restart());
    forget.addEventListener("click", () => forgetAll(canvas));
    return { id, show, isAnswered: () => kept() !== null };
  };

  let forms = [];

  const forgetAll = (next) => {
    guesses = {};
    save();
    forms.forEach((other) => other.show());
    folds().forEach((fold) => { if (ids(fold).length) fold.open = false; });
    next.focus({ preventScroll: true });
  };

  const openGuessed = () => {
    const answered = new Set(forms.filter((one) => one.isAnswered()).map((one) => one.id));
    folds().forEach((fold) => {
      if (ids(fold).length && ids(fold).every((id) => answered.has(id))) fold.open = true;
    });
  };

  // Who opens one part of an outcome by hand sees all its parts.
  const openTogether = (fold) => {
    fold.querySelector("summary").addEventListener("click", () => {
      load();
      ids(fold).forEach((id) => { forecasts[id] ??= null; });
      save();
      forms.forEach((one) => one.show());
    });
    fold.addEventListener("toggle", () => {
      if (!fold.open || !ids(fold).length) return;
      folds().forEach((other) => {
        if (other.dataset.predictions === fold.dataset.predictions) other.open = true;
      });
    });
  };

  // A link to something inside a fold opens it.
  const openAround = (hash) => {
    const target = document.getElementById(decodeURIComponent(hash.slice(1)));
    let fold = target && target.closest("details:not([open])");
    if (!fold) return;
    for (; fold; fold = target.closest("details:not([open])")) fold.open = true;
    target.scrollIntoView();
  };

  const openForPrint = () => {
    const closed = folds().filter((fold) => !fold.open);
    closed.forEach((fold) => { fold.open = true; });
    window.addEventListener("afterprint", () => {
      closed.forEach((fold) => { fold.open = false; });
    }, { once: true });
  };

  // A figure that is wider than its frame is scrolled by the keyboard, too.
  const watchFrames = () => {
    const wide = (frame) => {
      if (frame.scrollWidth > frame.clientWidth + 1) frame.tabIndex = 0;
      else frame.removeAttribute("tabindex");
    };
    const watcher = new ResizeObserver((seen) => seen.forEach(({ target }) => wide(target)));
    document.querySelectorAll(".ck-frame").forEach((frame) => {
      watcher.observe(frame);
      frame.addEventListener("keydown", (event) => {
        if (event.key.startsWith("Arrow")) event.stopPropagation();
      });
    });
  };

  // On a telephone code and what follows the story stand behind folds. One switch shows all code,
  // what is hidden everywhere too.
  const foldCode = () => {
    const codes = document.querySelectorAll("details.ck-code"), facts = document.querySelector(".ck-facts");
    if (!codes.length) return;
    const narrow = window.matchMedia("(max-width: 40rem)");
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "ck-all-code" });
    let isAll = stored(CODE) === "all";
    const show = () => {
      document.body.classList.toggle("ck-shows-code", isAll);
      codes.forEach((fold) => { fold.open = isAll || !narrow.matches; });
      button.textContent = isAll ? "Hide code" : "Show all code";
    };
    button.addEventListener("click", () => { isAll = !isAll; store(CODE, isAll ? "all" : ""); show(); });
    const later = document.querySelectorAll("details.ck-later");
    later.forEach((fold) => { fold.open = !narrow.matches; });
    narrow.addEventListener("change", () => {
      show();
      later.forEach((fold) => { fold.open ||= !narrow.matches; }); // none closes while it is read
    });
    facts?.append(" · ", button);
    show();
  };

  const start = () => {
    load();
    foldCode();
    forms = [...document.querySelectorAll(".ck-guess")]
      .map((root) => ("drawing" in root.dataset ? drawing(root) : form(root)));
    forms.forEach((one) => one.show());
    countAgain();
    openGuessed();
    folds().forEach(openTogether);
    openAround(location.hash);
    window.addEventListener("hashchange", () => openAround(location.hash));
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (link) openAround(link.getAttribute("href"));
    });
    window.addEventListener("beforeprint", openForPrint);
    watchFrames();
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
