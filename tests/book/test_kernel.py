"""The kernel calibration error: pairs one by one, exact moments, published scale, linear time."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from book.experiments.kernel import KernelRule, kernel_error
from tests.helpers import binary_data


def over_pairs(products: Any, prob: Any, length_scale: float) -> float:
    """Return the mean over all pairs of two rows, the slow and simple way."""
    kernel = np.exp(-(np.subtract.outer(prob, prob) ** 2) / (2 * length_scale**2))
    np.fill_diagonal(kernel, 0)
    return float((kernel * products).sum() / (len(prob) * (len(prob) - 1)))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=2, max_size=25),
    st.floats(0.02, 3) | st.sampled_from([10, 1e9]),
)
@settings(max_examples=50, deadline=None)
def test_the_series_is_the_sum_over_pairs(rows, length_scale) -> None:
    prob, labels = np.array([p for p, _ in rows]), np.array([y for _, y in rows])
    gap = labels - prob
    wanted = over_pairs(np.outer(gap, gap), prob, length_scale)
    assert kernel_error(labels, prob, length_scale) == pytest.approx(wanted, abs=1e-13)


def test_the_scale_of_source_000() -> None:
    """A kernel on the labels too, as there: sum its four label pairs and compare the factor."""
    labels, prob = binary_data(40, seed=2)

    def on_labels(one: Any, other: Any) -> Any:
        return np.where(one == other, 1.0, np.exp(-0.5))

    total = np.zeros((40, 40))
    for i, j in product(range(40), repeat=2):
        yi, yj, pi, pj = labels[i], labels[j], (1 - prob[i], prob[i]), (1 - prob[j], prob[j])
        total[i, j] = on_labels(yi, yj)
        total[i, j] -= sum(pi[a] * on_labels(a, yj) + pj[a] * on_labels(yi, a) for a in (0, 1))
        total[i, j] += sum(pi[a] * pj[b] * on_labels(a, b) for a in (0, 1) for b in (0, 1))
    ours = kernel_error(labels, prob, 1) * 2 * (1 - np.exp(-0.5))
    assert ours == pytest.approx(over_pairs(total, prob, 1), abs=1e-14)


@pytest.mark.parametrize("length_scale", [0.05, 0.1, 1.0])
@pytest.mark.parametrize("rare", [False, True])
def test_moments_are_exact(length_scale: float, rare: bool) -> None:
    """Mean 0, and the variance and third moment of the gamma law, over all sets of labels."""
    prob = np.linspace(0.01, 0.2, 10) if rare else np.linspace(0.03, 0.96, 10)
    labels = np.array(list(product([0, 1], repeat=10)))
    chance = np.prod(np.where(labels == 1, prob, 1 - prob), axis=1)
    rule = KernelRule(prob, length_scale)
    total = rule.statistic(labels - prob) * 90
    variance, third = rule.moments()
    assert chance @ total == pytest.approx(0, abs=1e-12)
    assert chance @ total**2 == pytest.approx(variance, rel=1e-9, abs=1e-15)
    assert chance @ total**3 == pytest.approx(third, rel=1e-9, abs=1e-15)


def test_it_is_unbiased_under_miscalibration_too() -> None:
    prob = np.linspace(0.05, 0.95, 8)
    truth = prob**1.5
    labels = np.array(list(product([0, 1], repeat=8)))
    chance = np.prod(np.where(labels == 1, truth, 1 - truth), axis=1)
    wanted = over_pairs(np.outer(truth - prob, truth - prob), prob, 0.1)
    found = chance @ KernelRule(prob, 0.1).statistic(labels - prob)
    assert found == pytest.approx(wanted, abs=1e-15)
