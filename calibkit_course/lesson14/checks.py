"""Checks and predictions of lesson 14: audit your own predictions."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from calibkit import expected_calibration_error, log_loss
from calibkit.inputs import FloatVector
from calibkit_audit.auditing import audit
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, same
from calibkit_course.learn.exercises import Check, Prediction
from calibkit_course.lesson14.report import REPORT
from calibkit_course.lesson14.sample_files import mended_file, sample_file

BROKEN, SPOKEN = "broken file", "language model"

SAY = {
    # 14.1
    "planned": "{n:,} predictions and a half-width of {half:g}",
    "wide": "for {call} this is for a 95 % interval. Here 90 % is wanted, which takes 1.645.",
    "worst": "for {call} this takes p = 1/2 for all. The predictions say how much varies.",
    "no square": "for {call} the half-width is not squared.",
    "full": "for {call} this takes the half-width for the whole width.",
    "half of half": "for {call} this halves the half-width, which is the ± already.",
    "no z": "for {call} this is one standard deviation. Half a 90 % interval is 1.645 of them.",
    "for each": "for {call} the mean is divided by the number of predictions once more.",
    "spread": "for {call} this is how much the predictions differ. What varies is each outcome.",
    "mean p": "for {call} this uses the mean prediction. Average p (1 - p) instead.",
    "not rounded": "for {call} this is right before rounding. Rows are whole: round up.",
    "rows number": "a whole number of rows",
    "down": "for {call} this is rounded down, so the half-width is missed by a little. Round up.",
    "short z": "for {call} this takes z = 1.64 or 1.65. Take 1.645, or more digits.",
    "needed": "for {call} it takes {wanted:,} rows, not {found:,.10g}.",
    # 14.3
    "pair": "a pair `(labels, probabilities)`",
    "rows": "{found:,} rows of 1,200 are left. The forty rows can be filled in; none of them "
    "needs to be thrown away.",
    "shape": "the probabilities must be a table of 1,200 rows and 3 columns.",
    "not finite": "row {row} of the probabilities holds a value that is no number.",
    "names": "these labels are names. Keep the numbers 0, 1 and 2 of the file.",
    "sums": "{count} rows still do not sum to 1.",
    "divided": "dividing by the sum keeps the zeros, and 22 of these animals were owls. What must "
    "the empty column hold?",
    "softmax": "the rows sum to 1 now, but most rows have changed. Only forty were broken.",
    "both moved": "the probabilities were moved, but not so that they belong to these labels. Move "
    "one of the two, and audit again.",
    "values": "the rows sum to 1, but {count} of them are not what the model said.",
    "labels": "the probabilities are right. Audit them: what does question 1 say about the labels?",
    "wrong way": "the labels were moved, but the wrong way. Each stands one row too low.",
    "other labels": "the probabilities are right, but {count} labels are not.",
    # 14.4
    "sign": "the sign is turned. A gain is the log loss before minus that after.",
    "seen": "this is the gain on the 200 rows that the repair was fitted to.",
    "leak": "this repair has seen all rows. Audit the first 200 only.",
    "after": "this is the log loss after the repair. How much lower is it than before?",
    "other measure": "this is the gain in calibration error. The log loss is wanted.",
    "sum": "this is summed over the rows. Give the mean per row.",
    "before": "this is the log loss before the repair. How much lower is it afterwards?",
    "promised": "this is what the audit of the first 200 rows promised. What came true?",
    "all folds": "this is what the audit of all rows promised. Audit the first 200 only.",
    "bits": "this is in bits. Log loss is in nats here: use the natural logarithm.",
    "gain off": "{found:.4f} is not the gain on the rows from 200 on. Fit to the first 200 only; "
    "then take log loss before minus after, on the others.",
}

# --- 14.1 --------------------------------------------------------------------------------------

_HALF_90 = 1.6448536269514722


def judge_rows_needed(answer: Any) -> str | None:
    """Judge exercise 14.1: a function of predictions and a half-width."""
    function = answers.as_function(answer)
    prob = np.array([0.7, 0.1, 0.95, 0.4, 0.8])
    # The last one tells rounding down from a z of three decimals.
    cases = ((prob, 0.01), (np.array([0.02, 0.03, 0.3]), 0.005), (prob, 0.05))
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


# --- what the lesson asks ----------------------------------------------------------------------

TITLE = "Audit your own predictions"
SECOND = "14.3 14.4 14d 14e"  # what the second notebook asks

CHECKS = {
    "14.1": Check(
        task="Plan the sample size",
        variable="rows_needed",
        judge=judge_rows_needed,
        hints=(
            "The mean of n outcomes has the variance mean(p (1 - p)) / n. Half a 90 % interval is "
            "1.645 standard deviations.",
            "Set 1.645 times the square root of mean(p (1 - p)) / n equal to the half-width. Solve "
            "for n, and round up with `math.ceil`.",
        ),
        praise="half the width takes four times the rows. Ask before the data are collected.",
    ),
    "14.2": Check(
        task="Tell the bettor, in two honest sentences",
        variable="my_report",
        rubric=REPORT,
        hints=(
            "Open the report in full. The first sentence may begin: In 8,886 games … Its numbers "
            "stand in the third and fourth answers.",
            "The second may begin: At 9 to 1 … Its numbers stand below the lights. What does an "
            "interval from a loss to a win leave open?",
        ),
    ),
    "14.3": Check(
        task="Repair a broken file",
        variable="my_rows",
        judge=judge_rows,
        hints=(
            "Print some rows that do not sum to 1. Which column looks odd, and what must it hold?",
            "Fill the empty column with `1 - prob[bad].sum(axis=1)`. Then audit: the answer to "
            "question 1 says how the labels stand. `np.roll` moves them, as this export has done.",
        ),
        praise="each number that you filled in follows from the others. Dividing by the sum would "
        "have called 22 owls impossible.",
    ),
    "14.4": Check(
        task="Try the repair on rows it has not seen",
        variable="my_gain",
        judge=judge_gain,
        hints=(
            "Audit the first 200 rows only. `report.calibrator.calibrate(...)` repairs the others.",
            "The gain is `log_loss(y, before).value - log_loss(y, after).value`, on the rows from "
            "200 on.",
        ),
        praise="the gain on new rows lies inside the interval that the audit promised.",
        tolerance=0.0005,
    ),
}

PREDICTIONS = {
    "14a": Prediction(
        question="A calibrated model has an ECE of 0.02 on 1,500 rows. Somebody joins its "
        "predictions to the labels in a wrong order. What does the ECE become?",
        options=("about 0.02", "about 0.1", "about 0.2", "about 0.5"),
        outcome="about 0.2",
        why="Whatever is predicted, the base rate happens: four in ten. So the error is how far "
        "the predictions lie from 0.4, on average.",
        tells=(r"ECE[^.]{0,20}0\.210",),
    ),
    "14b": Prediction(
        question="The rows of a screening come in, from 30 to 2,500. Which of four lights "
        "is the first to give a firm answer?",
        options=("alignment", "calibration", "costs", "repair"),
        outcome="calibration",
        why="Its logits are twice as large as they should be, which 120 rows show. That each label "
        "belongs to its prediction takes more: the audit wants to be very sure of that.",
        tells=(r"before the first|miscalibrated, with too|first 120",),
    ),
    "14c": Prediction(
        question="Trust in these forecasts has lost the bettor 82. Will the report say that at her "
        "price trust costs more than no bet at all?",
        options=("yes", "no", "it cannot tell"),
        outcome="it cannot tell",
        why="All 8,886 games speak about the error, but only the 478 bets about her price. With 48 "
        "of them lost she would be even, and chance moves that count by six or seven.",
        tells=(r"interval[^.]{0,40}holds 0|proves less than|is not shown|leaves? open whether",),
    ),
    "14d": Prediction(
        question="A language model says 0.5, 0.7, 0.8, 0.9, 0.95 or 0.99, and is right less often. "
        "Which repair does the audit of this file recommend?",
        options=("offset", "temperature", "Platt", "beta", "isotonic", "no repair"),
        outcome="offset",
        why="A temperature cannot move a stated 0.5, and there the model is right one time in six. "
        "An offset, one shift of all log odds, moves every number down. Platt scaling, which turns "
        "them too, the beta map and isotonic regression gain no more, and are less simple.",
        tells=(
            r"cannot move (a stated )?0\.5|one time in six|offset[^.]{0,60}(recommend|shifts)",
            r"repair by (an )?offset",
        ),
    ),
    "14e": Prediction(
        question="A hundred calibrated models are tested every evening for a hundred days, at the "
        "5 % level, on all rows so far. How many are accused on at least one evening?",
        options=("about 5", "about 10", "about 35", "about 99"),
        outcome="about 35",
        why="Every look is another chance to err. They are not independent, as each evening has "
        "most of its rows from the evening before, else 99 would be accused.",
        tells=(r"cr(y|ies) wolf|accused? (34|35|37)|another chance to err",),
    ),
}
