"""The pictures that GitHub shows: of each lesson's explorer, as it opens, and of a report.

GitHub shows stored notebooks, which hold no drawings. `python -m book.experiments.heroes`, run
inside `.venv`, writes `notebooks/images/NN.png` and the line that shows it in each core; then
`python dev.py run NN` for the notebook. README and the cards of the landing page take the small
ones, without legends. The report needs Chromium; where there is none, the stored one stays.
"""

import importlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image, ImageOps

from book._ext import narrow_figures
from book.experiments.front_door import png
from calibkit import plot
from calibkit_audit.cli import main as calibkit
from calibkit_course.explore import Explorer
from calibkit_course.mine import READMISSIONS
from tools.lesson_pages import NOTEBOOKS, lesson_pages
from tools.workbook import PICTURE

FOLDER = NOTEBOOKS / "images"
TELLS = {"10", "15"}  # these explorers open with what a guess of the lesson asks
FIRST = {"11": "which_number"}  # of several explorers the one that stands in the core
GUTTER = 0.2  # inches between panels, so that they can be told apart
CELL, EDGE, GAP = (300, 250), 8, 12  # pixels: a small picture, a margin; above a legend
REPORT = FOLDER / "report.png"
AUDIT = "--label readmitted --prob risk --positive yes --drop-missing --cluster patient --costs 1:5"
# Left out of its picture: answers in full, tables, and every second figure.
HIDDEN = "section:not([aria-labelledby=figures]), footer"
WINDOW = "--window-size=980,1400", "--force-device-scale-factor=0.88"  # as wide as README


class Hero(NamedTuple):
    """A picture, a small one without its legend, and the words for those who see neither."""

    png: bytes
    small: bytes
    alt: str


def path(number: str, *, small: bool = False) -> Path:
    """Return where the picture of a lesson lies."""
    return FOLDER / ("small" if small else "") / f"{number}.png"


def draw(number: str) -> Hero | None:
    """Draw the pictures of a lesson; lesson 00 has no explorer, and none."""
    shown = next(explorers(number), None)
    if shown is None:
        return None
    with plot.style():
        figure = Figure(figsize=shown.size, layout=ConstrainedLayoutEngine(w_pad=GUTTER / 2))
        FigureCanvasAgg(figure)
        shown.draw(shown.view(**shown.default), figure, False)
        plot.legend(figure)
        image = pixels(figure)
    box = first_panel(image, figure)
    panel = image.crop(box)
    whole = with_legend(panel, figure, box)
    alt = f"A picture of {shown.title}, this lesson's explorer"
    return Hero(png(framed(whole)), png(in_cell(panel)), alt)


def pixels(figure: Figure) -> Image.Image:
    """Return a figure as an image; its panels keep their places from then on."""
    canvas: Any = figure.canvas
    canvas.draw()
    figure.set_layout_engine("none")
    return Image.fromarray(np.array(canvas.buffer_rgba())).convert("RGB")


def first_panel(image: Image.Image, figure: Figure) -> narrow_figures.Box:
    """Return where the first large panel stands, and wipe the legend of all panels out."""
    for legend in figure.legends:
        left, low, right, high = (round(end) for end in legend.get_window_extent().extents)
        image.paste("white", (left, image.height - high, right, image.height - low))
    ink = narrow_figures.drawn(png(image))
    panels = narrow_figures.pieces(ink, (0, 0, *image.size))
    return next(box for box in panels if area(box) >= 0.7 * max(map(area, panels)))


def with_legend(panel: Image.Image, figure: Figure, box: narrow_figures.Box) -> Image.Image:
    """Put a legend of its own below a panel, in as many columns as it has room for."""
    left, top, right, bottom = box
    for ax in figure.get_axes():
        x, y = ax.bbox.get_points().mean(axis=0)
        if left < x < right and top < figure.bbox.height - y < bottom:
            ax.set_visible(False)  # the legend alone is drawn
        else:
            ax.remove()
    for columns in (3, 2, 1):
        figure.legends.clear()
        with plot.style():
            plot.legend(figure, columns=columns)
            legend = trimmed(pixels(figure))
        if legend.width <= panel.width:
            break
    size = max(panel.width, legend.width), panel.height + GAP + legend.height
    whole = Image.new("RGB", size, "white")
    whole.paste(panel)
    whole.paste(legend, ((whole.width - legend.width) // 2, panel.height + GAP))
    return whole


def trimmed(image: Image.Image) -> Image.Image:
    """Return an image without its white margins."""
    return image.crop(narrow_figures.trimmed(narrow_figures.drawn(png(image)), (0, 0, *image.size)))


def framed(image: Image.Image) -> Image.Image:
    """Return an image with a white margin: on a dark page one that ends at the ink looks cut."""
    return ImageOps.expand(image, EDGE, "white")


def in_cell(panel: Image.Image) -> Image.Image:
    """Return a panel in the middle of a small picture, which is as large for each lesson."""
    small = panel.copy()
    small.thumbnail((CELL[0] - 2 * EDGE, CELL[1] - 2 * EDGE), Image.Resampling.LANCZOS)
    cell = Image.new("RGB", CELL, "white")
    cell.paste(small, ((CELL[0] - small.width) // 2, (CELL[1] - small.height) // 2))
    return cell


def area(box: narrow_figures.Box) -> int:
    """Return how large a piece is."""
    return (box[2] - box[0]) * (box[3] - box[1])


def explorers(number: str) -> Iterator[Explorer[Any]]:
    """Go through the explorers of a lesson, which are the functions that return one."""
    room = importlib.import_module(f"calibkit_course.lesson{number}")
    for name in sorted(vars(room), key=lambda name: (name != FIRST.get(number), name)):
        returned = str(getattr(getattr(room, name), "__annotations__", {}).get("return", ""))
        if "Explorer" in returned:
            yield getattr(room, name)()


def with_picture(text: str, number: str, alt: str) -> str:
    """Return a core with its picture above the line that states its time."""
    line = f"![{alt}](images/{number}.png)\n\n"
    return PICTURE.sub("", text).replace("\nTime: ", f"\n{line}Time: ", 1)


def report(chromium: str) -> Image.Image:
    """Draw an audit's report as a browser shows it: verdict, summary, six answers, figures."""
    with TemporaryDirectory() as folder:
        page, shot = Path(folder) / "report.html", Path(folder) / "report.png"
        calibkit(["audit", str(READMISSIONS), *AUDIT.split(), "--html", str(page)])
        text = page.read_text("utf-8").replace("</style>", f"{HIDDEN}{{display: none}}</style>", 1)
        page.write_text(text, "utf-8")
        how = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        how += [*WINDOW, f"--screenshot={shot}"]
        subprocess.run([chromium, *how, page.as_uri()], check=True, capture_output=True)
        return framed(trimmed(Image.open(shot).convert("RGB")))


def main() -> None:
    """Write all pictures, and name them in the cores."""
    path("01", small=True).parent.mkdir(parents=True, exist_ok=True)
    for page in lesson_pages():
        number = page.name[:2]
        hero = draw(number) if page.parent == NOTEBOOKS else None
        if hero:
            path(number).write_bytes(hero.png)
            path(number, small=True).write_bytes(hero.small)
        if hero and number not in TELLS:
            text = with_picture(page.read_text(encoding="utf-8"), number, hero.alt)
            page.write_text(text, encoding="utf-8")
    if chromium := shutil.which("chromium"):
        REPORT.write_bytes(png(report(chromium)))


if __name__ == "__main__":
    main()
