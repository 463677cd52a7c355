"""Lesson 00, Start here: the judge of its one exercise."""

from typing import Any

from calibkit_course.learn.answers import as_probability, same
from calibkit_course.learn.words import read_words

TOLERANCE = 0.001

SAY = read_words("00").say
_MISTAKES = (
    (6.0, 0.05, "count"),
    (100 / 6, 0.5, "percent"),
    (5 / 6, TOLERANCE, "dry"),
    (0.2, TOLERANCE, "stated"),
    (1 / 6, 0.005, "rounded"),
)


def judge_share(answer: Any) -> str | None:
    """Judge the share of rainy days."""
    value = as_probability(answer, SAY["share"])
    if same(value, 1 / 6, TOLERANCE):
        return None
    slips = (key for wrong, width, key in _MISTAKES if same(value, wrong, width))
    return SAY[next(slips, "recount")]


JUDGES = {"0.1": judge_share}
