"""The six answers of an audit, and the findings of a comparison, in words."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibkit.results import spell
from calibkit_audit.auditing import comparison, differences
from calibkit_audit.auditing.alignment import CLEAR, Alignment
from calibkit_audit.auditing.consequences import Consequences, Paid
from calibkit_audit.auditing.differences import Change
from calibkit_audit.auditing.evidence import FEWEST_SURPRISES, Seen, directions
from calibkit_audit.auditing.impossible import Impossible
from calibkit_audit.auditing.pages import Answer, four_digits
from calibkit_audit.auditing.redraws import TOP
from calibkit_audit.auditing.remedy import interval_in_words
from calibkit_audit.auditing.rows import Rows
from calibkit_audit.auditing.settings import NEAR

Found = Mapping[tuple[str, str], Change]  # by model and measure
CAUSES = {
    "shuffled": "The labels look shuffled, or belong to other rows or another file.",
    "inverted": "The probabilities look inverted: 1 - p fits the labels.",
    "swapped": "Columns look swapped.",
    "off by one class": "The labels look off by one class.",
    "rows shifted": "The labels fit the neighbouring row: the rows look shifted by one.",
}
MEANS = {
    "over-confident": ": low predictions are too low, high ones too high",
    "under-confident": ": low predictions are too high, high ones too low",
    "over-forecast": ": predictions are too high",
    "under-forecast": ": predictions are too low",
}
TOP_MEANS = {
    "over-confident": ": confidence is above accuracy",
    "under-confident": ": confidence is below accuracy",
}


def alignment(found: Alignment, rows: Rows) -> Answer:
    """Answer question 1: whether labels and predictions belong together."""
    majority = f"always naming the commonest class gives {found.majority:.3f}."
    measured = f"Accuracy {found.accuracy:.3f}; {majority}"
    if found.verdict == "aligned":
        light = "good"
        text = f"Yes. Labels in random order would not do: the predictions fit {found.z:.0f} "
        text += f"standard deviations better. {measured}"
    elif found.verdict == "not aligned":
        light = "bad"
        text = f"No. {CAUSES[found.cause]} {_order(found, rows)}{measured}"
    else:
        light = "unknown"
        text = f"Unclear. The predictions fit {found.z:.1f} standard deviations better than labels "
        text += f"in random order; right ones would show about {found.expected_z:.1f}, and {CLEAR} "
        text += f"would be clear. {measured}"
    numbers = {name: getattr(found, name) for name in ("z", "expected_z", "accuracy", "majority")}
    return Answer("alignment", found.verdict, light, text, numbers)


def _order(found: Alignment, rows: Rows) -> str:
    if found.cause in ("shuffled", "rows shifted"):
        text = f"They fit no better than labels in random order ({found.z:.1f} standard deviations"
        return f"{text}, expected {found.expected_z:.0f}). "
    moved = [(k, c) for k, c in enumerate(found.order) if k != c]
    if not moved or found.cause == "inverted":
        return ""
    names = rows.class_names
    pairs = "; ".join(f"label {names[k]} fits column {names[c]}" for k, c in moved[:4])
    more = f"; and {len(moved) - 4} more" if len(moved) > 4 else ""
    return f"Best match: {pairs}{more}. "


def data(seen: Seen) -> Answer:
    """Answer question 2: whether there is enough data."""
    power, n, kish = seen.power, seen.first.n, min(seen.first.n, seen.first.kish)
    rows = spell(n, "prediction")
    rows += f", by weight worth {kish:,.0f} equal ones," if kish < n else ""
    if power.enough:
        smallest, half = (f"{x:.{seen.digits}f}" for x in (power.smallest, power.half_width))
        text = f"Yes ({seen.words}). {rows} would show an average error of {smallest} with "
        text += f"probability 90 %. The average error is known to ±{half}; ±0.01 takes "
        text += f"{power.needed_precise:,} rows."
    else:
        text = f"Too little data ({seen.words}). {_too_little(seen, rows)}"
    numbers = {
        "n": float(n),
        "events": float(seen.first.events),
        "smallest_error": power.smallest,
        "half_width": power.half_width,
        "needed": float(power.needed),
        **({"effective_n": kish} if kish < n else {}),
        "needed_for_0.01": float(power.needed_precise),
        "null_error": seen.numbers["null_error"],
    }
    verdict, light = ("enough data", "good") if power.enough else ("too little data", "caution")
    return Answer("data", verdict, light, text, numbers)


def _too_little(seen: Seen, rows: str) -> str:
    """Say what so few rows can show, and how many would be needed for what."""
    power = seen.power
    if power.surprises < 1e-3:
        return f"All of {rows} say 0 or 1, and were right: nothing is left to test."
    if power.surprises < FEWEST_SURPRISES:
        return (
            f"Of {rows} only about {power.surprises:.1g} should meet a surprise if they are right, "
            f"so few are they, or so near to 0 and 1. A test needs about {FEWEST_SURPRISES} "
            f"surprises: some {power.needed:,} rows like these."
        )
    return (
        f"{rows} would show an average error of {power.smallest:.2f} in nine files of ten, and "
        f"often miss a smaller one. To find an error of {seen.settings.detectable:g} takes "
        f"{power.needed:,} rows like these; to know the average error to ±0.01 takes "
        f"{power.needed_precise:,}."
    )


def calibration(seen: Seen) -> Answer:
    """Answer question 3: whether it is miscalibrated beyond chance."""
    p_words = f"{seen.p_value:.3f}" if seen.p_value >= 5e-4 else f"{seen.p_value:.1g}"
    sign, limit = "≤" if seen.p_value <= seen.floor else "=", seen.settings.alpha
    looked = f"({seen.looked}; {seen.test}, p {sign} {p_words}, limit {limit:g})"
    if seen.found:
        verdict, light = "miscalibrated", "bad"
        text = f"Yes: the labels contradict the predictions {looked}."
        if not seen.power.enough:
            text += " With so few rows the size of the error stays open."
    elif seen.borderline:
        verdict, light = "borderline", "caution"
        share = 100 * (seen.settings.limits[1] - limit)
        text = f"Not beyond the limit, but less than {NEAR:g} times above it {looked}. {share:g} "
        text += "of 100 calibrated models look like this; as many new rows would tell."
    elif seen.power.enough:
        verdict, light = "no evidence", "good"
        text = f"No evidence: the labels are compatible with the predictions {looked}."
    else:
        verdict, light = "cannot say", "unknown"
        text = f"Too little data to say: nothing contradicts the predictions {looked}, but so few "
        text += "rows would hide much (question 2)."
    gone = seen.impossible
    if gone.count:
        text += f" This is about {gone.left:,} rows; what was called impossible is left out."
    numbers = {"p_value": seen.p_value} | seen.numbers | {"impossible": float(gone.count)}
    text = " ".join(part for part in (text, seen.error, seen.apart) if part)
    return Answer("calibration", verdict, light, text, numbers)


def direction(seen: Seen) -> Answer:
    """Answer question 4: where it is wrong, and which way."""
    view, region, digits = seen.focus, seen.region, seen.digits
    numbers = {
        name: getattr(view, name)
        for name in ("mean_prob", "frequency", "gap", "z_level", "z_slope")
    }
    numbers |= seen.more
    top = view.view == TOP
    said, happened = ("confidence", "accuracy") if top else ("prediction", "observed")
    means = f"Mean {said} {view.mean_prob:.{digits}f}, {happened} {view.frequency:.{digits}f}"
    means += f" ({seen.focus_words})."
    if not seen.found and not seen.borderline:
        text = f"There is nothing to point at. {means}"
        light = "good" if seen.power.enough else "unknown"
        return Answer("direction", "no direction", light, text, numbers)
    way, second = directions(view)
    also = f", and {second}" if second else ""
    name = "Mixed, with no single direction" if way == "mixed" else way.capitalize()
    if seen.borderline:
        name = f"If anything: {name[0].lower()}{name[1:]}"
    meaning = TOP_MEANS if view.view == TOP else MEANS
    text = f"{name}{also}{meaning.get(way, '')}. {means} "
    if region is not None:
        numbers |= {
            "region_low": region.low,
            "region_high": region.high,
            "region_gap": region.mean_prob - region.frequency,
            "region_n": float(region.n),
        }
        text += (
            f"Most of it lies between {region.low:.2f} and {region.high:.2f}: there "
            f"{spell(region.n, 'prediction')} say {region.mean_prob:.{digits}f}, observed "
            f"{region.frequency:.{digits}f}. "
        )
    return Answer("direction", way, "caution", (text + seen.spread).strip(), numbers)


def costs(found: Consequences, seen: Seen) -> Answer:
    """Answer question 5: whether it matters for the costs."""
    level = seen.settings.level
    numbers = {"worst": found.worst, "worst_threshold": found.worst_threshold}
    numbers |= found.average.numbers("average")
    paid = found.paid
    if paid is None:
        text = "No costs were given, so this is open."
        if found.repaired is not None:
            wrong, missed = "a false alarm", "a miss"
            if seen.first.view == TOP:
                wrong, missed = "trust in a wrong answer", "mistrust in a right one"
            text += f" Say {wrong} costs t and {missed} 1 - t ({seen.words})."
            text += f" {_over_t(found, level)}"
        return Answer("costs", "costs unknown", "unknown", text, numbers)
    trust = paid.trust
    numbers |= {"cost": trust.value, "promised": trust.promised, "ignoring": trust.ignoring}
    numbers |= {"repaired": paid.repaired} | paid.regret.numbers("regret")
    numbers |= paid.over_ignoring.numbers("over_ignoring") | {"threshold": paid.threshold}
    text = _paid(paid, level)
    if paid.over_ignoring.low > 0:
        verdict, light = "worse than ignoring", "bad"
        text = f"Yes, trust is worse than no model. {text}"
    elif paid.regret.low > 0:
        verdict, light, text = "costly", "caution", f"Yes. {text}"
    elif not seen.power.enough:
        verdict, light, text = "costs unknown", "unknown", f"Too little data to say. {text}"
    else:
        verdict, light, text = "not costly", "good", f"Not measurably. {text}"
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


def _paid(paid: Paid, level: float) -> str:
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


def headline(verdicts: Mapping[str, str], focus: str, gone: Impossible) -> tuple[str, str]:
    """Return the verdict in one line, and its light."""
    if verdicts["alignment"] == "not aligned":
        return "Labels and predictions do not belong together: check the data first.", "bad"
    text, light = "No evidence of miscalibration.", "good"
    if verdicts["calibration"] == "miscalibrated":
        text, light = f"Miscalibrated beyond chance: {verdicts['direction']} ({focus}).", "bad"
    elif verdicts["calibration"] == "borderline":
        text, light = f"Borderline; if anything, {verdicts['direction']} ({focus}).", "caution"
    elif verdicts["calibration"] == "cannot say":
        text, light = "Too little data to say.", "unknown"
    if not gone.count or gone.minor:
        return text, light
    return f"{gone}. The other {gone.left:,}: {text[0].lower()}{text[1:]}", "bad"


def worded(names: tuple[str, ...], found: Found, level: float) -> dict[str, Any]:
    """Return what a `Comparison` holds of the differences: its columns, headline and light."""
    rows = [(*key, *change) for key, change in found.items()]
    heads = ("model", "measure", *Change._fields)
    columns = dict(zip(heads, map(np.array, zip(*rows, strict=True)), strict=True))
    told = any(one.verdict in ("better", "worse") for one in found.values())
    headline = " ".join(_sentence(names[0], other, found, level) for other in names[1:])
    light = "caution" if told else "unknown"
    return columns | {"models": names, "level": level, "headline": headline, "light": light}


def _sentence(first: str, other: str, found: Found, level: float) -> str:
    """Say what a manager wants to know of one model beside the first."""
    own = {measure: change for (model, measure), change in found.items() if model == other}
    telling = (
        key
        for key in differences.SCORES
        if key in own and own[key].verdict != "equal" and np.isfinite(own[key].difference)
    )
    main = next(telling, "Brier score")
    row, unit, range_ = own[main], comparison.MEASURES[main], f"{100 * level:g} % interval"
    if row.verdict == "equal":
        text = f"{other} and {first} are equal {unit}."
    elif np.isnan(row.low):
        text = f"The data are too few to compare {other} with {first} {unit}: at least "
        text += f"{differences.FEWEST} events, other rows, and rows that differ are needed"
        text += ", of a cost some better and some worse." if main == "cost" else "."
    elif row.verdict == "not separated":
        text = f"The data cannot separate {other} from {first} {unit}: the difference per "
        text += f"prediction is {row.difference:+.4f} ({range_} {row.low:+.4f} to {row.high:+.4f})."
    else:
        low, high = sorted((abs(row.low), abs(row.high)))
        text = f"{other} is {row.verdict} than {first}: by {abs(row.difference):.4f} {unit} per "
        text += f"prediction ({range_} {low:.4f} to {high:.4f})."
    if main != "cost" and "cost" in own:
        text += " Their decisions cost the same."
    losses = zip((first, other), own["log loss"][:2], strict=True)
    if infinite := " and ".join(name for name, loss in losses if np.isinf(loss)):
        text += f" {infinite} called impossible what happened: infinite log loss."
    calibrated, told = own["miscalibration"].verdict, own["discrimination"].verdict
    if calibrated == "not separated":
        text += " The data cannot separate their calibration."
    elif calibrated != "equal":
        text += f" {other} is {calibrated} calibrated."
    return text + (f" {other} tells cases apart {told}." if told in ("better", "worse") else "")
