"""The ledger of the sources: every verdict obeys the page's rule, and what shows it exists."""

from book.experiments import sources


def test_every_row_obeys_the_rule_of_its_verdict() -> None:
    rows = sources.ledger()
    assert [row for row in rows if not sources.obeys(row)] == []
    assert len({row["id"] for row in rows}) == len(rows) > 300
    works = next(row for row in rows if row["verdict"] == "works")
    elsewhere = {"test": "05#fig-05-distance"}  # the row names another lesson
    for wrong in (elsewhere, {"test": "01#no words"}, {"reason": "why"}, {"verdict": "partly"}):
        assert not sources.obeys(works | wrong)
