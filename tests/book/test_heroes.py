"""The pictures that GitHub shows at the head of each lesson are those of today's explorers."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from tools.lesson_pages import NOTEBOOKS, lesson_pages

heroes = pytest.importorskip("book.experiments.heroes")  # needs the book's packages
CORES = [page for page in lesson_pages() if page.parent == NOTEBOOKS and page.name[:2] != "00"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [page.name[:2] for page in CORES])
def test_a_stored_picture_is_not_stale(number: str) -> None:
    """Letters may be set a little otherwise by another version of matplotlib."""
    hero = heroes.draw(number)
    assert hero is not None and heroes.path(number).stat().st_size <= 40_000
    with Image.open(heroes.path(number)) as old, Image.open(io.BytesIO(hero.png)) as new:
        assert np.allclose(old.size, new.size, atol=6)
        grey = [np.asarray(one.convert("L").resize((100, 100)), dtype=float) for one in (old, new)]
    assert np.abs(grey[0] - grey[1]).mean() < 6


@pytest.mark.slow
def test_another_picture_would_be_seen() -> None:
    """What the comparison above calls the same, two lessons are not."""
    grey = []
    for number in ("04", "09"):
        with Image.open(heroes.path(number)) as one:
            grey.append(np.asarray(one.convert("L").resize((100, 100)), dtype=float))
    assert np.abs(grey[0] - grey[1]).mean() > 12


def test_each_core_shows_its_picture() -> None:
    """Also the stored notebook; but for those whose picture would tell the outcome of a guess."""
    for page in CORES:
        line = f"(images/{page.name[:2]}.png)"
        stored = json.loads(page.with_suffix(".ipynb").read_text(encoding="utf-8"))
        shown = line in "".join(stored["cells"][0]["source"])
        assert shown == (line in page.read_text("utf-8")) == (page.name[:2] not in heroes.TELLS)
