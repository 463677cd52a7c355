"""Lesson 00, Start here: one toy of each kind."""

from typing import Any

from calibkit_course.learn.answers import as_probability, same
from calibkit_course.learn.exercises import Check, Prediction

TITLE = "Start here"
TOLERANCE = 0.001
_WANTED = "the share as a number, such as `5 / 36`"

SAY = {
    "count": "6 is the number of throws. A share is that number divided by all 36 throws.",
    "percent": "this is a percentage. Give the share itself, a number from 0 to 1.",
    "neighbour": "this is the share of the sum 6, or of the sum 8. Look at the row of the sum 7.",
    "complement": "this is the share of all other sums. Subtract it from 1.",
    "sums": "the 11 sums are not equally likely. Count the throws that give the sum 7.",
    "pairs": "this counts 3 + 4 and 4 + 3 as one throw. The 36 throws keep them apart.",
    "rounded": "this is the right share, rounded too far. Give three digits, or type the fraction.",
    "recount": "look at the row of the sum 7 above: it has 6 of the 36 throws.",
}
_MISTAKES = (
    (6.0, 0.05, "count"),
    (100 / 6, 0.5, "percent"),
    (5 / 36, TOLERANCE, "neighbour"),
    (5 / 6, TOLERANCE, "complement"),
    (1 / 11, TOLERANCE, "sums"),
    (1 / 7, TOLERANCE, "pairs"),
    (1 / 6, 0.005, "rounded"),
)


def judge_share(answer: Any) -> str | None:
    """Judge the share of throws of two dice whose sum is 7."""
    value = as_probability(answer, _WANTED)
    if same(value, 1 / 6, TOLERANCE):
        return None
    slips = (key for wrong, width, key in _MISTAKES if same(value, wrong, width))
    return SAY[next(slips, "recount")]


PREDICTIONS = {
    "0a": Prediction(
        question="70 % is right on each of ten days. In how many percent of all cases does it "
        "rain on exactly seven?",
        options=("27", "50", "90"),
        outcome="27",
        why="Six or eight wet days come nearly as often as seven, and five or nine are no rarity. "
        "So ten days can neither prove nor disprove a promise of 70 %.",
        tells=(r"\b27 ?%|six or eight|do not test a promise",),
    )
}

CHECKS = {
    "0.1": Check(
        task="The share of throws with the sum 7",
        variable="share",
        judge=judge_share,
        tolerance=TOLERANCE,
        praise="6 of 36 throws are one sixth.",
        hints=(
            "The table above lists, for each sum, how many of the 36 throws give it.",
            "Divide the number of throws with the sum 7 by the number of all throws.",
            "It is 6 / 36. Type `share = 6 / 36`.",
        ),
    )
}
