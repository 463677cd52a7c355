"""Classical tests: Hosmer and Lemeshow's with bins, and Spiegelhalter's of the Brier score."""

from typing import Any, Unpack

import numpy as np

from calibkit.bins import EqualMass
from calibkit.hypothesis_tests.results import ChiSquaredRule, LinearRule, TestResult, run, sample_of
from calibkit.inputs import (
    Events,
    FloatMatrix,
    FloatVector,
    Rng,
    View,
    as_choice,
    as_count,
    binary_problem,
    shows_rows,
)


class BinnedRule(ChiSquaredRule):
    """Sum over equal-mass bins of squared residual sums over their variances."""

    name = "Hosmer-Lemeshow test"

    def __init__(self, prob: FloatVector, n_bins: int, *, pooled: bool) -> None:
        edges = EqualMass(n_bins).edges(prob)
        self.starts = np.unique(np.searchsorted(prob, edges[:-1]))
        variance = np.add.reduceat(prob * (1 - prob), self.starts)
        if pooled:
            count = np.diff(self.starts, append=len(prob)).astype(np.float64)
            mean = np.add.reduceat(prob, self.starts) / count
            variance = count * mean * (1 - mean)
        self.used = variance > 0
        self.variance = variance[self.used]
        super().__init__(int(self.used.sum()))

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return the statistic of each row."""
        total = np.add.reduceat(residual, self.starts, axis=1)
        return np.asarray((total[:, self.used] ** 2 / self.variance).sum(axis=1))


class BrierRule(LinearRule):
    """Spiegelhalter's standardised Brier score."""

    name = "Spiegelhalter's test"
    signs = ("under-confident", "over-confident")

    def __init__(self, prob: FloatVector) -> None:
        self.lever = 1 - 2 * prob
        self.sd = float(np.sqrt((self.lever**2 * prob * (1 - prob)).sum()))


@shows_rows
def hosmer_lemeshow(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    n_bins: int = 10,
    variance: str = "bin-mean",
    null_draws: int = 0,
    rng: Rng = None,
    **rows: Unpack[Events],
) -> TestResult:
    """Compare events with predictions in equal-mass bins: Hosmer and Lemeshow's chi-squared.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    n_bins : int
        Number of equal-mass bins; ties are never split, so there may be fewer.
    variance : {"bin-mean", "predictions"}
        Of the events of a bin: the original ``n m (1 - m)`` with the mean prediction m, or the
        sum of ``p (1 - p)``, which is exact and a little smaller.
    null_draws : int
        0: the limit law. Otherwise this many redraws of the labels give the p-value.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``. Weights are refused.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row, whose confidence `y_prob` is: see `binary_problem`.

    Returns
    -------
    TestResult
        Statistic, p-value, the law it comes from, and the direction.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Notes
    -----
    ``X² = sum over bins of (events - sum of p)² / variance``. With ``variance="predictions"``
    its mean under the hypothesis is exactly the number of bins. Bins whose predictions are all 0
    or all 1 do not count. There is one degree of freedom per bin, as for predictions made without
    these labels; a model that was fitted to them has two fewer. A prediction of exactly 0 or 1 that
    was wrong gives the p-value 0.

    For sharp predictions and rare events the law rejects up to 7 points too often (sizes of all
    tests: `calibkit.hypothesis_tests`), as bins of nearly certain predictions hold less than one
    expected event. Take redraws there; 199 of them kept 4.7 to 5.0 per cent in all six cases.
    Source: Hosmer and Lemeshow (1980). Taught in lesson 08.

    Examples
    --------
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 1.5
    >>> result = hosmer_lemeshow(y_true, y_prob)
    >>> round(result.statistic, 2), result.law
    (47.9, 'chi-squared law, 10 degrees of freedom')
    """
    as_choice(variance, "variance", ("bin-mean", "predictions"))
    n_bins = as_count(n_bins, "n_bins")
    sample = sample_of(binary_problem(y_true, y_prob, view=view, **rows))
    rule = BinnedRule(sample.prob, n_bins, pooled=variance == "bin-mean")
    return run(sample, [rule], null_draws=null_draws, rng=rng)[0]


@shows_rows
def spiegelhalter(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    null_draws: int = 0,
    rng: Rng = None,
    **rows: Unpack[Events],
) -> TestResult:
    """Ask whether the Brier score is what the predictions themselves promise (two-sided).

    ``z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)² p (1 - p))``: the Brier score minus its
    expected value, in standard deviations; above 0 over-confident, below 0 under-confident.
    Errors that leave the Brier score as promised are not seen, such as a shift of all logits when
    predictions lie evenly about 1/2. Predictions of 1/2 do not count; if there are no others, z
    is 0 and the p-value 1. The measured sizes are within 0.4 points of the level.
    Source: Spiegelhalter (1986). Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    null_draws : int
        0: the limit law. Otherwise this many redraws of the labels give the p-value.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``. Weights are refused.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row, whose confidence `y_prob` is: see `binary_problem`.

    Returns
    -------
    TestResult
        Statistic, p-value, the law it comes from, and the direction.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Examples
    --------
    >>> y_prob = np.linspace(.01, .99, 300)
    >>> y_true = np.random.default_rng(0).random(300) < .5 + .7 * (y_prob - .5)
    >>> result = spiegelhalter(y_true, y_prob)
    >>> round(result.statistic, 2), result.direction
    (5.64, 'over-confident')
    """
    sample = sample_of(binary_problem(y_true, y_prob, view=view, **rows))
    return run(sample, [BrierRule(sample.prob)], null_draws=null_draws, rng=rng)[0]
