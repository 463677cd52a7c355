"""Lesson 01, Play the forecaster: checks and predictions."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.results import spell
from calibkit_course.learn.answers import (
    as_list,
    as_mapping,
    as_numbers,
    as_probability,
    same,
    slip_of,
    wrong_kind,
)
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction

TITLE = "Play the forecaster"
SECOND = "1.3"  # what the second notebook asks
TOLERANCE = 0.005
EXACT = 1e-6  # where "exactly calibrated" is asked

# Stated probability: number of forecasts, number of rainy days.
GROUPS = {
    Fraction(1, 6): (5, 1),
    Fraction(1, 3): (3, 1),
    Fraction(1, 2): (2, 1),
    Fraction(3, 4): (4, 3),
    Fraction(1): (1, 1),
}

WANTED = {
    "1.1": "a dict from stated probability to frequency, such as `{Fraction(1, 2): 0.5}`",
    "group": "the stated probability of one group, such as `1 / 2` or `Fraction(1, 2)`",
    "1.2": "a list of six pairs (stated, rained), such as `[(0.9, 1), (0.9, 0), ...]`",
    "1.3": "the accuracy as a number from 0 to 1",
}

SAY = {
    # 1.1
    "no such group": "there is no group {key} in the table. Its groups are {groups}.",
    "group twice": "the group {key} stands in the dict twice.",
    "group missing": "the group {key} is missing.",
    "hits": "these are the numbers of rainy days. Divide each by the size of its group.",
    "sizes": "these are the sizes of the groups. Ask in how many of those days it rained.",
    "stated": "these are the stated probabilities again. Count what happened instead.",
    "dry": "these are the shares of dry days. The forecasts speak about rain.",
    "of all": "divide by the size of the group, not by all 15 forecasts.",
    "per cent": "these are percentages. Give the shares themselves, numbers from 0 to 1.",
    "one group": "look again at the group {key}: it rained on {hits} out of {days}.",
    # 1.3
    "claim": "this is what the slide claims. Count the rows where the two lists agree.",
    "count": "this is the number of right rows. Divide it by the number of rows.",
    "confidence": "this is the confidence: what was promised. Count what came true.",
    "percent": "this is a percentage. Give the share itself, a number from 0 to 1.",
    "recount": "compare the lists row by row. Count the rows that agree, and divide by all 6.",
    # 1.2
    "outside": "{value} is no probability. State a number between 0 and 1.",
    "not binary": "{value} cannot be an outcome. It rained (1) or it did not (0).",
    "swapped": "the pairs stand the other way round: the stated probability comes first.",
    "not constant": "the stated probabilities differ. Repeat one probability six times.",
    "certain": "stating {value:g} leaves nothing open. State a number strictly between 0 and 1.",
    "rounded": "{stated:.6g} is near the frequency, but not equal to it. State `{hits} / 6` "
    "itself.",
    "gap": "you state {stated:.3f}, and it rains on {hits} of 6 days, which is {share:.3f}.",
    "all or none": "with {hits} rainy days of 6, only a stated {share:g} would be calibrated. Let "
    "it rain on some days and not on others.",
}


def _all_names() -> str:
    return ", ".join(map(str, GROUPS))


def _group_of(key: Any) -> Fraction | None:
    value = as_probability(key, WANTED["group"])
    near = [prob for prob in GROUPS if same(value, float(prob), TOLERANCE)]
    return near[0] if near else None


def judge_frequencies(answer: Any) -> str | None:
    """Judge exercise 1.1: the frequency of rain in each group."""
    given: dict[Fraction, float] = {}
    for key, value in as_mapping(answer, WANTED["1.1"]).items():
        group = _group_of(key)
        if group is None:
            return SAY["no such group"].format(key=key, groups=_all_names())
        if group in given:
            return SAY["group twice"].format(key=group)
        given[group] = as_probability(value, WANTED["1.1"])
    for group in GROUPS:
        if group not in given:
            return SAY["group missing"].format(key=group)
    return _frequency_mistake(np.array([given[group] for group in GROUPS]))


def _frequency_mistake(given: NDArray[np.float64]) -> str | None:
    count, hits = np.array(list(GROUPS.values()), dtype=float).T
    right = np.abs(given - hits / count) <= TOLERANCE
    if right.all():
        return None
    patterns = {
        "hits": hits,
        "sizes": count,
        "stated": np.array([float(prob) for prob in GROUPS]),
        "dry": 1 - hits / count,
        "of all": hits / count.sum(),
    }
    per_cent = {"per cent": 100 * hits / count}
    if slip := slip_of(given, patterns, TOLERANCE) or slip_of(given, per_cent, 1):
        return SAY[slip]
    group = list(GROUPS)[int(np.argmin(right))]
    size, rainy = GROUPS[group]
    return SAY["one group"].format(key=group, hits=rainy, days=spell(size, "day"))


def judge_accuracy(answer: Any) -> str | None:
    """Judge exercise 1.3: the accuracy of six rows, three of which are right."""
    value = as_probability(answer, WANTED["1.3"])
    if same(value, 0.5, TOLERANCE):
        return None
    slips = {"claim": 1 / 3, "count": 3, "confidence": 0.353, "percent": 50}
    return SAY[slip_of(value, slips, TOLERANCE) or "recount"]


def judge_six(answer: Any) -> str | None:
    """Judge exercise 1.2: six calibrated forecasts with one stated probability."""
    stated, rained = _six_pairs(answer)
    for value in stated:
        if not 0 <= value <= 1:
            return SAY["outside"].format(value=f"{value:g}")
    for value in rained:
        if value not in (0, 1):
            key = "swapped" if set(stated) <= {0.0, 1.0} else "not binary"
            return SAY[key].format(value=f"{value:g}")
    if np.ptp(stated) > EXACT:
        return SAY["not constant"]
    hits, share = int(rained.sum()), float(rained.mean())
    promise = float(stated.mean())
    if promise in (0.0, 1.0):
        return SAY["certain"].format(value=promise)
    if hits in (0, 6):
        return SAY["all or none"].format(hits=hits, share=share)
    if same(promise, share, EXACT):
        return None
    key = "rounded" if same(promise, share, 0.01) else "gap"
    return SAY[key].format(stated=promise, hits=hits, share=share)


def _six_pairs(answer: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return stated probabilities and outcomes from six pairs, or from two lists of six."""
    wanted = WANTED["1.2"]
    rows = as_list(answer, wanted)
    if any(np.ndim(row) == 0 for row in rows):  # numbers where pairs should be
        raise wrong_kind(answer, wanted)
    if len(rows) == 2 and all(len(as_list(row, wanted)) == 6 for row in rows):
        return as_numbers(rows[0], wanted), as_numbers(rows[1], wanted)
    pairs = [as_numbers(row, wanted) for row in as_list(answer, wanted, length=6)]
    if any(len(pair) != 2 for pair in pairs):
        raise wrong_kind(answer, wanted)
    stated, rained = np.array(pairs).T
    return stated, rained


CHECKS = {
    "1.1": Check(
        task="The frequency of rain for each stated probability",
        variable="frequencies",
        judge=judge_frequencies,
        tolerance=TOLERANCE,
        praise="each of the five groups has its frequency. One forecast alone has none.",
        hints=(
            "For each stated probability, collect the outcomes of its forecasts only.",
            "The frequency of a group is the sum of its outcomes divided by their number.",
            "Loop over `sorted(set(stated))`. In the loop, "
            "`group = [y for p, y in zip(stated, rained) if p == value]`; "
            "then store `sum(group) / len(group)`.",
        ),
    ),
    "1.2": Check(
        task="Six calibrated forecasts with one stated probability",
        variable="six",
        judge=judge_six,
        praise="the six forecasts are calibrated, though they do not tell the days apart.",
        hints=(
            "Choose first on how many of the six days it rains.",
            "If it rains on k of six days, the frequency is k / 6. State exactly that.",
            "For k = 3, state 0.5 each time, with three rainy days and three dry ones.",
        ),
    ),
    "1.3": Check(
        task="The accuracy behind a published claim",
        variable="accuracy",
        judge=judge_accuracy,
        tolerance=TOLERANCE,
        praise="3 of 6 rows agree, so the accuracy of these rows is 0.5 and not 1/3.",
        hints=(
            "A row is right where the predicted class equals the actual class.",
            "Rows 1, 4 and 6 are right. The other three are not.",
            "Type `accuracy = sum(p == a for p, a in zip(predicted, actual)) / len(actual)`.",
        ),
    ),
}

PREDICTIONS = {
    "1a": Prediction(
        question="For the same day, one service says 70 % rain, and another says 30 %. Is it "
        "possible that both keep all their promises?",
        options=("yes", "no"),
        outcome="yes",
        why="Of these forty days the two disagree about twenty, and neither breaks its word. They "
        "know different things, so they sort the days in different ways, and each promise is "
        "about one service's own groups.",
        tells=(r"both can be right|a group of days|own groups", r"neither breaks"),
    ),
    "1b": Prediction(
        question="An honest forecaster states the same fifteen numbers. In how many of 100 such "
        "records are the last four groups all exact, as here?",
        options=("about 10", "about 50", "about 90"),
        outcome="about 10",
        why="Three of them are inexact about every second time; only the stated 1 cannot fail. All "
        "five are never exact: in five days the share of rainy ones can be 0, 1/5, 2/5 and so on, "
        "but never 1/6.",
        tells=(r"cannot show a sixth|but never 1/6|keep all five|are luck",),
    ),
    "1c": Drawing(
        question="A forecaster says 70 % each day; in truth it rains on 60 % of days. Draw the "
        "chance that the record has exposed this, over the number of days.",
        x=tuple(range(25, 301, 25)),
        axes=("days", "chance to expose"),
        why="The share of rainy days in n days scatters by about 0.5 / sqrt(n). To tell 0.6 from "
        "0.7, this scatter must be well below their distance of 0.1.",
        tells=(r"\b183\b|\b1[789]\d days|half a year",),
    ),
}
