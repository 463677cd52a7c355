"""Net benefit: right treatments minus those in vain, in the unit of right ones. Lesson 13."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.chance.clusters import Clusters, clusters_of
from calibkit.decisions.regret import as_levels
from calibkit.inputs import (
    BinaryProblem,
    FloatVector,
    View,
    as_finite,
    as_level,
    as_weights,
    binary_problem,
)
from calibkit.results import Number, Result, listed, spell

# Rows (or clusters) that decide a mean, and each way a difference; of fewer there is no interval.
_FEWEST, _EACH_WAY = 10, 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DecisionCurve(Result):
    """Net benefit of treating from each threshold on.

    Parameters
    ----------
    threshold : ndarray of shape (m,)
        Probabilities from which on to treat.
    net_benefit, low, high, treat_all : ndarray of shape (m,)
        Of the model, with its interval, and of treating everybody; treating nobody is worth 0. The
        unit is a right treatment per prediction.
    difference, difference_low, difference_high : ndarray of shape (m,)
        Net benefit of the model minus that of `against`, with its paired interval; NaN without one.
        Intervals are NaN where fewer than ten rows (or clusters) are treated, or are treated
        otherwise, or where fewer than five of these are gained, or lost.
    prevalence, level, view, n : float, float, str, int
        Share of events; level of the intervals, at each threshold by itself.
    """

    threshold: FloatVector
    net_benefit: FloatVector
    low: FloatVector
    high: FloatVector
    treat_all: FloatVector
    difference: FloatVector
    difference_low: FloatVector
    difference_high: FloatVector
    prevalence: float
    level: float
    view: str
    n: int

    @property
    def standardised(self) -> FloatVector:
        """Net benefit as a share of what a perfect model has, the prevalence."""
        return self.net_benefit / self.prevalence

    @property
    def avoided(self) -> FloatVector:
        """Treatments per prediction that the model saves against treating all, net of those missed.

        ``(net benefit - that of treating all) (1 - t) / t``.
        """
        return (self.net_benefit - self.treat_all) * (1 - self.threshold) / self.threshold

    def describe(self) -> str:
        """Say where the model is worth more than treating all and none."""
        better = self.net_benefit > np.maximum(self.treat_all, 0) + 1e-12
        where = f"at {int(better.sum())} of {spell(len(better), 'threshold')}"
        return (
            f"Worth more than treating all and treating none {where} from {self.threshold[0]:.4g} "
            f"to {self.threshold[-1]:.4g} ({self.view}, prevalence {self.prevalence:.4f}, "
            f"{spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("threshold", "net_benefit", "low", "high", "treat_all", "standardised", "avoided")
        compared = ("difference", "difference_low", "difference_high")
        shown = names if np.isnan(self.difference).all() else names + compared
        return {name.replace("_", " "): getattr(self, name) for name in shown}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NetBenefit(Number):
    """Net benefit at one threshold.

    Parameters
    ----------
    value, low, high, standardised, avoided, treat_all, threshold, level, n
        As in `DecisionCurve`, each a number; `value` is the net benefit.
    """

    value: float
    low: float
    high: float
    standardised: float
    avoided: float
    treat_all: float
    threshold: float
    level: float
    n: int

    def describe(self) -> str:
        """Say the net benefit, its interval, and that of treating all."""
        return (
            f"Net benefit {self.value:.4f} ({100 * self.level:g} %: {self.low:.4f} to "
            f"{self.high:.4f}) of treating from {self.threshold:.4g} on; treating all "
            f"{self.treat_all:.4f}, treating none 0 ({spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("value", "low", "high", "standardised", "avoided", "treat_all", "threshold")
        return listed(self, names, ("quantity", "number"))


def decision_curve(
    y_true: Any,
    y_prob: Any,
    *,
    thresholds: Any = None,
    against: Any = None,
    view: View = None,
    level: float = 0.95,
    cluster: Any = None,
    sample_weight: Any = None,
    **rows: Any,
) -> DecisionCurve:
    """Net benefit of a model at many thresholds, beside treating all and treating none.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    thresholds : array-like of shape (m,), optional
        Strictly between 0 and 1; by default .01, .02, ..., .99.
    against : array-like of the shape of `y_prob`, optional
        Another model's predictions of the same rows; their net benefit is subtracted row by row.
    view : {"top-label"} or int, optional
        Which event; needed when `y_prob` has columns.
    level : float
        Of the intervals, which hold for each threshold by itself.
    cluster : array-like of shape (n,), optional
        Which rows belong together; then only clusters are taken as independent.
    sample_weight : array-like of shape (n,), optional
        What each row counts, at least 0: a row of weight 2 is that row twice, for the values. For
        the intervals it is one row (or one cluster) that counts more.
    positive, predicted : optional
        The label that `y_prob` is about; the predicted class whose confidence it is.

    Returns
    -------
    DecisionCurve
        Net benefits with intervals; standardised, and as interventions avoided.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid, if there is no event, or if the
        view of the other model has other events.

    Notes
    -----
    ``NB(t) = TP/n - t/(1 - t) FP/n``, treating from ``p >= t`` on: a treatment in vain costs the
    odds of the threshold, in units of a right one (Vickers and Elkin, 2006). It is the Murphy curve
    L in another unit. With the prevalence ``pi = TP/n + FN/n``, `murphy_curve` counts
    ``L(t) = t FP/n + (1 - t) FN/n = (1 - t) (pi - TP/n) + t FP/n = (1 - t) (pi - NB(t))``, so
    ``NB(t) = pi - L(t) / (1 - t)``: both order models alike at every threshold.
    Net benefit is a mean over rows; intervals are Student's, with the sandwich variance of rows or
    clusters. At nominal 90 % they held the truth in 86 to 92 of 100 sets of 300 to 3,000 rows in
    200 clusters or more, common events and rare ones, at thresholds of .05 to .7 (400 sets each,
    error 1.5). Taught in lesson 13.

    Examples
    --------
    >>> curve = decision_curve([0, 0, 1, 1], [.1, .4, .3, .8], thresholds=[.2, .5])
    >>> curve.net_benefit.tolist(), curve.treat_all.tolist(), curve.avoided.tolist()
    ([0.4375, 0.25], [0.375, 0.0], [0.25, 0.25])
    """
    problem = binary_problem(y_true, y_prob, view=view, **rows)
    label, level = problem.label.astype(np.float64), as_level(level)
    weight = np.ones(problem.n) if sample_weight is None else as_weights(sample_weight, problem.n)
    groups = None if cluster is None else clusters_of(cluster, problem.n)
    levels = np.arange(1, 100) / 100 if thresholds is None else as_levels(thresholds)
    prevalence = float(np.average(label, weights=weight))
    if prevalence == 0:
        raise ValueError("y_true has no event, so no treatment can be right; pass rows with some.")
    models = [problem.prob.astype(np.float64)]
    if against is not None:
        models.append(_other(problem, binary_problem(y_true, against, view=view, **rows)))
    means = [_at(float(t), label, models, weight, groups, level) for t in levels]
    columns = dict(zip(_COLUMNS, np.array(means).T, strict=True))
    return DecisionCurve(
        threshold=levels,
        **columns,
        treat_all=prevalence - levels / (1 - levels) * (1 - prevalence),
        prevalence=prevalence,
        level=level,
        view=problem.view,
        n=problem.n,
    )


def _other(problem: BinaryProblem, second: BinaryProblem) -> FloatVector:
    """Return what the other model says of the same events."""
    if (second.label != problem.label).any():
        raise ValueError("the models have other events; pass the number of a class as view.")
    return second.prob.astype(np.float64)


_COLUMNS = ("net_benefit", "low", "high", "difference", "difference_low", "difference_high")


def _at(
    t: float,
    label: FloatVector,
    models: list[FloatVector],
    weight: FloatVector,
    groups: Clusters | None,
    level: float,
) -> tuple[float, ...]:
    """Return net benefit and difference at a threshold, each with its interval."""
    worth = label - t / (1 - t) * (1 - label)
    gain = [(prob >= t) * worth for prob in models]
    found = _mean(gain[0], weight, groups, level)
    if len(gain) == 1:
        return (*found, np.nan, np.nan, np.nan)
    return (*found, *_mean(gain[0] - gain[1], weight, groups, level, _EACH_WAY))


def _mean(
    gain: FloatVector, weight: FloatVector, groups: Clusters | None, level: float, each_way: int = 0
) -> tuple[float, float, float]:
    """Return a weighted mean over rows with its interval; sums do not depend on their order."""
    total = weight.sum()
    mean = float(np.sort(weight * gain).sum() / total)
    part = weight * (gain - mean) / total
    sides = np.stack([weight * gain > 0, weight * gain < 0, weight * gain != 0], axis=1)
    if groups is not None:
        part, sides = groups.sums(part), groups.sums(sides) > 0
    won, lost, decided = sides.sum(axis=0)
    if decided < _FEWEST or min(won, lost) < each_way:
        return mean, np.nan, np.nan
    units = len(part)
    half = special.stdtrit(units - 1, (1 + level) / 2) * np.sqrt(units / (units - 1) * part @ part)
    return mean, mean - float(half), mean + float(half)


def net_benefit(
    y_true: Any,
    y_prob: Any,
    *,
    threshold: float,
    view: View = None,
    level: float = 0.95,
    cluster: Any = None,
    sample_weight: Any = None,
    **rows: Any,
) -> NetBenefit:
    """Net benefit of treating from one threshold on: `decision_curve` at a point.

    Parameters
    ----------
    y_true, y_prob, view, level, cluster, sample_weight, positive, predicted
        As in `decision_curve`. Builds on lesson 13.
    threshold : float
        Probability from which on to treat, strictly between 0 and 1; for prices of mistakes
        `decision_threshold` gives it.

    Returns
    -------
    NetBenefit
        A number with its interval, and what treating all is worth.

    Raises
    ------
    ValueError
        As in `decision_curve`.

    Examples
    --------
    >>> benefit = net_benefit([0, 0, 1, 1], [.1, .4, .3, .8], threshold=.2)
    >>> benefit.value, benefit.standardised, benefit.avoided
    (0.4375, 0.875, 0.25)
    """
    t = [as_finite(threshold, "threshold", 0, 1)]
    rows_too: Any = {**rows, "cluster": cluster, "sample_weight": sample_weight}
    curve = decision_curve(y_true, y_prob, thresholds=t, view=view, level=level, **rows_too)
    names = ("low", "high", "standardised", "avoided", "treat_all", "threshold")
    values = {name: float(getattr(curve, name)[0]) for name in names}
    return NetBenefit(value=float(curve.net_benefit[0]), level=curve.level, n=curve.n, **values)
