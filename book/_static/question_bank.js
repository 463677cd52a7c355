// Makes the questions of the bank answerable. Without it, the answers are folded below each.
"use strict";

(() => {
  const RIGHT = "Right.", WRONG = "Not yet.";

  // "0.05", "1/20", "5 %", "2,977" and "0,05" are numbers; anything else is NaN.
  function number(text) {
    let words = text.trim().replace(/\u2212/g, "-").replace(/\s+/g, "");
    let factor = 1;
    if (words.endsWith("%")) { words = words.slice(0, -1); factor = 0.01; }
    if (/^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(words)) words = words.replace(/,/g, "");
    const parts = words.replace(",", ".").split("/");
    const good = parts.length <= 2 && parts.every((part) => /^-?(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(part));
    if (!good) return NaN;
    return factor * (parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : Number(parts[0]));
  }

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function chosenOption(form) {
    const all = [...form.querySelectorAll("input[type=radio]")];
    return all.findIndex((input) => input.checked);
  }

  function matching(item, input) {
    const given = number(input.value), tolerance = Number(item.dataset.tolerance);
    const near = (line) => Math.abs(given - Number(line.dataset.value)) <= tolerance * (1 + 1e-9);
    const lines = [...item.querySelectorAll(".ck-says li")];
    return lines.find((line) => line.dataset.right && near(line)) || lines.find(near);
  }

  function show(output, state, words) {
    output.dataset.state = state;
    output.textContent = "";
    if (state !== "none") output.append(element("strong", {}, state === "right" ? RIGHT : WRONG), " ");
    output.append(...words);
  }

  function answer(item, form, output) {
    const input = form.querySelector("input[type=text]");
    if (!input) {
      const place = chosenOption(form);
      if (place < 0) return show(output, "none", ["Choose one of the answers first."]);
      return tell(item.querySelectorAll(".ck-says li")[place], output);
    }
    if (Number.isNaN(number(input.value))) {
      return show(output, "none", ["Type a number, for example 0.05."]);
    }
    const line = matching(item, input);
    if (line) return tell(line, output);
    return show(output, "wrong", ["This is another number. Try again, or unfold the answer."]);
  }

  function tell(line, output) {
    const words = line.querySelector(".ck-words").cloneNode(true);
    show(output, line.dataset.right ? "right" : "wrong", [...words.childNodes]);
  }

  function radios(item, label) {
    const list = item.querySelector(".ck-options");
    const set = element("fieldset", { role: "radiogroup", "aria-labelledby": label });
    for (const [place, line] of [...list.children].entries()) {
      const input = element("input", { type: "radio", name: item.id, value: place });
      const letter = `${String.fromCharCode(97 + place)}. `;  // as in the folded answers
      const words = element("span", {}, letter, ...line.childNodes);
      set.append(element("label", { class: "ck-option" }, input, words));
    }
    list.remove();
    return set;
  }

  function field(item, label) {
    const options = { type: "text", inputmode: "decimal", autocomplete: "off", "aria-labelledby": label };
    const unit = item.dataset.unit ? ` ${item.dataset.unit}` : "";
    return element("span", {}, element("input", options), unit, " ");
  }

  function enliven(item) {
    const label = `${item.id}-text`;
    const make = item.dataset.kind === "number" ? field : radios;
    const output = element("output", { role: "status", "aria-live": "polite" });
    const button = element("button", { type: "submit", class: "ck-button" }, "Check");
    const form = element("form", { novalidate: "" }, make(item, label), button, output);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer(item, form, output);
    });
    item.insertBefore(form, item.querySelector("details"));
  }

  const start = () => document.querySelectorAll(".ck-item").forEach(enliven);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
