"""Judges of lesson 10. What is fitted is judged in `fitted`."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import softmax

from calibkit.calibrators import TemperatureScaling
from calibkit.scores import log_loss
from calibkit_course.learn import answers
from calibkit_course.learn.answers import apart, same
from calibkit_course.learn.words import read_words
from calibkit_course.lesson10 import problems as problems
from calibkit_course.lesson10.fitted import judge_step, judge_temperature, judge_torch, temperature
from calibkit_course.lesson10.problems import Pair
from calibkit_course.lesson10.smoothing import undo_label_smoothing

SAY = read_words("10").say

# --- 10.4: probabilities fed as logits ---------------------------------------------------------


def judge_diagnosis(answer: Any) -> str | None:
    """Judge exercise 10.4: which file was softmaxed twice, and its least log loss."""
    letter, number = answers.as_list(answer, SAY["diagnosis"], 2)
    name = answers.as_option(letter, problems.three_files(20), SAY["letters"])
    if name != problems.CULPRIT:
        return SAY["loud" if name == "A" else "fine"].format(name=name)
    return _floor_slip(answers.as_number(number))


def _floor_slip(found: float) -> str | None:
    wanted = float(np.log(1 + 9 / math.e))
    slips = {
        "floor of logits": 0.0,
        "uniform": float(np.log(10)),
        "two classes": float(np.log(1 + 1 / math.e)),
        "probability": float(math.e / (math.e + 9)),
        "in bits": wanted / float(np.log(2)),
        "in digits": wanted / float(np.log(10)),
    }
    if same(found, wanted, 2e-3):
        return None
    if slip := answers.slip_of(found, slips, 2e-3):
        return SAY[slip]
    reported = [value for losses in problems.losses_of_files().values() for value in losses]
    if any(same(found, value, 1e-3) for value in reported):
        return SAY["reported"]
    return SAY["floor off"].format(**apart(found, wanted, 4))


# --- 10.5: label smoothing ---------------------------------------------------------------------


@lru_cache(maxsize=1)
def _smoothed() -> dict[str, tuple[float, float, float]]:
    """Return T and both log losses on the test half, and what slips would give."""
    fit, test = problems.smoothed_model()
    scaling = TemperatureScaling("probabilities").fit(*fit)
    on_test = TemperatureScaling("probabilities").fit(*test)
    mistaken = TemperatureScaling("logits").fit(fit[0] + 1.0, fit[1])
    losses = [
        [
            log_loss(label, prob).value,
            log_loss(label, scaling.calibrate(prob)).value,
            log_loss(label, undo_label_smoothing(prob, amount=problems.AMOUNT)).value,
        ]
        for prob, label in (fit, test)
    ]
    (_, fit_scaled, fit_undone), (plain, scaled, undone) = losses
    return {
        "right": (scaling.temperature_, scaled, undone),
        "temperatures": (on_test.temperature_, mistaken.temperature_, plain),
        "fit": (0.0, fit_scaled, fit_undone),
    }


def judge_smoothing(answer: Any) -> str | None:
    """Judge exercise 10.5: the temperature of a smoothed model, and two log losses."""
    found = answers.as_numbers(answer, SAY["three"], 3)
    wanted, on_fit = _smoothed()["right"], _smoothed()["fit"]
    on_test, mistaken, plain = _smoothed()["temperatures"]
    if not same(found[0], wanted[0], 1e-3):
        if same(found[0], on_test, 1e-3):
            return SAY["fitted on test"]
        if same(found[0], mistaken, 1e-3):
            return SAY["as logits"]
        slip = "above one" if found[0] > 1 else "temperature off"
        return SAY[slip].format(**apart(found[0], wanted[0]))
    for place, slip in ((1, "second"), (2, "third")):
        if same(found[place], wanted[place], 5e-4):
            continue
        if same(found[place], on_fit[place], 5e-4):
            return SAY["fitting half"].format(place=place + 1)
        if place == 1 and same(found[place], plain, 5e-4):
            return SAY["not scaled"]
        return SAY[slip].format(**apart(found[place], wanted[place], 4))
    return None


# --- 10.2: the right split ---------------------------------------------------------------------


def judge_report(answer: Any) -> str | None:
    """Judge exercise 10.2: a function that fits T to the right split and reports another."""
    function = answers.as_function(answer)
    for case, seed in enumerate((106, 107), start=1):
        splits = problems.three_splits(seed)
        shown = SAY["splits"].format(case=case)
        result = answers.call(function, *splits.values(), shown=shown)
        found = answers.as_number(result)
        wanted = _loss_after(splits, "validation", "test")
        if not same(found, wanted, 1e-4):
            return _report_slip(found, splits, shown)
    return None


def _report_slip(found: float, splits: dict[str, Pair], case: str) -> str:
    logits, label = splits["test"]
    if same(found, log_loss(label, softmax(logits, axis=1)).value, 1e-4):
        return SAY["no scaling"]
    pooled = splits | {"pooled": _pool(splits["train"], splits["validation"])}
    for slip in ("test", "train", "pooled"):
        if same(found, _loss_after(pooled, slip, "test"), 1e-4):
            return SAY[slip]
    for split in ("train", "validation"):
        if same(found, _loss_after(splits, "validation", split), 1e-4):
            return SAY["reported on"].format(split=split)
    wanted = _loss_after(splits, "validation", "test")
    return SAY["report off"].format(case=case, **apart(found, wanted, 4))


def _pool(one: Pair, other: Pair) -> Pair:
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


def _loss_after(splits: dict[str, Pair], fitted_to: str, reported_on: str) -> float:
    logits, label = splits[reported_on]
    prob = softmax(logits / temperature(*splits[fitted_to]), axis=1)
    return log_loss(label, prob).value


JUDGES = {
    "10.1": judge_temperature,
    "10.2": judge_report,
    "10.3": judge_step,
    "10.4": judge_diagnosis,
    "10.5": judge_smoothing,
    "10.6": judge_torch,
}
