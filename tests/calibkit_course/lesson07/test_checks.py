"""Answers to the exercises of lesson 07, and the claims that its text makes."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

import calibkit as ck
from calibkit import fakes
from calibkit.calibrators import CrossValidatedBinning, PiecewiseLinear, SlopeOneBinning
from calibkit_course.lesson07 import (
    checks as lesson07,
    map_error,
    reported,
    train_with_adam,
    true_error,
)

# --- 7.1 ---------------------------------------------------------------------------------------


def beside(compare: Any, first: int = 1, off: float = 1e-9) -> Any:
    """Return a function that compares a map behind and before its edges."""

    def answer(curve: Any, n_bins: int) -> Any:
        edges = np.arange(first, n_bins) / n_bins
        return np.sum(compare(curve(edges + off), curve(edges - off)))

    return answer


def one_by_one(curve: Any, n_bins: int) -> int:
    return sum(bool(curve(k / n_bins) < curve(k / n_bins - 1e-7)) for k in range(1, n_bins))


# --- 7.3 ---------------------------------------------------------------------------------------


def temperature(score: Any = ck.log_loss) -> float:
    sample = fakes.LogitDistortion(slope=0.4).sample(2000, rng=72)
    z = logit(sample.y_prob)

    def loss(t: float) -> float:
        return float(score(sample.y_true, expit(z / t)))

    return float(minimize_scalar(loss, bounds=(0.1, 10), method="bounded").x)


def optimum() -> Any:
    """Return the whole result of an optimiser, of which only `.x` is asked."""
    return minimize_scalar(lambda t: (t - 2.38) ** 2, bounds=(0.1, 10), method="bounded")


# --- all ---------------------------------------------------------------------------------------

WRONG: dict[str, list[tuple[Any, str]]] = {
    "7.1": [
        (beside(np.greater), "at which the map rises"),
        (beside(np.less_equal), "does not fall"),
        (beside(np.less, first=0), "0 and 1 are no inner edges"),
        (lambda curve, n: np.sum(np.diff(curve(np.arange(n) / n)) < 0), "whole bins"),
        (lambda curve, n: np.sum(np.diff(curve(np.arange(1, n) / n)) < 0), "with the next"),
        (lambda curve, n: beside(np.less, off=0.01)(curve, n), "a shallow fall"),
        (lambda curve, n: 8, "falls at 7 of its edges, but here it is 8"),
        (lambda curve, n: beside(np.less)(curve, 15), "edges of 15 bins"),
    ],
    "7.3": [
        (1 / temperature(), "this is 1 / T"),
        (temperature(ck.brier_score), "the Brier score"),
        (temperature(ck.expected_calibration_error), "no proper score"),
        (2.5, "2.5 made the fake"),
        (-2.38, "upside down"),
        (0, "divided by 0"),
        (1.0, "lies 0.068 above the lowest. The best T is larger"),
        (2.39, "above the lowest. The best T is smaller"),
        (optimum(), "Its attribute `.x`"),
    ],
    "7.2": [
        (lesson07.LUCKY + 0.1, "the truth itself"),
        (lesson07.LUCKY + 0.05, "the map reports 0.050"),
        (lesson07.LUCKY - 0.05, "Start from the truth"),
        (lesson07.LUCKY, "at p = 0.05 the map is off by 0.100"),
    ],
    "7.4": [
        (["15 bins", "Platt", "PL", "PL3"], "upside down"),
        (["PL3", "PL", "15 bins", "Platt"], "`15 bins` stands before `Platt`"),
        (["PL3", "PL3", "PL", "Platt"], "once"),
        (["PL3", "PL", "Platt", "beta"], "`15 bins`"),
    ],
}

RIGHT: dict[str, list[Any]] = {
    "7.1": [beside(np.less), one_by_one, lambda curve, n: float(beside(np.less)(curve, n))],
    "7.3": [temperature(), 2.38, round(temperature(), 3)],
    "7.2": [lesson07.LUCKY + 0.1 + 0.05 * np.repeat([1, -1], 5)],
    "7.4": [
        ("pl3", "pl", "platt", "15 Bins"),
        pd.Series(["PL3", "PL", "Platt", "15 bins"]),
        "PL3, PL, Platt, 15 bins",
    ],
}


def test_a_round_of_training_is_four_steps_of_a_hundredth() -> None:
    """While the slope hardly changes, each step of Adam has the size of its rate."""
    z, y = np.array([-0.2, -0.1, 0.1, 0.2]), np.ones(4)
    for rounds, steps in ((1, 4), (3, 12)):
        heights, fitted = train_with_adam(z, y, knot=1.0, rounds=rounds)
        assert heights == pytest.approx(np.array([-0.2, 0.2]) + 0.01 * steps, abs=2e-3)
        middle = expit((heights[0] + heights[1]) / 2)
        assert fitted.mean() == pytest.approx(middle, abs=1e-3)


@pytest.mark.slow
def test_training_that_stops_early_is_worse_than_nothing() -> None:
    """Prediction 7d: Adam on outer knots at ±36.8, as in the authors' program."""
    sample = fakes.SyntheticShape.with_error("square", 0.05).sample(1000, seed=0)
    z, y = logit(sample.y_prob), sample.y_true
    untouched = np.abs(sample.y_prob - sample.true_prob).mean()
    early, near = (
        np.abs(train_with_adam(z, y, knot)[1] - sample.true_prob).mean() for knot in (36.84, 7.3)
    )
    assert untouched == pytest.approx(0.050, abs=0.001)
    assert early == pytest.approx(0.081, abs=0.004)  # the reference: .0814
    assert near < 0.008
    converged = PiecewiseLinear("logit", max_pieces=6).fit(sample.y_prob, y)
    assert converged.n_pieces_ == 1 and converged.converged_
    assert np.abs(converged.curve(sample.y_prob) - sample.true_prob).mean() < 0.006


# --- the outcome is not one seed's luck ---------------------------------------------------------


@pytest.mark.long
def test_a_better_map_is_no_better_number() -> None:
    """Prediction 7c: figure 5 of Kängsepp, Valk and Kull (2022), anew and on 20 data sets."""
    shape, found = fakes.SyntheticShape("beta2"), {}
    for name, model in {"bins": SlopeOneBinning(14), "PL": PiecewiseLinear(n_pieces=3)}.items():
        errors = []
        for seed in range(20):
            sample = shape.sample(3000, seed)
            model.fit(sample.y_prob, sample.y_true)
            off = np.abs(model.curve(sample.y_prob) - sample.true_prob).mean()
            wrong = abs(reported(model, sample) - true_error(sample))
            assert wrong <= off  # the triangle inequality
            errors.append((map_error(model, shape), wrong))
        found[name] = np.array(errors)
    assert found["bins"][1] == pytest.approx((0.0403, 0.0024), abs=0.0005)
    assert found["PL"][1] == pytest.approx((0.0217, 0.0050), abs=0.0015)
    wins = np.sum(found["PL"] < found["bins"], axis=0)
    assert wins[0] >= 17 and 6 <= wins[1] <= 14


def test_the_number_of_bins_of_figure_5_depends_on_the_folds() -> None:
    sample = fakes.SyntheticShape("beta2").sample(3000, seed=1)
    for kind in ("equal-width", "equal-mass"):
        folds = (CrossValidatedBinning(kind, rng=seed) for seed in range(10))
        chosen = [fold.fit(sample.y_prob, sample.y_true).n_bins_ for fold in folds]
        assert max(chosen) >= 1.4 * min(chosen)
