"""Question 5: what trusting costs, beside repaired predictions and no model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from calibkit.decisions import (
    MurphyCurve,
    PolicyCost,
    best_actions,
    decision_threshold,
    murphy_curve,
    policy_cost,
)
from calibkit.inputs import FloatVector, IntVector
from calibkit_audit.auditing.evidence import Summary
from calibkit_audit.auditing.pages import Answer, Listing, four_digits, interval_in_words
from calibkit_audit.auditing.redraws import TOP
from calibkit_audit.auditing.rows import AuditRows, probability_of
from calibkit_audit.benefit import net_benefit
from calibkit_audit.clusters import mean_interval

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
    rows: AuditRows,
    repaired: FloatVector | None,
    view: int,
    costs: FloatVector | None,
    level: float,
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
        gain = rows.weigh(((event - before) ** 2 - (event - after_prob) ** 2) / 2)
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


def _event(rows: AuditRows, prob: FloatVector, view: int) -> tuple[IntVector, FloatVector]:
    """Return the event of a view, and what these predictions say of it."""
    # After a repair another class may lead; the event stays that of the predictions as given.
    if view == TOP and not rows.top:
        column = rows.table.argmax(axis=1)
    else:  # that an answer was right stands in column 1
        column = np.full(rows.n, 1 if rows.top else view)
    return (rows.label == column).astype(np.int64), probability_of(column, prob)


def _paid(rows: AuditRows, repaired: FloatVector | None, costs: FloatVector, level: float) -> Paid:
    own = costs[best_actions(rows.prob, costs=costs), rows.label]
    count = np.bincount(rows.label, rows.weight, rows.n_classes)
    ignoring = costs[int((costs @ count).argmin())][rows.label]
    fixed = own
    if repaired is not None:
        fixed = costs[best_actions(repaired, costs=costs), rows.label]
    differences = rows.weigh(np.stack([own - fixed, own - ignoring]))
    ends = mean_interval(differences, level, rows.clusters)
    regret, over_ignoring = map(Estimate, *map(np.ndarray.tolist, (differences.mean(1), *ends)))
    return Paid(
        trust=policy_cost(rows.label, rows.prob, costs=costs, sample_weight=rows.weight),
        repaired=float("nan") if repaired is None else float(rows.weigh(fixed).mean()),
        regret=regret,
        over_ignoring=over_ignoring,
        threshold=_threshold(costs),
        costs=costs,
    )


def costs_answer(found: Consequences, summary: Summary, benefit: Listing | None) -> Answer:
    """Answer question 5: whether it matters for the costs."""
    level = summary.settings.level
    numbers = {"worst": found.worst, "worst_threshold": found.worst_threshold}
    numbers |= found.average.numbers("average")
    paid = found.paid
    if paid is None:
        text = "No costs were given, so this is open."
        if found.repaired is not None:
            wrong, missed = "a false alarm", "a miss"
            if summary.first.view == TOP:
                wrong, missed = "trust in a wrong answer", "mistrust in a right one"
            text += f" Say {wrong} costs t and {missed} 1 - t ({summary.words})."
            text += f" {_over_t(found, level)}"
        return Answer("costs", "costs unknown", "unknown", text, numbers)
    trust = paid.trust
    numbers |= {"cost": trust.value, "promised": trust.promised, "ignoring": trust.ignoring}
    numbers |= {"repaired": paid.repaired} | paid.regret.numbers("regret")
    numbers |= paid.over_ignoring.numbers("over_ignoring") | {"threshold": paid.threshold}
    text = _paid_in_words(paid, level)
    if paid.over_ignoring.low > 0:
        verdict, light = "worse than ignoring", "bad"
        text = f"Yes, trust is worse than no model. {text}"
    elif paid.regret.low > 0:
        verdict, light, text = "costly", "caution", f"Yes. {text}"
    elif not summary.power.enough:
        verdict, light, text = "costs unknown", "unknown", f"Too little data to say. {text}"
    else:
        verdict, light, text = "not costly", "good", f"Not measurably. {text}"
    if benefit is not None:
        numbers["net_benefit"] = float(benefit.columns["net benefit"][0])
        text += f" Net benefit: {benefit.describe()}"
    return Answer("costs", verdict, light, text, numbers)


def _over_t(found: Consequences, level: float) -> str:
    """Say what trust costs on average over all ratios of costs."""
    mean, low, high = found.average
    about = f"{four_digits(mean)} ({interval_in_words(level, low, high)})"
    if low <= 0:
        much = "save nothing beyond chance" if high >= 0 else "cost more, not less"
        return f"Repaired predictions {much}: on average over t {about} per prediction."
    return (
        f"On average over t, trust costs {about} more per prediction than repaired predictions; "
        f"at worst, t = {found.worst_threshold:.2f}, about {found.worst:.4f}."
    )


def _paid_in_words(paid: Paid, level: float) -> str:
    """Say what trust, no model and repaired predictions cost."""
    trust, (extra, low, high) = paid.trust, paid.over_ignoring
    way = "adds"
    if extra <= 0:
        way, extra, low, high = "saves", -extra, -high, -low
    text = (
        f"Trusting costs {trust.value:.4f} per prediction; it promised {trust.promised:.4f}. "
        f"Ignoring the model costs {trust.ignoring:.4f}: trust {way} {four_digits(extra)} "
        f"({interval_in_words(level, low, high)})."
    )
    if np.isnan(paid.repaired):
        return text
    regret, low, high = paid.regret
    return (
        f"{text} Repaired predictions cost {paid.repaired:.4f}: a difference of {regret:.4f} "
        f"({interval_in_words(level, low, high)})."
    )


def net_benefits(
    rows: AuditRows, probs: Mapping[str, FloatVector], costs: FloatVector | None, level: float
) -> Listing | None:
    """Return net benefits of P(y = 1) where the prices put the threshold; without odds None."""
    label = rows.label
    if costs is None or prices_with_threshold(costs) is None or label.min() == label.max():
        return None
    t, (first, *_) = decision_threshold(costs), probs
    if t in (0, 1):  # one mistake is free
        return None
    values, said = [], []
    how: dict[str, Any] = {"threshold": t, "level": level, "clusters": rows.clusters}
    for name, prob in probs.items():
        found = net_benefit(label, prob, probs[first], weight=rows.weight, **how)
        values.append((name, *found[:-1]))
        interval = interval_in_words(level, found.low, found.high)
        said.append(f"{name} {found.value:.4f} ({interval})")
    text = f"right treatments per prediction, net of those in vain, from {t:.4g} on: "
    text += f"{'; '.join(said)}; treat all {found.treat_all:.4f}, treat none 0."
    heads = ("model", "net benefit", "low", "high", f"above {first}", "above low", "above high")
    return Listing.of(text, (*heads, "treatments avoided"), values)


def net_benefits_of(
    rows: AuditRows, repaired: FloatVector | None, costs: FloatVector | None, level: float
) -> Listing | None:
    """Return the net benefits at the given prices, with and without the best repair."""
    probs = {"as it is": rows.table[:, 1].astype(np.float64)}
    if repaired is not None:
        probs["repaired (held out)"] = probability_of(np.ones(rows.n, dtype=np.intp), repaired)
    return net_benefits(rows, probs, costs, level)
