"""Lesson 00, Start here: one toy of each kind."""

from typing import Any

from calibkit_course.learn.answers import as_probability, same
from calibkit_course.learn.exercises import Check, Prediction

TITLE = "Start here"
SECOND = ""  # what the second notebook asks
TOLERANCE = 0.001
_WANTED = "the share as a number, such as `5 / 36`"

SAY = {
    "count": "6 is the number of rainy days. A share is that number divided by all 36 days.",
    "percent": "this is a percentage. Give the share itself, a number from 0 to 1.",
    "dry": "this is the share of the dry days. Subtract it from 1.",
    "stated": "20 % is what the service said, and also 6 / 30, wet days by dry ones. Divide by 36.",
    "rounded": "this is the right share, rounded too far. Give three digits, or type the fraction.",
    "recount": "count the rainy days above again, two in each row, and divide by all 36.",
}
_MISTAKES = (
    (6.0, 0.05, "count"),
    (100 / 6, 0.5, "percent"),
    (5 / 6, TOLERANCE, "dry"),
    (0.2, TOLERANCE, "stated"),
    (1 / 6, 0.005, "rounded"),
)


def judge_share(answer: Any) -> str | None:
    """Judge the share of rainy days."""
    value = as_probability(answer, _WANTED)
    if same(value, 1 / 6, TOLERANCE):
        return None
    slips = (key for wrong, width, key in _MISTAKES if same(value, wrong, width))
    return SAY[next(slips, "recount")]


PREDICTIONS = {
    "0a": Prediction(
        question="70 % is right on each of ten days. In how many of 100 such records does it "
        "rain on exactly seven?",
        options=("27", "52", "91"),
        outcome="27",
        why="Of 100 records, eight wet days come in 23 and six in 20, and five or nine are no "
        "rarity. Seven is the likeliest number, and is still missed in 73.",
        tells=(r"\b27 (%|of)|missed in 73",),
    ),
    "0b": Prediction(
        question="A tent costs 300, and a wet wedding without it 3,000. How likely must "
        "rain be before the tent is the cheaper choice?",
        options=("10 %", "50 %", "70 %"),
        outcome="10 %",
        why="Without a tent, a chance of 10 % already costs a tenth of 3,000 on average, which is "
        "the price of the tent. Whether rain is likelier than not plays no part.",
        tells=(r"reaches 10 %|a tenth of",),
    ),
}

CHECKS = {
    "0.1": Check(
        task="The share of rainy days",
        variable="share",
        judge=judge_share,
        tolerance=TOLERANCE,
        praise="6 of 36 days are one sixth, and 20 % was promised. An honest 20 % gives six or "
        "fewer in 40 of 100 such records, so nothing here speaks against the promise.",
        hints=(
            "The list above has three rows of twelve days. Count those with rain.",
            "Divide the number of rainy days by the number of all days.",
            "It is 6 / 36. Type `share = 6 / 36`.",
        ),
    )
}
