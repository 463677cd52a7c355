"""Judges of lesson 15: judge the judge."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from calibkit.inputs import FloatVector
from calibkit_course.learn import answers
from calibkit_course.learn.answers import apart, same, slip_of
from calibkit_course.learn.words import read_words
from calibkit_course.lesson15 import view

SAY = read_words("15").say


# --- 15.1 --------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _labelled() -> tuple[FloatVector, FloatVector]:
    """Return 2,000 scores, and the labels of the first 25; no slip is the rounded rate."""
    score, people = view.answers(2_000, np.random.default_rng(155))
    return score, people[:25]


def shift_of(checked: FloatVector, label: FloatVector) -> float:
    """Return by how much logits move until their scores have the mean of the labels."""
    mean = label.mean()
    return float(brentq(lambda by: expit(logit(checked) + by).mean() - mean, -20, 20))


def judge_scale(answer: Any) -> str | None:
    """Judge exercise 15.1: a function that repairs the judge by one number."""
    score, label = _labelled()
    checked, function = score[:25], answers.as_function(answer)
    result = answers.call(function, score, checked, label, shown=SAY["rate call"])
    found, by = answers.as_number(result, SAY["rate"]), shift_of(checked, label)
    wanted = float(expit(logit(score) + by).mean())
    if same(found, wanted, 0.0005):
        return None
    people, mean = label.mean(), checked.mean()
    slips = {
        "judge": score.mean(),
        "people": people,
        "by": by,
        "added": score.mean() + people - mean,
        "backwards": expit(logit(score) - by).mean(),
        "of logits": expit(logit(score) + logit(people) - logit(checked).mean()).mean(),
        "of means": expit(logit(score) + logit(people) - logit(mean)).mean(),
    }
    return SAY[slip_of(found, slips, 0.0005) or "shift"].format(**apart(found, wanted))


# --- 15.2 --------------------------------------------------------------------------------------


def judge_two_rates(answer: Any) -> str | None:
    """Judge exercise 15.2: the true rate from a pass rate and two error rates."""
    found, passed, hit, false = answers.as_number(answer), 0.90, 0.97, 0.72
    wanted = (passed - false) / (hit - false)
    if same(found, wanted, 0.005):
        return None
    slips = {
        "only false": passed - false,
        "only hits": passed * hit,
        "no answer": (passed - false) / hit,
        "specific": (passed + false - 1) / (hit + false - 1),
        "failed": 1 - wanted,
    }
    slip = "percent" if same(found / 100, wanted, 0.005) else slip_of(found, slips, 0.005)
    return SAY[slip or "two rates"].format(**apart(found, wanted, 2))


# --- 15.3 --------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _chosen() -> tuple[FloatVector, FloatVector, FloatVector, FloatVector]:
    """Return all scores; scores, labels and chances of rows that were chosen by score."""
    rng = np.random.default_rng(153)
    score, people = view.answers(2_000, rng)
    chance = 0.02 + score * (1 - score)
    chosen = np.flatnonzero(rng.random(2_000) < chance)
    return score, score[chosen], people[chosen], chance[chosen]


def judge_weighted(answer: Any) -> str | None:
    """Judge exercise 15.3: a corrected rate of rows that were not chosen alike."""
    score, checked, label, chance = _chosen()
    function = answers.as_function(answer)
    result = answers.call(function, score, checked, label, chance, shown=SAY["weighted call"])
    found, mean = answers.as_number(result, SAY["rate"]), score.mean()
    gap, weight = label - checked, 1 / chance
    wanted = float(mean + np.average(gap, weights=weight))
    by_size = mean + (gap * weight).sum() / len(score)  # Horvitz and Thompson: right, too
    if same(found, wanted, 1e-5) or same(found, by_size, 1e-5):
        return None
    slips = {
        "judge": mean,
        "equal": mean + gap.mean(),
        "by chance": mean + np.average(gap, weights=chance),
        "labels only": np.average(label, weights=weight),
        "sign": mean - np.average(gap, weights=weight),
    }
    return SAY[slip_of(found, slips, 1e-5) or "weighted"].format(**apart(found, wanted))


# --- 15.4 --------------------------------------------------------------------------------------


def judge_needed(answer: Any) -> str | None:
    """Judge exercise 15.4: how many labels a margin of 0.02 takes."""
    score, people = view.answers(10_000, np.random.default_rng(154))
    checked, label = score[:200], people[:200]
    function = answers.as_function(answer)
    result = answers.call(function, score, checked, label, shown=SAY["needed call"])
    found = answers.as_number(result, SAY["number"])

    def needed(square: float, gap: FloatVector, own: float) -> float:
        return float(gap.var() / (square - own))

    gap, own, square = label - checked, score.var() / len(score), (0.02 / 1.96) ** 2
    wanted = needed(square, gap, own)
    if same(found, wanted, 10):  # rounded, or with n - 1
        return None
    slips = {
        "free judge": needed(square, gap, 0),
        "no judge": needed(square, label, 0),
        "whole": needed(square / 4, gap, own),
        "one error": needed(0.02**2, gap, own),
    }
    return SAY[slip_of(found, slips, 10) or "needed"].format(**apart(found, wanted, 0))


JUDGES = {
    "15.1": judge_scale,
    "15.2": judge_two_rates,
    "15.3": judge_weighted,
    "15.4": judge_needed,
}
