"""The answers 5 and 6 in words: what it costs, and which repair."""

from dataclasses import fields

import numpy as np

from calibkit.auditing._consequences import Consequences, Paid
from calibkit.auditing.repairs import Repairs
from calibkit.auditing.report import Answer, answer_to

REPAIRED = {
    "temperature": "temperature scaling",
    "Platt": "Platt scaling",
    "beta": "beta calibration",
    "isotonic": "isotonic regression",
    "vector": "vector scaling",
    "Dirichlet": "Dirichlet scaling",
}


def costs(found: Consequences, view: str, level: float, enough: bool) -> Answer:
    """Answer question 5."""
    names = ("worst", "worst_threshold", "average", "average_low", "average_high")
    numbers = {name: getattr(found, name) for name in names}
    paid = found.paid
    if paid is None:
        verdict, light, text = "costs unknown", "unknown", _without_costs(found, view, level)
    else:
        trust = paid.trust
        numbers |= {"cost": trust.value, "promised": trust.promised, "ignoring": trust.ignoring}
        others = (field.name for field in fields(paid) if field.name != "trust")
        numbers |= {name: getattr(paid, name) for name in others}
        verdict, light, text = _with_costs(paid, level, enough)
    return answer_to("costs", verdict, light, text, numbers)


def _without_costs(found: Consequences, view: str, level: float) -> str:
    text = "No costs were given, so this is open."
    if found.repaired is None:
        return text
    mean = (
        f"{_number(found.average)} ({100 * level:g} % interval {_number(found.average_low)} to "
        f"{_number(found.average_high)})"
    )
    text += f" Say a false alarm costs t and a miss 1 - t ({view})."
    if found.average_low <= 0:
        return (
            f"{text} Repaired predictions save nothing beyond chance: on average over t {mean} "
            "per prediction."
        )
    return (
        f"{text} On average over t, trust costs {mean} more per prediction than repaired "
        f"predictions; at worst, t = {found.worst_threshold:.2f}, about {found.worst:.4f}."
    )


def _number(value: float) -> str:
    """Return four decimals, and no minus before a zero."""
    return f"{value:.4f}".replace("-0.0000", "0.0000")


def _with_costs(paid: Paid, level: float, enough: bool) -> tuple[str, str, str]:
    trust = paid.trust
    saves = paid.over_ignoring <= 0
    extra, low, high = paid.over_ignoring, paid.over_ignoring_low, paid.over_ignoring_high
    if saves:
        extra, low, high = -extra, -high, -low
    text = (
        f"Trusting costs {trust.value:.4f} per prediction; it promised {trust.promised:.4f}. "
        f"Ignoring the model costs {trust.ignoring:.4f}: trust {'saves' if saves else 'adds'} "
        f"{_number(extra)} ({100 * level:g} % interval {_number(low)} to {_number(high)})."
    )
    if not np.isnan(paid.repaired):
        text += (
            f" Repaired predictions cost {paid.repaired:.4f}: a difference of {paid.regret:.4f} "
            f"({100 * level:g} % interval {paid.regret_low:.4f} to {paid.regret_high:.4f})."
        )
    if paid.over_ignoring_low > 0:
        return "worse than ignoring", "bad", f"Yes, trust is worse than no model. {text}"
    if paid.regret_low > 0:
        return "costly", "caution", f"Yes. {text}"
    if not enough:
        return "costs unknown", "unknown", f"Too little data to say. {text}"
    return "not costly", "good", f"Not measurably. {text}"


def repair(
    found: Repairs, aligned: bool, view: str, after: float | None, *, enough: bool
) -> Answer:
    """Answer question 6."""
    table = found.table
    numbers = {"log_loss": table.before}
    place = table.chosen if table.chosen >= 0 else table.best
    if place >= 0:
        numbers |= {
            "log_loss_after": float(table.log_loss[place]),
            "gain": float(table.gain[place]),
            "gain_low": float(table.low[place]),
            "gain_high": float(table.high[place]),
        }
    if not aligned:
        verdict, light = "align first", "bad"
        text = "None: repair the labels or the columns first. A calibrator would hide the mistake."
    elif place < 0:
        verdict, light = "no repair", "unknown"
        text = " ".join(table.notes) or "No repair was tried."
    else:
        verdict, light = "no repair", "good" if enough else "unknown"
        if table.chosen >= 0:
            verdict, light = "repair", "caution"
        text = _gain(found, place, view, after)
    return answer_to("repair", verdict, light, text.strip(), numbers)


def _gain(found: Repairs, place: int, view: str, after: float | None) -> str:
    table = found.table
    name = str(table.name[place])
    words = REPAIRED.get(name, name)
    gain, low, high = table.gain[place], table.low[place], table.high[place]
    if gain < 0:
        low, high = -high, -low
    interval = (
        f"({100 * table.level:g} % interval {_number(low)} to {_number(high)}, {table.folds} folds)"
    )
    if table.chosen < 0:
        if gain < 0:
            return (
                f"None. Even the best candidate, {words}, would worsen the log loss by "
                f"{_number(-gain)} {interval}."
            )
        return (
            f"None. The best candidate, {words}, would gain {_number(gain)} in log loss "
            f"{interval}: not beyond chance."
        )
    temperature = getattr(found.calibrator, "temperature_", None)
    one = f" (T = {temperature:.2f})" if temperature is not None else ""
    text = (
        f"{words[0].upper()}{words[1:]}{one}: on held-out rows log loss falls from "
        f"{table.before:.4f} to {table.log_loss[place]:.4f}, a gain of {table.gain[place]:.4f} "
        f"{interval}."
    )
    if after is not None:
        text += f" Expected calibration error afterwards: {after:.4f} ({view})."
    return text
