"""Answers to the exercises of lesson 06: wrong ones with the hint they must get, and right ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit.bins import assign
from calibkit.calibrators import CrossValidatedBinning
from calibkit.fakes import LogitDistortion, SyntheticShape
from calibkit_course.lesson06 import null_ece, squares

# --- 6.5 ---------------------------------------------------------------------------------------

DATA = LogitDistortion(slope=0.6, scores=(20, 1)).sample(1000, rng=61)
EVEN = LogitDistortion().sample(1000, rng=1).y_prob


def rounds(chance: Any = DATA.y_prob, bins: Any = 5, prob: Any = DATA.y_prob) -> Any:
    """Return the errors of 1,000 redraws, by sums over bins instead of the package."""
    table = ck.reliability_table(DATA.y_true, prob, bins=bins)
    index = table.assign(prob)
    drawn = np.random.default_rng(62).random((1000, 1000)) < chance
    return np.abs((drawn - prob) @ np.eye(table.n_bins)[index]).sum(axis=1) / 1000


OBSERVED = ck.expected_calibration_error(DATA.y_true, DATA.y_prob, bins=5).value

# --- 6.3 ---------------------------------------------------------------------------------------

C = (np.arange(64_000) + 0.5) / 64_000
P = SyntheticShape.with_error("stairs", 0.05).predict(C)
REFINED = (1, 2, 4, 8, 16, 32)


def refined(last: Callable[[Any], float]) -> list[float]:
    """Return one number per number of bins, from the mean gaps of its bins."""
    return [last((P - C).reshape(n_bins, -1).mean(axis=1)) for n_bins in REFINED]


def package_errors() -> list[float]:
    """Return the same numbers from bin tables: labels are replaced by pairs of both kinds."""
    errors = []
    for n_bins in REFINED:
        edges = ck.EqualMass(n_bins).edges(P)
        index = assign(P, edges)
        errors.append(float(np.abs(np.bincount(index, P - C)).sum() / len(P)))
    return errors


def equal_width() -> list[float]:
    index = [np.minimum((P * n_bins).astype(int), n_bins - 1) for n_bins in REFINED]
    return [float(np.abs(np.bincount(one, P - C)).sum() / len(P)) for one in index]


# --- 6.4 ---------------------------------------------------------------------------------------

SAMPLE = SyntheticShape.with_error("square", 0.1).sample(3000, seed=4)
CHOICE = CrossValidatedBinning(max_bins=40, rng=10).fit(SAMPLE.y_prob, SAMPLE.y_true)
SCORES = np.asarray(CHOICE.scores_)
LIMIT = 1.001 * SCORES.min()
WITHIN = np.asarray(CHOICE.candidates_)[SCORES <= LIMIT]

# --- 6.7 ---------------------------------------------------------------------------------------


def by_loops(count: Any, mean_prob: Any, frequency: Any) -> float:
    total, n = 0.0, sum(count)
    for k, p, y in zip(count, mean_prob, frequency, strict=True):
        total += k / n * ((p - y) ** 2 - y * (1 - y) / (k - 1))
    return total


def changed(edit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of share, squared gap, variance of one outcome, and count."""

    def answer(count: Any, mean_prob: Any, frequency: Any) -> Any:
        gap, variance = (mean_prob - frequency) ** 2, frequency * (1 - frequency)
        return edit(count / count.sum(), gap, variance, count)

    return answer


# --- 6.2 ---------------------------------------------------------------------------------------

REVIEW = (
    "Purely by luck: with 1,000 images two perfect networks differ more than that. "
    "I would reject this claim, and ask for the bins, the view and an interval."
)


WRONG: dict[str, list[tuple[Any, str]]] = {
    "6.1": [
        *((n, "ECE of one program") for n in (12_500, 1000 * 3.7**2)),
        *((n, "Square the factor") for n in (5000, 1000 * 2**0.5 * 3.7)),
        *((n, "Multiply it by the 1,000") for n in (25, 26)),
        *((n, "is the gap, 0.002") for n in (6250, 6500)),
        *((50_000, "both programs"), (342_000, "null level itself"), (0, "larger than 0")),
        *((4000, "0.00258"), (21_000, "0.00113"), (32_000, "0.00091"), (36_000, "0.00086")),
        (1e6, "1,000,000 images each"),
    ],
    "6.5": [
        (1000 * [OBSERVED], "Redraw them from `p`"),
        (1000 * [0.0], "does not show 0"),
        (rounds(DATA.true_prob), "what the true model shows"),
        (rounds(0.5), "from a coin"),
        (rounds(bins=ck.EqualMass(5)), "what other bins show"),
        (rounds(EVEN, prob=EVEN), "is about 0.007, but here it is 0.022"),
        (1000 * [0.9], "but here it is 0.900"),
        (rounds().mean(), "this is one number"),
        *((rounds()[[k]], "these are 1 round.") for k in range(8)),
        (rounds()[:100], "these are 100 rounds"),
    ],
    "6.6": [
        (14_800, "still show 0.01003"),
        (17_500, "only 0.00922 there"),
        (40_000, "more than you need"),
        (3, "at least 15"),
    ],
    "6.3": [
        ([0.05] * 6, "Average inside the bin first"),
        (refined(lambda gap: float(gap.mean())), "signs cancel across bins"),
        (refined(lambda gap: float(np.square(gap).mean())), "squares or their roots"),
        (refined(lambda gap: float(np.square(gap).mean() ** 0.5)), "squares or their roots"),
        (refined(lambda gap: float(np.abs(gap).sum())), "these are sums"),
        (refined(lambda gap: float(np.abs(gap).mean()))[::-1], "order is reversed"),
        (refined(lambda gap: float(np.abs(gap).max())), "is left of the error"),
        (equal_width(), "equal-width bins"),
    ],
    "6.4": [
        (CHOICE.best_n_bins_, "17 bins have the lowest score"),
        (int(WITHIN[-1]), "not the smallest"),
        (CHOICE.n_bins_ - 1, "position in the list"),
        (40, "40 bins is"),
        (len(WITHIN), "the score of 3 bins is"),
        (0, "a whole number from 1 to 40"),
        (2.5, "a whole number from 1 to 40"),
    ],
    "6.7": [
        (changed(lambda share, gap, v, n: share @ gap), "the plain squared error"),
        (changed(lambda share, gap, v, n: share @ (gap - v / n)), "divide by the count minus one"),
        (
            changed(lambda share, gap, v, n: np.sqrt(max(share @ (gap - v / (n - 1)), 0))),
            "the square root",
        ),
        (
            changed(lambda share, gap, v, n: max(share @ (gap - v / (n - 1)), 0)),
            "Below 0 is allowed",
        ),
        (changed(lambda share, gap, v, n: np.mean(gap - v / (n - 1))), "weight each bin"),
        (changed(lambda share, gap, v, n: share @ gap - np.sum(v / (n - 1))), "wrong weight"),
        (
            lambda n, p, y: np.average((p - y) ** 2 - p * (1 - p) / (n - 1), weights=n),
            "comes from its frequency",
        ),
        (changed(lambda share, gap, v, n: -(share @ gap)), "the answer is"),
    ],
    "6.2": [("Not enough images.", "only 3 words"), (0.002, "a text in quotes")],
}

RIGHT: dict[str, list[Any]] = {
    "6.1": [  # from ± 0.0052, ± 0.0037 and, for 4,000 images, ± 0.0026
        *(27_040, 1000 * 2 * 3.7**2, 4000 * 2.5**2, 4000 * 2.6**2),
        *(26_010.2, 28_500, np.int64(24_500), 23_000, 31_000),
    ],
    "6.5": [rounds(), rounds().tolist()],
    "6.6": [1000 * (0.039 / 0.01) ** 2, 14_890, 14_900.5, np.int64(15_915), 16_390],
    "6.3": [
        refined(lambda gap: float(np.abs(gap).mean())),
        np.array(package_errors()),
        [0.0167, 0.0167, 0.0392, 0.0470, 0.0492, 0.0498],
    ],
    "6.4": [int(WITHIN.min()), np.int64(CHOICE.n_bins_), float(CHOICE.n_bins_)],
    "6.7": [by_loops, changed(lambda share, gap, v, n: share @ (gap - v / (n - 1)))],
    "6.2": [REVIEW],
}


@pytest.mark.parametrize("slope", [1.0, 0.8])
def test_chance_adds_its_variance_to_plain_squares_and_nothing_to_debiased_ones(slope) -> None:
    plain, debiased = squares(slope, n_sets=200)
    said = np.linspace(0.025, 0.975, 20)
    true = LogitDistortion(slope=slope).true_map(said)
    assert plain.truth == debiased.truth == pytest.approx(np.mean((said - true) ** 2))
    for found, wanted in ((plain, np.mean(true * (1 - true)) / 50), (debiased, 0)):
        assert found.bias == pytest.approx(wanted, abs=4 * found.sd / np.sqrt(200)), found.name


@pytest.mark.slow
def test_fifteen_thousand_predictions_are_enough() -> None:
    found = null_ece(LogitDistortion(), 14_900, ck.EqualWidth(15), seed=1)[0]
    assert found == pytest.approx(0.01, abs=4e-4)
