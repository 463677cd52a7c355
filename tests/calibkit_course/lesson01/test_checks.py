"""Lesson 01: what its checks refuse and accept, and the numbers that its text relies on."""

from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import binom

from calibkit import Distinct, calibration_error, expected_calibration_error, reliability_table
from calibkit_course import lesson01
from calibkit_course.lesson01 import true_or_false
from calibkit_course.lesson01.checks import GROUPS

FREQUENCIES = {prob: F(hits, count) for prob, (count, hits) in GROUPS.items()}
HITS = {prob: hits for prob, (_, hits) in GROUPS.items()}
SIZES = {prob: count for prob, (count, _) in GROUPS.items()}
CONSTANT = [(1 / 3, 1), (1 / 3, 1)] + [(1 / 3, 0)] * 4

WRONG: dict[str, list[tuple[Any, str]]] = {
    "1.1": [
        (HITS, "numbers of rainy days"),
        (SIZES, "sizes of the groups"),
        ({prob: float(prob) for prob in GROUPS}, "stated probabilities again"),
        ({prob: 1 - f for prob, f in FREQUENCIES.items()}, "dry days"),
        ({prob: prob - f for prob, f in FREQUENCIES.items()}, "these are the gaps"),
        ({prob: hits / 15 for prob, hits in HITS.items()}, "not by all 15"),
        (dict.fromkeys(HITS, 7 / 15), "among all 15"),
        ({prob: 100 * f for prob, f in FREQUENCIES.items()}, "percentages"),
        ({prob: round(float(f), 1) for prob, f in FREQUENCIES.items()}, "rounded too far"),
        ({**FREQUENCIES, F(3, 4): F(1, 2)}, "group 3/4: it rained on 3 out of 4 days"),
        ({F(1, 6): F(1, 5)}, "group 1/3 is missing"),
        ({**FREQUENCIES, 0.9: 0.9}, "no group 0.9"),
        ({**FREQUENCIES, "1/6": 0.2}, "1/6 stands in the dict twice"),
        ({"one sixth": 0.2}, "text"),
    ],
    "1.3": [
        (1 / 3, "what the slide claims"),
        (3, "number of rows"),
        (0.353, "confidence"),
        (50, "percentage"),
        (4 / 6, "row by row"),
    ],
    "1.2": [
        ([(0.5, 1)] * 2 + [(0.5, 0)] * 4, "you state 0.500, and it rains on 2 of 6 days"),
        ([(0.1667, 1)] + [(0.1667, 0)] * 5, "State `1 / 6` itself"),
        ([0.5] * 6, "this is a list of 6; it should be a list of six pairs"),
        ([(1, 0.5), (0, 0.5)] * 3, "the other way round"),
        ([(0.3, 1), (0.4, 1)] + [(1 / 3, 0)] * 4, "differ"),
        ([(1, 1)] * 6, "strictly between"),
        ([(0.5, 1)] * 6, "with 6 rainy days"),
        ([(1.5, 1)] * 6, "no probability"),
        ([(0.5, 0.5)] * 6, "cannot be an outcome"),
        ([(0.5, 1, 0)] * 6, "six pairs"),
    ],
}
RIGHT: dict[str, list[Any]] = {
    "1.1": [
        {str(prob): f for prob, f in FREQUENCIES.items()},
        {round(float(prob), 3): round(float(f), 2) for prob, f in FREQUENCIES.items()},
        pd.Series({float(prob): float(f) for prob, f in FREQUENCIES.items()}),
        {np.float32(prob): np.float32(f) for prob, f in FREQUENCIES.items()},
        {str(prob): str(f) for prob, f in FREQUENCIES.items()},
    ],
    "1.3": [0.5, F(1, 2), "1/2", "50 %"],
    "1.2": [
        CONSTANT,
        np.array(CONSTANT),
        ([0.5] * 6, [1, 0, 1, 0, 1, 0]),
        tuple((F(5, 6), wet) for wet in (True, True, True, True, True, False)),
        [(np.float32(1 / 6), 1)] + [(np.float32(1 / 6), 0)] * 5,
        [("1/3", True)] * 2 + [("1/3", False)] * 4,
        pd.DataFrame({"stated": [0.5] * 6, "rained": [0, 1] * 3}),
    ],
}


def fifteen() -> tuple[list[int], list[float]]:
    rained = [y for count, hits in GROUPS.values() for y in [0] * (count - hits) + [1] * hits]
    stated = [float(prob) for prob, (count, _) in GROUPS.items() for _ in range(count)]
    return rained, stated


def test_the_fifteen_forecasts_are_those_of_the_slides(root: Path) -> None:
    rained, stated = fifteen()
    assert len(rained) == 15
    error = expected_calibration_error(rained, stated, bins=Distinct())
    assert error.value == pytest.approx(1 / 90, abs=1e-12)
    worst = calibration_error(rained, stated, bins=Distinct(), norm=float("inf"))
    assert worst.value == pytest.approx(1 / 30, abs=1e-12)
    gaps = reliability_table(rained, stated, bins=Distinct()).gap
    assert np.flatnonzero(np.abs(gaps) > 1e-12).tolist() == [0]


def exposed(n: int, stated: float = 0.7, truth: float = 0.6) -> float:
    """Add up the binomial chances of all records that expose the forecaster, unlike the lesson."""
    hits = np.arange(n + 1)
    as_low, as_high = binom.cdf(hits, n, stated), 1 - binom.cdf(hits - 1, n, stated)
    return float(binom.pmf(hits, n, truth)[np.minimum(as_low, as_high) <= 0.025].sum())


def test_the_days_that_expose_a_wrong_forecast() -> None:
    assert next(n for n in range(1, 400) if exposed(n) >= 0.8) == 183
    assert [round(exposed(n), 2) for n in (10, 50, 100, 200)] == [0.05, 0.23, 0.54, 0.83]


def test_a_sheet_may_be_filled_in_part_and_one_left_blank_shows_the_sample() -> None:
    for blank in (..., [...] * 20):
        sheet = true_or_false.sheet(blank)
        assert "sample" in sheet.describe()
        assert sheet.y_prob.tolist() == true_or_false.SAMPLE.tolist()
    sheet = true_or_false.sheet([..., "1/4", 0.5, *[...] * 17])
    assert sheet.y_prob.tolist() == [0.25, 0.5]
    assert sheet.y_true.tolist() == true_or_false.TRUTH[1:3].tolist()
    assert "2 of 20" in repr(sheet)


@pytest.mark.parametrize(
    ("mine", "words"),
    [
        ([0.5] * 19, "there are 19"),
        ([70] + [0.5] * 19, r"statement 1 .* \(70 % is 0.70?\)"),
        ([0.5, -0.1] + [0.5] * 18, "statement 2 has the answer -0.1"),
        ([0.5] * 19 + ["no idea"], "statement 20"),
    ],
)
def test_a_sheet_says_what_is_wrong(mine: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        true_or_false.sheet(mine)


# --- the explorer --------------------------------------------------------------------------------


def test_the_interval_is_wilsons():
    record = lesson01.forecaster_view(days=30, truth=0.3)
    hits = np.cumsum(record.outcome)
    for day in (1, 7, 30):
        golden = stats.binomtest(int(hits[day - 1]), day).proportion_ci(method="wilson")
        assert record.low[day - 1] == pytest.approx(golden.low, abs=1e-12)
        assert record.high[day - 1] == pytest.approx(golden.high, abs=1e-12)


def test_more_days_prolong_the_same_run():
    short, long = (lesson01.forecaster_view(days=d).outcome for d in (20, 200))
    assert np.array_equal(short, long[:20])


@pytest.mark.parametrize("truth", [0.0, 1.0])
def test_certain_weather(truth):
    record = lesson01.forecaster_view(truth=truth, days=10)
    assert (record.share == truth).all()
    assert 0 <= record.low[-1] <= truth <= record.high[-1] <= 1
