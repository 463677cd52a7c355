"""Cumulative differences: limit laws against theory and simulation, curves against a plain loop."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import integrate

from calibkit.hypothesis_tests import cumulative_differences
from calibkit.hypothesis_tests.cumulative import brownian_range_tail, brownian_supremum_tail
from tests.helpers import binary_data, coarse_binary

TAILS = {"supremum": brownian_supremum_tail, "range": brownian_range_tail}
CATALAN = 0.915965594177219015


def moment(name: str, order: int) -> float:
    """Return E[X^order] as the integral of ``order x^(order-1) P(X > x)``."""
    tail = TAILS[name]
    return float(
        integrate.quad(
            lambda x: order * x ** (order - 1) * float(tail(x)), 0, 12, points=[1.5], epsabs=1e-12
        )[0]
    )


# --- the limit laws -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "order", "expected"),
    [
        ("supremum", 1, np.sqrt(np.pi / 2)),
        ("supremum", 2, 2 * CATALAN),
        ("range", 1, 2 * np.sqrt(2 / np.pi)),
        ("range", 2, 4 * np.log(2)),
    ],
)
def test_moments_of_the_limit_laws(name: str, order: int, expected: float) -> None:
    assert moment(name, order) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", TAILS)
def test_tails_fall_from_1_to_0(name: str) -> None:
    x = np.concatenate(([-np.inf, -1, 0], np.linspace(1e-6, 12, 500), [1e3, np.inf]))
    tail = TAILS[name](x)
    assert (np.diff(tail) <= 1e-15).all()
    assert (tail[0], tail[2], tail[-1]) == (1, 1, 0)
    assert TAILS[name](np.ones((2, 3))).shape == (2, 3)
    assert float(TAILS[name](1.0)) == TAILS[name]([1.0])[0]


# --- the curve ----------------------------------------------------------------------------------


def slow_curve(labels: Any, prob: Any) -> list[float]:
    """Return the sums up to each distinct prediction, found anew each time."""
    return [0.0] + [
        float((labels - prob)[prob <= value].sum() / len(prob)) for value in np.unique(prob)
    ]


@pytest.mark.parametrize("data", [binary_data(80, seed=2), coarse_binary(200, 7, seed=3)])
def test_the_curve_is_what_a_loop_finds(data: Any) -> None:
    labels, prob = data
    if set(prob) & {0.0, 1.0}:
        prob = prob * 0.8 + 0.1
    sums = cumulative_differences(labels, prob)
    curve = slow_curve(labels, prob)
    assert sums.difference == pytest.approx(curve, abs=1e-14)
    assert sums.prob.tolist() == [0, *np.unique(prob)]
    assert sums.share == pytest.approx([0, *(np.mean(prob <= v) for v in np.unique(prob))])
    assert sums.ecce_mad == pytest.approx(max(map(abs, curve)), abs=1e-14)
    assert sums.ecce_r == pytest.approx(max(curve) - min(curve), abs=1e-14)
    assert sums.scale == pytest.approx(np.sqrt((prob * (1 - prob)).sum()) / len(prob))
    assert sums.mad_test.statistic == pytest.approx(sums.ecce_mad / sums.scale, rel=1e-12)
    assert sums.range_test.statistic == pytest.approx(sums.ecce_r / sums.scale, rel=1e-12)


def test_the_range_is_the_largest_imbalance_of_an_interval() -> None:
    labels, prob = binary_data(40, seed=4)
    values = np.concatenate(([0], np.unique(prob)))
    found = {
        (low, high): abs((labels - prob)[(prob > low) & (prob <= high)].sum()) / 40
        for low, high in combinations(values, 2)
    }
    sums = cumulative_differences(labels, prob)
    assert sums.ecce_r == pytest.approx(max(found.values()), abs=1e-14)
    assert found[sums.interval] == pytest.approx(sums.ecce_r, abs=1e-14)
