// The lines of a solution, shuffled, to be put in order: by finger or mouse at the handle, by two
// taps (one line, then its place), or by the arrow keys. What belongs together moves together.
(() => {
  "use strict";

  const FEWEST = 3, MOST = 10;

  // A statement's further lines, blank lines and comments go with it.
  const units = (code) => {
    const found = [];
    let held = [], depth = 0, quoted = false;
    code.trimEnd().split("\n").forEach((line) => {
      const bare = line.replace(/"""|'''/g, () => { quoted = !quoted; return ""; })
        .replace(/"[^"]*"|'[^']*'/g, "").replace(/#.*/, "");
      depth += (bare.match(/[([{]/g) || []).length - (bare.match(/[)\]}]/g) || []).length;
      held.push(line);
      if (depth > 0 || quoted || !bare.trim() && !line.trim().match(/^["'\])}]/)) return;
      found.push(held.join("\n"));
      held = [];
    });
    if (held.length && found.length) found.push([found.pop(), ...held].join("\n"));
    return found;
  };

  // The same order on every visit, in which no line keeps its place.
  const shuffled = (lines) => {
    const order = [...lines];
    let seed = 7;
    for (let last = order.length - 1; last > 0; last -= 1) {
      seed = (seed * 16807) % 2147483647;
      const other = seed % last;
      [order[last], order[other]] = [order[other], order[last]];
    }
    return order;
  };

  const make = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...children);
    return made;
  };

  const puzzle = (code) => {
    const right = units(code);
    if (right.length < FEWEST || right.length > MOST) return null;
    const list = make("ol", { class: "ck-lines" });
    const said = make("span", { class: "ck-live-status", role: "status" });
    const place = (item) => [...list.children].indexOf(item);
    let chosen = null;

    const choose = (item) => {
      chosen?.firstElementChild.setAttribute("aria-pressed", "false");
      item?.firstElementChild.setAttribute("aria-pressed", "true");
      chosen = item;
    };

    const move = (item, to) => {
      const from = place(item), there = list.children[to];
      if (!there || there === item) return;
      there[to > from ? "after" : "before"](item);
      item.firstElementChild.focus({ preventScroll: true });
      said.textContent = `Line ${from + 1} of ${right.length}, now ${to + 1}.`;
    };

    const line = (text) => {
      const handle = make("span", { class: "ck-handle", "aria-hidden": "true" }, "⠿");
      const button = make("button", { type: "button", "aria-pressed": "false" }, handle, make("code", {}, text));
      const item = make("li", {}, button);
      button.addEventListener("click", ({ target }) => {
        if (target === handle) return;
        if (chosen && chosen !== item) { move(chosen, place(item)); choose(null); }
        else choose(chosen ? null : item);
      });
      button.addEventListener("keydown", (event) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!step) return;
        event.preventDefault();
        event.stopPropagation(); // the theme turns pages by arrow keys
        move(item, place(item) + step);
      });
      handle.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        const follow = ({ clientY }) => move(item, [...list.children].findIndex((other) => {
          const { top, bottom } = other.getBoundingClientRect();
          return other !== item && (place(other) < place(item) ? clientY < (top + bottom) / 2
            : clientY > (top + bottom) / 2 && clientY < bottom + 4);
        }));
        const drop = () => {
          window.removeEventListener("pointermove", follow);
          ["pointerup", "pointercancel"].forEach((name) => window.removeEventListener(name, drop));
        };
        window.addEventListener("pointermove", follow);
        ["pointerup", "pointercancel"].forEach((name) => window.addEventListener(name, drop));
      });
      return item;
    };

    list.append(...shuffled(right).map(line));
    const check = make("button", { type: "button", class: "ck-button" }, "Check order");
    check.addEventListener("click", () => {
      const count = [...list.querySelectorAll("code")].filter((one, k) => one.textContent === right[k]).length;
      said.textContent = count === right.length ? "All lines stand right. Now write it above, in your own words."
        : `${count} of ${right.length} lines stand where the solution has them.`;
    });
    const how = "Drag a line, or press one and then its place, or use the arrow keys.";
    return make("details", { class: "ck-shuffled" }, make("summary", {}, "▸ The lines of a solution, shuffled"),
      make("p", {}, how), list, make("div", { class: "ck-live" }, check, said));
  };

  window.calibkitShuffled = puzzle;
})();
