// A wide figure on a telephone: the same picture, seen through pieces that stand below each other.
// Python has found where nothing is drawn (_ext/narrow_figures.py). What is still too wide scrolls
// in its frame, which then says so: formulas, tables and printed columns, too.
(() => {
  "use strict";

  const MARGIN = 3; // pixels around a piece
  const LEAST = 0.84; // of its size: letters of 9.5 points are 11 pixels high then
  const COLUMNS = /^.*\S {2,}\S.*\n(.*\n)?.*\S {2,}\S/m; // gaps in neighbouring lines

  const piece = ([left, top, right, bottom], widest, [width, height]) => {
    const x = Math.max(0, left - MARGIN);
    const y = Math.max(0, top - MARGIN);
    const w = Math.min(width, right + MARGIN) - x;
    const h = Math.min(height, bottom + MARGIN) - y;
    const part = document.createElement("span");
    const share = (free, place) => (free ? (100 * place) / free : 0);
    part.style.aspectRatio = `${w} / ${h}`;
    part.style.width = `max(${LEAST * w}px, min(${w}px, ${(100 * w) / widest}%))`;
    part.style.backgroundSize = `${(100 * width) / w}% ${(100 * height) / h}%`;
    part.style.backgroundPosition = `${share(width - w, x)}% ${share(height - h, y)}%`;
    return part;
  };

  const cut = (image) => {
    const boxes = JSON.parse(image.dataset.pieces);
    const size = [image.naturalWidth, image.naturalHeight];
    const widest = Math.max(...boxes.map((box) => box[2] - box[0])) + 2 * MARGIN;
    const holder = document.createElement("div");
    holder.className = "ck-pieces";
    holder.setAttribute("aria-hidden", "true"); // the picture itself is read aloud
    holder.append(...boxes.map((box) => piece(box, widest, size)));
    const show = () => holder.style.setProperty("--picture", `url("${image.src}")`);
    new MutationObserver(show).observe(image, { attributeFilter: ["src"] });
    show();
    image.classList.add("ck-whole");
    image.after(holder);
  };

  const scrolls = new ResizeObserver((frames) => frames.forEach(({ target: frame }) => {
    frame.classList.remove("ck-wider"); // measured without the line that says so, which changes it
    frame.classList.toggle("ck-wider", frame.scrollWidth > frame.clientWidth + 1);
  }));

  const start = () => {
    document.querySelectorAll("img[data-pieces]").forEach((image) => {
      image.decode().then(() => cut(image), () => {});
    });
    const columns = [...document.querySelectorAll(".cell_output pre, .highlight-text pre")].filter((pre) => COLUMNS.test(pre.textContent));
    const wide = document.querySelectorAll("div.math, .pst-scrollable-table-container, .cell_output table");
    [...columns, ...wide].forEach((box) => {
      box.classList.add("ck-frame");
      box.tabIndex = 0;
    });
    document.querySelectorAll(".ck-frame").forEach((frame) => scrolls.observe(frame));
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
