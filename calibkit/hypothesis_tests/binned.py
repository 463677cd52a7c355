"""Hosmer and Lemeshow's test, and one that looks through bins of many sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from calibkit.bins import Binning, Bins, EqualMass, as_bins, assign
from calibkit.hypothesis_tests.p_values import (
    Statistic,
    TestResult,
    chi_squared,
    in_order,
    run_tests,
)
from calibkit.inputs import FloatVector, Rng, View, as_choice, binary_problem
from calibkit.reliability import slack_of
from calibkit.results import spell

# The adaptive test halves bins while they hold, on average, this much variance sum p (1 - p).
_LEAST_VARIANCE = 2.0


def binned_squares(
    prob: FloatVector, binning: Binning, *, pooled: bool, precision: str = "float64"
) -> tuple[Callable[[FloatVector], float], int]:
    """Return the sum over bins of squared residual sums by variance, and its degrees of freedom.

    Predictions are sorted; `pooled` variances are those of the mean prediction of a bin.
    """
    index = assign(prob, binning.edges(prob), slack_of(binning, precision))
    starts = np.unique(index, return_index=True)[1]
    variance = np.add.reduceat(prob * (1 - prob), starts)
    if pooled:
        count = np.diff(starts, append=len(prob))
        mean = np.add.reduceat(prob, starts) / count
        variance = count * mean * (1 - mean)
    used = variance > 0

    def of(residual: FloatVector) -> float:
        return float((np.add.reduceat(residual, starts)[used] ** 2 / variance[used]).sum())

    return of, int(used.sum())


def hosmer_lemeshow(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins | None = None,
    variance: str = "bin-mean",
    n_draws: int = 0,
    rng: Rng = None,
    positive: Any = None,
) -> TestResult:
    """Compare events with predictions in bins: Hosmer and Lemeshow's chi-squared.

    ``X² = sum over bins of (events - sum of p)² / variance``, with one degree of freedom per bin,
    as for predictions made without these labels; a model that was fitted to them has two fewer.
    Bins whose predictions are all 0 or all 1 do not count. For sharp predictions and rare events
    the law rejects too often, as bins of nearly certain predictions hold less than one expected
    event: take redraws there. Source: Hosmer and Lemeshow (1980).
    Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    bins : Binning or int, optional
        By default ten equal-mass bins; ties are never split, so there may be fewer. An int
        means that many equal-width bins.
    variance : {"bin-mean", "predictions"}
        Of the events of a bin: the original ``n m (1 - m)`` with the mean prediction m, or the
        sum of ``p (1 - p)``, with which X² has exactly the mean of its law.
    n_draws : int
        0: the limit law. Otherwise this many redraws of the labels give the p-value.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``.

    Returns
    -------
    TestResult
        Statistic, p-value, and the law it comes from; a prediction of exactly 0 or 1 that was
        wrong gives the p-value 0.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Examples
    --------
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 1.5
    >>> result = hosmer_lemeshow(y_true, y_prob)
    >>> round(result.statistic, 2), result.law
    (47.9, 'chi-squared law, 10 degrees of freedom')
    """
    as_choice(variance, "variance", ("bin-mean", "predictions"))
    problem = binary_problem(y_true, y_prob, view=view, positive=positive)
    binning = EqualMass(10) if bins is None else as_bins(bins)
    if getattr(binning, "uses_labels", False):
        raise ValueError(f"The test needs bins that ignore the labels, not {binning}.")
    label, prob = in_order(problem)
    pooled, precision = variance == "bin-mean", problem.precision
    of, df = binned_squares(prob, binning, pooled=pooled, precision=precision)
    test = chi_squared("Hosmer-Lemeshow test", of, df)
    return run_tests([test], label, prob, view=problem.view, n_draws=n_draws, rng=rng)[0]


def adaptive_test(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    n_draws: int = 1000,
    rng: Rng = None,
    positive: Any = None,
) -> TestResult:
    """Test with 1, 2, 4, 8, ... equal-mass bins at once and take the clearest answer.

    Bins are halved while they hold, on average, a variance ``sum p (1 - p)`` of at least 2. Each
    number of bins has Hosmer and Lemeshow's statistic with the variance of the predictions, which
    the cube root of Wilson and Hilferty turns into a normal number z; the statistic is the largest
    z. Redraws repeat the whole search, so that looking often is paid for; their level holds for
    any n. Bonferroni's bound is none for sharp predictions.
    The statistic is our own, after an idea of Lee and others (2023), T-Cal. Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    n_draws : int
        Redraws of the labels that give the p-value; 0: Bonferroni's bound.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``.

    Returns
    -------
    TestResult
        The largest z, its p-value, and the law it comes from.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    See Also
    --------
    hosmer_lemeshow : the published test with one number of bins.

    Examples
    --------
    >>> y_prob = np.linspace(.02, .98, 500)
    >>> wave = y_prob + .2 * np.sin(16 * np.pi * y_prob) * (abs(y_prob - .5) < .3)
    >>> y_true = np.random.default_rng(0).random(500) < wave
    >>> result = adaptive_test(y_true, y_prob, rng=0)
    >>> round(result.statistic, 2), result.p_value < .01
    (3.06, True)
    """
    problem = binary_problem(y_true, y_prob, view=view, positive=positive)
    label, prob = in_order(problem)
    test = adaptive_statistic(prob)
    return run_tests([test], label, prob, view=problem.view, n_draws=n_draws, rng=rng)[0]


def adaptive_statistic(prob: FloatVector) -> Statistic:
    """Return the largest of several binned statistics, each on the scale of a normal variable."""
    most = min(max(1, int((prob * (1 - prob)).sum() / _LEAST_VARIANCE)), len(prob))
    numbers = 2 ** np.arange(int(np.log2(most)) + 1)
    parts = [binned_squares(prob, EqualMass(int(b)), pooled=False) for b in numbers]
    parts = [(squares, df) for squares, df in parts if df]

    def of(residual: FloatVector) -> float:
        z = []
        for squares, df in parts:
            spread = 2 / (9 * df)
            z.append((np.cbrt(squares(residual) / df) - (1 - spread)) / np.sqrt(spread))
        return max(z, default=0.0)

    def tail(value: float) -> float:
        return min(1.0, len(parts) * float(special.ndtr(-value))) if parts else 1.0

    looks = spell(len(parts), "number of bins", "numbers of bins")
    law = f"Bonferroni's bound over {looks}"
    return Statistic("Adaptive test over bins", "largest z", law, of, tail)
