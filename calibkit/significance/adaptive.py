"""A test that looks through bins of many sizes and pays for having looked."""

from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.results import spell
from calibkit.significance.classical import BinnedRule
from calibkit.significance.results import Rule, TestResult, run, sample_of
from calibkit.types import FloatMatrix, FloatVector, Rng
from calibkit.validation import as_count
from calibkit.views import Events, View, binary_problem, shows_rows

# Bins are halved while they hold, on average, at least this much variance sum p (1 - p).
_LEAST_VARIANCE = 2.0


class AdaptiveRule(Rule):
    """The largest of several binned statistics, each on the scale of a normal variable."""

    name = "Adaptive test over bins"
    symbol = "largest z"

    def __init__(self, prob: FloatVector, max_bins: int | None) -> None:
        if max_bins is None:
            max_bins = max(1, int((prob * (1 - prob)).sum() / _LEAST_VARIANCE))
        numbers = 2 ** np.arange(int(np.log2(min(max_bins, len(prob)))) + 1)
        rules = [BinnedRule(prob, int(b), pooled=False) for b in numbers]
        self.rules = [rule for rule in rules if rule.df]
        self.bins = np.array([rule.df for rule in self.rules], dtype=np.int64)
        looks = spell(len(self.rules), "number of bins", "numbers of bins")
        self.law = f"Bonferroni's bound over {looks}"

    def z_values(self, residual: FloatMatrix) -> FloatMatrix:
        """Return Wilson and Hilferty's z of each number of bins; shape (R, numbers)."""
        values = np.empty((len(residual), len(self.rules)))
        for column, rule in zip(values.T, self.rules, strict=True):
            spread = 2 / (9 * rule.df)
            ratio = np.cbrt(rule.statistic(residual) / rule.df)
            column[:] = (ratio - (1 - spread)) / np.sqrt(spread)
        return values

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return the largest z of each row, 0 if nothing can vary."""
        if not self.rules:
            return np.zeros(len(residual))
        return np.asarray(self.z_values(residual).max(axis=1))

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return normal tails times the number of looks, at most 1."""
        if not self.rules:
            return np.ones(len(statistic))
        return np.asarray(np.minimum(1.0, len(self.rules) * special.ndtr(-statistic)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AdaptiveResult(TestResult):
    """An adaptive test, with what it found for every number of bins; the rest as in `TestResult`.

    Parameters
    ----------
    bins, z : ndarray
        Numbers of bins whose events can vary, and the statistic of each as a standard normal z.
    """

    bins: NDArray[np.int64]
    z: FloatVector

    @property
    def best_bins(self) -> int:
        """The number of bins that speaks most clearly; 0 if none can say anything."""
        return int(self.bins[self.z.argmax()]) if len(self.bins) else 0

    def describe(self) -> str:
        """Say what `TestResult` says, and where the statistic is largest."""
        text = TestResult.describe(self)
        if not len(self.bins):
            return text
        looked = ", ".join(map(str, self.bins.tolist()))
        return f"{text} Largest with {spell(self.best_bins, 'bin')}, of {looked}."

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"bins": self.bins, "z": self.z}


@shows_rows
def adaptive_test(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    max_bins: int | None = None,
    null_draws: int = 1000,
    rng: Rng = None,
    **rows: Unpack[Events],
) -> AdaptiveResult:
    """Test with 1, 2, 4, 8, ... equal-mass bins at once and take the clearest answer.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    max_bins : int, optional
        Largest number of bins. By default bins are halved while they hold, on average, a
        variance ``sum p (1 - p)`` of at least 2.
    null_draws : int
        Redraws of the labels that give the p-value; 0: Bonferroni's bound.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``. Weights are refused.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row, whose confidence `y_prob` is: see `binary_problem`.

    Returns
    -------
    AdaptiveResult
        The test, and the statistic of each number of bins.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Notes
    -----
    Each number of bins B has its chi-squared statistic, ``sum over bins of (events - sum of p)² /
    sum of p (1 - p)``. The cube root of Wilson and Hilferty turns it into a normal number z, so
    that few and many bins compete on the same scale. The statistic is the largest z. Redraws repeat
    the whole search, so that looking often is paid for. Their level is exact for any n and any
    predictions: p-values up to 5 % come in at most 5 % of the cases (measured: 3.9 to 5.2).
    Bonferroni's bound gave up three points of power on average. For sharp predictions it is no
    bound at all (4 points too many), as the chi-squared law fails in bins of nearly certain
    predictions.

    Power with redraws in per cent, beside Hosmer and Lemeshow's ten bins, also with redraws. There
    are 2000 seeded cases, standard error 1.1; logits are normal with standard deviation 1.5:

    ===================================  ========  ========  ========  ========
    what is wrong                        adaptive  adaptive  ten bins  ten bins
    n =                                  500       2000      500       2000
    ===================================  ========  ========  ========  ========
    nothing                              4.6       5.2       4.7       4.8
    logits too large (true: 0.8 logit)   37.7      91.0      36.0      90.1
    logits shifted (true: logit - 0.2)   32.4      88.8      18.1      73.1
    sine, 2 periods, amplitude 0.05      26.6      79.8      29.9      83.8
    sine, 8 periods, amplitude 0.10      36.5      99.7      7.7       27.3
    only above 0.9: true is 0.08 lower   19.3      60.9      16.8      49.8
    ===================================  ========  ========  ========  ========

    Idea: Lee and others (2023), T-Cal; the statistic is our own choice. Taught in lesson 08.

    Examples
    --------
    >>> y_prob = np.linspace(.02, .98, 500)
    >>> wave = y_prob + .2 * np.sin(16 * np.pi * y_prob) * (abs(y_prob - .5) < .3)
    >>> y_true = np.random.default_rng(0).random(500) < wave
    >>> result = adaptive_test(y_true, y_prob, rng=0)
    >>> result.bins.tolist(), result.best_bins, result.p_value < .01
    ([1, 2, 4, 8, 16, 32], 32, True)
    """
    if max_bins is not None:
        max_bins = as_count(max_bins, "max_bins")
    sample = sample_of(binary_problem(y_true, y_prob, view=view, **rows))
    rule = AdaptiveRule(sample.prob, max_bins)
    result = run(sample, [rule], null_draws=null_draws, rng=rng)[0]
    z = rule.z_values(sample.residual)[0]
    return AdaptiveResult(**asdict(result), bins=rule.bins, z=z)
