"""Checks and predictions of lesson 07: fit smoother maps."""

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
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction

TITLE = "Fit smoother maps"
SECOND = "7.3 7.4 7d"  # what the second notebook asks

SAY = {
    # 7.1
    "call": "`falls(curve, {n_bins})`",
    "outside": "0 and 1 are no inner edges: beside them lie numbers that are no predictions",
    "edges": "a number of edges",
    "rises": "this counts the edges at which the map rises.",
    "level": "this counts edges at which the map stays level. Such a map does not fall.",
    "fixed": "this looks at the edges of 15 bins. Use the argument `n_bins`, here {n_bins}.",
    "whole": "this compares whole bins, within which the map rises. Look right beside the edge.",
    "falls": "the map of {n_bins} bins falls at {wanted} of its edges, but here it is {found:g}.",
    # 7.3
    "inverse": "this is 1 / T. Logits are divided by T, and a T above 1 makes predictions milder.",
    "brier": "this T minimises the Brier score. Minimise the log loss.",
    "ece": "this T minimises the ECE, which is no proper score. Minimise the log loss.",
    "truth": "2.5 made the fake, but these 2,000 labels ask for another T. Fit it.",
    "zero": "nothing can be divided by 0. Search among positive numbers.",
    "negative": "a negative T turns the ranking upside down. Search among positive numbers.",
    "result": "this is all that the optimiser returns. Its attribute `.x` holds the best T.",
    "T": "the log loss at T = {found:.3f} lies {over:.2g} above the lowest. The best T is {side}.",
    # 7.2
    "ten": "ten values, one per prediction",
    "truth itself": "this is the truth itself. Each value should be off by 0.05.",
    "base": "these are off by 0.05 from the predictions. Start from the truth, `c_ten`.",
    "near": "at p = {p:g} the map is off by {found:.3f}. Each value should be off by 0.05.",
    "number": "the map reports {found:.3f}, but the true error is 0.1. Let its errors cancel.",
    # 7.4
    "four": "a list of the four names, the best first",
    "twice": "each of the four names belongs in the list once.",
    "reversed": "this order is upside down. The highest correlation comes first.",
    "order": "`{first}` stands before `{second}`, but its Spearman correlation is lower.",
}

# The shifts of slanted pieces in equal bins, and a map that is level.
_SHIFTS = (np.array([0.5, 0.3, 0.1, -0.1, -0.15, 0.35]), np.array([0.3, 0.1, 0.2, -0.1]))
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


CHECKS = {
    "7.1": Check(
        task="Count the falls",
        variable="falls",
        judge=judge_falls,
        hints=(
            "With 15 bins the inner edges are 1/15, 2/15, and so on up to 14/15.",
            "Let `edges = np.arange(1, n_bins) / n_bins`, and count where `curve(edges + 1e-9)` is "
            "lower than `curve(edges - 1e-9)`.",
        ),
        praise="at each of these edges a higher stated chance gets a lower meaning.",
    ),
    "7.2": Check(
        task="Build a lucky map",
        variable="my_map",
        judge=judge_lucky,
        hints=(
            "If all ten values lie above the truth, the map reports 0.15. What do values below "
            "it report?",
            "Add 0.05 times an array of signs to `c_ten`, with as many `1` as `-1`.",
        ),
        praise="a map that is wrong everywhere reports the right number.",
        tolerance=_FOUR_DIGITS,
    ),
    "7.3": Check(
        task="Find a temperature",
        variable="temperature",
        judge=judge_temperature,
        hints=(
            "For one T, take `q = expit(logit(said) / T)`, then `ck.log_loss(came, q)`. Lower"
            " is better.",
            "Use `minimize_scalar(loss, bounds=(0.1, 10), method='bounded').x`, with a "
            "function `loss(T)` that returns a float.",
        ),
        praise="temperature scaling finds the same number.",
        tolerance=0.005,
    ),
    "7.4": Check(
        task="Rank evaluators",
        variable="my_ranking",
        judge=judge_ranking,
        hints=(
            "For one evaluator, take `spearmanr(truth, estimates[name]).statistic`.",
            "Collect these values in a dict `ranks`. `sorted(ranks, key=ranks.get, reverse=True)` "
            "puts the name with the highest value first.",
        ),
        praise="this is the order on these 20 fakes.",
    ),
}

PREDICTIONS = {
    "7a": Drawing(
        question="A map of 15 bins is fitted a hundred times. Draw in how many of the hundred it "
        "puts the patient with 0.66 above the one with 0.67, over the number of predictions.",
        x=tuple(range(1, 11)),
        axes=("thousand predictions", "wrong patient, of 100"),
        top=100,
        why="Each patient is read from a bin of his own. With 1,000 predictions their difference "
        "strays by eight points, with 10,000 by more than two. In truth the two differ by less "
        "than one.",
        tells=(
            r"tossed coin|toss-up|better than a coin|\b49 of (100|a hundred)|half of its edges",
            r"more data (make|do not)|but no rarer",
        ),
    ),
    "7b": Prediction(
        question="On a smooth truth Platt is closest of four maps, then PL in two pieces, isotonic "
        "regression and 15 bins. Which is closest to a truth that leaps?",
        options=("Platt", "PL", "isotonic", "the bins"),
        outcome="isotonic",
        why="It alone may leap wherever the outcomes ask for it. The bins leap at their edges "
        "only. Two joined pieces bend once, and an S-curve not at all: Platt, the best before, is "
        "the last now.",
        tells=(r"no family of maps|isotonic[^.]{0,30}(is best|wins)|the last now",),
    ),
    "7d": Prediction(
        question="After 1,500 rounds through the data: what is closer to the truth, the fitted "
        "map or the untouched predictions?",
        options=("fitted map", "predictions"),
        outcome="predictions",
        why="Both knots lie far out, at ±36.8. To make the line right, each height must travel "
        "from about ±7 to about ±37, in steps of at most about a hundredth. The training stops "
        "half-way.",
        tells=(r"stopped too early|stops half-?way|optimiser that chose",),
    ),
    "7c": Prediction(
        question="PL has the better map in all of 20 data sets. In how many does it "
        "report the better number?",
        options=("hardly any", "nearly all", "about half"),
        outcome="about half",
        why="The number is one mean over all predictions, and a mean can be right although the "
        "map is wrong everywhere. Exercise 7.2 asks how.",
        tells=(r"no better number|better map[^.]{0,40}(not|no|worse)\b",),
    ),
}
