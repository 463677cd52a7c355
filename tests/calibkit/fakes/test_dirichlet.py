"""Dirichlet fakes: exact maxima, both readings, powers of probabilities."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special

from calibkit.fakes import DirichletFake, Power
from tests.helpers import golden, refuses

GOLDEN = golden("kyle_golden.json")
TRUTH, CONFIDENCE = "truth-is-base", "confidence-is-base"


def largest(alpha: Any) -> float:
    """Return E max R, the accuracy of a calibrated classifier whose truth is R."""
    return DirichletFake(alpha).truth().accuracy


def parameters_of(key: str) -> list[float]:
    """Read the parameters out of a golden key such as ``alpha=[1, 2] exponent=.5``."""
    start = min(key.index(c) for c in "([" if c in key)
    end = min(key.index(c) for c in ")]" if c in key)
    return [float(part) for part in key[start + 1 : end].split(",")]


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10, 100, 1000])
def test_uniform_rows_have_the_harmonic_maximum(n_classes: int) -> None:
    harmonic = sum(Fraction(1, k) for k in range(1, n_classes + 1)) / n_classes
    stored = golden("fakes_misc.json")["E max of Dirichlet(1..1)"].get(str(n_classes))
    assert stored is None or Fraction(stored) == harmonic
    assert largest(np.ones(n_classes)) == pytest.approx(float(harmonic), abs=1e-14)


@given(st.floats(-2, 3), st.floats(-2, 3))
def test_two_classes_agree_with_a_beta_integral(log_a: float, log_b: float) -> None:
    a, b = 10**log_a, 10**log_b

    def part(a: float, b: float) -> float:  # E[X; X > 1/2] in closed form
        return float(a / (a + b) * special.betaincc(a + 1, b, 0.5))

    assert largest([a, b]) == pytest.approx(part(a, b) + part(b, a), rel=1e-11)


@pytest.mark.parametrize(
    ("alpha", "limit"),
    [
        ([1e-12, 1e-12], 1.0),
        ([1e-300, 1e-300, 1e-300], 1.0),
        ([1e9] * 4, 0.25),
        ([1e-3, 1e7], 1.0),
        ([1e-5, 1e4, 1e4], 0.5),
    ],
    ids=str,
)
def test_extreme_parameters(alpha: list[float], limit: float) -> None:
    assert largest(alpha) == pytest.approx(limit, abs=5e-3)


# --- the two readings ----------------------------------------------------------------------------


def binary_rows() -> list:
    rows = []
    for key, row in GOLDEN["direction test"].items():
        for name, exact in row.items():
            if name.startswith("exact (reading"):
                reading = TRUTH if name.startswith("exact (reading 1") else CONFIDENCE
                rows.append((parameters_of(key), float(key.rpartition("=")[2]), reading, exact))
    return rows


@pytest.mark.parametrize(("alpha", "exponent", "reading", "exact"), binary_rows())
def test_golden_binary_truth(alpha, exponent, reading, exact) -> None:
    truth = DirichletFake(alpha, Power(exponent), reading).truth()
    assert truth.accuracy == pytest.approx(exact["acc"], abs=1e-9)
    assert truth.expected == pytest.approx(exact["ECE"], abs=1e-9)
    assert truth.class_wise == pytest.approx(exact["cwECE_1"], abs=1e-9)


def test_what_is_exact_for_more_classes() -> None:
    top = largest((2, 3, 4))
    kept = DirichletFake((2, 3, 4), Power(2)).truth()
    assert kept.accuracy == top and np.isnan(kept.expected) and np.isnan(kept.mean_confidence)
    assert "accuracy" in kept.describe() and "mean confidence" not in kept.describe()
    moved = DirichletFake((2, 3, 4), Power((1, 2, 3))).truth()
    assert np.isnan(moved.accuracy)
    cloned = DirichletFake((2, 3, 4), Power((1, 2, 3)), CONFIDENCE).truth()
    assert cloned.mean_confidence == top and np.isnan(cloned.accuracy)
    calibrated = DirichletFake((2, 3, 4)).truth()
    assert calibrated.mean_confidence == calibrated.accuracy == top
    assert calibrated.expected == calibrated.strong == calibrated.maximum == 0


@pytest.mark.parametrize("alpha", [(0.002, 0.001, 0.003), (1e-4, 50.0, 3.0)], ids=str)
@pytest.mark.parametrize(
    "distortion",
    [None, Power(0.2), Power((3, 1, 0.3)), lambda p: p],
    ids=["none", "one power", "powers", "identity"],
)
@pytest.mark.parametrize("reading", [TRUTH, CONFIDENCE])
def test_samples_of_extreme_bases_are_probabilities(alpha, distortion, reading) -> None:
    sample = DirichletFake(alpha, distortion, reading).sample(2_000, rng=0)
    both = np.stack([sample.y_prob, sample.true_prob])
    assert np.all(np.isfinite(both)) and both.min() >= 0
    np.testing.assert_allclose(both.sum(axis=2), 1, atol=1e-12)
    assert np.all(sample.true_prob[np.arange(2_000), sample.y_true] > 0)


# --- powers --------------------------------------------------------------------------------------


test_bad_input = refuses(
    (lambda: Power(0), "exponents must be a positive finite number"),
    (lambda: Power((1, -2)), r"exponents\[1\] must be a positive finite number, got -2"),
    (lambda: Power((1, 2, 3))([[0.5, 0.5]]), "3 exponents, but .* 2 classes"),
    (lambda: Power(2)([0.5, 0.5]), "np.column_stack"),
    (lambda: Power(2)([[0.5, 0.6]]), "sums to 1.1"),
    (lambda: DirichletFake((1,)), "2 or more positive numbers"),
    (lambda: DirichletFake((1, 0)), r"alpha\[1\] must be a positive finite number"),
    (lambda: DirichletFake((1, 1), reading="both"), '"truth-is-base" or "confidence-is-base"'),
    (lambda: DirichletFake((1, 1), 2.0), "distortion must be None or a function"),
    (lambda: DirichletFake((1, 1), np.sqrt), "sums to 1.4"),
    (lambda: DirichletFake((1, 1), Power((1, 2, 3))), "3 exponents, but .* 2 classes"),
)
