"""The sixth answer in words: which repair, what speaks against it, and what to do at all."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from calibkit.results import spell
from calibkit_audit.auditing.evidence import Seen
from calibkit_audit.auditing.pages import Answer, four_digits
from calibkit_audit.auditing.repairs import Repairs, RepairTable

REPAIRED = {
    "temperature": "temperature scaling",
    "Platt": "Platt scaling",
    "beta": "beta calibration",
    "isotonic": "isotonic regression",
    "vector": "vector scaling",
    "Dirichlet": "Dirichlet scaling",
}


def interval_in_words(level: float, low: float, high: float) -> str:
    """Return an interval with its content in per cent, or that there is none."""
    if math.isnan(low):
        return "too few rows decide for an interval"
    return f"{100 * level:g} % interval {four_digits(low)} to {four_digits(high)}"


def repair(found: Repairs, aligned: bool, seen: Seen) -> Answer:
    """Answer question 6: which repair, and what speaks against it."""
    table = found.table
    numbers = {"log_loss": table.before, "log_loss_of_others": table.before_left}
    place = table.chosen if table.chosen >= 0 else table.best
    if place >= 0:
        found_here = (table.log_loss, table.gain, table.low, table.high, table.error)
        names = ("log_loss_after", "gain", "gain_low", "gain_high", "error_after")
        numbers |= {k: float(v[place]) for k, v in zip(names, found_here, strict=True)}
    if not aligned:
        verdict, light = "align first", "bad"
        text = "None: repair the labels or the columns first. A calibrator would hide the mistake."
    elif place < 0:
        verdict, light = "no repair", "unknown"
        text = " ".join(table.notes) or "No repair was tried."
    else:
        verdict, light = "no repair", "good" if seen.power.enough else "unknown"
        text = _gain(found, place) + _warnings(found, place)
        if table.chosen >= 0:
            verdict, light = "repair", "caution"
            text += _errors(table, seen)
        elif seen.found:
            light = "caution"
            text += (
                " That the predictions are miscalibrated (question 3) stands: maps fitted to "
                f"{spell(table.n, 'row')} do not mend it. More rows, or another model, might."
            )
    return Answer("repair", verdict, light, text.strip(), numbers)


def _gain(found: Repairs, place: int) -> str:
    table = found.table
    name = str(table.name[place])
    words = REPAIRED.get(name, name)
    gain, low, high = table.gain[place], table.low[place], table.high[place]
    if np.isinf(gain):
        return f"None. Even the best candidate, {words}, says 0 to something that happened."
    if gain < 0:
        low, high = -high, -low
    interval = f"({interval_in_words(table.level, low, high)}, {table.folds} folds)"
    if table.chosen < 0 and gain < 0:
        return (
            f"None. Even the best candidate, {words}, would worsen the log loss by "
            f"{four_digits(-gain)} {interval}."
        )
    if table.chosen < 0:
        why = "the interval holds 0, so this may be chance"
        if low > 0 and table.left < table.n:
            why = "it rules out too much"
        elif low > 0:
            why = "but no error was shown that it would mend (question 3)"
        return (
            f"None. The best candidate, {words}, would gain {four_digits(gain)} in log loss "
            f"{interval}: {why}."
        )
    temperature = getattr(found.calibrator, "temperature_", None)
    one = f" (T = {temperature:.2f})" if temperature is not None else ""
    falls = "falls" if gain >= 0 else "rises"
    change = "a gain of" if gain >= 0 else "the price of not saying 0:"
    return (
        f"{words[0].upper()}{words[1:]}{one}: on held-out rows log loss {falls} from "
        f"{table.before_left:.4f} to {table.before_left - gain:.4f}, {change} {abs(gain):.4f} "
        f"{interval}."
    )


def _errors(table: RepairTable, seen: Seen) -> str:
    """Say the calibration error after the repair, and in which number it loses to what."""
    place, before = table.chosen, seen.numbers["error"]
    own = four_digits(table.error[place])
    text = f" Expected calibration error afterwards: {own} ({seen.words})."
    if float(own) > round(before, 4):
        text += f" It was {before:.4f}: this repair gains in log loss, not in that error."
    simpler = [
        f"{REPAIRED.get(name, name)} (error {four_digits(error)}, log loss {four_digits(loss)})"
        for name, error, loss in zip(table.name, table.error, table.log_loss[:place], strict=False)
        if round(error, 4) < float(own) or round(loss, 4) < round(table.log_loss[place], 4)
    ]
    if simpler:
        text += f" Simpler, and better in one of these numbers: {', '.join(simpler)}."
    return text


def _warnings(found: Repairs, place: int) -> str:
    """Return what to know of a candidate before it is used."""
    table, text = found.table, ""
    if table.left < table.n:
        after = table.log_loss[place]
        text = (
            f" This is about the {table.left:,} rows whose outcome was called possible; of all "
            f"{table.n:,} the log loss is infinite as they are, and {four_digits(after)} repaired."
        )
    if found.certain and np.isfinite(table.gain[place]):
        before = found.certain_before
        than = f", as the predictions do in {before:,}" if before else ""
        beware = "" if found.certain <= before else "Beware: "
        text += (
            f" {beware}{'it' if beware else 'It'} says exactly 0 (or 1) in "
            f"{spell(found.certain, 'row')}{than}, and one outcome "
            "against that makes the log loss infinite."
        )
    return text


def advice(
    verdicts: Mapping[str, str], seen: Seen, table: RepairTable, found: Sequence[Answer]
) -> str:
    """Say in one sentence what verdicts and findings mean for a person who has to decide."""
    if verdicts["alignment"] == "not aligned":
        return "Decide nothing on these numbers before labels and columns have been put right."
    if seen.impossible.count and not seen.impossible.minor:
        return "Never act on a stated 0 or 1 of this model: such statements have been wrong."
    codes = {one.verdict for one in found}
    if "rows agree" in codes:
        return "Say which rows belong together, or when each was made; until then, decide nothing."
    if "error changes" in codes:
        return "Find out what has changed over time first: an average over all times hides it."
    if verdicts["costs"] == "worse than ignoring":
        return "At these costs, decide without the model: acting on it costs more."
    if seen.found:
        remedy = "ask for a better model, or more data to mend this one"
        if verdicts["repair"] == "repair":
            name = str(table.name[table.chosen])
            remedy = f"first mend them by {REPAIRED.get(name, name)}, then check on new rows"
        return f"Do not take these probabilities at their word; {remedy}."
    if seen.borderline:
        return "Wait for new rows before you rely on these probabilities: they leave a doubt."
    if not seen.power.enough:
        return (
            "These rows cannot tell whether the probabilities may be relied on; some "
            f"{seen.power.needed:,} are needed."
        )
    return (
        "These probabilities may be taken at their word, so far: an average error of "
        f"{seen.power.smallest:.{seen.digits}f} would have been seen in nine such files of ten."
    )
