"""Checks and predictions of lesson 15: judge the judge."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from calibkit.inputs import FloatVector
from calibkit_course.learn import answers
from calibkit_course.learn.answers import apart, same, slip_of
from calibkit_course.learn.exercises import Check, Prediction
from calibkit_course.lesson15 import view

SAY = {
    "rate": "a rate, one number",
    # 15.1
    "rate call": "2,000 scores and 25 labels",
    "judge": "this is the mean of the judge's own scores. Shift its logits first.",
    "people": "this is the mean of the labels. The shifted scores of all rows have another one.",
    "added": "this moves the scores themselves, and some leave [0, 1]. Move their logits.",
    "backwards": "this shifts the wrong way: the judge's mean moves away from that of the labels.",
    "of means": "this takes the distance of the logits of two means. The mean of shifted scores "
    "is another number: look for the shift at which it is right.",
    "shift": "the mean of all rows should be {wanted}, but here it is {found}.",
    # 15.2
    "percent": "a rate lies between 0 and 1, and this looks like one in per cent.",
    "only false": "this takes away what is passed wrongly, as if no answer were good. Divide by "
    "what is left of the judge: 0.97 - 0.72.",
    "only hits": "this corrects for good answers that fail alone.",
    "no answer": "this divides by 0.97. Divide by the difference, 0.97 - 0.72: it tells good from "
    "bad.",
    "specific": "this takes 0.72 as the share of bad answers that *fail*. It is the share that "
    "pass.",
    "failed": "this is the share of bad answers. How many are good?",
    "two rates": "{found} is not the rate. Solve 0.90 = 0.97 r + 0.72 (1 - r) for r.",
    # 15.3
    "weighted call": "2,000 scores, and scores, labels and chances of some",
    "equal": "this takes all labels alike. The doubtful rows were chosen more often.",
    "by chance": "this weighs by the chance. A row that is seldom chosen stands for many: 1 / "
    "chance.",
    "labels only": "this is the weighted mean of the labels, without the judge.",
    "sign": "the gap is label minus score. This has it the other way round.",
    "weighted": "the rate should be {wanted}, but here it is {found}.",
    # 15.4
    "needed call": "10,000 scores, and scores and labels of 200",
    "number": "a number of labels",
    "free judge": "this leaves out the variance of the judge's own mean, which no label lowers.",
    "no judge": "these are the labels that people alone would need. Take the gaps.",
    "whole": "this makes the whole interval 0.02 wide. ± 0.02 is half of it.",
    "one error": "this makes one standard error 0.02. Half the interval is 1.96 of them.",
    "needed": "the labels should be {wanted}, but here they are {found}.",
}


# --- 15.1 --------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _labelled() -> tuple[FloatVector, FloatVector]:
    """Return 2,000 scores, and the labels of the first 25."""
    score, people = view.answers(2_000, np.random.default_rng(151))
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
        "added": score.mean() + people - mean,
        "backwards": expit(logit(score) - by).mean(),
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


# --- what the lesson asks ----------------------------------------------------------------------

TITLE = "Judge the judge"
SECOND = "15.2 15.3 15.4 15f"  # what the second notebook asks

CHECKS = {
    "15.1": Check(
        task="Repair the judge",
        variable="my_rate",
        judge=judge_scale,
        hints=(
            "After a shift by `b` the mean of the checked scores is "
            "`expit(logit(checked) + b).mean()`.",
            "`brentq(f, -9, 9)` finds the b at which `f(b)` is 0: let f be that mean minus "
            "`label.mean()`. Then shift `judge` by it, and take the mean.",
        ),
        praise="this judge is calibrated in the large, and its mean is an estimate.",
    ),
    "15.2": Check(
        task="Undo two error rates",
        variable="my_share",
        judge=judge_two_rates,
        hints=(
            "Let r be the true rate. The judge passes 97 % of r, and 72 % of 1 - r.",
            "0.90 = 0.97 r + 0.72 (1 - r). Bring r to one side, and divide.",
        ),
        praise="you divide by 0.97 - 0.72: an error of the 90 % counts four times, one of the 97 % "
        "nearly three times.",
        tolerance=0.005,
    ),
    "15.3": Check(
        task="Weigh what was chosen",
        variable="my_weighted",
        judge=judge_weighted,
        hints=(
            "A row that was chosen with the chance 0.1 stands for ten: its weight is 1 / 0.1.",
            "`np.average(gap, weights=1 / chance)` in place of `gap.mean()`.",
        ),
        praise="choose by score as you like, if you write down with which chance.",
    ),
    "15.4": Check(
        task="Price a margin",
        variable="my_needed",
        judge=judge_needed,
        hints=(
            "± 0.02 means `1.96 * variance**0.5 == 0.02`. Which `variance` is that?",
            "`(0.02 / 1.96) ** 2` is the whole. Take the judge's part away, and divide the "
            "variance of the gaps by what is left.",
        ),
        praise="now a margin has a price, before anybody is paid.",
        tolerance=10,
    ),
}

PREDICTIONS = {
    "15a": Prediction(
        question="A language model gives ten thousand answers a mean score of 0.84. People read "
        "them all. How many of 100 do they pass?",
        options=("about 84", "about 78", "about 71", "about 64"),
        outcome="about 71",
        why="The judge passes nearly all answers that people pass, and most of those that they do "
        "not. No amount of its scores would have shown that.",
        tells=(r"\b7[01] of 100|0?\.71\b",),
    ),
    "15b": Prediction(
        question="The share of 25 labels has a standard deviation of 0.09. What has a judge of ten "
        "thousand answers, repaired with these 25 labels?",
        options=("about 0.02", "about 0.05", "about 0.08"),
        outcome="about 0.08",
        why="The repair moves with the 25 labels, and so does all that it touches. Ten thousand "
        "scores hardly help against that.",
        tells=(r"one label in four|hardly help",),
    ),
    "15c": Prediction(
        question="Each labelled answer gets the score of another answer. In how many of 300 worlds "
        "does the prediction-powered 95 % interval hold the true rate?",
        options=("hardly any", "about 150", "about 285"),
        outcome="about 285",
        why="The gap is measured where people have read, whatever the scores are. Nonsense makes "
        "the interval wider than people alone, and not wrong.",
        tells=(r"nonsense[^.?]{0,40}(hold|wider)", r"bias does no harm"),
    ),
    "15d": Prediction(
        question="The judge's mean rises from 0.82 with the old model to 0.84 with the new one. "
        "What did the share do that people pass?",
        options=("up by 2", "no change", "down by 7", "down by 15"),
        outcome="down by 7",
        why="The new answers are worse and more fluent. The judge takes fluent for good, so its "
        "bias is no constant that would cancel in a comparison.",
        tells=(r"old labels (do not|cannot)|only (fresh|new) labels", r"0?\.78\b"),
    ),
    "15e": Prediction(
        question="New answers are as good as the old ones, and more fluent. With 200 labels of old "
        "answers, which interval holds the true rate in most of 300 worlds?",
        options=("prediction-powered", "people alone", "both", "neither"),
        outcome="people alone",
        why="Old labels count how good answers are, and that has not changed. The correction "
        "knows the judge's bias on old text, and that has.",
        tells=(r"people alone hold",),
    ),
    "15f": Prediction(
        question="You can pay for 1,000 readings: 200 answers by five people each, or 1,000 "
        "answers by one. Which interval is narrower?",
        options=("five people each", "one person each", "the same"),
        outcome="one person each",
        why="A second reading of one answer repeats much of the first; another answer tells "
        "something new. Five readings pay where the single answer counts.",
        tells=(r"more answers beat|one reading each is narrower",),
    ),
}
