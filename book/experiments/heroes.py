"""The picture at the head of each lesson: the first large panel of its explorer, as it opens.

GitHub shows stored notebooks, which hold no drawings. `python -m book.experiments.heroes`, run
inside `.venv`, writes `notebooks/images/NN.png` and the line that shows it in each core; then
`python dev.py run NN` for the notebook. The cards of the landing page take the same files.
"""

import importlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from book._ext import narrow_figures
from calibkit_course.explore import Explorer
from tools.lesson_pages import NOTEBOOKS, lesson_pages
from tools.workbook import PICTURE

FOLDER = NOTEBOOKS / "images"
TELLS = {"10", "15"}  # these explorers open with what a guess of the lesson asks
SHEET = FOLDER / "all.png"
COLUMNS, CELL, EDGE = 4, (300, 300), 12  # of the sheet, in pixels
ON_SHEET = ("01", "02", "03", "04", "06", "07", "08", "09", "11", "12", "13", "14")


class Hero(NamedTuple):
    """A picture and the words for those who do not see it."""

    png: bytes
    alt: str


def path(number: str) -> Path:
    """Return where the picture of a lesson lies."""
    return FOLDER / f"{number}.png"


def draw(number: str) -> Hero | None:
    """Draw the picture of a lesson; lesson 00 has no explorer, and none."""
    shown = next(explorers(number), None)
    if shown is None:
        return None
    picture = shown.show(**shown.default)[0].small().png
    ink = narrow_figures.drawn(picture)
    panels = narrow_figures.pieces(ink, (0, 0, *ink.shape[::-1]))
    panel = next(box for box in panels if area(box) >= 0.7 * max(map(area, panels)))
    out = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        image.crop(panel).save(out, "PNG", optimize=True)
    return Hero(out.getvalue(), f"{shown.title}, this lesson's explorer, as it opens")


def area(box: narrow_figures.Box) -> int:
    """Return how large a piece is."""
    return (box[2] - box[0]) * (box[3] - box[1])


def explorers(number: str) -> Iterator[Explorer[Any]]:
    """Go through the explorers of a lesson, which are the functions that return one."""
    room = importlib.import_module(f"calibkit_course.lesson{number}")
    for name in room.__all__:
        returned = str(getattr(getattr(room, name), "__annotations__", {}).get("return", ""))
        if "Explorer" in returned:
            yield getattr(room, name)()


def with_picture(text: str, number: str, alt: str) -> str:
    """Return a core with its picture above the line that states its time."""
    line = f"![{alt}](images/{number}.png)\n\n"
    return PICTURE.sub("", text).replace("\nTime: ", f"\n{line}Time: ", 1)


def sheet() -> Image.Image:
    """Lay stored pictures side by side, for README."""
    rows = -(-len(ON_SHEET) // COLUMNS)
    whole = Image.new("RGB", (COLUMNS * CELL[0], rows * CELL[1]), "white")
    for place, number in enumerate(ON_SHEET):
        with Image.open(path(number)) as image:
            small = image.convert("RGB")
        small.thumbnail((CELL[0] - 2 * EDGE, CELL[1] - 2 * EDGE), Image.Resampling.LANCZOS)
        row, column = divmod(place, COLUMNS)
        left = column * CELL[0] + (CELL[0] - small.width) // 2
        whole.paste(small, (left, row * CELL[1] + EDGE))
    return whole.quantize(method=Image.Quantize.MAXCOVERAGE)


def main() -> None:
    """Write all pictures, and name them in the cores."""
    FOLDER.mkdir(exist_ok=True)
    for page in lesson_pages():
        number = page.name[:2]
        hero = draw(number) if page.parent == NOTEBOOKS else None
        if hero:
            path(number).write_bytes(hero.png)
        if hero and number not in TELLS:
            text = with_picture(page.read_text(encoding="utf-8"), number, hero.alt)
            page.write_text(text, encoding="utf-8")
    sheet().save(SHEET, optimize=True)


if __name__ == "__main__":
    main()
