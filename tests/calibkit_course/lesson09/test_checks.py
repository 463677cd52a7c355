"""Answers to the exercises of lesson 09: wrong ones with the hint they must get, and right ones."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from calibkit.calibrators import estimate_prevalence, shift_prior
from calibkit_course import lesson09
from calibkit_course.lesson09.gaussian import GaussianDiscriminant

# --- 9.1 ---------------------------------------------------------------------------------------

SAMPLE = GaussianDiscriminant(0.02, deployed=0.025, scale=1).sample(10_000, 88)
EXPECTED = float(SAMPLE.y_prob.sum())
COUNTED = float(SAMPLE.y_true.sum())
RATIO = COUNTED / EXPECTED
# The variance of the redrawn number of events is known; a normal law serves for the quantiles.
SPREAD = 1.645 * float(np.sqrt(np.sum(SAMPLE.y_prob * (1 - SAMPLE.y_prob)))) / EXPECTED

# --- 9.3 and 9.5 -------------------------------------------------------------------------------


def in_logits(p: Any, train: float, test: float) -> Any:
    return expit(logit(p) + logit(test) - logit(train))


def in_odds(p: Any, train: float, test: float) -> Any:
    odds = p / (1 - p) * test / (1 - test) * (1 - train) / train
    return (odds / (1 + odds)).tolist()


WRONG: dict[str, list[tuple[Any, str]]] = {
    "9.1": [
        ([1 / RATIO, 1 - SPREAD, 1 + SPREAD], "expected over observed"),
        ([0.025, 1 - SPREAD, 1 + SPREAD], "Divide it by the mean prediction"),
        ([246 / 200, 1 - SPREAD, 1 + SPREAD], "2 % of the cases"),
        ([0.1, 1 - SPREAD, 1 + SPREAD], "be 1.211, to within 0.002, but here it is 0.100."),
        ([RATIO, 1 + SPREAD, 1 - SPREAD], "the lower end comes before"),
        ([RATIO, RATIO - SPREAD, RATIO + SPREAD], "By chance, ratios lie around 1"),
        ([RATIO, 0.99, 1.01], "off by more than 0.02. They are 1 minus and plus 1.645 / √E"),
        ([RATIO, 1 - 0.01645, 1 + 0.01645], "root of the number of rows"),
        ([RATIO, 1 - 1.19 * SPREAD, 1 + 1.19 * SPREAD], "not 1.96"),
        ([RATIO, 1 - 1.645 / COUNTED**0.5, 1 + 1.645 / COUNTED**0.5], "by what was expected"),
        ([1.2075, 1 - SPREAD, 1 + SPREAD], "within 0.002, but here it is 1.208"),
    ],
    "9.2": [
        (lambda f: 1.645 / (f - 1), "Square it"),
        (lambda f: np.ceil((1.96 / (f - 1)) ** 2), "One end of the range"),
        (lambda f: np.ceil((1.645 / f) ** 2), "How far above 1"),
        (lambda f: (1.645 / (f - 1)) ** 2, "round up"),
        (lambda f: 100, "it takes 68 expected events, not 100"),
    ],
    "9.3": [
        (lambda p, train, test: p * test / train, "Multiply the odds"),
        (lambda p, train, test: in_logits(p, test, train), "from `test` to `train`"),
        (lambda p, train, test: logit(in_logits(p, train, test)), "these are logits"),
        (lambda p, train, test: in_logits(p, train, test).round(3), "p = 0.0005"),
        (lambda p, train, test: p + test - train, "becomes -"),
        (lambda p, train, test: np.clip(p + test - train, 0, 1), "should become"),
    ],
    "9.5": [
        (lambda p, train, now: p.mean(), "First move the predictions"),
        (lambda p, train, now: in_logits(p, now, train).mean(), "made for `train`"),
        (lambda p, train, now: in_logits(p, train, now), "Average them"),
        (lambda p, train, now: in_logits(p, train, now).mean() + 3e-5, "0.4517"),
    ],
    "9.4": [("O/E, of course.", "only 3 words"), (["O/E", "chance"], "a text in quotes")],
}

RIGHT: dict[str, list[Any]] = {
    "9.1": [
        [RATIO, 1 - SPREAD, 1 + SPREAD],
        (np.float64(RATIO), 1 - SPREAD + 0.01, 1 + SPREAD - 0.01),
        pd.Series([1.21, 0.89, 1.11]),
        [RATIO, 1 - 1.645 / EXPECTED**0.5, 1 + 1.645 / EXPECTED**0.5],
    ],
    "9.2": [lambda f: math.ceil((1.645 / (f - 1)) ** 2)],
    "9.3": [
        in_logits,
        in_odds,
        lambda p, train, test: shift_prior(p, train_prevalence=train, test_prevalence=test),
    ],
    "9.5": [
        lambda p, train, now: in_logits(p, train, now).mean(),
        lambda p, train, now: sum(in_odds(p, train, now)) / len(p),
        lambda p, train, now: estimate_of_one_step(p, train, now),
    ],
    # The keyword judge of an earlier version refused the first text, and praised the others.
    "9.4": [
        "I show the standardised mortality ratio with Poisson control limits, and a CUSUM chart.",
        "ratio chance blind " * 8,
        "The AUC, since chance cannot move it much, but it is blind to calibration.",
    ],
}


def estimate_of_one_step(p: Any, train: float, now: float) -> float:
    """Take a step of EM with the package: its path from `now`, for predictions moved there."""
    moved = shift_prior(p, train_prevalence=train, test_prevalence=now)
    return float(estimate_prevalence(moved, train_prevalence=now, em_steps=1).path[1])


# --- what the lesson says ----------------------------------------------------------------------


@pytest.mark.slow
def test_twelve_splits_of_the_abalones_differ_by_chance() -> None:
    found = lesson09.abalone_splits()
    if not found:
        pytest.skip("abalone comes with a package that is not installed")
    values = [tce.value for tce in found]
    assert f"{values[0]:.2%}" == "7.26%"  # as the paper prints it
    assert (f"{min(values):.1%}", f"{max(values):.1%}") == ("0.9%", "12.9%")
    assert f"{np.mean([tce.null_mean for tce in found]):.1%}" == "5.1%"
    assert f"{min(tce.p_value for tce in found):.2f}" == "0.06"


@pytest.mark.long
def test_em_arrives_late_where_classes_overlap() -> None:
    *_, fewest, most = lesson09.estimates(0.5)
    assert (fewest, most) == (216, 2650)
    *_, fewest, most = lesson09.estimates(2)
    assert (fewest, most) == (4, 12)


# --- the outcome is not one seed's luck ---------------------------------------------------------


def test_weak_predictions_cannot_tell_a_rare_prevalence() -> None:
    spread = {}
    for distance in (0.5, 3):
        model = GaussianDiscriminant(0.01, deployed=0.02, scale=1 / distance)
        spread[distance] = np.std(
            [
                estimate_prevalence(model.sample(6000, seed).y_prob, train_prevalence=0.01).value
                for seed in range(20)
            ]
        )
    assert 0.01 < spread[0.5] < 0.03
    assert spread[3] < 0.005
