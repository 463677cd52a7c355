"""The rate that people would find: published numbers, theorems, coverage, and what is refused."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from calibkit_audit.clusters import mean_interval
from calibkit_audit.rate import HONEST, corrected_by_rates, estimate_rate, two_error_rates


def world(seed: int, n: int = 1000, labelled: int = 200, **options: Any) -> tuple[Any, Any]:
    """Return scores of a boastful judge, and labels of some rows; two of three pass."""
    rng = np.random.default_rng(seed)
    chance = rng.beta(2, 1, n)
    passed = rng.random(n) < chance
    known = rng.permutation(n) < labelled
    return expit(1.6 * logit(chance) + 1), np.where(known, passed, np.nan)


def test_two_error_rates_have_the_published_interval() -> None:
    # p = .4, specificity .7, sensitivity .9, of 1,000, 200 and 200: Lee and others (2025).
    found = corrected_by_rates((0.4, 1000), (0.7, 200), (0.9, 200), 0.95)
    assert found == pytest.approx((1 / 6, 0.0564, 0.2627), abs=5e-5)
    verdict = np.repeat([0.0, 1, 0, 1, 1, 0], [140, 60, 20, 180, 160, 440])
    label = np.repeat([0.0, 1, np.nan], [200, 200, 600])
    assert two_error_rates(verdict, label, 0.95) == pytest.approx(found)
    assert np.isnan(two_error_rates(1 - verdict, label, 0.95)).all()  # worse than a coin


def test_people_alone_are_a_mean_and_no_method_moves_where_all_have_labels() -> None:
    score, label = world(0, labelled=1000)
    found = estimate_rate(score, label)
    assert found.rate[:3] == pytest.approx(label.mean(), abs=1e-12)
    score, label = world(1)
    found, own = estimate_rate(score, label), label[~np.isnan(label)]
    place = HONEST.index("people alone")
    low, high = mean_interval(own[np.newaxis], 0.95)
    assert found.rate[place] == pytest.approx(own.mean())
    wider = (found.high - found.low)[place] / (high - low)[0]
    assert 1 <= wider < 1.04  # by two labels that nobody gave
    plain = own.mean() + score.mean() - score[~np.isnan(label)].mean()
    assert found.rate[1] == pytest.approx(plain)


def test_a_perfect_judge_on_25_rows_is_no_proof() -> None:
    passed = np.arange(1000) < 700
    known = np.random.default_rng(0).permutation(1000) < 25
    found = estimate_rate(passed.astype(float), np.where(known, passed, np.nan))
    assert "The judge errs on no row with a label, which is no proof" in found.describe()
    assert "All labels are 1" in estimate_rate(*(np.full(30, one) for one in (0.5, 1.0))).describe()
    assert found.high[1] - found.low[1] > 0.1 and found.low[1] < 0.7 < found.high[1]


@pytest.mark.slow
def test_intervals_hold_what_they_promise_and_the_judge_does_not() -> None:
    hits, worlds = np.zeros(5), 120
    for seed in range(worlds):
        found = estimate_rate(*world(seed))
        hits += (found.low <= 2 / 3) & (found.high >= 2 / 3)
    assert (hits[:3] >= 0.9 * worlds).all() and hits[4] == 0


@pytest.mark.slow
def test_rows_of_one_item_are_one_and_rows_chosen_by_score_are_weighed() -> None:
    score, label = world(3)
    twice = estimate_rate(np.tile(score, 2), np.tile(label, 2), cluster=np.tile(np.arange(1000), 2))
    once = estimate_rate(score, label)
    place = HONEST.index("people alone")
    same = (twice.high - twice.low)[place] / (once.high - once.low)[place]
    assert same == pytest.approx(1, abs=0.02)
    score, passed = world(4, n=20_000, labelled=20_000)
    chance = 0.02 + 0.15 * (1 - score)
    some = np.where(np.random.default_rng(5).random(20_000) < chance, passed, np.nan)
    found = estimate_rate(score, some, chance=chance)
    assert (found.low[:3] < passed.mean()).all() and (passed.mean() < found.high[:3]).all()
    blind = estimate_rate(score, some)
    assert blind.high[place] < passed.mean()
    assert blind.describe().startswith("Rows with a label have other scores than all rows (mean")
    assert "give chance=" not in found.describe()


def test_it_is_said_to_the_person_who_decides() -> None:
    found = estimate_rate(*world(1, n=5000))
    text = found.describe()
    assert text.startswith("Of 100 rows the judge's scores expect 8")
    assert "5,000 rows, 200 with" in text
    assert found.method[found.recommended] in text and "labels would give 2 of 100" in text
    labels = found.needed
    assert 1500 < labels < 2500
    better = estimate_rate(*world(1, n=5000, labelled=labels))
    place = better.recommended
    assert (better.high - better.low)[place] == pytest.approx(0.04, rel=0.1)  # as it was told
    few = estimate_rate(*world(1))
    assert few.needed == 0 and "more rows are needed" in few.describe()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judge": [7] * 30}, r"judge\[0\] = 7 is not in \[0, 1\]. Divide"),
        ({"judge": [None, *[0.5] * 29]}, r"judge\[0\] = nan is not .* labels alone may be missing"),
        ({"labels": [2] * 30}, r"labels\[0\] = 2 is not in"),
        ({"labels": [1] * 19 + [None] * 11}, "19 rows with a label; at least 20"),
        ({"labels": [1] * 29}, "judge has 30 rows, labels 29"),
        ({"labels": ["good"] * 30}, "labels must be numbers"),
        ({"chance": [0] * 30}, r"chance\[0\] is 0: each row needs"),
        ({"chance": [1] * 29}, "and chance 29; they need one per row"),
        ({"level": 95}, "level"),
        ({"cluster": ["a"] * 30}, "cluster has one name"),
    ],
)
def test_what_cannot_be_used_is_refused(change: dict[str, Any], message: str) -> None:
    given = {"judge": [0.5] * 30, "labels": [1.0, 0.0] * 15} | change
    with pytest.raises(ValueError, match=message):
        estimate_rate(**given)
