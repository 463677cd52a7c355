"""The ledger of the sources: every verdict obeys the page's rule, and what shows it exists."""

from book.experiments import pages, sources


def test_every_row_obeys_the_rule_of_its_verdict() -> None:
    rows = sources.ledger()
    assert [row for row in rows if not sources.obeys(row)] == []
    assert len({row["id"] for row in rows}) == len(rows) > 300
    works = next(row for row in rows if row["verdict"] == "works")
    elsewhere = {"test": "05#fig-05-distance"}  # the row names another lesson
    for wrong in (elsewhere, {"test": "01#no words"}, {"reason": "why"}, {"verdict": "partly"}):
        assert not sources.obeys(works | wrong)


def test_the_page_shows_the_ledger() -> None:
    text = sources.PAGE.read_text(encoding="utf-8")
    assert pages.filled(text, sources.blocks()) == text, "run: python -m book.experiments.sources"
