"""Answers to the exercises of lesson 11, wrong and right, and the numbers that it states."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import calibkit as ck
from calibkit.calibrators import HistogramBinning, IsotonicCalibrator, VennAbers
from calibkit.fakes import LogitDistortion
from calibkit_course import lesson11, open_lesson
from calibkit_course.lesson11.checks import _scores
from calibkit_course.lesson11.number import BINS, _measured
from calibkit_course.lesson11.race import runs_of
from tests.paths import lesson_text

PREDICTIONS = open_lesson("11", keep=False).predictions

# --- 11.1 --------------------------------------------------------------------------------------

SEEN, NEW = np.moveaxis(_scores(), 1, 0)
DRAWS, BEST = np.arange(100), SEEN.argmin(axis=1)
EACH = (NEW - SEEN)[DRAWS, BEST]

# --- 11.2 --------------------------------------------------------------------------------------


def outputs(p: Any, y: Any, new: Any) -> Any:
    return IsotonicCalibrator().fit(p, y).calibrate(new)


def by_blocks(p: Any, y: Any, new: Any) -> float:
    """Without a fit: below the first event and above the last non-event, all is certain."""
    lowest, highest = np.min(p[y == 1]), np.max(p[y == 0])
    before, after = p[p < lowest], p[p > highest]
    sure = np.zeros(len(new), dtype=bool)
    if len(before):
        sure |= new <= before.max()
    if len(after):
        sure |= new >= after.min()
    return float(sure.mean())


def by_plain_isotonic(p: Any, y: Any, new: Any, **options: Any) -> float:
    """Count 0 and 1 with scikit-learn's map, which is NaN outside its range unless told."""
    out = IsotonicRegression(**options).fit(p, y).predict(new)
    return float(np.mean((out == 0) | (out == 1)))


def by_clipped_isotonic(p: Any, y: Any, new: Any) -> float:
    return by_plain_isotonic(p, y, new, out_of_bounds="clip")


# --- 11.3 --------------------------------------------------------------------------------------


def by_split(scaled: Any, n_bins: int, member: Callable[[Any], Any] = np.mean) -> Any:
    out = np.empty(len(scaled))
    for rows in np.array_split(np.argsort(scaled), n_bins):
        out[rows] = member(scaled[rows])
    return out


def middle(members: Any) -> Any:
    return (members.min() + members.max()) / 2


def by_edges(scaled: Any, n_bins: int) -> list[float]:
    edges = ck.EqualMass(n_bins).edges(scaled)
    index = np.searchsorted(edges[1:-1], scaled, side="right")
    return [float(np.mean(scaled[index == b])) for b in index]


def by_sorting(scaled: Any, n_bins: int) -> Any:
    means = np.sort(scaled).reshape(n_bins, -1).mean(axis=1)
    return np.repeat(means, len(scaled) // n_bins)


def as_they_come(scaled: Any, n_bins: int) -> Any:
    return np.repeat(scaled.reshape(n_bins, -1).mean(axis=1), len(scaled) // n_bins)


def by_width(scaled: Any, n_bins: int) -> Any:
    index = np.minimum((scaled * n_bins).astype(int), n_bins - 1)
    return np.array([scaled[index == b].mean() for b in index])


WRONG: dict[str, list[tuple[Any, str]]] = {
    "11.1": [
        (-EACH.mean(), "sign turned"),
        ((NEW - SEEN)[DRAWS, NEW.argmin(axis=1)].mean(), "chooses by the test rows"),
        ((NEW.min(axis=1) - SEEN.min(axis=1)).mean(), "two different maps"),
        ((NEW - SEEN)[:, SEEN.mean(axis=0).argmin()].mean(), "the same one in all draws"),
        ((NEW - SEEN).mean(), "all 50 maps"),
        (SEEN.min(axis=1).mean(), "the score on the validation rows"),
        (NEW[DRAWS, SEEN.argmin(axis=1)].mean(), "the score on the test rows. Subtract"),
        (EACH[0], "the first draw alone"),
        (0.5, "0.5000 is not it. In each draw"),
    ],
    "11.2": [
        (lambda p, y, new: np.mean(outputs(p, y, new) == 0), "Outputs of 1 are as risky"),
        (lambda p, y, new: np.mean(outputs(p, y, new) == 1), "Outputs of 0 are as risky"),
        (by_plain_isotonic, "gives no number (NaN) outside"),
        (lambda p, y, new: by_blocks(p, y, p), "Count new predictions"),
        (lambda p, y, new: by_blocks(p, y, new) * len(new), "a number of rows"),
        (lambda p, y, new: 100 * by_blocks(p, y, new), "in per cent"),
        (lambda p, y, new: 0.0, "the share is"),
        (lambda p, y, new: 1 - by_blocks(p, y, new), "neither 0 nor 1"),
    ],
    "11.3": [
        (by_sorting, "sorted order"),
        (lambda scaled, n_bins: by_sorting(scaled, n_bins) + 1e-3, "row "),
        (lambda scaled, n_bins: by_split(scaled, n_bins, np.median), "these are the medians"),
        (lambda scaled, n_bins: by_split(scaled, n_bins, middle), "the middles"),
        (by_width, "equal width"),
        (as_they_come, "Sort the predictions"),
        (lambda scaled, n_bins: scaled, "different outputs"),
        (lambda scaled, n_bins: np.sort(scaled)[:n_bins], "one output per prediction"),
        (lambda scaled, n_bins: by_split(scaled, n_bins)[:, None], "a table of one column"),
    ],
}

RIGHT: dict[str, list[Any]] = {
    "11.1": [EACH.mean(), 0.0128],
    "11.2": [
        by_blocks,
        lambda p, y, new: np.isin(outputs(p, y, new), [0, 1]).mean(),
        by_clipped_isotonic,
    ],
    "11.3": [by_split, by_edges],
}

# --- what the lesson says ----------------------------------------------------------------------


def medians(distortion: str, measure: int, size: int, n_bins: int = 15) -> dict[str, float]:
    names = ("Platt", "beta", "isotonic", "histogram", "scaling-binning")
    return {
        name: float(np.median(runs_of(distortion, name, n_bins)[measure, size])) for name in names
    }


@pytest.mark.slow
def test_bins_cost_histograms_rows_and_scaling_binning_none() -> None:
    few, many = (medians("line", 1, 3, n_bins) for n_bins in (5, 50))
    assert many["histogram"] > 2 * few["histogram"]
    assert many["scaling-binning"] < 1.1 * few["scaling-binning"]
    more = medians("line", 1, -1, 50)["histogram"]  # ten times the rows
    assert more == pytest.approx(few["histogram"], rel=0.15)


def test_the_squared_error_of_a_histogram_is_as_the_formula_says() -> None:
    """The squared error is B v / n, within 10 % (section 6, and the last question)."""
    fake, rng = LogitDistortion(slope=0.2), np.random.default_rng(0)
    grid = (np.arange(20_000) + 0.5) / 20_000
    truth = fake.true_map(grid)
    spread = float(np.mean(truth * (1 - truth)))
    n, n_bins = 2250, 50
    squares = []
    for _ in range(40):
        rows = fake.sample(n, rng)
        model = HistogramBinning(ck.EqualMass(n_bins)).fit(rows.y_prob, rows.y_true)
        index = model.table_.assign(grid)
        mean = np.bincount(index, truth) / np.bincount(index)
        squares.append(np.mean((model.height_ - mean)[index] ** 2))
    assert np.mean(squares) == pytest.approx(n_bins * spread / n, rel=0.1)


@pytest.mark.slow
def test_prose_and_printed_numbers_agree() -> None:
    stored = lesson_text("11", ".ipynb")
    for place, outcome in enumerate(("11a", "11b")):
        options = PREDICTIONS[outcome].options
        races = (re.findall(rf'"{name} +(0\.\d{{3}}) ', stored) for name in options)
        best = options[int(np.argmin([float(both[place]) for both in races]))]
        assert best == PREDICTIONS[outcome].outcome
    picks = dict(re.findall(r"(ATB|Brier) +(\d+ .* \d+)\\n", stored))
    assert picks["Brier"].split() == ["0", "0", "0", "0", "20"]
    assert picks["ATB"].split()[0] == picks["ATB"].split()[-1]
    ratio = re.search(r"plain / truth = ([\d.]+)", stored)
    assert ratio is not None and float(ratio[1]) == PREDICTIONS["11f"].outcome
    tried = lesson11.which_number_view(n_bins=100)
    assert [tried.chosen(values) for values in (tried.far, tried.loss)] == [12, 12]
    lowest = np.array(BINS)[_measured()[0][[1, 2]].argmin(axis=1)]
    assert (lowest == 12).sum(axis=1).tolist() == [16, 16] and f"{EACH.mean():.3f}" == "0.013"
    assert EACH.mean() > 4 * EACH.std() / len(EACH) ** 0.5  # no luck of these draws
    same = (lowest[0] == lowest[1]).sum()
    assert f"In {same} of the 20" in (core := lesson_text("11")) and "0.013 better" in core
    surprises = [float(v) for v in re.findall(r"(?:below|above) 0\.\d5 +[\d.]+ +([\d.]+)", stored)]
    assert np.mean([surprises[0], 1 - surprises[1]]) == pytest.approx(0.18, abs=0.005)
    assert "percentile: holds the truth in 0%" in stored


@pytest.mark.slow
def test_the_real_network_shows_what_the_lesson_says() -> None:
    from calibkit_course import data

    vgg = data.load("cifar10-vgg16")
    rows = lesson11.Population.of_rows(vgg.y_true, vgg.y_prob)
    found = lesson11.binned_errors(rows, n_bins=(2, 8, 32, 128, 512), n_splits=30, rng=11)
    assert found.plain_2[[0, 3, 4]] == pytest.approx([0.013, 0.040, 0.06], abs=0.001)
    assert found.debiased_2[[0, 3, 4]] == pytest.approx([0.012, 0.031, 0.03], abs=0.001)


# --- the outcome is not one seed's luck ---------------------------------------------------------


def test_the_venn_abers_interval_is_no_confidence_interval() -> None:
    fake = LogitDistortion(slope=0.5)
    grid = (np.arange(1000) + 0.5) / 1000
    truth, held, wide = fake.true_map(grid), [], {}
    for n in (100, 1000):
        rows = [fake.sample(n, rng=seed) for seed in range(8)]
        ends = [VennAbers("probabilities").fit(r.y_prob, r.y_true).interval(grid) for r in rows]
        wide[n] = np.mean([high - low for low, high in ends])
        held = [np.mean((low <= truth) & (truth <= high)) for low, high in ends]
    assert 0.1 < np.mean(held) < 0.3
    assert 3.5 < wide[100] / wide[1000] < 6  # the text says a fifth
