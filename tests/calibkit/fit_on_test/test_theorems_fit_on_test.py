"""Theorems 1 and 3 of Kängsepp et al., exactly on classifiers with finitely many predictions.

Theorem 2 (slope-1 bins and the binned error) is in `test_binned_calibrators.py`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from calibkit.calibrators import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    PlattCalibrator,
    SlopeOneBinning,
)

Divergence = Callable[[Any, Any], Any]


def brier(q: Any, r: Any) -> Any:
    """Return the divergence of the Brier score; `q` is the prediction."""
    return (q - r) ** 2


# --- Theorem 1: a drop of the expected loss is a drop of the distance to the truth ---------------


# Convex functions and their derivatives: Brier score, log loss, and three that nobody uses.
CONVEX = {
    "square": (lambda q: q**2, lambda q: 2 * q),
    "entropy": (lambda q: q * np.log(q) + (1 - q) * np.log(1 - q), lambda q: np.log(q / (1 - q))),
    "fourth power": (lambda q: (q - 0.3) ** 4, lambda q: 4 * (q - 0.3) ** 3),
    "exponential": (np.exp, np.exp),
    "minus root": (lambda q: -np.sqrt(1 + q), lambda q: -0.5 / np.sqrt(1 + q)),
}


@pytest.mark.parametrize("name", CONVEX)
def test_for_every_bregman_divergence_a_drop_of_loss_is_one_of_distance(name: str) -> None:
    """Exactly: six predictions, each with its mass and its true chance, and two maps."""
    phi, slope = CONVEX[name]
    rng, tiny = np.random.default_rng(0), 1e-12
    mass, chance, *maps = rng.dirichlet(np.ones(6)), *rng.uniform(0.05, 0.95, (3, 6))

    def divergence(q: Any, r: Any) -> Any:
        return phi(r) - phi(q) - slope(q) * (r - q)

    yes, no = 1 - tiny, tiny  # the entropy has no value at 0 and 1
    losses = [chance * divergence(q, yes) + (1 - chance) * divergence(q, no) for q in maps]
    distances = [divergence(q, chance) for q in maps]
    assert mass @ (losses[0] - losses[1]) == pytest.approx(mass @ (distances[0] - distances[1]))
    assert min(map(np.min, distances)) > 0


# --- Theorem 3: error after calibration, and error of the map ------------------------------------


def merged(atoms: Any) -> dict[Any, tuple[Any, Any]]:
    """Return mass and truth behind each value of the calibrated prediction."""
    out: dict[Any, tuple[Any, Any]] = {}
    for mass, truth, value in atoms:
        m, t = out.get(value, (0, 0))
        out[value] = (m + mass, t + mass * truth)
    return {value: (m, t / m) for value, (m, t) in out.items()}


def two_errors(atoms: Any, divergence: Divergence) -> tuple[Any, Any, Any]:
    """Return error after calibration, error of the map, and what merging adds.

    An atom is a mass, the true probability, and the calibrated prediction.
    """
    behind = merged(atoms)
    total = sum(mass for mass, _, _ in atoms)
    after = sum(m * divergence(value, t) for value, (m, t) in behind.items()) / total
    error = sum(m * divergence(value, truth) for m, truth, value in atoms) / total
    lost = sum(m * divergence(behind[value][1], truth) for m, truth, value in atoms) / total
    return after, error, lost


@pytest.mark.parametrize("name", CONVEX)
def test_for_every_bregman_divergence_what_lies_between_is_lost_by_merging(name: str) -> None:
    phi, slope = CONVEX[name]
    rng = np.random.default_rng(1)
    mass, truth = rng.dirichlet(np.ones(6)), rng.uniform(0.05, 0.95, 6)
    atoms = list(zip(mass, truth, [0.2, 0.5, 0.2, 0.7, 0.5, 0.2], strict=True))
    after, error, lost = two_errors(atoms, lambda q, r: phi(r) - phi(q) - slope(q) * (r - q))
    assert error == pytest.approx(after + lost, rel=1e-12)
    assert min(after, lost) > 0


@pytest.mark.parametrize(
    ("model", "merges"),
    [
        (PlattCalibrator(), False),
        (BetaCalibrator(), False),
        (HistogramBinning(4), True),
        (IsotonicCalibrator(), True),
        (SlopeOneBinning(4), False),
    ],
    ids=lambda item: type(item).__name__,
)
def test_fitted_calibrators(model, merges):
    """Twelve predictions with known truths; flat bins and isotonic blocks merge, curves do not."""
    rng = np.random.default_rng(0)
    said = (np.arange(12) + 0.5) / 12
    truth = said**1.7
    rows = rng.integers(0, 12, 400)
    model.fit(said[rows], rng.random(400) < truth[rows])
    table = [(1.0, c, q) for c, q in zip(truth, model.curve(said), strict=True)]
    after, error, lost = two_errors(table, brier)
    assert error == pytest.approx(after + lost, abs=1e-14)
    assert (lost > 1e-4) == merges
    assert (error - after > 1e-4) == merges


def test_slope_one_bins_can_merge_where_a_jump_goes_down():
    """Shifts of .25 and -.25 put the predictions .25 and .75 into one place."""
    model = SlopeOneBinning(2).fit([0.25] * 2 + [0.75] * 2, [1, 0, 1, 0])
    assert model.curve([0.25, 0.75]).tolist() == [0.5, 0.5]
    after, error, _ = two_errors([(1, 0.3, 0.5), (1, 0.7, 0.5)], brier)
    assert after == pytest.approx(0, abs=1e-15)
    assert error == pytest.approx(0.04)
