"""Judges of lesson 08: test calibration."""

from functools import lru_cache, partial
from typing import Any

import numpy as np

from calibkit.chance import null_level
from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit.inputs import FloatVector
from calibkit_course.learn import answers
from calibkit_course.learn.answers import same
from calibkit_course.learn.words import read_words
from calibkit_course.lesson08 import checks_further

SAY = read_words("08").say


# --- 8.1 ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _files() -> dict[str, tuple[Any, FloatVector]]:
    """Return outcomes and predictions of an honest model, of one far off, and of a sure one."""
    fair = LogitDistortion(scores=(2, 18)).sample(400, rng=861)
    off = LogitDistortion(slope=0).sample(2000, rng=862)
    sure = np.tile([0, 1], 20)
    return {
        "fair": (fair.y_true, fair.y_prob),
        "off": (off.y_true, off.y_prob),
        "sure": (sure, sure.astype(np.float64)),
    }


@lru_cache(maxsize=1)
def _fair_p() -> float:
    rows = _files()["fair"]
    return float(
        null_level(expected_calibration_error, *rows, bins=10, n_draws=2000, rng=86).p_value
    )


def _with(function: Any, rng: np.random.Generator, label: Any, prob: Any) -> Any:
    return function(label, prob, rng)


def judge_test(answer: Any) -> str | None:
    """Judge exercise 8.1: a function that redraws outcomes and returns a p-value."""
    function, found = answers.as_function(answer), {}
    for name, (label, prob) in _files().items():
        rng = np.random.default_rng(86)  # a learner's function may use it up
        result = answers.call(partial(_with, function, rng), label, prob, shown=SAY[name])
        found[name] = answers.as_number(result, SAY["a p"])
    if max(found.values()) > 1.5:
        return SAY["number"]
    if found["off"] > 0.9 and found["fair"] < 0.95:
        return SAY["better"]
    if not same(found["fair"], _fair_p(), 0.17):  # five standard deviations of 199 redraws
        return SAY["unlike"].format(**answers.apart(found["fair"], _fair_p(), 2))
    if found["off"] == 0 or found["sure"] > 1:
        return SAY["plus one"]
    if found["sure"] < 1:
        return SAY["as bad"]
    if not same(found["off"], 1 / 200, 0.005):
        return SAY["rounds"].format(found=f"{found['off']:.3f}")
    return None


# --- 8.2 ---------------------------------------------------------------------------------------

_CAUGHT = 118 / 200  # what the lesson prints


def judge_share(answer: Any) -> str | None:
    """Judge exercise 8.2: how many of the rejected models are honest."""
    found, honest, others = answers.as_number(answer), 97 * 0.05, 3 * _CAUGHT
    wanted = honest / (honest + others)
    if same(found, wanted, 0.005):
        return None
    slips = {
        "models": honest,
        "level": 0.05,
        "power": _CAUGHT,
        "others": 1 - wanted,
        "all": (honest + others) / 100,
        "counts": 12 / (12 + 118),
        "alike": 0.05 / (0.05 + _CAUGHT),
        "all caught": honest / (honest + 3),
        "measured": 1.2 * honest / (1.2 * honest + others),
    }
    slip = "percent" if same(found / 100, wanted, 0.005) else answers.slip_of(found, slips, 0.005)
    return SAY[slip or "share off"].format(**answers.apart(found, wanted, 2))


JUDGES = {"8.1": judge_test, "8.2": judge_share, **checks_further.JUDGES}
