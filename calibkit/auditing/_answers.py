"""The answers 1 to 4 in words: aligned, enough, beyond chance, where."""

from calibkit._result import spell
from calibkit.auditing._alignment import CLEAR, Alignment
from calibkit.auditing._evidence import Evidence
from calibkit.auditing._redraws import TOP
from calibkit.auditing._rows import Rows
from calibkit.auditing.report import Answer
from calibkit.auditing.settings import AuditSettings

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
            f"in random order; right ones would show about {found.expected_z:.1f}, and {CLEAR} "
            f"would be clear. {measured}"
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
        shown = (
            f"would only show an average error of {power.smallest:.2f} or more"
            if power.smallest < 1
            else "cannot show any average error"
        )
        text = (
            f"Too little data to say ({view}). {spell(n, 'prediction')} {shown}. At least "
            f"{power.needed:,} rows are needed; {power.needed_precise:,} to know the average error "
            "to ±0.01."
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
        f"Expected calibration error {error.value:.4f} ({view}); without its share of chance "
        f"{max(error.low, 0.0):.4f} to {error.high:.4f} ({100 * error.level:g} % interval). "
        f"A calibrated model would show {null.mean:.4f}; 95 % of such models stay below "
        f"{null.high:.4f}."
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
        meaning = TOP_MEANS if view.view == TOP else MEANS
        text = f"{name}{also}{meaning.get(found.direction, '')}. {means} {_region(found)}"
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
