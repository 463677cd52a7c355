"""Judges of lesson 09: handle rare events."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from calibkit.calibrators import shift_prior
from calibkit.inputs import FloatVector
from calibkit_course.learn import answers
from calibkit_course.learn.answers import agree, apart, same
from calibkit_course.learn.words import read_words
from calibkit_course.lesson09.gaussian import GaussianDiscriminant

SAY = read_words("09").say


# --- 9.1 ---------------------------------------------------------------------------------------


_ROWS = 10_000
_COUNTED = 246  # events in the data of the exercise
_QUANTILES = (0.05, 0.95, 0.025, 0.975)  # those that are asked for, and those of a slip


@lru_cache(maxsize=1)
def _counts() -> FloatVector:
    """Return ratio and quantiles by chance for the data of the exercise, with the same seed."""
    sample = GaussianDiscriminant(0.02, deployed=0.025, scale=1).sample(_ROWS, 88)
    rng, expected = np.random.default_rng(0), float(sample.y_prob.sum())
    by_chance = [np.sum(rng.random(_ROWS) < sample.y_prob) / expected for _ in range(2000)]
    return np.array([sample.y_true.sum() / expected, *np.quantile(by_chance, _QUANTILES)])


def judge_ratio(answer: Any) -> str | None:
    """Judge exercise 9.1: observed over expected, and its range by chance."""
    ratio, low, high = answers.as_numbers(answer, SAY["three"], 3).tolist()
    wanted = _counts()
    if not same(ratio, wanted[0], 0.002):
        slips = {"upside": 1 / wanted[0], "prevalence": _COUNTED / (0.02 * _ROWS)}
        slip = answers.slip_of(ratio, slips, 0.002) or ("mean" if 0 < ratio < 0.1 else "ratio")
        return SAY[slip].format(**apart(ratio, wanted[0]))
    if low > high:
        return SAY["order"]
    if same((low + high) / 2, wanted[0], 0.04):
        return SAY["around"]
    if not (same(low, wanted[1], 0.02) and same(high, wanted[2], 0.02)):
        if same(low, wanted[3], 0.02) and same(high, wanted[4], 0.02):
            return SAY["outer"]
        of_rows = same((high - low) / 2, 1.645 / np.sqrt(_ROWS), 0.001)
        return SAY["rows" if of_rows else "chance"]
    root = 1.645 / np.sqrt(_COUNTED)
    return SAY["observed"] if same((high - low) / 2, root, 0.001) else None


# --- 9.2 ---------------------------------------------------------------------------------------


def judge_needed(answer: Any) -> str | None:
    """Judge exercise 9.2: a function that returns how many expected events a factor takes."""
    function = answers.as_function(answer)
    for factor in (1.2, 1.5, 1.05):
        call = SAY["needed call"].format(factor=factor)
        found = answers.as_number(answers.call(function, factor, shown=call), SAY["events"])
        root = 1.645 / (factor - 1)
        slips = {
            "no square": root,
            "two sides": (1.96 / (factor - 1)) ** 2,
            "not minus": (1.645 / factor) ** 2,
            "not whole": root**2,
        }
        if found != math.ceil(root**2):
            slip = answers.slip_of(found, slips, 1.0) or "needed"
            return SAY[slip].format(call=call, wanted=math.ceil(root**2), found=found)
    return None


# --- 9.3 ---------------------------------------------------------------------------------------

_P = np.array([0.0005, 0.02, 0.3, 0.5, 0.9, 0.99])
_ROUNDED = 1e-6
_MOVES = ((0.5, 0.5), (0.5, 0.01), (0.01, 0.02), (0.2, 0.7))


def judge_shift(answer: Any) -> str | None:
    """Judge exercise 9.3: a function that moves probabilities to another prevalence."""
    function = answers.as_function(answer)
    for train, test in _MOVES:
        shown = SAY["call"].format(train=train, test=test)
        result = answers.call(function, _P.copy(), train, test, shown=shown)
        found = answers.as_numbers(result, SAY["per p"], len(_P))
        if problem := _shift_problem(found, train, test):
            return problem
    return None


def _shift_problem(found: FloatVector, train: float, test: float) -> str | None:
    wanted = shift_prior(_P, train_prevalence=train, test_prevalence=test)
    if agree(found, wanted, _ROUNDED):
        return None
    slips = {
        "logit": np.log(wanted / (1 - wanted)),
        "scaled": _P * test / train,
        "backwards": shift_prior(_P, train_prevalence=test, test_prevalence=train),
    }
    if slip := answers.slip_of(found, slips, _ROUNDED):
        return SAY[slip]
    wrong = int(np.abs(found - wanted).argmax())
    words = {"p": _P[wrong], "train": train, "test": test}
    if not 0 <= found[wrong] <= 1:
        return SAY["leaves"].format(found=found[wrong], **words)
    slip = "one side" if train == test else "value"
    return SAY[slip].format(**words, **apart(found[wrong], wanted[wrong], 4))


# --- 9.5 ---------------------------------------------------------------------------------------

_STEPS = ((0.5, 0.5), (0.5, 0.2), (0.1, 0.3), (0.02, 0.01))


def judge_em_step(answer: Any) -> str | None:
    """Judge exercise 9.5: a function that returns the next prevalence."""
    function = answers.as_function(answer)
    for train, now in _STEPS:
        shown = SAY["em call"].format(train=train, now=now)
        result = answers.call(function, _P.copy(), train, now, shown=shown)
        if np.size(result) == len(_P):
            return SAY["vector"].format(count=len(_P))
        found = answers.as_number(result, SAY["number"])
        wanted = float(shift_prior(_P, train_prevalence=train, test_prevalence=now).mean())
        if same(found, wanted, _ROUNDED):
            continue
        if same(found, float(_P.mean()), _ROUNDED):
            return SAY["plain mean"]
        back = float(shift_prior(_P, train_prevalence=now, test_prevalence=train).mean())
        if same(found, back, _ROUNDED):
            return SAY["from now"]
        return SAY["em"].format(now=now, **apart(found, wanted, 4))
    return None


JUDGES = {"9.1": judge_ratio, "9.2": judge_needed, "9.3": judge_shift, "9.5": judge_em_step}
