"""Mean and weak calibration in the words of the clinic, each with a profile interval.

The hierarchy of Van Calster and others (2016): *mean* (as many events as predicted: observed over
expected 1, calibration in the large 0), *weak* (also slope 1: no general over-confidence),
*moderate* (of those told p, a share p has the event: the reliability diagram), *strong* (the same
for every pattern of features, which no data can show). Lesson 08.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from calibkit.calibrators.newton import fit_logistic
from calibkit.hypothesis_tests.p_values import as_floats
from calibkit.inputs import FloatVector, View, as_level, binary_problem
from calibkit.results import Number, listed, spell
from calibkit_audit.clusters import Clusters, clusters_of
from calibkit_audit.incoming import kish

_IDEAL = {"calibration in the large": 0.0, "calibration slope": 1.0, "observed/expected ratio": 1.0}
_FAR = 1e3  # no estimate lies further from its start


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WeakCalibration(Number):
    """An estimate with its profile-likelihood interval.

    Parameters
    ----------
    value, low, high, level : float
        The estimate, the ends of its interval, and how often such intervals hold the truth.
    ideal : float
        What a calibrated model has: 0 in the large, 1 as slope and as ratio.
    name, view, n : str, str, int
    """

    value: float
    low: float
    high: float
    level: float
    name: str
    ideal: float
    view: str
    n: int

    def describe(self) -> str:
        """Say the estimate, its interval, and what would be ideal."""
        return (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.3f} ({100 * self.level:g} %: "
            f"{self.low:.3f} to {self.high:.3f}; ideal {self.ideal:g}; {self.view}, "
            f"{spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return listed(self, ("value", "low", "high", "level"), ("quantity", "number"))


class _Rows(NamedTuple):
    """Events and predictions, what each row counts, and which rows are dependent."""

    label: FloatVector
    prob: FloatVector
    logits: FloatVector  # infinite where it says 0 or 1
    weight: FloatVector
    clusters: Clusters | None  # of unlike weights each row is one
    view: str

    def mean(self, values: FloatVector) -> float:
        """Return the weighted mean of (n,) values; 0 where no row counts."""
        return float(self.weight @ values / (self.weight.sum() or 1.0))

    def loss(self, logits: FloatVector) -> float:
        """Return the log loss of these logits, summed."""
        return float(self.weight @ (np.logaddexp(0, logits) - self.label * logits))

    def level(self, logits: FloatVector) -> float:
        """Return the intercept that fits best beside these logits: the sum of residuals is 0."""
        goal, some = special.logit(self.mean(self.label)), logits[self.weight > 0]

        def above(a: float) -> float:  # as log odds of the means: nearly a straight line in a
            return float(special.logit(self.mean(special.expit(a + logits))) - goal)

        return float(optimize.brentq(above, goal - some.max() - 1, goal - some.min() + 1))

    def estimate(
        self, name: str, value: float, ends: tuple[float, float], level: float
    ) -> WeakCalibration:
        """Return an estimate under its name, beside what would be ideal."""
        of: Any = {"low": ends[0], "high": ends[1], "level": level, "ideal": _IDEAL[name]}
        return WeakCalibration(value=value, name=name, view=self.view, n=len(self.label), **of)


def _rows(
    y_true: Any, y_prob: Any, view: View, cluster: Any, positive: Any, weight: Any, *, odds: Any
) -> _Rows:
    how: Any = {"view": view, "positive": positive, "sample_weight": weight}
    problem = binary_problem(y_true, y_prob, **how)
    (label, prob), weight, clusters = as_floats(problem), np.ones(problem.n), None
    if problem.weight is not None:
        weight, clusters = kish(problem.weight), Clusters(np.arange(problem.n), problem.n)
    if cluster is not None:
        clusters = clusters_of(cluster, problem.n)
    known = special.logit(prob) if odds is None else odds
    order = np.lexsort((weight, label, known))  # so that row order cannot matter
    label, prob, known, weight = (part[order] for part in (label, prob, known, weight))
    return _Rows(label, prob, known, weight, clusters and clusters.take(order), problem.view)


def _others(rows: _Rows) -> tuple[_Rows, FloatVector, float]:
    """Return rows with weight 0 where they say 0 or 1, their logits, and what these were off by.

    The labels of the others rise by what sure rows were off by on average: means agree over all.
    """
    sure = np.isinf(rows.logits)
    off, weight = rows.weight * sure * (rows.label - rows.prob), rows.weight * ~sure
    left = rows._replace(weight=weight, label=rows.label + off.sum() / (weight.sum() or 1.0))
    if not 0 < left.mean(left.label) < 1:
        if off.any():
            wrong = spell(int(np.count_nonzero(off)), "row")
            raise ValueError(f"{wrong} wrongly said 0 or 1; no shift of the others outweighs that.")
        happened = "always" if left.label @ left.weight else "never"
        beside = " beside rows that say 0 or 1" if sure.any() else ""
        raise ValueError(f"the event {happened} happened{beside}; a line takes both outcomes.")
    return left, np.where(sure, 0.0, rows.logits), float(off @ off)


def _profile(
    rows: _Rows,
    loss: Callable[[float], float],
    best: float,
    level: float,
    at_best: tuple[FloatVector, FloatVector, float],
) -> tuple[float, float]:
    """Return where the loss has risen as the Notes of `calibration_in_the_large` say.

    `at_best`: the logits there, how they move, and what rows that said 0 or 1 were off by.
    """
    logits, lever, off = at_best
    prob = special.expit(logits)
    spread = rows.weight * prob * (1 - prob)
    lever = lever - spread @ lever / spread.sum() if np.ptp(lever) else lever
    promised = float(spread @ lever**2)
    rise = (1 + off / promised) * special.chdtri(1, 1 - level) / 2
    if (groups := rows.clusters) is not None:
        scores, count = groups.sums(rows.weight * (rows.label - prob) * lever), groups.count
        robust = count / (count - 1) * (scores**2).sum() + off
        rise = max(1.0, robust / promised) * special.stdtrit(count - 1, (1 + level) / 2) ** 2 / 2
    limit = loss(best) + float(rise)

    def end(side: float) -> float:
        step = 0.1
        while loss(best + side * step) < limit and step < _FAR:
            step *= 2
        far = best + side * step
        return float(optimize.brentq(lambda b: loss(b) - limit, min(best, far), max(best, far)))

    return end(-1.0), end(1.0)


def calibration_in_the_large(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    level: float = 0.95,
    cluster: Any = None,
    positive: Any = None,
    sample_weight: Any = None,
    logits: Any = None,
) -> WeakCalibration:
    """Intercept a of ``logit P(event) = a + logit p``, the slope fixed at 1: mean calibration.

    Not the intercept of `cox_test`, which is fitted together with a slope. Above 0 the predictions
    are too low. Cox (1958); Van Calster and others (2016). Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1. No shift moves rows that say 0
        or 1: what they were wrong by the others make up for, so that means agree over all rows.
    view : {"top-label"} or int, optional
        Which event; needed when `y_prob` has columns.
    level : float
        Of the profile-likelihood interval.
    cluster : array-like of shape (n,), optional
        Which rows belong together; then only clusters are taken as independent.
    positive : label, optional
        The label that a one-dimensional `y_prob` is about.
    sample_weight : array-like of shape (n,), optional
        What each row stands for, at least 0; rows of weight 0 are left out.
    logits : ndarray of shape (n,), optional
        Log odds of the event where they are known better than by `y_prob`, which rounds them.

    Returns
    -------
    WeakCalibration

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid, only one outcome occurs beside rows
        that say 0 or 1, or these were wrong by more than all others can make up for.

    Notes
    -----
    The interval ends where the loss has risen by ``chi2 / 2``; by cluster, and where rows have
    weights (a pseudo-likelihood, each row a cluster of its own), by ``D t^2 / 2`` (1),
    with Student's t of C - 1 degrees of freedom and the design effect D: the sandwich variance
    over that of independent rows, at least 1 (Chandler and Bate, 2007). Each row that said 0 or 1
    and was wrong adds its squared weight to the variance.

    Examples
    --------
    >>> round(float(calibration_in_the_large([0, 1, 1, 1], [.5, .5, .5, .5])), 4)
    1.0986
    """
    rows = _rows(y_true, y_prob, view, cluster, positive, sample_weight, odds=logits)
    left, known, off = _others(rows)
    best, level = left.level(known), as_level(level)
    at_best = best + known, np.ones_like(known), off
    ends = _profile(left, lambda a: left.loss(a + known), best, level, at_best)
    return rows.estimate("calibration in the large", best, ends, level)


def calibration_slope(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    level: float = 0.95,
    cluster: Any = None,
    positive: Any = None,
    sample_weight: Any = None,
    logits: Any = None,
) -> WeakCalibration:
    """Slope b of ``logit P(event) = a + b logit p`` by maximum likelihood: weak calibration.

    Below 1 the predictions are over-confident. Without a penalty, which would shrink it, and on
    logits. `cox_test` gives the intercept beside it. Cox (1958); Van Calster and others (2016).
    Taught in lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, level, cluster, positive, sample_weight, logits
        As in `calibration_in_the_large`.

    Returns
    -------
    WeakCalibration

    Raises
    ------
    ValueError
        As in `calibration_in_the_large`; if a row said 0 or 1 and was wrong, predictions are equal,
        or a threshold separates the labels: then no slope, or no finite one, fits best.

    Examples
    --------
    >>> y_prob = np.linspace(.02, .98, 300)
    >>> y_true = np.random.default_rng(0).random(300) < .5 + .7 * (y_prob - .5)
    >>> round(float(calibration_slope(y_true, y_prob)), 2)
    0.5
    """
    rows = _rows(y_true, y_prob, view, cluster, positive, sample_weight, odds=logits)
    if wrong := int((rows.logits == (1 - 2 * rows.label) * np.inf).sum()):
        raise ValueError(f"{spell(wrong, 'row')} wrongly said 0 or 1; no line fits such rows.")
    rows, known, _ = _others(rows)
    counted, level = rows.weight > 0, as_level(level)
    one, none = (known[counted & (rows.label == y)] for y in (1, 0))
    if np.ptp(known[counted]) == 0:
        raise ValueError("all predictions are equal; pass others.")
    if one.min() >= none.max() or one.max() <= none.min():
        raise ValueError("a threshold separates the labels: the slope is infinite; pass more rows.")

    def loss(b: float) -> float:
        return rows.loss(b * known + rows.level(b * known))

    features = np.vstack([np.ones_like(known), known])
    starts = [[0.0, 1.0], [float(special.logit(rows.mean(rows.label))), 0.0]]
    best = float(fit_logistic(features, rows.label, starts, rows.weight).theta[1])
    at_best = best * known + rows.level(best * known), known, 0.0
    ends = _profile(rows, loss, best, level, at_best)
    return rows.estimate("calibration slope", best, ends, level)


def observed_expected_ratio(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    level: float = 0.95,
    cluster: Any = None,
    positive: Any = None,
    sample_weight: Any = None,
) -> WeakCalibration:
    """Observed events over expected ones, ``sum y / sum p`` (O/E): mean calibration as a factor.

    Above 1 the predictions are too low. Van Calster and others (2016). Taught in lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, level, cluster, positive, sample_weight
        As in `calibration_in_the_large`.

    Returns
    -------
    WeakCalibration

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid, or all predictions are 0.

    Notes
    -----
    The interval is Wilson's (1927) for the share of events, over the mean prediction. Its n is
    divided by the design effect, the variance of ``sum y - (O/E) p`` by the sandwich over that of
    as many rows with one probability (Dean and Pagano, 2015); by cluster with Student's t.

    Examples
    --------
    >>> round(float(observed_expected_ratio([0, 1, 1, 1], [.5, .5, .5, .5])), 4)
    1.5
    """
    rows = _rows(y_true, y_prob, view, cluster, positive, sample_weight, odds=None)
    mass, level = float(rows.weight.sum()), as_level(level)
    share, mean = rows.mean(rows.label), rows.mean(rows.prob)
    if mean == 0:
        raise ValueError("all predictions are 0: no event was expected, and O/E divides by that.")
    off, df = rows.weight * (rows.label - share / mean * rows.prob), np.inf
    square, alike = float(off @ off), mass * share * (1 - share)
    if (groups := rows.clusters) is not None:
        df = groups.count - 1.0
        square = float((groups.sums(off) ** 2).sum()) * groups.count / df
    if share in (0, 1):  # outcomes that are all alike show no variance; predictions promise one
        square = float(rows.weight**2 @ (rows.prob * (1 - rows.prob)))
        alike = mass * mean * (1 - mean)
    unit = special.stdtrit(df, (1 + level) / 2) ** 2 * (square / alike if alike else 1.0) / mass
    middle, half = share + unit / 2, np.sqrt(unit * share * (1 - share) + unit**2 / 4)
    scale = (1 + unit) * mean
    ends = float((middle - half) / scale), float((middle + half) / scale)
    return rows.estimate("observed/expected ratio", share / mean, ends, level)
