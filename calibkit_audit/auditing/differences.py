"""What a row adds to each measure of a model, and the interval of a difference of two models."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from calibkit.decisions import best_actions, decision_threshold
from calibkit.inputs import BinaryProblem, FloatVector, IntVector, View, binary_problems
from calibkit.scores import corp_decomposition
from calibkit_audit.auditing.rows import AuditRows, losses, probability_of
from calibkit_audit.clusters import moments, student

FEWEST = 10  # rows (or clusters) that decide, events, and other rows, below which: no interval
MORE = 5  # rows at the highest price, not yet paid, that may not turn a difference of costs
NONE = (float("nan"), float("nan"))  # no interval
Ends = tuple[float, float]
Each = Mapping[str, Mapping[str, FloatVector]]  # what rows add, by model and measure
SCORES = ("cost", "log loss", "Brier score")  # means over rows: exact also in a stream


def cost_of_rows(label: IntVector, prob: FloatVector, costs: FloatVector) -> FloatVector:
    """Return what each row costs where the best action for its prediction is taken."""
    return np.asarray(costs[best_actions(prob, costs=costs), label])


def prices_with_threshold(costs: FloatVector | None) -> FloatVector | None:
    """Return costs if there is one threshold to be drawn: two classes, and two sensible actions."""
    return None if costs is None or np.isnan(threshold_of(costs)) else costs


def threshold_of(costs: FloatVector) -> float:
    """Return from which probability on one acts; NaN if there is no such threshold."""
    try:
        return decision_threshold(costs)
    except ValueError:  # more actions or classes, or one action is always the better one
        return float("nan")


def row_scores(
    label: IntVector, prob: FloatVector, costs: FloatVector | None
) -> dict[str, FloatVector]:
    """Return what each row adds to cost, log loss and Brier score."""
    own = probability_of(label, prob)
    brier = (1 - own) ** 2
    if prob.ndim == 2:
        brier = np.einsum("ik,ik->i", prob, prob) - own**2 + brier
    cost = {} if costs is None else {"cost": cost_of_rows(label, prob, costs)}
    return cost | {"log loss": losses(own), "Brier score": brier}


def row_measures(
    rows: AuditRows, prob: FloatVector, costs: FloatVector | None, view: View
) -> dict[str, FloatVector]:
    """Return what each row adds to the scores, and the CORP parts of the Brier score.

    The curve and the frequency are minimisers of what they are subtracted from: to first order
    their own error does not matter, and sums over rows behave as those of fixed functions.
    """
    problems = binary_problems(rows.label, prob, view=view, sample_weight=rows.weight)
    lost, won = (np.sum(one, axis=0) for one in zip(*map(_corp_parts, problems), strict=True))
    more = {"miscalibration": lost, "discrimination": won}
    return row_scores(rows.label, prob, costs) | more


def _corp_parts(problem: BinaryProblem) -> tuple[FloatVector, FloatVector]:
    prob, happened = problem.prob.astype(np.float64), problem.label.astype(np.float64)
    weight = problem.weight
    curve = corp_decomposition(problem.label, prob, sample_weight=weight).recalibrate(prob)
    best, base = (curve - happened) ** 2, np.average(happened, weights=weight)
    return (prob - happened) ** 2 - best, (base - happened) ** 2 - best


class Change(NamedTuple):
    """A measure of the first model and of another one, and what differs."""

    first: float
    value: float
    difference: float  # value minus first; NaN where both are infinite
    low: float
    high: float
    verdict: str  # "better", "worse", "equal" or "not separated"
    joint: bool = True  # whether that holds where all measures and models are judged together


Changes = Mapping[tuple[str, str], Change]  # by model and measure


def judge_change(measure: str, first: float, value: float, ends: tuple[float, float]) -> Change:
    """Judge a difference by its interval; an infinite one judges itself."""
    apart = float("nan") if np.isinf(first) and np.isinf(value) else value - first
    low, high = (apart, apart) if np.isinf(apart) else ends
    sign, verdict = 1 if measure == "discrimination" else -1, "not separated"
    least, most = sorted((sign * low, sign * high))
    if apart == low == high == 0:
        verdict = "equal"
    elif least > 0:
        verdict = "better"
    elif most < 0:
        verdict = "worse"
    return Change(first, value, apart, *ends, verdict)


def change_of(
    rows: AuditRows,
    measure: str,
    values: tuple[FloatVector, FloatVector],
    level: float,
    stake: float = 0.0,
) -> Change:
    """Judge how the mean of other (n,) values differs from the first's, by Student's interval.

    Nothing is concluded from a handful of rows, nor from an infinite difference; and no cost is
    told apart where five more rows at the highest price, the `stake`, could turn it.
    """
    clusters, ends = rows.clusters, NONE
    with np.errstate(invalid="ignore"):  # infinite minus infinite: no interval
        apart = values[1] - values[0]
        moved = int(np.count_nonzero(clusters.sums(apart) if clusters else apart))
        (mean,), ((variance,),), df = moments(rows.weigh(apart)[np.newaxis], clusters)
    count = np.bincount(rows.label, minlength=rows.n_classes)
    rare = int(count.min() if len(count) == 2 else count.sum() - count.max())
    if np.isfinite(mean) and (min(rare, moved) >= FEWEST or not moved):
        half = float(student(variance, df, level))
        if measure != "cost" or abs(mean) <= half or abs(mean) * rows.n > MORE * stake:
            ends = float(mean) - half, float(mean) + half
    first, value = (float(rows.weigh(one).mean()) for one in values)
    return judge_change(measure, first, value, ends)
