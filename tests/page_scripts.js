// What tests ask of a page, each a function of one value; see `script` in browser_pages.py.
({
  // All formulas are set, all pictures are there, and the page has been laid out. What never comes
  // (a picture that waits to be scrolled to, say) is named.
  async settled() {
    let limit;
    const never = new Promise((_, refuse) => { limit = setTimeout(() => refuse(new Error(
      `${location.pathname} does not settle; pictures that wait: ${[...document.images]
        .filter(image => !image.complete || image.loading === "lazy")
        .map(image => image.outerHTML.slice(0, 120))}`)), 180_000); });
    const settled = async () => {
      if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
      await Promise.allSettled([...document.images].map(image => image.decode()));
      await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    };
    await Promise.race([settled(), never]);
    clearTimeout(limit);
    document.getAnimations().forEach(moving => moving.finish());
  },

  open_all() {
    document.querySelectorAll("article details").forEach(fold => { fold.open = true; });
  },

  // Nothing inside a fold has a place on the page.
  hidden() {
    return [...document.querySelectorAll("details.ck-fold")].every(fold => {
      const summary = fold.querySelector("summary").getBoundingClientRect();
      const inside = [...fold.querySelectorAll("*")].filter(part => !part.closest("summary"));
      return !fold.open && fold.getBoundingClientRect().height < summary.height + 8
        && !inside.some(part => part.checkVisibility());
    });
  },

  // --- every page of the book ---

  async barriers(rules) {
    const found = await axe.run(document, {resultTypes: ["violations"], ...rules});
    return found.violations.flatMap(({id, nodes}) => nodes
      .map(node => `${id}: ${node.html.slice(0, 120)}`));
  },

  // What gives a page its colours. The signs of formulas are all alike.
  colours() {
    return [...new Set([...document.querySelectorAll("article *")]
      .flatMap(({classList, style}) => [...classList, style?.color, style?.backgroundColor])
      .filter(name => name && !/^(mjx|id\d)/i.test(name)))];
  },

  poor_images() {
    return [...document.querySelectorAll("article img")]
      .filter(image => !(image.complete && image.naturalWidth > 0) || image.alt.length <= 20)
      .map(image => image.outerHTML.slice(0, 200));
  },

  // The page would wrap a long line of code; none should need it.
  cut_code() {
    return [...document.querySelectorAll("article .cell_input pre")].filter(code => {
      code.style.whiteSpace = "pre";
      const isLong = code.scrollWidth > code.clientWidth;
      code.style.whiteSpace = "";
      return isLong;
    }).map(code => code.innerText.split("\n").sort((a, b) => b.length - a.length)[0]);
  },

  // Letters of figures are 9.5 points; a figure has 100 pixels to an inch (an explorer's 96).
  // A telephone shows the pieces of a stored figure, and the narrow form of an explorer.
  figures() {
    return [...document.querySelectorAll("article .ck-frame")]
      .filter(frame => frame.querySelector("img") && frame.getClientRects().length).map(frame => {
        const image = frame.querySelector("img");
        const boxes = JSON.parse(image.dataset.pieces || "[]");
        const parts = [...frame.querySelectorAll(".ck-pieces span")].map((part, i) =>
          [part.getBoundingClientRect(), boxes[i][2] - boxes[i][0] + 6]);
        const wider = frame.scrollWidth > frame.clientWidth + 1; // the page says so a moment later
        const natural = image.naturalWidth / (image.matches(".ck-figure") ? 0.96 : 1);
        const isCut = parts.length === boxes.length
          && !(image.matches(".ck-figure") && natural > 401);
        return {alt: image.alt, isCut, wider,
          parts: (parts.length ? parts : [[image.getBoundingClientRect(), natural]])
            .map(([{left, right, width}, natural]) =>
              [left, right, 9.5 / 72 * 100 * width / natural])};
      });
  },

  overflowing() {
    return [...document.querySelectorAll("article .ck-frame")]
      .filter(frame => frame.scrollWidth > frame.clientWidth + 1 && frame.tabIndex !== 0).length;
  },

  // Each text that runs out of the screen, or of a box that scrolls and does not say so.
  cut_text() {
    const range = document.createRange(), style = getComputedStyle;
    const skipped = ".ck-wider, .visually-hidden, mjx-assistive-mml, select";
    const scrolls = box => box && !box.matches("article") && (scrolls(box.parentElement)
      || box.scrollWidth > box.clientWidth + 1 && /auto|scroll|hidden/.test(style(box).overflowX));
    return [...document.querySelectorAll("article *")].flatMap(box => [...box.childNodes])
      .filter(text => text.nodeType === 3 && text.data.trim()
        && text.parentElement.checkVisibility() && !text.parentElement.closest(skipped)
        && (range.selectNodeContents(text), scrolls(text.parentElement)
          || [...range.getClientRects()].some(({right}) => right > innerWidth + 1)))
      .map(text => text.data.trim().slice(0, 80));
  },

  plant(style) {
    document.querySelector("article section").insertAdjacentHTML("beforeend",
      `<div style="${style}"><div style="width: 500px; text-align: right">planted</div></div>`);
  },

  // What has the keyboard, if it does not show it.
  unseen() {
    const at = document.activeElement, isFlat = at.matches("summary") && at.offsetHeight < 2;
    const {outlineStyle, outlineWidth} = getComputedStyle(isFlat ? at.firstElementChild : at);
    const isSeen = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    return at === document.body || isSeen ? "" : at.outerHTML.slice(0, 120);
  },

  unprinted() {
    return [...document.querySelectorAll("article details > :not(summary)")]
      .filter(part => !part.matches("script, [hidden]") && !part.checkVisibility()
        && !part.closest(".ck-fold, .tag_solution, .ck-explorer"))
      .map(part => part.outerHTML.slice(0, 90));
  },

  // --- what readers do ---

  found_first(asked) {
    return asked.map(words => Search._performSearch(...Search._parseQuery(words))
      .map(found => found[0]).reverse());
  },

  words_of_no_page() {
    return Object.keys(READERS_WORDS).filter(start =>
      !Search._index.docnames.some(page => page.startsWith(start)));
  },

  folds() {
    return [...document.querySelectorAll("details.ck-fold")]
      .map(fold => [fold.dataset.predictions.split(" ").filter(Boolean), fold.open]);
  },

  verdicts() {
    return Object.fromEntries([...document.querySelectorAll(".ck-verdict")]
      .filter(line => line.checkVisibility()).map(line => [line.dataset.prediction, line.innerText]));
  },

  // All answers of the question bank in one call.
  answer_all(answers) {
    return answers.map(([id, place, text]) => {
      const item = document.getElementById(id), input = item.querySelector("input[type=text]");
      if (input) input.value = text;
      else item.querySelectorAll("input[type=radio]")[place].click();
      item.querySelector("form button").click();
      return item.querySelector("[role=status]").innerText;
    });
  },

  three_pictures() {
    return new Promise(done => {
      let count = 0;
      new MutationObserver(() => { count += 1; if (count === 3) done(); }).observe(
        document.querySelector(".ck-figure"), {attributeFilter: ["src"]});
    });
  },

  // --- Python in the page ---

  give_200_megabytes() {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(2e8)], "big.csv"));
    const field = document.querySelector("#ck-file");
    field.files = transfer.files;
    field.dispatchEvent(new Event("change"));
  },

  // Ask another host from the page and from a worker.
  async asks_elsewhere(url) {
    const heard = [];
    document.addEventListener("securitypolicyviolation", e => heard.push(e.blockedURI));
    const failed = await fetch(url).then(() => false, () => true);
    const code = `fetch(${JSON.stringify(url)}).then(() => postMessage("sent"),
      () => postMessage("refused"));
      onmessage = () => 0; self.addEventListener("securitypolicyviolation",
      e => postMessage("policy " + e.effectiveDirective));`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    const told = [];
    await new Promise(done => {
      worker.onmessage = ({data}) => { told.push(data); if (told.length === 2) done(); };
    });
    new Image().src = url + "/image";
    await new Promise(done => setTimeout(done, 500));
    return [failed, told.sort(), heard.length];
  },

  // --- JupyterLite ---

  save_lesson(made) {
    return new Promise(done => {
      const asked = indexedDB.open("JupyterLite Storage - /lite/");
      asked.onupgradeneeded = () => asked.result.createObjectStore("files");
      asked.onsuccess = () => {
        const put = asked.result.transaction("files", "readwrite");
        const content = {metadata: {calibkit: {source: made}}};
        put.objectStore("files").put({content}, "04.ipynb");
        put.oncomplete = () => { asked.result.close(); done(); };
      };
    });
  },

  // A cell's prompt shows a star while it runs; a quick cell may show it for a moment only.
  watch(cell) {
    const prompt = cell.querySelector(".jp-InputPrompt");
    cell.dataset.ran = "";
    new MutationObserver(() => { if (prompt.innerText.includes("*")) cell.dataset.ran = "yes"; })
      .observe(prompt, {childList: true, characterData: true, subtree: true});
  },

  ran(cell) {
    return cell.dataset.ran === "yes" && /\d/.test(cell.querySelector(".jp-InputPrompt").innerText);
  },

  // JupyterLite keeps a reader's files in a database of the browser.
  async file(name) {
    for (const {name: database_name} of await indexedDB.databases()) {
      const opening = indexedDB.open(database_name);
      const database = await new Promise(done => {
        opening.onsuccess = () => done(opening.result);
      });
      let found;
      if (database.objectStoreNames.contains("files")) {
        const asked = database.transaction("files").objectStore("files").get(name);
        found = await new Promise(done => { asked.onsuccess = () => done(asked.result); });
      }
      database.close();
      if (found) return JSON.stringify(found);
    }
    return "";
  },

  async stored([name, text]) {
    return (await this.file(name)).includes(text);
  },
})
