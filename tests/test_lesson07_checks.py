"""Answers to the exercises of lesson 07, and the claims that its text makes."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from scipy.stats import spearmanr

import calibkit as ck
from calibkit import fakes
from calibkit.calibrators import PlattCalibrator, SlopeOneBinning
from calibkit.lessons.lesson07 import checks as lesson07
from calibkit.piecewise import PiecewiseLinear

SHAPES = ("square", "sqrt", "beta1", "beta2", "stairs")

# --- 7.1 ---------------------------------------------------------------------------------------


def by_hand(p: Any, knots: Any, heights: Any) -> Any:
    """Evaluate the map from its formula, one prediction at a time."""
    values = []
    for x in p:
        j = min(sum(knot <= x for knot in knots[1:]), len(knots) - 2)
        share = (x - knots[j]) / (knots[j + 1] - knots[j])
        values.append((1 - share) * heights[j] + share * heights[j + 1])
    return values


def steps(p: Any, knots: Any, heights: Any) -> Any:
    return heights[np.searchsorted(knots, p, side="right") - 1]


def nearest(p: Any, knots: Any, heights: Any) -> Any:
    return heights[np.abs(p[:, None] - knots).argmin(axis=1)]


def in_logits(p: Any, knots: Any, heights: Any) -> Any:
    with np.errstate(divide="ignore"):
        x, u, v = (np.clip(logit(q), -36.84136, 36.84136) for q in (p, knots, heights))
    return expit(np.interp(x, u, v))


def spoil(p: Any, knots: Any, heights: Any) -> Any:
    value = np.interp(p, knots, heights)
    p.sort()
    return value


# --- 7.2 ---------------------------------------------------------------------------------------


def temperature(score: Any = ck.log_loss) -> float:
    sample = fakes.LogitDistortion(slope=0.4).sample(2000, rng=72)
    z = logit(sample.y_prob)

    def loss(t: float) -> float:
        return float(score(sample.y_true, expit(z / t)))

    return float(minimize_scalar(loss, bounds=(0.1, 10), method="bounded").x)


def from_pl3(**options: Any) -> float:
    sample = fakes.LogitDistortion(slope=0.4).sample(2000, rng=72)
    model = PiecewiseLinear("logit", 1, **options).fit(sample.y_prob, sample.y_true)
    return float(np.diff(logit(model.knots_))[0] / np.diff(logit(model.heights_))[0])


# --- all ---------------------------------------------------------------------------------------

WRONG: dict[str, list[tuple[Any, str]]] = {
    "7.1": [
        (lambda p, knots, heights: np.interp(p, heights, knots), "changed places"),
        (steps, "height of the left knot"),
        (nearest, "nearest knot"),
        (lambda p, knots, heights: heights[0] + (heights[-1] - heights[0]) * p, "inner knots"),
        (in_logits, "which is PL3"),
        (lambda p, knots, heights: np.interp(np.sort(p), knots, heights), "another order"),
        (lambda p, knots, heights: np.interp(p, knots, heights) ** 2, "the map should be"),
        (lambda p, knots, heights: 0.5, "one number per prediction"),
        (lambda p, knots, heights: np.interp(p, knots, heights)[:2], "2"),
        (spoil, "changes its input"),
        (lambda p: p, "your function raised"),
        (0.5, "a function"),
    ],
    "7.2": [
        (1 / temperature(), "this is 1 / T"),
        (temperature(ck.brier_score), "the Brier score"),
        (temperature(ck.expected_calibration_error), "no proper score"),
        (2.5, "2.5 made the fake"),
        (-2.38, "upside down"),
        (1.0, "the lowest possible"),
        ("warm", "text"),
        ([2.38], "a list"),
    ],
    "7.3": [
        (6, "have the lowest score"),
        (3, "above the lowest"),
        (1, "above the lowest"),
        (2.5, "whole number"),
        (7, "were not tried"),
        ([2, 6], "a list"),
    ],
    "7.4": [
        (["15 bins", "Platt", "PL", "PL3"], "upside down"),
        (["PL", "PL3", "Platt", "15 bins"], "`PL` stands before `PL3`"),
        (["PL3", "Platt", "PL", "15 bins"], "`Platt` stands before `PL`"),
        (["PL3", "PL3", "PL", "Platt"], "once"),
        (["PL3", "PL"], "2"),
        (["PL3", "PL", "Platt", "beta"], "`15 bins`"),
        ({"PL3": 0.8}, "the four names"),
        ("PL3", "the four names"),
    ],
}

RIGHT: dict[str, list[Any]] = {
    "7.1": [lambda p, knots, heights: np.interp(p, knots, heights), by_hand],
    "7.2": [temperature(), from_pl3(intercept=False), from_pl3()],
    "7.3": [2, np.int64(2), 2.0],
    "7.4": [
        ["PL3", "PL", "Platt", "15 bins"],
        ("pl3", "pl", "platt", "15 Bins"),
        np.array(["PL3", "PL", "Platt", "15 bins"]),
    ],
}


def test_larger_numbers_that_are_good_enough_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = np.array([0.2, 0.15001, 0.15005, 0.15])
    monkeypatch.setattr(lesson07, "_scores", lambda: scores)
    assert lesson07.judge_pieces(2) is None
    assert "a smaller number is too" in str(lesson07.judge_pieces(3))


def test_the_lowest_score_and_the_chosen_one_are_not_neighbours() -> None:
    """Exercise 7.3: six pieces score lowest, two are within the rule, three are not."""
    excess = lesson07._scores() / lesson07._scores().min() - 1
    assert excess.argmin() == 5
    assert np.flatnonzero(excess <= 0.001).tolist() == [1, 5]


def estimates(first_seed: int, n_fakes: int = 20) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the true errors of the fakes of exercise 7.4, and what four evaluators say."""
    evaluators = {
        "15 bins": SlopeOneBinning(ck.EqualMass(15)),
        "Platt": PlattCalibrator(),
        "PL": PiecewiseLinear(cv=5, max_pieces=4),
        "PL3": PiecewiseLinear("logit", cv=5, max_pieces=4),
    }
    truth, said = [], {name: [] for name in evaluators}
    for k in range(n_fakes):
        shape = fakes.SyntheticShape.with_error(SHAPES[k % 5], (k + 1) / 400)
        sample = shape.sample(1000, seed=first_seed + k)
        truth.append(np.abs(sample.y_prob - sample.true_prob).mean())
        for name, evaluator in evaluators.items():
            curve = evaluator.fit(sample.y_prob, sample.y_true).curve(sample.y_prob)
            said[name].append(np.abs(curve - sample.y_prob).mean())
    return np.array(truth), {name: np.array(values) for name, values in said.items()}


@pytest.mark.slow
def test_the_ranking_of_the_evaluators() -> None:
    truth, said = estimates(700)
    by_rank = sorted(said, key=lambda name: -spearmanr(truth, said[name]).statistic)
    assert tuple(by_rank) == lesson07.RANKING
    off = {name: np.abs(truth - values).mean() for name, values in said.items()}
    assert off["PL"] == pytest.approx(off["PL3"], abs=0.002)
    assert off["15 bins"] > 2 * max(off[name] for name in ("PL", "PL3", "Platt"))


def test_two_pieces_beat_fifteen_bins() -> None:
    """Prediction 7a: 20 data sets, new predictions."""
    shape = fakes.SyntheticShape.with_error("square", 0.05)
    c = (np.arange(2000) + 0.5) / 2000
    wins = 0
    for seed in range(20):
        sample = shape.sample(1000, seed)
        bins, bent = (
            np.abs(m.fit(sample.y_prob, sample.y_true).curve(shape.predict(c)) - c).mean()
            for m in (SlopeOneBinning(15), PiecewiseLinear(n_pieces=2))
        )
        wins += bent < bins
    assert wins == 20


def test_a_better_map_and_a_worse_number() -> None:
    """Prediction 7d and its numbers: figure 5 of Kängsepp, Valk and Kull (2022), anew."""
    shape = fakes.SyntheticShape("beta2")
    sample = shape.sample(3000, seed=1)
    c = (np.arange(2000) + 0.5) / 2000
    truth = np.abs(sample.y_prob - sample.true_prob).mean()
    found = {}
    for name, model in {"bins": SlopeOneBinning(14), "PL": PiecewiseLinear(n_pieces=3)}.items():
        model.fit(sample.y_prob, sample.y_true)
        gap = np.abs(model.curve(sample.y_prob) - sample.y_prob).mean()
        off = np.abs(model.curve(sample.y_prob) - sample.true_prob).mean()
        found[name] = (np.abs(model.curve(shape.predict(c)) - c).mean(), abs(gap - truth))
        assert abs(gap - truth) <= off  # the triangle inequality
    assert found["bins"] == pytest.approx((0.0403, 0.0024), abs=0.0005)
    assert found["PL"] == pytest.approx((0.0217, 0.0050), abs=0.0015)


def test_training_that_stops_early_is_worse_than_nothing() -> None:
    """Prediction 7c: Adam on outer knots at ±36.8, as in the authors' program."""
    sample = fakes.SyntheticShape.with_error("square", 0.05).sample(1000, seed=0)
    z, y = logit(sample.y_prob), sample.y_true

    def train(knot: float, rounds: int = 1500) -> np.ndarray:
        hats = np.stack([knot - z, knot + z]) / (2 * knot)
        heights, mean, square = np.array([z.min(), z.max()]), np.zeros(2), np.zeros(2)
        rng = np.random.default_rng(7)
        for step in range(1, 4 * rounds + 1):
            if step % 4 == 1:
                batches = rng.permutation(len(z)).reshape(4, -1)
            rows = batches[step % 4]
            slope = hats[:, rows] @ (expit(heights @ hats[:, rows]) - y[rows]) / len(rows)
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            size = np.sqrt(square / (1 - 0.999**step)) + 1e-7
            heights = heights - 0.01 * mean / (1 - 0.9**step) / size
        return np.asarray(expit(heights @ hats))

    untouched = np.abs(sample.y_prob - sample.true_prob).mean()
    early, near = (np.abs(train(knot) - sample.true_prob).mean() for knot in (36.84, 7.3))
    assert untouched == pytest.approx(0.050, abs=0.001)
    assert early == pytest.approx(0.081, abs=0.004)  # the reference: .0814
    assert near < 0.008
    converged = PiecewiseLinear("logit", max_pieces=6).fit(sample.y_prob, y)
    assert converged.n_pieces_ == 1 and converged.converged_
    assert np.abs(converged.curve(sample.y_prob) - sample.true_prob).mean() < 0.006
