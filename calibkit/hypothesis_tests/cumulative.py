"""Cumulative differences between events and predictions: calibration without bins."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.hypothesis_tests.p_values import Statistic, TestResult, in_order, ratio, run_tests
from calibkit.inputs import FloatVector, Rng, View, binary_problem
from calibkit.results import Number, spell

# From here on the series of normal tails is used, below it the series in exp(-1/x²); both have
# the accuracy of float64 on a wide stretch around it.
_SWITCH = 1.5
_TERMS = 12


def brownian_supremum_tail(x: Any) -> FloatVector:
    """Return ``P(largest |B(t)| > x)`` for Brownian motion B on [0, 1]: 1 for x up to 0.

    ``4 sum (-1)^k Q((2k+1) x)`` with the normal tail Q; for small x the equivalent
    ``1 - (4/pi) sum (-1)^k / (2k+1) exp(-(2k+1)² pi² / (8 x²))``. The mean is sqrt(pi/2) = 1.2533.
    Source: Feller, volume II, X.5.

    Parameters
    ----------
    x : array-like of float
        Where the law is asked.

    Returns
    -------
    ndarray
        Probabilities in [0, 1], in the shape of `x`.

    Examples
    --------
    >>> brownian_supremum_tail([0.5, 1.0, 2.2414]).round(4).tolist()
    [0.9908, 0.6292, 0.05]
    """
    x = np.asarray(x, dtype=np.float64)
    odd = 2 * np.arange(_TERMS) + 1
    sign = (-1.0) ** np.arange(_TERMS)
    safe = np.maximum(x, 1e-3)[..., np.newaxis]
    far = 4 * (sign * special.ndtr(-odd * safe)).sum(axis=-1)
    theta = np.exp(-((odd * np.pi) ** 2) / (8 * safe**2))
    near = 1 - 4 / np.pi * (sign / odd * theta).sum(axis=-1)
    return np.where(x <= 0, 1.0, np.clip(np.where(x > _SWITCH, far, near), 0.0, 1.0))


def brownian_range_tail(x: Any) -> FloatVector:
    """Return P(highest B(t) - lowest B(t) > x) for Brownian motion B on [0, 1]: 1 for x up to 0.

    ``8 sum (-1)^(k-1) k Q(k x)``, k = 1, 2, ..., with the normal tail Q; for small x the
    equivalent ``1 - 8 sum (1/x² + 1/((2k+1)² pi²)) exp(-(2k+1)² pi² / (2 x²))``, k = 0, 1, ....
    The mean is 2 sqrt(2/pi) = 1.5958. Source: Feller (1951).

    Parameters
    ----------
    x : array-like of float
        Where the law is asked.

    Returns
    -------
    ndarray
        Probabilities in [0, 1], in the shape of `x`.

    Examples
    --------
    >>> brownian_range_tail([0.5, 1.5, 2.4977]).round(4).tolist()
    [1.0, 0.5129, 0.05]
    """
    x = np.asarray(x, dtype=np.float64)
    k = np.arange(1, 2 * _TERMS)
    odd = 2 * np.arange(_TERMS) + 1
    safe = np.maximum(x, 1e-3)[..., np.newaxis]
    far = 8 * (-((-1.0) ** k) * k * special.ndtr(-k * safe)).sum(axis=-1)
    square = (odd * np.pi) ** 2
    near = 1 - 8 * ((1 / safe**2 + 1 / square) * np.exp(-square / (2 * safe**2))).sum(axis=-1)
    return np.where(x <= 0, 1.0, np.clip(np.where(x > _SWITCH, far, near), 0.0, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CumulativeDifferences(Number):
    """The running sum of events minus predictions, from the lowest prediction to the highest.

    Parameters
    ----------
    share, prob, difference : ndarray of shape (m + 1,)
        0 at the start, then one entry per distinct prediction: share of the predictions summed so
        far, the largest of them, and ``(sum of y - sum of p) / n``, whose slope is the local
        miscalibration.
    scale, mad_test, range_test
        Standard deviation of the last entry if the predictions are right, and tests of the largest
        absolute difference and of the range in units of it.
    """

    share: FloatVector
    prob: FloatVector
    difference: FloatVector
    scale: float
    mad_test: TestResult
    range_test: TestResult

    @property
    def ecce_mad(self) -> float:
        """The largest absolute difference (ECCE-MAD), in [0, 1]."""
        return float(np.abs(self.difference).max())

    @property
    def value(self) -> float:
        """ECCE-MAD."""
        return self.ecce_mad

    @property
    def ecce_r(self) -> float:
        """Highest minus lowest difference (ECCE-R), in [0, 1]."""
        return float(np.ptp(self.difference))

    @property
    def interval(self) -> tuple[float, float]:
        """The predictions with the largest imbalance: above the first number, up to the second."""
        ends = sorted((int(self.difference.argmin()), int(self.difference.argmax())))
        return float(self.prob[ends[0]]), float(self.prob[ends[1]])

    @property
    def view(self) -> str:
        """Which event."""
        return self.mad_test.view

    @property
    def n(self) -> int:
        """Number of predictions."""
        return self.mad_test.n

    def describe(self) -> str:
        """Say both numbers with their p-values, and where the imbalance is largest."""
        low, high = self.interval
        return (
            f"Cumulative differences ({self.view}, {spell(self.n, 'prediction')}): largest "
            f"{self.ecce_mad:.4f} (p = {self.mad_test.p_value:.3g}), range {self.ecce_r:.4f} "
            f"(p = {self.range_test.p_value:.3g}); the imbalance is largest for predictions from "
            f"{low:.3g} to {high:.3g}."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"share": self.share, "prob": self.prob, "difference": self.difference}


def largest_statistic(of: Callable[[FloatVector], Any]) -> Statistic:
    """Return the test of the largest absolute difference, by the law of Brownian motion."""
    name, law = "Cumulative differences, largest (ECCE-MAD)", "law of the largest |Brownian motion|"
    return Statistic(name, "largest / scale", law, of, brownian_supremum_tail)


def range_statistic(of: Callable[[FloatVector], Any]) -> Statistic:
    """Return the test of the highest minus the lowest difference, 0 at the start included."""
    name, law = "Cumulative differences, range (ECCE-R)", "law of the range of Brownian motion"
    return Statistic(name, "range / scale", law, of, brownian_range_tail)


def cumulative_differences(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    n_draws: int = 0,
    rng: Rng = None,
    positive: Any = None,
) -> CumulativeDifferences:
    """Sum events minus predictions in the order of the predictions, and test the sums.

    ``C_k = (1/n) sum over the k lowest predictions of (y - p)``, taken where a group of equal
    predictions ends, so that the order of rows cannot matter. ECCE-MAD is max abs(C), ECCE-R is
    max C - min C, with C_0 = 0: n times the latter is the largest imbalance over all intervals of
    predictions. In units of ``sqrt(sum p (1 - p)) / n`` they follow the largest absolute value and
    the range of Brownian motion; means 1.2533 and 1.5958. Finite sums stay a little below, and
    many ties make the tests careful. One-sided errors are seen well; opposite errors of
    neighbours cancel. Sources: Arrieta-Ibarra and others (2022); Gupta and others (2021).
    Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    n_draws : int
        0: the limit law. Otherwise this many redraws of the labels give the p-value.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``.

    Returns
    -------
    CumulativeDifferences
        The running sum, ECCE-MAD, ECCE-R and the test of each.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Examples
    --------
    >>> y_prob = np.linspace(.02, .98, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 1.5
    >>> sums = cumulative_differences(y_true, y_prob)
    >>> round(sums.ecce_mad, 3), round(sums.mad_test.statistic, 2), sums.mad_test.p_value < .001
    (0.146, 6.08, True)
    """
    problem = binary_problem(y_true, y_prob, view=view, positive=positive)
    label, prob = in_order(problem)
    n, ends = len(prob), np.flatnonzero(np.diff(prob, append=np.inf))  # last of equal predictions
    spread = float(np.sqrt((prob * (1 - prob)).sum()))

    def path(residual: FloatVector) -> FloatVector:
        return np.concatenate(([0.0], np.cumsum(residual)[ends]))

    both = [
        largest_statistic(lambda residual: ratio(np.abs(path(residual)).max(), spread)),
        range_statistic(lambda residual: ratio(np.ptp(path(residual)), spread)),
    ]
    tests = run_tests(both, label, prob, view=problem.view, n_draws=n_draws, rng=rng)
    return CumulativeDifferences(
        share=np.concatenate(([0.0], (ends + 1) / n)),
        prob=np.concatenate(([0.0], prob[ends])),
        difference=path(label - prob) / n,
        scale=spread / n,
        mad_test=tests[0],
        range_test=tests[1],
    )
