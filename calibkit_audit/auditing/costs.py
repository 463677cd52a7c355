"""Question 5: what trusting costs, beside repaired predictions and no model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibkit.decisions import MurphyCurve, largest_saving, murphy_curve, policy_cost
from calibkit.decisions.costs import stakes
from calibkit.inputs import FloatVector, IntVector
from calibkit_audit.auditing.differences import change_of, cost_of_rows, threshold_of
from calibkit_audit.auditing.evidence import Measurements
from calibkit_audit.auditing.pages import Answer, in_digits, interval_in_words
from calibkit_audit.auditing.redraws import TOP
from calibkit_audit.auditing.rows import AuditRows, probability_of
from calibkit_audit.auditing.settings import AuditSettings
from calibkit_audit.dependent_rows import DependentRows
from calibkit_audit.saving import four_digits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Consequences:
    """Costs of trusting the predictions.

    Parameters
    ----------
    numbers : mapping from str to float
        At given costs what trust costs, had ``promised``, and how much that is above repaired
        predictions (``regret``) and the best single action (``over_ignoring``). Intervals end at
        ``_low`` and ``_high``. Where it is beyond chance, the `largest_saving` (``saving``) and
        how and where it is had.
    curve, repaired : MurphyCurve, and MurphyCurve or None
        Trust for all ratios of costs, in the first view, as it is and with repaired predictions.
    costs : ndarray of shape (A, K) or None
        The table of costs that were given.
    """

    numbers: Mapping[str, float]
    curve: MurphyCurve
    repaired: MurphyCurve | None
    costs: FloatVector | None


def consequences_of(
    rows: AuditRows,
    repaired: FloatVector | None,
    view: int,
    costs: FloatVector | None,
    settings: AuditSettings,
    seed: int | None,
) -> Consequences:
    """Compute what trusting costs at the given costs and over all ratios of costs.

    What another cut-off could save is compared with redraws, if there is a seed for them.
    """
    event, before = _event(rows, rows.prob, view)
    curve, after = murphy_curve(event, before, sample_weight=rows.weight), None
    if repaired is not None:
        fixed = np.clip(_event(rows, repaired, view)[1], 0, 1)
        after = murphy_curve(event, fixed, sample_weight=rows.weight)
    numbers = {} if costs is None else _paid(rows, repaired, costs, settings.level)
    if seed is not None:
        model = DependentRows(label=event, prob=before, clusters=rows.clusters, weight=rows.weight)
        draws = int(np.ceil(2 / settings.alpha)) - 1
        null = model.null_level(largest_saving, n_draws=draws, rng=seed)
        numbers |= {"saving_p_value": null.p_value}
        if null.p_value <= settings.alpha:
            saving = largest_saving(event, before, sample_weight=rows.weight)
            numbers |= {"saving": saving.value, "saving_by_chance": null.high}
            numbers |= {"saving_threshold": saving.threshold, "saving_cutoff": saving.cutoff}
    return Consequences(numbers=numbers, curve=curve, repaired=after, costs=costs)


def _event(rows: AuditRows, prob: FloatVector, view: int) -> tuple[IntVector, FloatVector]:
    """Return the event of a view, and what these predictions say of it."""
    # After a repair another class may lead; the event stays that of the predictions as given.
    if view == TOP and not rows.top:
        column = rows.table.argmax(axis=1)
    else:  # that an answer was right stands in column 1
        column = np.full(rows.n, 1 if rows.top else view)
    return (rows.label == column).astype(np.int64), probability_of(column, prob)


def _paid(
    rows: AuditRows, repaired: FloatVector | None, costs: FloatVector, level: float
) -> dict[str, float]:
    """Return what trust costs at the given costs, beside repaired predictions and no model."""
    trust = policy_cost(rows.label, rows.prob, costs=costs, sample_weight=rows.weight)
    own = fixed = cost_of_rows(rows.label, rows.prob, costs)
    numbers = {"cost": trust.value, "promised": trust.promised, "ignoring": trust.ignoring}
    numbers["repaired"] = float("nan")
    if repaired is not None:
        fixed = cost_of_rows(rows.label, repaired, costs)
        numbers["repaired"] = float(rows.weigh(fixed).mean())
    said = np.average(rows.table, axis=0, weights=rows.weight)
    numbers["promised_saving"] = float((costs @ said).min()) - trust.promised
    count = np.bincount(rows.label, rows.weight, rows.n_classes)
    ignoring = costs[int((costs @ count).argmin())][rows.label]
    numbers["threshold"] = threshold_of(costs)
    if 0 < numbers["threshold"] < 1:  # what is saved against waiting, in right treatments
        (waiting, acting), unit = costs[:, rows.label], stakes(costs)[0]
        paid = {"net_benefit": own, "net_benefit_repaired": fixed, "net_benefit_of_all": acting}
        for name, cost in paid.items():
            numbers[name] = float(rows.weigh(waiting - cost).mean()) / unit
    stake = float(np.ptp(costs, axis=0).max())
    for name, other in {"regret": fixed, "over_ignoring": ignoring}.items():
        ends = change_of(rows, "cost", (other, own), level, stake)[2:5]
        numbers |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
    return numbers


def costs_answer(found: Consequences, measured: Measurements) -> Answer:
    """Answer question 5: whether it matters for the costs."""
    level, numbers = measured.settings.level, dict(found.numbers)
    if found.costs is None:
        text = f"No costs were given, so this is open.{_at_any_costs(numbers)}"
        return Answer("costs", "costs unknown", "unknown", text, numbers)
    if numbers["over_ignoring_low"] > 0:
        verdict, light, said = "worse than ignoring", "bad", "Yes, trust is worse than no model."
    elif numbers["regret_low"] > 0:
        verdict, light = "costly", "caution"
        said = "Yes, trust costs more than a repair; more than no model is not shown."
    elif not measured.power.enough or np.isnan(numbers["regret_low"]):
        verdict, light, said = "costs unknown", "unknown", "Too little data to say."
    elif np.isnan(numbers["repaired"]):
        verdict, light, said = "costs unknown", "unknown", "Open: no repair was tried."
    else:
        verdict, light, said = "not costly", "good", "Not measurably."
    text = f"{said} {_paid_in_words(numbers, level)}"
    if 0 < numbers["threshold"] < 1 and measured.first.view == 1:
        text += f" {_net_benefit(numbers)}"
    return Answer("costs", verdict, light, text + _at_any_costs(numbers), numbers)


def _net_benefit(numbers: Mapping[str, float]) -> str:
    """Say the cost in the unit of a right treatment."""
    names = {"as it is": "", "repaired": "_repaired", "treat all": "_of_all"}
    if np.isnan(numbers["repaired"]):
        del names["repaired"]
    said = [f"{word} {four_digits(numbers[f'net_benefit{of}'])}" for word, of in names.items()]
    return (
        "Net benefit (right treatments per prediction, net of those in vain) from "
        f"{numbers['threshold']:.4g} on: {', '.join(said)}, treat none 0."
    )


def _at_any_costs(numbers: Mapping[str, float]) -> str:
    """Say what another cut-off could save at the costs where it saves most."""
    if "saving_p_value" not in numbers:  # nothing speaks against the predictions: not asked
        return ""
    if "saving" not in numbers:
        return " Whatever the prices are, what another cut-off could save is not beyond chance."
    cutoff, price = numbers["saving_cutoff"], numbers["saving_threshold"]
    act = {0: "in every case", np.inf: "never"}.get(cutoff, f"from {in_digits(cutoff)} on")
    asked = f"they ask to act {'only above' if cutoff <= price else 'from'} {in_digits(price)}"
    free = {0.0: "a false alarm costs next to nothing", 1.0: "a miss costs next to nothing"}
    return (
        " Whatever the prices are (scaled to sum to 1), another cut-off could have saved at most "
        f"{numbers['saving']:.4f} per prediction: where {free.get(round(price, 6), asked)}, "
        f"act {act}. Chance alone stays below {numbers['saving_by_chance']:.4f} in 95 of 100."
    )


def _paid_in_words(numbers: Mapping[str, float], level: float) -> str:
    """Say what trust, no model and repaired predictions cost."""
    extra, low, high = (numbers[f"over_ignoring{end}"] for end in ("", "_low", "_high"))
    way = "adds"
    if extra <= 0:
        way, extra, low, high = "saves", -extra, -high, -low
    text = (
        f"Trusting costs {numbers['cost']:.4f} per prediction, ignoring the model "
        f"{numbers['ignoring']:.4f}: trust {way} {four_digits(extra)} "
        f"({interval_in_words(level, low, high)}). By its own probabilities trust would save "
        f"{four_digits(numbers['promised_saving'])}."
    )
    if np.isnan(numbers["repaired"]):
        return text
    ends = interval_in_words(level, numbers["regret_low"], numbers["regret_high"])
    return (
        f"{text} Repaired predictions cost {numbers['repaired']:.4f}: a difference of "
        f"{four_digits(numbers['regret'])} ({ends})."
    )
