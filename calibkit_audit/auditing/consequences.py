"""Does it matter for the costs? What trusting costs, beside repaired predictions and no model."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibkit.chance.clusters import mean_interval
from calibkit.decisions import (
    MurphyCurve,
    PolicyCost,
    best_actions,
    decision_threshold,
    murphy_curve,
    policy_cost,
)
from calibkit.inputs import FloatVector, IntVector
from calibkit_audit.auditing.redraws import TOP
from calibkit_audit.auditing.rows import Rows, given_to

_GRID = np.linspace(0.005, 0.995, 199)


class Estimate(NamedTuple):
    """A difference in cost per prediction, with its interval."""

    value: float
    low: float
    high: float

    def numbers(self, name: str) -> dict[str, float]:
        """Return value and interval under names for the report."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paid:
    """What trusting costs at the costs that were given."""

    trust: PolicyCost
    repaired: float  # mean cost with repaired predictions, held out; NaN without a repair
    regret: Estimate  # what trust costs more than the repaired predictions
    over_ignoring: Estimate  # what it costs more than the best single action for all
    threshold: float  # where the best action changes; NaN unless two actions meet two classes
    costs: FloatVector  # the table of the given costs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Consequences:
    """Costs of trusting the predictions."""

    paid: Paid | None  # at the given costs
    curve: MurphyCurve  # trust, for all ratios of costs, in the first view
    repaired: MurphyCurve | None  # the same for the repaired predictions
    worst: float  # largest loss over all ratios of costs that sum to 1, and its threshold
    worst_threshold: float
    average: Estimate  # mean loss over all thresholds

    @property
    def prices(self) -> FloatVector | None:
        """The costs that were given, if there is one threshold to be drawn."""
        return None if self.paid is None else prices_with_threshold(self.paid.costs)


def prices_with_threshold(costs: FloatVector | None) -> FloatVector | None:
    """Return costs if there is one threshold to be drawn: two classes, and two sensible actions."""
    return None if costs is None or np.isnan(_threshold(costs)) else costs


def _threshold(costs: FloatVector) -> float:
    try:
        return decision_threshold(costs)
    except ValueError:  # more actions or classes, or one action is always the better one
        return float("nan")


def consequences_of(
    rows: Rows, repaired: FloatVector | None, view: int, *, costs: FloatVector | None, level: float
) -> Consequences:
    """Compute what trusting costs at the given costs and over all ratios of costs."""
    event, before = _event(rows, rows.prob, view)
    curve, after = murphy_curve(event, before, sample_weight=rows.weight), None
    worst, worst_at, average = 0.0, float("nan"), Estimate(0.0, 0.0, 0.0)
    if repaired is not None:
        after_prob = np.clip(_event(rows, repaired, view)[1], 0, 1)
        after = murphy_curve(event, after_prob, sample_weight=rows.weight)
        loss = curve.cost(_GRID) - after.cost(_GRID)
        worst, worst_at = float(loss.max()), float(_GRID[loss.argmax()])
        # Mean cost over all thresholds is half a Brier score per row.
        gain = rows.weighed(((event - before) ** 2 - (event - after_prob) ** 2) / 2)
        ends = mean_interval(gain[np.newaxis], level, rows.clusters)
        average = Estimate(float(gain.mean()), *np.concatenate(ends).tolist())
    return Consequences(
        paid=None if costs is None else _paid(rows, repaired, costs, level),
        curve=curve,
        repaired=after,
        worst=worst,
        worst_threshold=worst_at,
        average=average,
    )


def _event(rows: Rows, prob: FloatVector, view: int) -> tuple[IntVector, FloatVector]:
    """Return the event of a view, and what these predictions say of it."""
    # After a repair another class may lead; the event stays that of the predictions as given.
    if view == TOP and not rows.top:
        column = rows.table.argmax(axis=1)
    else:  # that an answer was right stands in column 1
        column = np.full(rows.n, 1 if rows.top else view)
    return (rows.label == column).astype(np.int64), given_to(column, prob)


def _paid(rows: Rows, repaired: FloatVector | None, costs: FloatVector, level: float) -> Paid:
    own = costs[best_actions(rows.prob, costs=costs), rows.label]
    count = np.bincount(rows.label, rows.weight, rows.n_classes)
    ignoring = costs[int((costs @ count).argmin())][rows.label]
    fixed = own
    if repaired is not None:
        fixed = costs[best_actions(repaired, costs=costs), rows.label]
    differences = rows.weighed(np.stack([own - fixed, own - ignoring]))
    ends = mean_interval(differences, level, rows.clusters)
    regret, over_ignoring = map(Estimate, *map(np.ndarray.tolist, (differences.mean(1), *ends)))
    return Paid(
        trust=policy_cost(rows.label, rows.prob, costs=costs, sample_weight=rows.weight),
        repaired=float("nan") if repaired is None else float(rows.weighed(fixed).mean()),
        regret=regret,
        over_ignoring=over_ignoring,
        threshold=_threshold(costs),
        costs=costs,
    )
