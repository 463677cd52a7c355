"""What a telephone shows of each wide figure: its twin, or its pieces below each other.

A figure that a page has drawn has a twin (`narrow_twins`), which the browser takes where there is
little room. A stored picture is cut where nothing is drawn, as a page is cut
into columns and paragraphs: between two panels, between panels and legend, between entries of a
legend. Only the places are stored, four numbers for a piece; `narrow_figures.js` shows the same
picture through them. An explorer brings its narrow pictures itself: all are put into files beside
the page, wide ones and narrow ones, which `explorer.js` fetches when they are wanted.
"""

import io
import itertools
import json
import re
import shutil
from html import unescape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from sphinx.application import Sphinx

PHONE = 340  # pixels: what is not wider needs no pieces
ROOM = 415  # pixels of a figure that a telephone shows with letters of 11
GUTTERS, LINE = (7, 6), 3  # pixels: between columns (the second if nothing else helps), and lines
LEAST = 40  # narrower is the name of an axis, which stays with its panel
NAME = 24  # pixels: as wide is a line of letters that stands upright, or the sign of a legend
FOOT = 90, 9  # pixels: a legend below panels is not taller, and may narrow their column to less
GROUND = 250  # of 255: lighter is nothing
PICTURE = re.compile(r'<img (?=[^>]*\bsrc="(?P<src>[^"]+)")[^>]*?(?=\s*/?>)')
DATA = re.compile(r'(?<=<script type="application/json">).*?(?=</script>)', re.DOTALL)
WITH_TWIN = re.compile(
    r'<img (?P<rest>[^>]*\bsrc="(?P<stem>[^"]*/_images/(?P<name>[\w.]+))\.png"[^>]*>)'
)
NARROW = "screen and (max-width: 48rem)"  # as in book.css

Ink = NDArray[np.bool_]
Box = tuple[int, int, int, int]  # left, top, right, bottom


def gaps(empty: NDArray[np.bool_], least: int) -> list[tuple[int, int]]:
    """Return the runs of empty lines that are long enough, inside the first and last drawn one."""
    edges = np.flatnonzero(np.diff(np.r_[False, empty, False].astype(np.int8)))
    return [(a, b) for a, b in edges.reshape(-1, 2).tolist() if b - a >= least]


def trimmed(ink: Ink, box: Box) -> Box:
    """Return what is drawn inside a box, without the empty margins."""
    left, top, right, bottom = box
    part = ink[top:bottom, left:right]
    across, down = np.flatnonzero(part.any(axis=0)), np.flatnonzero(part.any(axis=1))
    if not across.size:
        return box
    ends = left + across[0], top + down[0], left + across[-1] + 1, top + down[-1] + 1
    return int(ends[0]), int(ends[1]), int(ends[2]), int(ends[3])


def gutter(ink: Ink, box: Box, least: int) -> tuple[int, int] | None:
    """Return the widest empty column that leaves something on both sides.

    What stands just before it may be the upright name of an axis: that goes to the right.
    """
    left, top, right, bottom = box
    found = gaps(~np.any(ink[top:bottom, left:right], axis=0), LINE)
    inside = [(a, b) for a, b in found if a >= LEAST and right - left - b >= LEAST]
    widest = max(inside, key=lambda gap: gap[1] - gap[0], default=(0, 0))
    if widest[1] - widest[0] < least:
        return None
    before = [gap for gap in inside if widest[0] - NAME <= gap[1] < widest[0]]
    start, stop = before[0] if before else widest
    return left + start, left + stop


def above_legend(ink: Ink, box: Box, column: tuple[int, int]) -> tuple[int, int] | None:
    """Return the empty rows below which a legend narrows the column between two panels."""
    left, top, right, bottom = box
    if column[1] - column[0] >= FOOT[1]:
        return None
    for start, stop in reversed(gaps(~np.any(ink[top:bottom, left:right], axis=1), LINE)):
        free = gutter(ink, (left, top, right, top + start), GUTTERS[0])
        if bottom - top - stop <= FOOT[0] and free and free[1] - free[0] > FOOT[1]:
            return start, stop
    return None


def pieces(ink: Ink, box: Box, first: int = GUTTERS[0], least: int = GUTTERS[0]) -> list[Box]:
    """Return boxes that are narrow enough, from left to right and from top to bottom.

    What cannot be cut without cutting something drawn stays as wide as it is. Below `first` columns
    are `least` pixels wide: a legend is cut off before panels are parted at a narrow column.
    """
    box = left, top, right, bottom = trimmed(ink, box)
    if right - left <= ROOM:
        return [box]
    column = gutter(ink, box, first)
    if column:
        row = above_legend(ink, box, column)
        halves = [(left, top, column[0], bottom), (column[1], top, right, bottom)]
        if row:
            halves = [(left, top, right, top + row[0]), (left, top + row[1], right, bottom)]
        return [piece for half in halves for piece in pieces(ink, half, least, least)]
    best: tuple[int, int, list[Box]] = (0, 0, [])
    for start, stop in gaps(~np.any(ink[top:bottom, left:right], axis=1), LINE):
        above = trimmed(ink, (left, top, right, top + start))
        below = trimmed(ink, (left, top + stop, right, bottom))
        eased = [part[2] - part[0] <= ROOM or gutter(ink, part, least) for part in (above, below)]
        best = max(best, (sum(map(bool, eased)), stop - start, [above, below]))
    found = (
        [piece for part in best[2] for piece in pieces(ink, part, least, least)]
        if best[0]
        else [box]
    )
    return found if max(map(width, found)) < right - left - LEAST / 2 else [box]


def width(box: Box) -> int:
    """Return how wide a box is."""
    return box[2] - box[0]


def drawn(picture: bytes) -> Ink:
    """Return where a picture is not its white ground."""
    with Image.open(io.BytesIO(picture)) as image:
        return np.asarray(image.convert("L")) < GROUND


def bytes_of(source: str, folder: Path) -> bytes:
    """Return the PNG that an address names, or nothing."""
    path = folder / source
    return path.read_bytes() if path.suffix == ".png" and path.is_file() else b""


def with_twins(html: str, folder: Path, twins: Path) -> str:
    """Offer the twin of each picture that has one to a telephone, and put it beside the picture.

    Both name their density: Chromium keeps the twin's for the picture when a screen is turned.
    """

    def both(match: re.Match[str]) -> str:
        twin = twins / f"{match['name']}.png"
        if "ck-hero" in match[0] or not twin.is_file():
            return match[0]
        source = f"{match['stem']}-narrow.png"
        shutil.copyfile(twin, folder / source)
        return (
            f'<picture><source media="{NARROW}" srcset="{source} 2x">'
            f'<img data-twin="" srcset="{match["stem"]}.png 1x" {match["rest"]}</picture>'
        )

    return WITH_TWIN.sub(both, html)


def cut(html: str, folder: Path) -> str:
    """Write into each picture of a page where its pieces are; narrow pictures have none."""
    done, at = [], 0
    for match in PICTURE.finditer(html):
        done.append(html[at : match.end()])
        at = match.end()
        first = bytes_of(unescape(match["src"]), folder)
        if not first or "ck-hero" in match[0] or "data-twin" in match[0]:
            continue
        ink = drawn(first)
        if ink.shape[1] <= PHONE:
            continue
        whole = (0, 0, ink.shape[1], ink.shape[0])
        ways = [pieces(ink, whole, least=least) for least in GUTTERS]
        found = min(ways, key=lambda way: max(map(width, way)) > ROOM)
        done.append(f' data-pieces="{json.dumps(found, separators=(",", ":"))}"')
    return "".join([*done, html[at:]])


def apart(page: Path, html: str) -> str:
    """Put the pictures of explorers into scripts beside their page, which then names the files."""
    count = itertools.count(1)

    def named(match: re.Match[str]) -> str:
        data = json.loads(match[0])
        if "states" not in data or "wide" in data:  # no explorer, or from an earlier build
            return match[0]
        number = next(count)
        for form in ("wide", "narrow"):
            data[form] = f"{page.stem}-{number}-{form}.js"
            pictures = [state.pop(form) for state in data["states"]]
            script = f"document.currentScript.pictures = {json.dumps(pictures)};"
            (page.parent / data[form]).write_text(script, encoding="utf-8")
        return json.dumps(data).replace("<", "\\u003c")

    return DATA.sub(named, html)


def cut_all(app: Sphinx, problem: Exception | None) -> None:
    """Do it for each page, now that its pictures are there; not twice."""
    folder = Path(app.outdir)
    pages = [*folder.glob("notebooks/**/*.html"), *folder.glob("book/*.html")]
    for page in pages if problem is None and app.builder.format == "html" else []:
        html = page.read_text(encoding="utf-8")
        if "data-pieces=" not in html and "data-twin=" not in html:
            html = with_twins(apart(page, html), page.parent, folder.parent / "twins")
            page.write_text(cut(html, page.parent), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the hook and the script."""
    app.connect("build-finished", cut_all)
    app.add_js_file("narrow_figures.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
