"""Questions 2, 3 and 4 in words: enough data, wrong beyond chance, where and which way."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibkit.inputs import BinaryProblem, FloatVector
from calibkit.results import spell
from calibkit_audit.auditing.evidence import (
    FEWEST_SURPRISES,
    TEST,
    Impossible,
    Measurements,
    directions,
)
from calibkit_audit.auditing.pages import COUNTED, Answer, Listing, in_digits, interval_in_words
from calibkit_audit.auditing.redraws import TOP
from calibkit_audit.auditing.settings import FINDINGS, NEAR
from calibkit_audit.clinic import weak
from calibkit_audit.clusters import Clusters
from calibkit_audit.saving import four_digits

_DECISIONS = (
    "All predictions are 0 or 1, as decisions are. Ask the model for its probabilities: in "
    "scikit-learn predict_proba in place of predict."
)
_ADVICE = (
    "No number of right rows makes up for that. If 0 and 1 were rounded (few digits, a softmax in "
    "single precision), write more digits or keep the logits; else average more trees or models, "
    "or pass the predictions through a calibrator that never says 0 (question 6)."
)
MEANS = {
    "over-forecast": ": predictions are too high",
    "under-forecast": ": predictions are too low",
    "over-confident": ": predictions lie too far from their mean",
    "under-confident": ": predictions lie too near to their mean",
}
_OF_ANSWERS = {
    "over-confident": ": confidence is above accuracy",
    "under-confident": ": confidence is below accuracy",
}


def data_answer(measured: Measurements) -> Answer:
    """Answer question 2: whether there is enough data."""
    power, n = measured.power, measured.first.n
    rows = spell(n, "prediction")
    if power.enough:
        text = (
            f"Yes ({measured.names[0]}). In {rows} an average error of "
            f"{in_digits(power.smallest)}, beside a mean of {in_digits(measured.first.mean_prob)}, "
            "is found nine times in ten. The average error is known to "
            f"±{in_digits(power.half_width)} ({100 * measured.settings.level:g} % interval); ±0.01 "
            f"takes {power.needed_precise:,.0f} rows."
        )
    else:
        text = f"Too little data ({measured.names[0]}). {_too_little(measured, rows)}"
    numbers = {
        "n": float(n),
        "events": float(measured.first.events),
        "smallest_error": power.smallest,
        "half_width": power.half_width,
        "needed": power.needed,
        "needed_for_0.01": power.needed_precise,
        "null_error": measured.null.mean,
    }
    verdict, light = ("enough data", "good") if power.enough else ("too little data", "unknown")
    return Answer("data", verdict, light, text, numbers)


def _too_little(measured: Measurements, rows: str) -> str:
    """Say what so few rows can show, and how many would be needed for what."""
    power, n = measured.power, measured.first.n
    if np.isinf(power.needed):
        return f"Of {rows} none should meet a surprise: all say 0 or 1. No number of such can tell."
    to_find = f"an error of {measured.settings.detectable:g} takes {power.needed:,.0f}"
    if power.surprises < FEWEST_SURPRISES:
        return (
            f"Of {rows} only about {power.surprises:.2g} should meet a surprise if they are right, "
            "so few are they, so dependent, or so near to 0 and 1. A test needs about "
            f"{FEWEST_SURPRISES} surprises: some {FEWEST_SURPRISES * n / power.surprises:,.0f} "
            f"rows like these; to find {to_find}."
        )
    return (
        f"In {rows} an average error of {power.smallest:.2f} is found nine times in ten, and a "
        f"smaller one is often missed. To find {to_find} rows like these; to know the average "
        f"error to ±0.01 takes {power.needed_precise:,.0f}."
    )


def calibration_answer(measured: Measurements) -> Answer:
    """Answer question 3: whether it is miscalibrated beyond chance."""
    first, limit, names = measured.focus, measured.settings.alpha, measured.names
    looked = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more views"
    looked += f"; {_test_in_words(measured)}"
    if first.wrong:
        verdict, light = "miscalibrated", "bad"
        text = f"Yes: {first.wrong:,} of {first.sure:,} predictions of exactly 0 or 1 were wrong "
        text += f"({measured.focus_words}), and no calibrated model's are."
        if first.sure < first.n:
            they = "contradict" if measured.test.others <= limit else "do not contradict"
            text += f" The labels {they} the others ({looked})."
    elif measured.miscalibrated:
        verdict, light = "miscalibrated", "bad"
        text = f"Yes: the labels contradict the predictions ({looked})."
    elif measured.borderline:
        verdict, light = "borderline", "caution"
        share = 100 * (measured.settings.limits[1] - limit)
        text = f"Not beyond the limit, but less than {NEAR:g} times above it ({looked}). {share:g} "
        text += "of 100 calibrated models look like this; as many new rows would tell."
    elif measured.power.enough:
        verdict, light = "no evidence", "good"
        text = f"No evidence: the labels are compatible with the predictions ({looked})."
    else:
        verdict, light = "cannot say", "unknown"
        text = f"Too little data to say: nothing contradicts the predictions ({looked}), but such "
        text += "rows would hide much (question 2)."
    if first.sure and not first.wrong:
        text += f" The test leaves out {spell(first.sure, 'prediction')} of exactly 0 or 1, which "
        text += "were right."
    numbers = {"p_value": measured.test.p_value, "p_value_of_others": measured.test.others}
    error, null = measured.error, measured.null
    # Chance takes nothing away. (Being convex in the rows, the error of resamples is on average no
    # smaller, so the interval holds this too.)
    middle = error.value - max(float(np.median(error.draws)) - error.value, 0.0)
    low, middle, high = (max(one, 0.0) for one in (error.low, middle, error.high))
    numbers |= {"error": error.value, "error_low": low, "error_high": high}
    numbers |= {"error_without_chance": middle, "null_error": null.mean, "null_high": null.high}
    numbers |= {"impossible": float(measured.impossible.count)}
    value, without, *by_chance = map(four_digits, (error.value, middle, null.mean, null.high))
    text += (
        f" Expected calibration error {value} ({names[0]}); without its share of chance {without} "
        f"({interval_in_words(error.level, low, high)}). A calibrated model would show "
        f"{by_chance[0]}; 95 % of such models stay below {by_chance[1]}."
    )
    return Answer("calibration", verdict, light, text, numbers)


def _test_in_words(measured: Measurements) -> str:
    """Say what the test of the rows that do not say exactly 0 or 1 has found."""
    p_value, floor = measured.test.others, 1 / (measured.test.n_draws + 1)
    shown = f"{p_value:.3f}" if p_value >= 5e-4 else f"{p_value:.1g}"
    return (
        f"{TEST}, p {'≤' if p_value <= floor else '='} {shown}, limit {measured.settings.alpha:g}"
    )


def direction_answer(measured: Measurements) -> Answer:
    """Answer question 4: where it is wrong, and which way."""
    view, band, outside = measured.focus, measured.band, int(measured.band.outside.sum())
    shown = ("mean_prob", "frequency", "gap", "z_level", "z_slope")
    numbers = {name: getattr(view, name) for name in shown}
    numbers["bins_outside"] = float(outside)
    top = view.view == TOP
    said, happened = ("confidence", "accuracy") if top else ("prediction", "observed")
    means = f"Mean {said} {in_digits(view.mean_prob)}, {happened} "
    means += f"{in_digits(view.frequency)} ({measured.focus_words})."
    if not measured.miscalibrated and not measured.borderline:
        text = f"There is nothing to point at. {means}"
        light = "good" if measured.power.enough else "unknown"
        return Answer("direction", "no direction", light, text, numbers)
    way, second = directions(view)
    name = "mixed, with no single direction" if way == "mixed" else way
    name = f"If anything: {name}" if measured.borderline else name.capitalize()
    also = f", and {second}" if second else ""
    meant = (MEANS | (_OF_ANSWERS if top else {})).get(way, "")
    text = f"{name}{also}{meant}. {means} "
    region, used = measured.region, spell(int(band.table.occupied.sum()), "bin")
    if region is not None:
        numbers |= {f"region_{name}": value for name, value in region._asdict().items()}
        text += (
            f"Most of it lies between {region.low:.2f} and {region.high:.2f}: there "
            f"{spell(region.n, 'prediction')} say {in_digits(region.mean_prob)}, observed "
            f"{in_digits(region.frequency)}. "
        )
    elif measured.only_sure:
        text += f"All that is shown is {spell(view.wrong, 'row')} that wrongly said 0 or 1. "
    elif way != "mixed" and used != "1 bin":
        text += f"It is spread over {used}. "
    text += f"{outside} of {used} leave{'s' * (outside == 1)} the {100 * band.level:g} % band."
    return Answer("direction", way, "caution", text, numbers, second)


_QUANTITIES = {
    "O/E": weak.observed_expected_ratio,
    "calibration in the large": weak.calibration_in_the_large,
    "slope": weak.calibration_slope,
}


def weak_calibration(
    problems: Mapping[str, BinaryProblem], clusters: Clusters | None, level: float, odds: Any = None
) -> Listing:
    """Return O/E, calibration in the large and slope of each model, with intervals."""
    rows, sentences = [], []
    for model, one in problems.items():
        parts = []
        how: Any = {"level": level, "cluster": clusters, "sample_weight": one.weight}
        for name, measure in _QUANTITIES.items():
            value = low = high = np.nan
            try:
                exact = {} if name == "O/E" else {"logits": odds}
                estimate = measure(one.label, one.prob, **(how | exact))
            except ValueError as error:  # no line fits best: said, not hidden
                parts.append(f"no {name}, for {str(error).partition(';')[0]}")
            else:
                value, low, high = estimate.value, estimate.low, estimate.high
                parts.append(f"{name} {value:.3f} ({low:.3f} to {high:.3f})")
            rows.append((model, name, value, low, high))
        sentences.append(f"{model}: {', '.join(parts)}")
    text = f"Ideal are 1, 0 and 1 ({100 * level:g} % intervals). {'; '.join(sentences)}."
    return Listing.of(text, ("model", "quantity", "value", "low", "high"), rows)


def impossible_finding(found: Impossible, table: FloatVector) -> tuple[Answer, ...]:
    """Return what was found beside the answers, of these rows of probabilities."""
    if not found.count:
        return ()
    count, certain = found.count, float(found.certain)
    named = ", ".join(f"{row:,}" for row in found.first)
    more = f" and {count - len(found.first):,} more" if count > len(found.first) else ""
    text = (
        f"{found} (row{'s' if count > 1 else ''} {named}{more}, {COUNTED}). That is "
        f"{count:,} of {spell(found.certain, 'row')} with a probability of exactly 0 or 1. The log "
        f"loss is infinite. {_DECISIONS if np.isin(table, (0, 1)).all() else _ADVICE}"
    )
    numbers = {"rows": float(count), "certain": certain}
    return (Answer("impossible", FINDINGS["impossible"][0], "bad", text, numbers),)
