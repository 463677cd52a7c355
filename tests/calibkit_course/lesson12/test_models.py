"""The log-linear distortion against its formula, its special cases and its calibrator."""

import numpy as np
import pytest

from calibkit.calibrators import DirichletCalibrator
from calibkit.fakes import DirichletFake
from calibkit_course.lesson12 import LogLinear
from tests.helpers import refuses

CONFUSED = LogLinear([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0], [0.0, -0.2, 0.7]])


def rows(n: int = 200) -> np.ndarray:
    return np.random.default_rng(0).dirichlet([1, 1, 1], n)


@pytest.mark.parametrize("row", rows(5))
def test_it_is_its_formula_row_by_row(row: np.ndarray) -> None:
    power = [np.prod(row ** np.array(w)) for w in CONFUSED.weights]
    assert CONFUSED(row[None])[0] == pytest.approx(np.array(power) / sum(power), abs=1e-14)


def test_probability_zero_gives_no_nan() -> None:
    found = CONFUSED(np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))
    assert np.isfinite(found).all() and found.sum(axis=1) == pytest.approx([1, 1])


def test_a_dirichlet_calibrator_finds_the_true_map() -> None:
    sample = DirichletFake((1, 1, 1), CONFUSED, "confidence-is-base").sample(40_000, 1)
    model = DirichletCalibrator("probabilities").fit(sample.y_prob, sample.y_true)
    distance = np.abs(model.calibrate(sample.y_prob) - sample.true_prob).sum(axis=1).mean()
    before = np.abs(sample.y_prob - sample.true_prob).sum(axis=1).mean()
    assert distance < 0.012 < 0.3 < before


test_bad_values_are_named = refuses(
    (lambda: LogLinear([[1, 0]]), "K rows of K finite numbers"),
    (lambda: LogLinear([[1, 0], [0]]), "weights is ragged"),
    (lambda: LogLinear([[1, 0], [0, np.inf]]), "weights must be K rows of K finite numbers.* inf"),
    (lambda: CONFUSED(np.array([[0.5, 0.5]])), "for 3 classes, but the probabilities have"),
)
