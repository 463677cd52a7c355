"""Judges of lesson 14: audit your own predictions."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from calibkit import expected_calibration_error, log_loss
from calibkit.inputs import FloatVector
from calibkit_audit.auditing import audit
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, same
from calibkit_course.learn.words import read_words
from calibkit_course.lesson14.sample_files import mended_file, sample_file

BROKEN, SPOKEN = "broken file", "language model"

SAY = read_words("14").say

# --- 14.1 --------------------------------------------------------------------------------------

_HALF_90 = 1.6448536269514722


def judge_rows_needed(answer: Any) -> str | None:
    """Judge exercise 14.1: a function of predictions and a half-width."""
    function = answers.as_function(answer)
    prob = np.array([0.7, 0.1, 0.95, 0.4, 0.8])
    # The last two tell rounding down, and to the nearest, from a z of three decimals.
    cases = ((prob, 0.01), (np.array([0.02, 0.03, 0.3]), 0.005), (prob, 0.05), (prob, 0.02))
    for prob, half in cases:
        shown = SAY["planned"].format(n=len(prob), half=half)
        result = answers.call(function, prob, half, shown=shown)
        found = answers.as_number(result, SAY["rows number"])
        exact = _rows_needed(prob, half)
        wanted = math.ceil(exact)
        if found in (wanted, math.ceil(_rows_needed(prob, half, 1.645))):
            continue
        if found == math.floor(exact):
            return SAY["down"].format(call=shown)
        if same(found, exact, 0.01 + 1e-3 * exact) and found != round(found):
            raise Almost(SAY["not rounded"].format(call=shown))
        for slip, factor in _planning_slips(prob, half).items():
            if same(found, factor * exact, 1 + 0.007 * factor * exact):  # as z = 1.64 or 1.65 does
                return SAY[slip].format(call=shown)
        return SAY["needed"].format(call=shown, wanted=wanted, found=found)
    return None


def _rows_needed(prob: FloatVector, half: float, z: float = _HALF_90) -> float:
    return float((z / half) ** 2 * np.mean(prob * (1 - prob)))


def _planning_slips(prob: FloatVector, half: float) -> dict[str, float]:
    """Return how many times too many rows usual slips would take."""
    mean, variance = float(prob.mean()), float(np.mean(prob * (1 - prob)))
    return {
        "short z": 1,
        "wide": (1.959963984540054 / _HALF_90) ** 2,
        "no z": 1 / _HALF_90**2,
        "worst": 0.25 / variance,
        "no square": half / _HALF_90,
        "full": 0.25,
        "half of half": 4,
        "for each": 1 / len(prob),
        "spread": float(prob.var()) / variance,
        "mean p": mean * (1 - mean) / variance,
    }


# --- 14.3 --------------------------------------------------------------------------------------


_ROWS = 1200


def judge_rows(answer: Any) -> str | None:
    """Judge exercise 14.3: the repaired labels and probabilities."""
    labels, prob = answers.as_list(answer, SAY["pair"], 2)
    table, labels = _table(prob), _row_of_labels(labels)
    found = answers.as_numbers(labels, length=len(table))
    found, table = _as_in_the_file(found, table)
    wanted_labels, wanted = (part[: len(table)] for part in mended_file())
    if len(table) < _ROWS - 1 or len(table) > _ROWS:
        return SAY["rows"].format(found=len(table))
    off = np.abs(table.sum(axis=1) - 1) > 1e-5
    if off.any():
        return SAY["sums"].format(count=int(off.sum()))
    changed = (np.abs(table - wanted) > 1e-6).any(axis=1)
    if changed.any():
        return _changed(table, changed)
    wrong = found != wanted_labels
    if not wrong.any():
        return None
    broken = sample_file(BROKEN).y_true[: len(found)]
    if np.array_equal(found, broken):
        return SAY["labels"]
    if np.array_equal(found, np.roll(sample_file(BROKEN).y_true, 1)[: len(found)]):
        return SAY["wrong way"]
    return SAY["other labels"].format(count=int(wrong.sum()))


def _as_in_the_file(labels: FloatVector, table: FloatVector) -> tuple[FloatVector, FloatVector]:
    """Return pairs in the order of the predictions, if those were moved instead."""
    given = np.array(sample_file(BROKEN).y_true)
    if len(labels) == _ROWS and np.array_equal(labels, given):
        back = np.roll(table, -1, axis=0)
        kept = np.abs(back - mended_file()[1]).max(axis=1) <= 1e-6
        if kept.mean() > 0.5:
            return np.roll(labels, -1), back
    return labels, table


def _table(prob: Any) -> FloatVector:
    """Return the probabilities as a table of three columns."""
    try:
        table = np.asarray(prob, dtype=np.float64)
    except (TypeError, ValueError):
        raise answers.WrongKind(SAY["shape"]) from None
    if table.ndim != 2 or table.shape[1] != 3:
        raise answers.WrongKind(SAY["shape"])
    bad = ~np.isfinite(table).all(axis=1)
    if bad.any():
        raise answers.WrongKind(SAY["not finite"].format(row=int(bad.argmax())))
    return table


def _row_of_labels(labels: Any) -> Any:
    """Return labels that came as a column, or as a frame of one column, as a row."""
    row = np.asarray(labels)
    row = row.ravel() if row.ndim == 2 and 1 in row.shape else row
    if row.dtype.kind in "US" or (row.size and isinstance(row.flat[0], str)):
        raise answers.WrongKind(SAY["names"])
    return row


def _changed(table: FloatVector, changed: Any) -> str:
    """Say what was done to the rows instead."""
    given = np.array(sample_file(BROKEN).y_prob)[: len(table)]
    if np.allclose(table, given / given.sum(axis=1, keepdims=True)):
        return SAY["divided"]
    if changed.sum() > len(table) // 2:
        shifted = (np.roll(table, step, axis=0) for step in (1, -1))
        off = [np.abs(one - mended_file()[1][: len(table)]).max(axis=1) for one in shifted]
        moved = np.mean(np.array(off) <= 1e-6, axis=1).max() > 0.5
        return SAY["both moved" if moved else "softmax"]
    return SAY["values"].format(count=int(changed.sum()))


# --- 14.4 --------------------------------------------------------------------------------------

_FIT = 200


@lru_cache(maxsize=1)
def _gains() -> dict[str, float]:
    """Return the gain of 14.4, and what slips would give."""
    rows = sample_file(SPOKEN)
    y, p = rows.y_true, rows.y_prob
    first, whole = audit(y[:_FIT], p[:_FIT]), audit(y, p)
    repairs: list[Any] = [first.calibrator, whole.calibrator]
    repaired, leaked = (repair.calibrate(p) for repair in repairs)

    def gain(after: Any, part: slice) -> float:
        return log_loss(y[part], p[part]).value - log_loss(y[part], after[part]).value

    new, seen = slice(_FIT, None), slice(_FIT)
    error = [expected_calibration_error(y[new], q[new]).value for q in (p, repaired)]
    wanted = gain(repaired, new)
    return {
        "wanted": wanted,
        "sign": -wanted,
        "seen": gain(repaired, seen),
        "leak": gain(leaked, new),
        "before": log_loss(y[new], p[new]).value,
        "after": log_loss(y[new], repaired[new]).value,
        "promised": first["repair"].numbers["gain"],
        "all folds": whole["repair"].numbers["gain"],
        "bits": wanted / math.log(2),
        "other measure": error[0] - error[1],
        "sum": wanted * (len(y) - _FIT),
    }


def judge_gain(answer: Any) -> str | None:
    """Judge exercise 14.4: the gain in log loss on new rows."""
    found, known = answers.as_number(answer), _gains()
    if same(found, known["wanted"], 5e-4):
        return None
    slip = answers.slip_of(found, known, 5e-4) or "gain off"
    return SAY[slip].format(found=found)


JUDGES = {"14.1": judge_rows_needed, "14.3": judge_rows, "14.4": judge_gain}
