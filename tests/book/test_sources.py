"""The ledger of the sources: every verdict obeys the page's rule, and what shows it exists."""

import re

import pytest

from book.experiments import sources
from tests.paths import ROOT

ROWS = sources.ledger()


def shown(place: str) -> bool:
    """Tell whether a test, or a page's text, exists."""
    if "::" in place:
        file, _, test = place.partition("::")
        return f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
    page, _, words = place.partition("#")
    folder, pattern = ("notebooks", f"**/{page}_*.md") if page.isdigit() else ("book", f"{page}.md")
    return any(words in path.read_text("utf-8") for path in (ROOT / folder).glob(pattern))


def test_rows_obey_the_rules_of_their_verdicts(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(row=row["id"]):
            why, here = row["reason"], row["where"]
            obeys = {
                "works": here and not why,
                "partly": here and why.startswith(sources.PARTS),
                "missing": why and not here,
                "contradicted": here and why,
            }
            assert row["section"] and row["what"] and obeys[row["verdict"]]
            assert not row["test"] if row["verdict"] == "missing" else shown(row["test"])


def test_rows_are_numbered_and_the_page_shows_them() -> None:
    names = [row["id"] for row in ROWS]
    assert len(set(names)) == len(names) > 300
    assert {re.sub(r"-\d{3}$", "", name) for name in names} == set(sources.SOURCES)
    text = sources.PAGE.read_text(encoding="utf-8")
    assert sources.filled(text, sources.blocks()) == text, "run: python -m book.experiments.sources"


def test_what_is_not_there_would_be_found() -> None:
    assert not shown("tests/book/test_sources.py::test_nothing") and not shown("05#no such words")
