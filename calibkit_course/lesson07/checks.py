"""Judges of lesson 07: fit smoother maps."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from calibkit.fakes import FakeSample, LogitDistortion
from calibkit.inputs import FloatVector, expit, logit
from calibkit.scores import brier_score, log_loss
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, same
from calibkit_course.learn.words import read_words

SAY = read_words("07").say

# The shifts of slanted pieces in equal bins: in the first, every slip counts another number.
_SHIFTS = (
    np.array([0.5, 0.35, 0.2, 0.4, 0.25, 0.1, 0.0995, -0.05, 0.15, 0.1]),
    np.array([0.3, 0.1, 0.2, -0.1]),
)
_FOUR_DIGITS = 5.1e-5  # an answer may be rounded to them


def judge_falls(answer: Any) -> str | None:
    """Judge exercise 7.1: a function that counts the edges at which a map falls."""
    function = answers.as_function(answer)
    for shifts in (*_SHIFTS, None):
        n_bins, step = (8, np.zeros(7)) if shifts is None else (len(shifts), np.diff(shifts))
        shown = SAY["call"].format(n_bins=n_bins)
        curve, near = _curve(shifts), np.arange(1, 15) / 15
        result = answers.call(function, curve, n_bins, shown=shown)
        found, wanted = answers.as_number(result, SAY["edges"]), np.sum(step < 0)
        if found != wanted:
            slips = {
                "rises": np.sum(step > 0),
                "level": np.sum(step <= 0),
                "fixed": np.sum(curve(near + 1e-9) < curve(near - 1e-9)),
                "whole": np.sum(step + 1 / n_bins < 0),
                "edge to edge": np.sum(step[1:] + 1 / n_bins < 0),
                "far": np.sum(step < -1e-3),
            }
            slip = answers.slip_of(found, slips, 0) or "falls"
            return SAY[slip].format(n_bins=n_bins, wanted=wanted, found=found)
    return None


def _curve(shifts: FloatVector | None) -> Callable[[Any], FloatVector]:
    """Return a map of slanted pieces in equal bins, or one that says 0.5 of everybody."""

    def curve(prob: Any) -> FloatVector:
        p = np.asarray(prob, dtype=np.float64)
        if np.any((p < 0) | (p > 1)):
            raise ValueError(SAY["outside"])
        if shifts is None:
            return np.full(p.shape, 0.5)
        index = np.minimum((p * len(shifts)).astype(int), len(shifts) - 1)
        return np.asarray(p + shifts[index])

    return curve


@lru_cache(maxsize=1)
def _sample() -> FakeSample:
    """Return the sample of exercise 7.2."""
    return LogitDistortion(slope=0.4).sample(2000, rng=72)


def _loss_at(t: float, score: Callable[..., Any] = log_loss) -> float:
    sample = _sample()
    return float(score(sample.y_true, expit(logit(sample.y_prob) / t)))


@lru_cache(maxsize=1)
def _temperatures() -> dict[str, float]:
    """Return T by log loss and by the Brier score, and the lowest log loss."""
    by_loss, by_brier = (
        minimize_scalar(
            _loss_at, args=(score,), bounds=(0.05, 20), method="bounded", options={"xatol": 1e-7}
        )
        for score in (log_loss, brier_score)
    )
    return {"T": by_loss.x, "loss": by_loss.fun, "brier": by_brier.x}


# Where the ECE of 15 bins is lowest; it has several local minima, so it is not searched anew.
_ECE_T = 2.4852


def judge_temperature(answer: Any) -> str | None:
    """Judge exercise 7.3: the temperature that minimises the log loss."""
    if hasattr(answer, "x") and hasattr(answer, "fun"):
        raise Almost(SAY["result"])
    found, best = answers.as_number(answer), _temperatures()
    if same(found, best["T"], 0.005):
        return None
    for key, mistake, tolerance in (
        ("inverse", 1 / best["T"], 0.005),
        ("brier", best["brier"], 0.005),
        ("truth", 2.5, 1e-9),
        ("ece", _ECE_T, 0.01),
    ):
        if same(found, mistake, tolerance):
            return SAY[key]
    if found <= 0:
        return SAY["negative" if found < 0 else "zero"]
    side = "larger" if found < best["T"] else "smaller"
    return SAY["T"].format(found=found, over=_loss_at(found) - best["loss"], side=side)


LUCKY = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85])  # predictions of 7.2


def judge_lucky(answer: Any) -> str | None:
    """Judge exercise 7.2: a map that is off by 0.05 everywhere and reports the true error."""
    found = answers.as_numbers(answer, SAY["ten"], len(LUCKY))
    off, reports = np.abs(found - LUCKY - 0.1), float(np.abs(found - LUCKY).mean())
    if off.max() < _FOUR_DIGITS:
        return SAY["truth itself"]
    worst = int(np.argmax(np.abs(off - 0.05)))
    if not same(off[worst], 0.05, _FOUR_DIGITS):
        if answers.agree(np.abs(found - LUCKY), np.full(len(LUCKY), 0.05), _FOUR_DIGITS):
            return SAY["base"]
        return SAY["near"].format(p=LUCKY[worst], found=off[worst])
    return None if same(reports, 0.1, _FOUR_DIGITS) else SAY["number"].format(found=reports)


# By Spearman's correlation on the 20 fakes of the lesson; a test computes it.
RANKING = ("PL3", "PL", "Platt", "15 bins")


def judge_ranking(answer: Any) -> str | None:
    """Judge exercise 7.4: the names of four evaluators, the best first."""
    names = answers.as_list(answer, SAY["four"], len(RANKING))
    read = tuple(answers.as_option(name, RANKING, SAY["four"]) for name in names)
    if read == RANKING:
        return None
    if len(set(read)) < len(read):
        return SAY["twice"]
    if read == RANKING[::-1]:
        return SAY["reversed"]
    places = [RANKING.index(name) for name in read]
    wrong = next(k for k in range(len(places) - 1) if places[k] > places[k + 1])
    return SAY["order"].format(first=read[wrong], second=read[wrong + 1])


JUDGES = {"7.1": judge_falls, "7.2": judge_lucky, "7.3": judge_temperature, "7.4": judge_ranking}
