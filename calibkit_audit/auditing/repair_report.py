"""Question 6 in words: which repair, what it gains, and what to know before it is used."""

import numpy as np

from calibkit.results import spell
from calibkit_audit.auditing.evidence import Measurements
from calibkit_audit.auditing.pages import Answer, four_digits, interval_in_words
from calibkit_audit.auditing.repairs import BASE, Repairs

# What each candidate is, and what that means in other words.
_FOR_ALL, _BY_CLASS = (
    "a number and a shift, the same for all",
    "a number and a shift for each class",
)
REPAIRED = {
    BASE: ("the base rate, as the predictions tell nothing", ""),
    "pulled Platt": ("Platt scaling pulled 1/(n + 2) away from 0 and 1", _FOR_ALL),
    "one-vs-rest": ("Platt scaling class by class, pulled 1/(n + 2) away from 0 and 1", _BY_CLASS),
    "offset": ("one shift of all log odds", "the same step up or down for all"),
    "temperature": ("temperature scaling", "one number makes all of them bolder or more careful"),
    "Platt": ("Platt scaling", _FOR_ALL),
    "beta": ("beta calibration", "a smooth curve of three numbers"),
    "isotonic": ("isotonic regression", "steps that keep their order"),
    "vector": ("vector scaling", _BY_CLASS),
    "Dirichlet": ("Dirichlet scaling", ""),
}


def repair_answer(found: Repairs, aligned: bool, measured: Measurements) -> Answer:
    """Answer question 6: which repair, and what speaks against it."""
    table, place = found.table, found.table.place
    numbers = {"log_loss": table.before, "log_loss_of_others": table.before_left}
    if place >= 0:
        ends = {"gain_low": table.low, "gain_high": table.high, "error_after": table.error}
        columns = {"log_loss_after": table.log_loss, "gain": table.gain, **ends}
        numbers |= {name: float(column[place]) for name, column in columns.items()}
    if not aligned:
        verdict, light = "align first", "bad"
        text = "None: repair the labels or the columns first. A calibrator would hide the mistake."
    elif place < 0:
        verdict, light = "no repair", "unknown"
        text = " ".join(table.notes) or "No repair was tried."
    else:
        verdict, light = "no repair", "good" if measured.power.enough else "unknown"
        text = _gain_in_words(found) + _warnings(found)
        if table.chosen >= 0:
            verdict, light = "repair", "caution"
            before, after = measured.error.value, four_digits(table.error[place])
            text += f" Expected calibration error afterwards: {after} ({measured.names[0]})."
            if float(after) > round(before, 4):
                text += f" It was {before:.4f}: this repair gains in log loss, not in that error."
        elif measured.miscalibrated:
            light = "caution"
            text += (
                " That the predictions are miscalibrated (question 3) stands: maps fitted to "
                f"{spell(table.n, 'row')} do not mend it. More rows, or another model, might."
            )
    return Answer("repair", verdict, light, text.strip(), numbers)


def _gain_in_words(found: Repairs) -> str:
    table, place = found.table, found.table.place
    name = str(table.name[place])
    words, _ = REPAIRED.get(name, (name, ""))
    gain, low, high = table.gain[place], table.low[place], table.high[place]
    if np.isinf(gain):
        return f"None. Even the best candidate, {words}, says 0 to something that happened."
    size, falls = abs(gain), gain >= 0
    if not falls:
        low, high = -high, -low
    interval = f"({interval_in_words(table.level, low, high)}, {table.folds} folds)"
    if table.chosen >= 0:
        temperature = getattr(found.calibrator, "temperature_", None)
        one = f" (T = {temperature:.2f})" if temperature is not None else ""
        change = "a gain of" if falls else "the price of not saying 0:"
        return (
            f"{words[0].upper()}{words[1:]}{one}: on held-out rows log loss "
            f"{'falls' if falls else 'rises'} from {table.before_left:.4f} to "
            f"{table.before_left - gain:.4f}, {change} {size:.4f} {interval}."
        )
    why = "the interval holds 0, so this may be chance" if falls else "none that was tried gains"
    if low > 0 and falls:
        why = "but no error was shown that it would mend (question 3)"
        harm = "but it would raise the Brier score, or lose to the base rate"
        why = why if table.harmless[place] else harm
    return (
        f"None. The best candidate, {words}, would {'gain' if falls else 'lose'} "
        f"{four_digits(size)} in log loss {interval}: {why}."
    )


def _warnings(found: Repairs) -> str:
    """Return what to know of a candidate before it is used."""
    table, text = found.table, ""
    if table.left < table.n:
        after = table.log_loss[table.place]
        text = (
            f" This is about the {table.left:,} rows whose outcome was called possible; of all "
            f"{table.n:,} the log loss is infinite as they are, and {four_digits(after)} repaired."
        )
    if found.certain and np.isfinite(table.gain[table.place]):
        rows = spell(found.certain, "row")
        text += (
            f" It says exactly 0 (or 1) in {rows}: one outcome against it costs infinitely much."
        )
    return text
