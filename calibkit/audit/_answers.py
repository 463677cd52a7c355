"""The six answers in words."""

import numpy as np

from calibkit._result import spell
from calibkit.audit._alignment import Alignment
from calibkit.audit._consequences import Consequences, Paid
from calibkit.audit._evidence import Evidence
from calibkit.audit._rows import Rows
from calibkit.audit.repairs import Repairs
from calibkit.audit.report import Answer
from calibkit.audit.settings import AuditSettings

CAUSES = {
    "shuffled": "The labels look shuffled, or belong to other rows or another file.",
    "inverted": "The probabilities look inverted: 1 - p fits the labels.",
    "swapped": "Columns look swapped.",
    "off by one class": "The labels look off by one class.",
    "rows shifted": "The labels fit the neighbouring row: the rows look shifted by one.",
}
REPAIRED = {
    "temperature": "temperature scaling",
    "Platt": "Platt scaling",
    "beta": "beta calibration",
    "isotonic": "isotonic regression",
    "vector": "vector scaling",
    "Dirichlet": "Dirichlet scaling",
}


def alignment(found: Alignment, rows: Rows) -> Answer:
    """Answer question 1."""
    measured = (
        f"Accuracy {found.accuracy:.3f}; always naming the commonest class gives "
        f"{found.majority:.3f}."
    )
    if found.verdict == "aligned":
        light = "good"
        text = (
            f"Yes. Labels in random order would not do: the predictions fit {found.z:.0f} standard "
            f"deviations better. {measured}"
        )
    elif found.verdict == "not aligned":
        light = "bad"
        text = f"No. {CAUSES[found.cause]} {_order(found, rows)}{_chance(found)}{measured}"
    else:
        light = "unknown"
        text = (
            f"Unclear. The predictions fit {found.z:.1f} standard deviations better than labels "
            f"in random order; right ones would show about {found.expected_z:.1f}. {measured}"
        )
    return Answer(
        topic="alignment",
        question="Do labels and predictions belong together?",
        verdict=found.verdict,
        light=light,
        sentence=text,
        numbers={
            "z": found.z,
            "expected_z": found.expected_z,
            "accuracy": found.accuracy,
            "majority": found.majority,
        },
    )


def _order(found: Alignment, rows: Rows) -> str:
    moved = [(k, c) for k, c in enumerate(found.order) if k != c]
    if not moved or found.cause == "inverted":
        return ""
    names = rows.class_names
    pairs = "; ".join(f"label {names[k]} fits column {names[c]}" for k, c in moved[:4])
    more = f"; and {len(moved) - 4} more" if len(moved) > 4 else ""
    return f"Best match: {pairs}{more}. "


def _chance(found: Alignment) -> str:
    if found.cause not in ("shuffled", "rows shifted"):
        return ""
    return (
        f"They fit no better than labels in random order ({found.z:.1f} standard deviations, "
        f"expected {found.expected_z:.0f}). "
    )


def data(found: Evidence, view: str) -> Answer:
    """Answer question 2."""
    power, n = found.power, found.test.views[0].n
    if power.enough:
        text = (
            f"Yes ({view}). {spell(n, 'prediction')} would show an average error of "
            f"{power.smallest:.3f} with probability 90 %. The average error is known to "
            f"±{power.half_width:.3f}; ±0.01 takes {power.needed_precise:,} rows."
        )
    else:
        text = (
            f"Too little data to say ({view}). {spell(n, 'prediction')} would only show an "
            f"average error of {power.smallest:.2f} or more. At least {power.needed:,} rows are "
            f"needed; {power.needed_precise:,} to know the average error to ±0.01."
        )
    return Answer(
        topic="data",
        question="Is there enough data?",
        verdict="enough data" if power.enough else "too little data",
        light="good" if power.enough else "caution",
        sentence=text,
        numbers={
            "n": float(n),
            "smallest_error": power.smallest,
            "half_width": power.half_width,
            "needed": float(power.needed),
            "needed_for_0.01": float(power.needed_precise),
            "null_error": found.null.mean,
        },
    )


def calibration(found: Evidence, words: tuple[str, ...], settings: AuditSettings) -> Answer:
    """Answer question 3."""
    p_value, test = found.test.p_value, found.test
    looked = words[0] if len(words) == 1 else f"{words[0]} and {len(words) - 1} more views"
    p_words = "p = 0" if p_value == 0 else f"p = {p_value:.3f}"
    if p_value <= settings.alpha:
        verdict, light = "miscalibrated", "bad"
        start = f"Yes: the labels contradict the predictions ({looked}, {p_words})."
        if not found.power.enough:
            start += " With so few rows the size of the error stays open."
    elif found.power.enough:
        verdict, light = "no evidence", "good"
        start = (
            f"No evidence: the labels are compatible with the predictions ({looked}, {p_words})."
        )
    else:
        verdict, light = "cannot say", "unknown"
        start = (
            f"Too little data to say: nothing contradicts the predictions ({looked}, {p_words}), "
            f"but {found.power.needed:,} rows would be needed to find much."
        )
    if test.impossible:
        start += f" {spell(test.impossible, 'event')} had been given probability 0."
    return Answer(
        topic="calibration",
        question="Is it miscalibrated beyond chance?",
        verdict=verdict,
        light=light,
        sentence=f"{start} {_error(found, words[0])}",
        numbers={
            "p_value": p_value,
            "error": found.error.value,
            "error_low": max(found.error.low, 0.0),
            "error_high": found.error.high,
            "null_error": found.null.mean,
            "null_high": found.null.high,
            "impossible": float(test.impossible),
        },
    )


def _error(found: Evidence, view: str) -> str:
    error, null = found.error, found.null
    return (
        f"Expected calibration error {error.value:.4f} ({view}, {100 * error.level:g} % interval "
        f"{max(error.low, 0.0):.4f} to {error.high:.4f}). A calibrated model would show "
        f"{null.mean:.4f}; 95 % of such models stay below {null.high:.4f}."
    )


def direction(found: Evidence, focus: str, verdict: str) -> Answer:
    """Answer question 4."""
    view, region = found.focus, found.region
    numbers = {
        "mean_prob": view.mean_prob,
        "frequency": view.frequency,
        "gap": view.gap,
        "z_level": view.z_level,
        "z_slope": view.z_slope,
        "bins_outside": float(found.band.outside.sum()),
    }
    means = f"Mean prediction {view.mean_prob:.3f}, observed {view.frequency:.3f} ({focus})."
    if verdict != "miscalibrated":
        light = "good" if verdict == "no evidence" else "unknown"
        text = f"There is nothing to point at. {means}"
    else:
        light = "caution"
        also = f", and {found.second}" if found.second else ""
        names = {"mixed": "Mixed, with no single direction"}
        name = names.get(found.direction, found.direction.capitalize())
        text = f"{name}{also}. {means} {_region(found)}"
        if region is not None:
            numbers |= {
                "region_low": region.low,
                "region_high": region.high,
                "region_gap": region.mean_prob - region.frequency,
                "region_n": float(region.n),
            }
    return Answer(
        topic="direction",
        question="Where is it wrong, and which way?",
        verdict=found.direction,
        light=light,
        sentence=text,
        numbers=numbers,
    )


def _region(found: Evidence) -> str:
    region, band = found.region, found.band
    used, outside = int(band.table.occupied.sum()), int(band.outside.sum())
    if region is None:
        return f"No single bin leaves the band of {spell(used, 'bin')}: the error is spread out."
    share = f"{outside} of {spell(used, 'bin')} leave the {100 * band.level:g} % band."
    return (
        f"Most of it lies between {region.low:.2f} and {region.high:.2f}: there "
        f"{spell(region.n, 'prediction')} say {region.mean_prob:.3f}, observed "
        f"{region.frequency:.3f}. {share}"
    )


def costs(found: Consequences, view: str, level: float, enough: bool) -> Answer:
    """Answer question 5."""
    numbers = {
        "worst": found.worst,
        "worst_threshold": found.worst_at,
        "average": found.average,
    }
    paid = found.paid
    if paid is None:
        verdict, light, text = "costs unknown", "unknown", _without_costs(found, view)
    else:
        numbers |= {
            "cost": paid.trust.value,
            "promised": paid.trust.promised,
            "ignoring": paid.trust.ignoring,
            "repaired": paid.repaired,
            "regret": paid.regret,
            "regret_low": paid.low,
            "regret_high": paid.high,
            "over_ignoring": paid.over_ignoring,
            "threshold": paid.threshold,
        }
        verdict, light, text = _with_costs(paid, level, enough)
    return Answer(
        topic="costs",
        question="Does it matter for the costs?",
        verdict=verdict,
        light=light,
        sentence=text,
        numbers=numbers,
    )


def _without_costs(found: Consequences, view: str) -> str:
    text = "No costs were given, so this is open."
    if found.repaired is None:
        return text
    if found.worst <= 0:
        return f"{text} At no threshold do repaired predictions decide better ({view})."
    return (
        f"{text} Say a false alarm costs t and a miss 1 - t ({view}). At worst, t = "
        f"{found.worst_at:.2f}, trust costs {found.worst:.4f} more per prediction than repaired "
        f"predictions; on average over t {found.average:.4f}."
    )


def _with_costs(paid: Paid, level: float, enough: bool) -> tuple[str, str, str]:
    trust = paid.trust
    text = (
        f"Trusting costs {trust.value:.4f} per prediction; it promised {trust.promised:.4f}. "
        f"Ignoring the model costs {trust.ignoring:.4f}."
    )
    if not np.isnan(paid.repaired):
        text += (
            f" Repaired predictions cost {paid.repaired:.4f}: a difference of "
            f"{paid.regret:.4f} ({100 * level:g} % interval {paid.low:.4f} to {paid.high:.4f})."
        )
    if paid.over_low > 0:
        return "worse than ignoring", "bad", f"Yes, trust is worse than no model. {text}"
    if paid.low > 0:
        return "costly", "caution", f"Yes. {text}"
    if not enough:
        return "costs unknown", "unknown", f"Too little data to say. {text}"
    return "not costly", "good", f"Not measurably. {text}"


def repair(found: Repairs, aligned: bool, view: str, after: float | None) -> Answer:
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
        text = "None was tried. " + " ".join(table.notes)
    else:
        verdict, light = ("repair", "caution") if table.chosen >= 0 else ("no repair", "good")
        text = _gain(found, place, view, after)
    return Answer(
        topic="repair",
        question="Which repair, and how much is gained?",
        verdict=verdict,
        light=light,
        sentence=text.strip(),
        numbers=numbers,
    )


def _gain(found: Repairs, place: int, view: str, after: float | None) -> str:
    table = found.table
    name = str(table.name[place])
    words = REPAIRED.get(name, name)
    interval = (
        f"({100 * table.level:g} % interval {table.low[place]:.4f} to {table.high[place]:.4f}, "
        f"{table.folds} folds)"
    )
    if table.chosen < 0:
        return (
            f"None. The best candidate, {words}, would gain {table.gain[place]:.4f} in log loss "
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
