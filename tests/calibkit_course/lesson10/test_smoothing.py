"""Undo label smoothing: the inverse of the optimum of that loss."""

import numpy as np
import pytest
from scipy import optimize

from calibkit_course.lesson10 import undo_label_smoothing

TRUTH = np.array([0.7, 0.2, 0.1])


@pytest.mark.parametrize("amount", [0.0, 0.1, 0.99])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_it_inverts_the_optimum(amount, k):
    truth = np.random.default_rng(k).dirichlet(np.ones(k), 50)
    truth[0] = np.eye(k)[0]
    smoothed = (1 - amount) * truth + amount / k
    recovered = undo_label_smoothing(smoothed, amount=amount)
    np.testing.assert_allclose(recovered, truth, atol=1e-13 / (1 - amount))


def test_the_optimum_of_the_loss():
    """Minimise the smoothed cross-entropy by a program, then invert."""
    target = (1 - 0.1) * TRUTH + 0.1 / 3

    def loss(z):
        log = np.append(z, 0) - np.log(np.exp(np.append(z, 0)).sum())
        return -(target * log).sum()

    z = optimize.minimize(loss, np.zeros(2), options={"gtol": 1e-12}).x
    p = np.exp(np.append(z, 0)) / np.exp(np.append(z, 0)).sum()
    recovered = undo_label_smoothing(p[np.newaxis], amount=0.1)[0]
    np.testing.assert_allclose(recovered, TRUTH, atol=1e-6)


def test_one_event():
    two = undo_label_smoothing([[0.3, 0.7]], amount=0.2)[0, 1]
    assert undo_label_smoothing([0.7], amount=0.2)[0] == pytest.approx(two, abs=1e-15)


def test_what_no_optimum_says():
    with pytest.raises(ValueError, match=r"y_prob\[1, 2\] = 0.01 lies outside"):
        undo_label_smoothing([TRUTH, [0.5, 0.49, 0.01]], amount=0.1)
    with pytest.raises(ValueError, match=r"y_prob\[0\] = 0.99 lies outside"):
        undo_label_smoothing([0.99], amount=0.1)


@pytest.mark.parametrize("amount", [1, -0.1, np.nan, "a", None, True])
def test_amount(amount):
    with pytest.raises(ValueError, match="amount must be"):
        undo_label_smoothing([TRUTH], amount=amount)
