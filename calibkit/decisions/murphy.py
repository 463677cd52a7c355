"""The cost of trusting a model for every ratio of costs at once, and its net benefit.

Both are one curve in two units: the Murphy curve and the decision curve.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatVector, View, as_array, binary_problem
from calibkit.results import Result, spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MurphyCurve(Result):
    """Mean cost of acting from the threshold on, for every threshold: exact, in straight pieces.

    Parameters
    ----------
    threshold : ndarray of shape (m + 2,)
        0, the m distinct predictions inside (0, 1), and 1: the ends of the pieces.
    in_vain, missed : ndarray of shape (m + 1,)
        On each piece ``(left, right]`` the shares acted on in vain, and not acted on though it
        happened.
    base_rate, view, n : float, str, int; base rate: how often the event happened
    """

    threshold: FloatVector
    in_vain: FloatVector
    missed: FloatVector
    base_rate: float
    view: str
    n: int

    def _rates(self, t: Any) -> tuple[FloatVector, FloatVector, FloatVector]:
        """Return the thresholds, and what is acted on in vain and missed there."""
        level = as_array(np.atleast_1d(t), "threshold").astype(np.float64)
        bad = np.flatnonzero(~((level >= 0) & (level <= 1)))
        if len(bad):
            raise ValueError(
                f"threshold[{bad[0]}] = {float(level.flat[bad[0]])!r} must lie in [0, 1]; for "
                "costs C of acting in vain and M of missing it is C / (C + M)."
            )
        piece = np.searchsorted(self.threshold[1:], level, side="left")
        # The threshold 0 belongs to no piece: there everything is acted on.
        in_vain = np.where(level == 0, 1 - self.base_rate, self.in_vain[piece])
        missed = np.where(level == 0, 0.0, self.missed[piece])
        return level, in_vain, missed

    def cost(self, threshold: Any) -> FloatVector:
        """Return the mean cost at these thresholds; acting in vain and missing sum to 1."""
        level, in_vain, missed = self._rates(threshold)
        return np.asarray(level * in_vain + (1 - level) * missed)

    def ignoring(self, threshold: Any) -> FloatVector:
        """Return the mean cost of the better of acting always and never."""
        level, _, _ = self._rates(threshold)
        return np.asarray(np.minimum(level * (1 - self.base_rate), (1 - level) * self.base_rate))

    def net_benefit(self, thresholds: Any = None) -> "DecisionCurve":
        """Return the same costs as net benefit of treating: see `decision_curve`."""
        level = as_levels(thresholds)
        _, in_vain, missed = self._rates(level)
        odds, rate = level / (1 - level), self.base_rate
        return DecisionCurve(
            threshold=level,
            net_benefit=(rate - missed) - odds * in_vain,
            treat_all=rate - odds * (1 - rate),
            prevalence=rate,
            view=self.view,
            n=self.n,
        )

    @property
    def area(self) -> float:
        """Area under the curve: half the binary Brier score, exactly."""
        left, right = self.threshold[:-1], self.threshold[1:]
        middle = (left + right) / 2
        return float(((right - left) * (middle * self.in_vain + (1 - middle) * self.missed)).sum())

    def worse_than_ignoring(self) -> FloatVector:
        """Return the ranges of thresholds, (m, 2), where the model costs more than ignoring it."""
        cuts = np.unique(np.concatenate([self.threshold, self._crossings()]))
        middle = (cuts[:-1] + cuts[1:]) / 2
        worse = self.cost(middle) > self.ignoring(middle) + 1e-12
        turns = np.flatnonzero(np.diff(np.concatenate([[0], worse, [0]])))
        return np.asarray(cuts[turns].reshape(-1, 2))

    def _crossings(self) -> FloatVector:
        left, right = self.threshold[:-1], self.threshold[1:]
        found = [np.array([self.base_rate])]
        for in_vain, missed in ((1 - self.base_rate, 0.0), (0.0, self.base_rate)):
            # t a + (1 - t) b = 0 with the differences a of the false alarms and b of the misses.
            a, b = self.in_vain - in_vain, self.missed - missed
            at = np.divide(b, b - a, out=np.full(len(a), np.nan), where=b != a)
            found.append(at[(at > left) & (at < right)])
        return np.concatenate(found)

    def line(self) -> tuple[FloatVector, FloatVector]:
        """Return x and y for drawing: both ends of each piece, with its jumps upright."""
        left, right = self.threshold[:-1], self.threshold[1:]
        ends = np.stack([left, right], axis=1)
        costs = ends * self.in_vain[:, None] + (1 - ends) * self.missed[:, None]
        return ends.ravel(), costs.ravel()

    def describe(self) -> str:
        """Say the area and where the model is worse than no model."""
        ranges = self.worse_than_ignoring()
        spots = ", ".join(f"{low:.4g} to {high:.4g}" for low, high in ranges[:3])
        more = f" and {len(ranges) - 3} more" if len(ranges) > 3 else ""
        where = "nowhere worse than ignoring the model"
        if spots:
            where = f"worse than ignoring the model for thresholds {spots}{more}"
        return (
            f"Murphy curve: area {self.area:.4f} (half the Brier score), {where} "
            f"({self.view}, {spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            "above threshold": self.threshold[:-1],
            "up to": self.threshold[1:],
            "acted in vain": self.in_vain,
            "missed": self.missed,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DecisionCurve(Result):
    """Net benefit of treating from each threshold on.

    Parameters
    ----------
    threshold : ndarray of shape (m,)
        Probabilities from which on to treat.
    net_benefit, treat_all : ndarray of shape (m,)
        Of the model, and of treating everybody; treating nobody is worth 0. The unit is a right
        treatment per prediction.
    prevalence, view, n : float, str, int
        Share of events, the event, number of predictions.
    """

    threshold: FloatVector
    net_benefit: FloatVector
    treat_all: FloatVector
    prevalence: float
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
        odds = (1 - self.threshold) / np.where(self.threshold > 0, self.threshold, 1)
        return np.asarray((self.net_benefit - self.treat_all) * odds)

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
        names = ("threshold", "net_benefit", "treat_all", "standardised", "avoided")
        return {name.replace("_", " "): getattr(self, name) for name in names}


def murphy_curve(
    y_true: Any, y_prob: Any, *, view: View = None, positive: Any = None, sample_weight: Any = None
) -> MurphyCurve:
    """Mean cost of trusting the predictions, for all ratios of costs at once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"} or int, optional
        Which event; needed when `y_prob` has columns.
    positive : object, optional
        The label that `y_prob` is about, where labels are not 0 and 1.
    sample_weight : array-like of shape (n,), optional
        What each row counts, at least 0: a row of weight 2 is that row twice.

    Returns
    -------
    MurphyCurve
        The exact pieces; `cost`, `ignoring` and `area` are read off them.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Notes
    -----
    ``L(t) = t (1/n) #{p_i >= t, y_i = 0} + (1 - t) (1/n) #{p_i < t, y_i = 1}``: acting in vain
    costs t, missing 1 - t, and t is the best threshold for these costs. L is linear between
    predictions, so n predictions fix it after one sort. Its integral is half the Brier score;
    ``L(t) / (t (1 - t))`` integrates to the log loss (Ehm, Gneiting, Jordan and Krueger, 2016). For
    costs (C, M) of a false positive and a false negative, ``(C + M) L(C / (C + M))`` is the bill of
    `policy_cost`; ``plot.murphy(curve, costs=(C, M))`` draws it in this unit. Lesson 13.

    Examples
    --------
    >>> curve = murphy_curve([0, 0, 1, 1], [.1, .4, .3, .8])
    >>> curve.cost([0.2, 0.35]).round(4).tolist(), round(curve.area, 4)
    ([0.05, 0.25], 0.0875)
    """
    how = {"positive": positive, "sample_weight": sample_weight}
    problem = binary_problem(y_true, y_prob, view=view, **how)
    prob, label = problem.prob.astype(np.float64), problem.label.astype(np.int64)
    order, weight = np.argsort(prob, kind="stable"), problem.weight
    each: Any = np.ones_like(label) if weight is None else weight[order]
    ordered, columns = prob[order], np.stack([each, each * label[order]])
    rows, events = np.pad(columns.cumsum(axis=1), ((0, 0), (1, 0)))
    inside = ordered[(ordered > 0) & (ordered < 1)]
    ends = np.concatenate([[0.0], np.unique(inside), [1.0]])
    # On (left, right] those below `right` wait.
    waiting = np.searchsorted(ordered, ends[1:], side="left")
    missed = events[waiting]
    in_vain = (rows[-1] - rows[waiting]) - (events[-1] - missed)
    return MurphyCurve(
        threshold=ends,
        in_vain=in_vain / rows[-1],
        missed=missed / rows[-1],
        base_rate=float(events[-1] / rows[-1]),
        view=problem.view,
        n=problem.n,
    )


def decision_curve(
    y_true: Any, y_prob: Any, *, thresholds: Any = None, view: View = None, positive: Any = None
) -> DecisionCurve:
    """Net benefit of a model at many thresholds, beside treating all and treating none.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    thresholds : array-like of shape (m,), optional
        From 0 on and below 1; by default .01, .02, ..., .99.
    view : {"top-label"} or int, optional
        Which event; needed when `y_prob` has columns.
    positive : object, optional
        The label that `y_prob` is about, where labels are not 0 and 1.

    Returns
    -------
    DecisionCurve
        Net benefits; standardised, and as interventions avoided.

    Raises
    ------
    ValueError
        If labels, probabilities, view or thresholds are not valid, or if there is no event.

    Notes
    -----
    ``NB(t) = TP/n - t/(1 - t) FP/n``, treating from ``p >= t`` on: a treatment in vain costs the
    odds of the threshold, in units of a right one (Vickers and Elkin, 2006). It is the Murphy curve
    L in another unit. With the prevalence ``pi = TP/n + FN/n``, `murphy_curve` counts
    ``L(t) = t FP/n + (1 - t) FN/n = (1 - t) (pi - TP/n) + t FP/n = (1 - t) (pi - NB(t))``, so
    ``NB(t) = pi - L(t) / (1 - t)``: both order models alike at every threshold. Lesson 13.

    Examples
    --------
    >>> curve = decision_curve([0, 0, 1, 1], [.1, .4, .3, .8], thresholds=[.2, .5])
    >>> curve.net_benefit.tolist(), curve.treat_all.tolist(), curve.avoided.tolist()
    ([0.4375, 0.25], [0.375, 0.0], [0.25, 0.25])
    """
    curve = murphy_curve(y_true, y_prob, view=view, positive=positive)
    if curve.base_rate == 0:
        raise ValueError("y_true has no event, so no treatment can be right; pass rows with some.")
    return curve.net_benefit(thresholds)


def as_levels(thresholds: Any) -> FloatVector:
    """Check thresholds: numbers from 0 on and below 1, in one row; by default .01, ..., .99."""
    if thresholds is None:
        return np.arange(1, 100) / 100
    levels = as_array(np.atleast_1d(thresholds), "thresholds").astype(np.float64)
    bad = np.flatnonzero(~((levels >= 0) & (levels < 1)))
    if levels.ndim != 1 or len(bad):
        shown = f"shape {levels.shape}"
        if len(bad):
            shown = f"thresholds[{bad[0]}] = {float(levels.flat[bad[0]])!r}"
        raise ValueError(f"thresholds must be numbers from 0 on and below 1, in one row ({shown}).")
    return levels
