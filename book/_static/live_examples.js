// Examples of the API run in the page: the Worker that explorers use runs all that stands under a
// name, as it is printed there, and what comes out stands below it.
(() => {
  "use strict";

  const python = window.calibkitPython;
  if (!python) return;
  const examples = new Map(); // those of one name belong together
  document.querySelectorAll("dd .doctest pre").forEach((block) => {
    const place = block.closest("dd:has(> .doctest)");
    if (place) examples.set(place, [...(examples.get(place) || []), block]);
  });

  const make = (tag, attributes) => Object.assign(document.createElement(tag), attributes);

  let isBusy = false;

  const wake = (blocks, place) => {
    const name = place.previousElementSibling.id;
    const row = make("div", { className: "ck-live" });
    const run = make("button", { type: "button", className: "ck-button", textContent: "Run" });
    const status = make("span", { className: "ck-live-status" });
    const output = make("div", { className: "ck-answer" });
    run.setAttribute("aria-label", `Run the example of ${name}`);
    status.setAttribute("role", "status");

    const show = ({ printed, shown, error }) => {
      const texts = [[printed, ""], [error, "ck-error"]].filter(([text]) => text);
      output.replaceChildren(...texts.map(([textContent, className]) => make("pre", { textContent, className })));
      shown.forEach((html) => output.append(make("div", { innerHTML: html })));
      if (!output.childElementCount) status.textContent = "It ran, and prints nothing.";
    };

    run.addEventListener("click", async () => {
      status.textContent = python.obstacle() || (isBusy ? "Another example is running." : "");
      if (status.textContent) return;
      isBusy = true;
      try {
        status.textContent = "Starting Python …";
        await python.start(({ share }) => {
          if (share) status.textContent = `Loading Python (${python.megabytes} MB, once): ${Math.round(100 * share)} % …`;
        });
        status.textContent = "Running …";
        const said = await python.call("api_example", [name, blocks.map((one) => one.textContent).join("\n")]);
        status.textContent = "";
        show(said);
      } catch (error) {
        python.stop(error);
        status.textContent = python.sentence(error);
      }
      isBusy = false;
    });
    row.append(run, status);
    blocks.at(-1).closest(".doctest").after(row, output);
  };

  examples.forEach(wake);
})();
