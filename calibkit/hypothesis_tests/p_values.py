"""What the tests share: p-values by a law, by redraws, and exact ones of shares of events."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.chance.null import p_value_of, redrawn_labels
from calibkit.inputs import (
    BinaryProblem,
    FloatVector,
    IntArray,
    IntVector,
    Rng,
    as_count,
    as_generator,
    as_level,
)
from calibkit.results import Number, listed, spell

# scipy counts an outcome as no more likely than the observed one up to this relative error.
_TOLERANCE = np.log1p(1e-7)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TestResult(Number):
    """A test of the hypothesis that the labels follow the predictions.

    Parameters
    ----------
    statistic, p_value : float
        And the probability of one at least as extreme if the hypothesis holds; infinite and 0
        where a prediction of exactly 0 or 1 was wrong.
    name, symbol, law, direction, view : str
        The test, its statistic, where the p-value comes from, where the sign points (e.g.
        ``"over-confident"``, or empty), and which event.
    n : int
    """

    __test__: ClassVar[bool] = False  # not a test case, whatever pytest thinks of the name

    statistic: float
    p_value: float
    name: str
    symbol: str
    law: str
    direction: str
    view: str
    n: int

    @property
    def value(self) -> float:
        """The statistic."""
        return self.statistic

    def rejected(self, alpha: float = 0.05) -> bool:
        """Tell whether the p-value is at most `alpha`."""
        return self.p_value <= alpha

    def describe(self) -> str:
        """Say the statistic, the p-value with its law, and the verdict at 5 %."""
        verdict = "not rejected"
        if self.rejected():
            verdict = "rejected"
            if self.direction:
                verdict += f"; the predictions look {self.direction}"
        return (
            f"{self.name} ({self.view}, {spell(self.n, 'prediction')}): {self.symbol} = "
            f"{self.statistic:.4g}, p = {self.p_value:.3g} ({self.law}). That each event has the "
            f"probability that was predicted is {verdict} (5 % level)."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return listed(self, ("statistic", "p_value", "n"), ("quantity", "number"))


@dataclass(frozen=True, slots=True)
class Statistic:
    """What a test measures on the residuals ``label - prob`` of its rows, and its limit law.

    `of` gives one number per row of residuals; `tail` gives p-values. `signs` say what lies below
    0 and above 0; a one-sided statistic has none.
    """

    name: str
    symbol: str
    law: str
    of: Callable[[FloatVector], Any]
    tail: Callable[[Any], Any]
    signs: tuple[str, str] = ("", "")

    def size(self, residual: FloatVector) -> float:
        """Return what is large where the hypothesis is wrong."""
        value = float(self.of(residual))
        return abs(value) if self.signs[0] else value

    def result(
        self, value: float, p_value: float, *, view: str, n: int, law: str = ""
    ) -> TestResult:
        """Return the result; `law` replaces the limit law."""
        one_sided = not self.signs[0] or value == 0 or not np.isfinite(value)
        return TestResult(
            statistic=value,
            p_value=p_value,
            name=self.name,
            symbol=self.symbol,
            law=law or self.law,
            direction="" if one_sided else self.signs[int(value > 0)],
            view=view,
            n=n,
        )


def chi_squared(name: str, of: Callable[[FloatVector], Any], df: int) -> Statistic:
    """Return a sum of squares by its law; without degrees of freedom the p-value is 1."""
    law = f"chi-squared law, {spell(df, 'degree')} of freedom"
    return Statistic(name, "X²", law, of, lambda value: special.chdtrc(df, value) if df else 1.0)


def as_floats(problem: BinaryProblem) -> tuple[FloatVector, FloatVector]:
    """Return labels and predictions in double precision."""
    return problem.label.astype(np.float64), problem.prob.astype(np.float64, copy=False)


def in_order(problem: BinaryProblem) -> tuple[FloatVector, FloatVector]:
    """Return labels and predictions sorted; ties by label, so that row order cannot matter."""
    label, prob = as_floats(problem)
    order = np.argsort(prob)
    if (np.diff(prob[order]) == 0).any():
        order = np.lexsort((label, prob))  # of a million rows five times as long
    return label[order], prob[order]


def run_tests(
    statistics: Sequence[Statistic],
    label: FloatVector,
    prob: FloatVector,
    *,
    view: str,
    n_draws: int,
    rng: Rng,
) -> list[TestResult]:
    """Apply tests to rows, by their limit laws or by redraws, which all of them then share."""
    n_draws, generator = as_count(n_draws, "n_draws", minimum=0), as_generator(rng)
    residuals = (drawn - prob for drawn in redrawn_labels(prob, n_draws, generator))
    draws = np.array([[one.size(residual) for one in statistics] for residual in residuals])
    observed, results = label - prob, []
    # A prediction of exactly 0 or 1 that was wrong is impossible under the hypothesis.
    impossible = bool((prob == 1 - label).any())
    for place, one in enumerate(statistics):
        value, law = float(one.of(observed)), ""
        p_value = float(one.tail(value))
        if n_draws:
            law = f"{spell(n_draws, 'redraw')} of the labels"
            p_value = p_value_of(one.size(observed), draws[:, place])
        if impossible:
            value, p_value = np.inf, 0.0
        results.append(one.result(value, p_value, view=view, n=len(prob), law=law))
    return results


def ratio(total: Any, spread: float) -> Any:
    """Return ``total / spread``, and 0 where nothing can vary."""
    return total / spread if spread > 0 else np.zeros_like(total)


def binomial_p_values(hits: Any, count: Any, prob: Any) -> FloatVector:
    """Two-sided p-values of "the events have this probability", by likelihood.

    ``p = sum of P(j) over all outcomes j with P(j) <= P(k)``, where P is the binomial
    distribution (N, prob): the method of minimum likelihood, that of
    ``scipy.stats.binomtest(k, N, prob).pvalue``, for whole arrays. The set of probabilities that
    are not rejected need not be an interval. The test rejects less often than its level says,
    because outcomes are whole numbers. Source: Matsubara and others (2023), section 3.2.
    Taught in lesson 08.

    Parameters
    ----------
    hits, count, prob : array-like
        k events of N >= 1 trials, and probabilities under test in [0, 1]; they broadcast.

    Returns
    -------
    ndarray
        The p-values, in the shape of the input.

    Raises
    ------
    ValueError
        If an entry is no whole number or no probability, or has more events than trials.

    Examples
    --------
    >>> binomial_p_values(3, 15, [.1, .2, .5]).round(4).tolist()
    [0.1841, 1.0, 0.0352]
    """
    k, n, prob = np.broadcast_arrays(*as_trials(hits, count), prob)
    p = prob.ravel().astype(np.float64)
    bad = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if len(bad):
        raise ValueError(f"prob[{bad[0]}] = {p[bad[0]]} is not a probability in [0, 1].")
    rows, values = np.column_stack([k.ravel(), n.ravel()]), np.empty(len(p))
    pairs, of = np.unique(rows, axis=0, return_inverse=True)
    for place, (hits_of_pair, count_of_pair) in enumerate(pairs.tolist()):
        here = of.ravel() == place
        values[here] = p_values_of(hits_of_pair, count_of_pair, p[here])
    return values.reshape(prob.shape)


def p_values_of(k: int, n: int, p: FloatVector) -> FloatVector:
    """Return the p-values of k events in n trials for many probabilities."""
    low, high = tails_of(k, n, p)
    value = np.minimum(1.0, lower_tail(low, n, p) + upper_tail(high, n, p))
    return np.where(k == p * n, 1.0, value)


def lower_tail(k: Any, n: int, p: FloatVector) -> FloatVector:
    """Return ``P(X <= k)`` of binomial X, k from -1 on: scipy.stats takes four times as long."""
    inside = np.minimum(np.maximum(k, 0), n - 1)
    tail = np.where(k < n, special.betaincc(inside + 1, n - inside, p), 1.0)
    return np.where(k < 0, 0.0, tail)


def upper_tail(k: Any, n: int, p: FloatVector) -> FloatVector:
    """Return ``P(X >= k)``, k up to n + 1."""
    inside = np.minimum(np.maximum(k, 1), n)
    tail = np.where(k > 0, special.betainc(inside, n - inside + 1, p), 1.0)
    return np.where(k > n, 0.0, tail)


@lru_cache(maxsize=64)
def _log_ways(n: int) -> FloatVector:
    """Return ln C(n, j) for all j, less a constant."""
    j = np.arange(n + 1)
    return np.asarray(-special.gammaln(j + 1) - special.gammaln(n - j + 1))


def tails_of(k: int, n: int, p: FloatVector) -> tuple[IntVector, IntVector]:
    """Return the last outcome of the lower tail and the first one of the upper tail of a p-value.

    The outcome j is no more likely than k where ``ln C(n, j) - ln C(n, k) + (j - k) logit p <= 0``:
    a limit for logit p that rises with j, so that a search finds where the other tail begins.
    """
    j, ways = np.arange(n + 1), _log_ways(n)
    with np.errstate(divide="ignore", invalid="ignore"):  # at j = k, which is not used
        limit = (ways[k] - ways + _TOLERANCE) / (j - k)
    logits, below = special.logit(p), k < p * n
    above = k + 1 + np.searchsorted(limit[k + 1 :], logits)
    under = np.searchsorted(limit[:k], logits, side="right") - 1
    return np.where(below, k, under), np.where(below, above, k)


def as_trials(hits: Any, count: Any) -> tuple[IntArray, IntArray]:
    """Check numbers of events and of the trials that they happened in."""
    k, n = np.broadcast_arrays(hits, count)
    for name, values in (("hits", k), ("count", n)):
        bad = np.flatnonzero(~(np.isfinite(values) & (values == np.rint(values))))
        if len(bad):
            raise ValueError(f"{name}[{bad[0]}] = {values.flat[bad[0]]} is not a whole number.")
    bad = np.flatnonzero(~((n >= 1) & (k >= 0) & (k <= n)))
    if len(bad):
        raise ValueError(
            f"{k.flat[bad[0]]} events in {n.flat[bad[0]]} trials (entry {bad[0]}): there must be "
            "at least one trial, and from 0 to all of them are events."
        )
    return k.astype(np.int64), n.astype(np.int64)


def wilson_interval(
    hits: Any, count: Any, *, level: float = 0.95
) -> tuple[FloatVector, FloatVector]:
    """Interval for the probability of an event that happened in some of several trials.

    It holds the probabilities p with ``|k/N - p| <= z sqrt(p (1 - p) / N)``: those that a normal
    test with their own spread does not reject. It stays in [0, 1], has a width also for 0 or N
    events, and is close to its level on average. Source: Wilson (1927). Lesson 01.

    Parameters
    ----------
    hits, count : array-like of int
        k events of N >= 1 trials; they broadcast.
    level : float
        Probability content, in (0, 1).

    Returns
    -------
    low, high : ndarray
        The ends, in the shape of the input.

    Raises
    ------
    ValueError
        If an entry is no whole number, has no trial, or more events than trials.

    Examples
    --------
    >>> low, high = wilson_interval([31, 0], 50)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.482, 0.0], [0.741, 0.071])
    """
    k, n = as_trials(hits, count)
    z2 = float(special.ndtri((1 + as_level(level)) / 2)) ** 2
    share = k / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    # Without events the lower end is 0, which rounding may miss; the upper end is alike.
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
