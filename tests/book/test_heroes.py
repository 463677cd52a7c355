"""The pictures that GitHub shows are those of today's explorers, and of today's report."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tools.lesson_pages import NOTEBOOKS, lesson_pages

heroes = pytest.importorskip("book.experiments.heroes")  # needs the book's packages
CORES = [page for page in lesson_pages() if page.parent == NOTEBOOKS and page.name[:2] != "00"]


def difference(stored: Path, drawn: bytes) -> float:
    """Return how far two pictures of about the same size are apart, in shades of 255."""
    assert stored.stat().st_size <= 40_000
    with Image.open(stored) as old, Image.open(io.BytesIO(drawn)) as new:
        assert np.allclose(old.size, new.size, atol=6)
        grey = [np.asarray(one.convert("L").resize((100, 100)), dtype=float) for one in (old, new)]
    return float(np.abs(grey[0] - grey[1]).mean())


@pytest.mark.slow
@pytest.mark.parametrize("number", [page.name[:2] for page in CORES])
def test_a_stored_picture_is_not_stale(number: str) -> None:
    """Letters may be set a little otherwise by another version of matplotlib."""
    hero = heroes.draw(number)
    assert hero is not None
    with Image.open(heroes.path(number)) as stored:
        grey = np.asarray(stored.convert("L"))
    assert min(grey[[0, -1]].min(), grey[:, [0, -1]].min()) > 250, "on a dark page it looks cut"
    assert difference(heroes.path(number), hero.png) < 6
    assert difference(heroes.path(number, small=True), hero.small) < 6
    other = "04" if number != "04" else "09"
    assert difference(heroes.path(other, small=True), hero.small) > 8, "another one would be seen"


@pytest.mark.browser
def test_the_stored_report_is_not_stale(chromium: str) -> None:
    assert difference(heroes.REPORT, heroes.png(heroes.report(chromium))) < 6


def test_each_core_shows_its_picture() -> None:
    """Also the stored notebook; but for those whose picture would tell the outcome of a guess."""
    for page in CORES:
        line = f"(images/{page.name[:2]}.png)"
        stored = json.loads(page.with_suffix(".ipynb").read_text(encoding="utf-8"))
        shown = line in "".join(stored["cells"][0]["source"])
        assert shown == (line in page.read_text("utf-8")) == (page.name[:2] not in heroes.TELLS)
