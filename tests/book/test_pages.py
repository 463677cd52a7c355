"""The pages that experiments write show what is stored, and their pictures are as they say."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from PIL import Image

from book.experiments import others, pages, published, repairs, sources
from book.experiments.pseudo_real import page as pseudo_real
from book.experiments.pseudo_real.study import Study
from book.experiments.synthetic import __main__ as synthetic, page as study
from book.experiments.tce import __main__ as tce
from book.experiments.verified import __main__ as verified
from tests.helpers import some
from tests.paths import ROOT

# What brings a page up to date: its module, and what it writes.
WRITTEN: dict[str, tuple[Any, Callable[[], Mapping[str, str]]]] = {
    "-m book.experiments.sources": (sources, sources.blocks),
    "-m book.experiments.others": (
        others,
        lambda: {one.pip: others.block(one) for one in others.LIBRARIES},
    ),
    "-m book.experiments.repairs --tables": (repairs, lambda: repairs.tables(repairs.stored())),
    "-m book.experiments.verified.__main__": (verified, lambda: verified.blocks(verified.load())),
    "-m book.experiments.published": (published, published.blocks),
    "-m book.experiments.tce.__main__": (
        tce,
        lambda: {name: build() for name, build in tce.BLOCKS.items()},
    ),
    "dev.py study --tables": (study, lambda: study.blocks(synthetic.stored())),
    "dev.py pseudo --tables": (pseudo_real, lambda: pseudo_real.blocks(Study.load())),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", some([*WRITTEN], 4))
def test_a_page_shows_what_comes_out_today_and_needs_a_place_for_it(command: str) -> None:
    module, blocks = WRITTEN[command]
    text, parts = module.PAGE.read_text(encoding="utf-8"), blocks()
    assert pages.filled(text, parts) == text, f"run: python {command}"
    assert text.count("<!-- end -->") == len(parts)
    with pytest.raises(ValueError, match=f"has no place for {next(iter(parts))}"):
        pages.filled("", parts)


def test_every_row_of_the_ledger_obeys_the_rule_of_its_verdict() -> None:
    rows = sources.ledger()
    assert [row for row in rows if not sources.obeys(row)] == []
    assert len({row["id"] for row in rows}) == len(rows) > 300
    works = next(row for row in rows if row["verdict"] == "works")
    elsewhere = {"test": "05#fig-05-distance"}  # the row names another lesson
    for wrong in (elsewhere, {"test": "01#no words"}, {"reason": "why"}, {"verdict": "partly"}):
        assert not sources.obeys(works | wrong)


@pytest.mark.parametrize("name", ["pseudo_real", "verified"])
def test_pictures_are_light_and_their_words_stand_on_their_page(name: str) -> None:
    page = (ROOT / "book" / f"{name}.md").read_text("utf-8")
    paths = [*(ROOT / "book" / "_static").glob(f"{name}_*.png")]
    assert page.count(f"_static/{name}_") == len(paths)
    for path in paths:
        with Image.open(path) as image:
            assert f":alt: {image.text['Description']}\n" in page, path.name
        assert path.stat().st_size < 150_000
