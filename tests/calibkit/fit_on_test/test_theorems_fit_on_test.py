"""Theorems 1 and 3 of Kängsepp et al., exactly on classifiers with finitely many predictions.

Theorem 2 (slope-1 bins and the binned error) is in `test_binned_calibrators.py`.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calibkit.bins import EqualMass
from calibkit.calibrators import (
    BetaCalibrator,
    FlatBinning,
    IsotonicCalibrator,
    PlattCalibrator,
    SlopeOneBinning,
)
from calibkit.fakes import SyntheticShape

Divergence = Callable[[Any, Any], Any]


def brier(q: Any, r: Any) -> Any:
    """Return the divergence of the Brier score; `q` is the prediction."""
    return (q - r) ** 2


def log_loss(q: Any, r: Any) -> Any:
    """Return the divergence of the log loss, with 0 log 0 = 0."""
    q, r = np.asarray(q, dtype=float), np.asarray(r, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        happens = np.where(r > 0, r * np.log(r / q), 0)
        fails = np.where(r < 1, (1 - r) * np.log((1 - r) / (1 - q)), 0)
    return happens + fails


def bregman(phi: Divergence | Any, slope: Any) -> Divergence:
    """Return ``phi(r) - phi(q) - (r - q) phi'(q)``."""
    return lambda q, r: phi(r) - phi(q) - (r - q) * slope(q)


DIVERGENCES = {
    "Brier": brier,
    "log loss": log_loss,
    "cubic": bregman(lambda x: x**3 + x, lambda x: 3 * x**2 + 1),
    "exponential": bregman(np.exp, np.exp),
    "spherical": bregman(
        lambda x: np.sqrt(x**2 + (1 - x) ** 2),
        lambda x: (2 * x - 1) / np.sqrt(x**2 + (1 - x) ** 2),
    ),
}
each = pytest.mark.parametrize("divergence", DIVERGENCES.values(), ids=DIVERGENCES.keys())
inside = st.integers(1, 99).map(lambda k: Fraction(k, 100))
chance = st.integers(0, 100).map(lambda k: Fraction(k, 100))


def test_the_divergences_are_those_of_their_entropies() -> None:
    q, r = np.meshgrid(np.linspace(0.05, 0.95, 19), np.linspace(0.05, 0.95, 19))
    square = bregman(lambda x: x**2, lambda x: 2 * x)
    entropy = bregman(
        lambda x: x * np.log(x) + (1 - x) * np.log(1 - x), lambda x: np.log(x / (1 - x))
    )
    np.testing.assert_allclose(square(q, r), brier(q, r), atol=1e-14)
    np.testing.assert_allclose(entropy(q, r), log_loss(q, r), atol=1e-14)


# --- Theorem 1: a drop of the expected loss is a drop of the distance to the truth ---------------


@pytest.mark.slow
@given(inside, inside, chance)
def test_losses_drop_by_what_the_distance_drops_exactly(first, second, truth):
    """With the Brier score, in fractions: no rounding at all."""
    losses = [truth * (q - 1) ** 2 + (1 - truth) * q**2 for q in (first, second)]
    assert losses[0] - losses[1] == brier(first, truth) - brier(second, truth)


@each
@given(first=inside, second=inside, truth=chance)
def test_losses_drop_by_what_the_distance_drops(divergence, first, second, truth):
    q, c = np.array([first, second], dtype=float), float(truth)
    losses = c * divergence(q, 1.0) + (1 - c) * divergence(q, 0.0)
    distances = divergence(q, c)
    assert losses[0] - losses[1] == pytest.approx(distances[0] - distances[1], abs=1e-12)


def test_absolute_loss_is_no_bregman_divergence_and_breaks_it():
    """So the test above can fail: |q - y| rewards predictions of 0 and 1."""
    c, q = 0.6, np.array([1.0, 0.6])
    losses = c * np.abs(q - 1) + (1 - c) * np.abs(q)
    assert losses[0] < losses[1]
    assert abs(q[0] - c) > abs(q[1] - c)


@pytest.mark.parametrize("divergence", [brier, log_loss])
def test_held_out_losses_choose_the_map_that_is_closer(divergence):
    """Simulation: 200,000 new labels against the known truth, within four standard errors."""
    shape = SyntheticShape.with_error("square", 0.1)
    fit, new = shape.sample(500, seed=1), shape.sample(200_000, seed=2)
    maps = [model.fit(fit.y_prob, fit.y_true) for model in (BetaCalibrator(), PlattCalibrator())]
    maps.append(FlatBinning(EqualMass(4)).fit(fit.y_prob, fit.y_true))
    curves = [model.calibrate(new.y_prob) for model in maps]
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        losses = divergence(curves[one], new.y_true) - divergence(curves[other], new.y_true)
        distances = [np.mean(divergence(curves[k], new.true_prob)) for k in (one, other)]
        error = losses.std() / np.sqrt(len(losses))
        assert abs(losses.mean() - (distances[0] - distances[1])) < 4 * error
    # And it is no empty statement: bins are told from the curves by far.
    assert abs(distances[0] - distances[1]) > 8 * error


# --- Theorem 3: error after calibration, and error of the map ------------------------------------

atoms = st.lists(st.tuples(st.integers(1, 9), chance, inside), min_size=1, max_size=8)


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
    behind, total = merged(atoms), sum(mass for mass, _, _ in atoms)
    after = sum(m * divergence(value, t) for value, (m, t) in behind.items()) / total
    error = sum(m * divergence(value, truth) for m, truth, value in atoms) / total
    lost = sum(m * divergence(behind[value][1], truth) for m, truth, value in atoms) / total
    return after, error, lost


@given(atoms)
def test_the_error_of_the_map_is_that_after_calibration_plus_what_is_merged(atoms):
    after, error, lost = two_errors(atoms, brier)
    assert error == after + lost  # fractions
    assert after <= error
    truths = {value: {t for _, t, v in atoms if v == value} for _, _, value in atoms}
    assert (after == error) == all(len(different) == 1 for different in truths.values())


@each
@given(atoms=atoms)
def test_the_same_for_every_divergence(divergence, atoms):
    numbers = [(float(m), float(t), float(value)) for m, t, value in atoms]
    after, error, lost = two_errors(numbers, divergence)
    assert error == pytest.approx(after + lost, abs=1e-10)
    assert lost >= -1e-12


@given(atoms)
def test_distances_obey_the_inequality_too(atoms):
    """For |q - r| there is no such sum, but the inequality holds (Jensen)."""
    after, error, _ = two_errors(atoms, lambda q, r: abs(q - r))
    assert after <= error


@given(atoms)
def test_a_calibrator_that_merges_nothing_leaves_both_equal(atoms):
    different = [(m, t, value + Fraction(i, 10_000)) for i, (m, t, value) in enumerate(atoms)]
    assume(len({value for _, _, value in different}) == len(atoms))
    after, error, lost = two_errors(different, brier)
    assert (after, lost) == (error, 0)


@pytest.mark.parametrize(
    ("model", "merges"),
    [
        (PlattCalibrator(), False),
        (BetaCalibrator(), False),
        (FlatBinning(4), True),
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
