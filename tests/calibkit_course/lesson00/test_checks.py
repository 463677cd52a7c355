"""Lesson 00: what its check refuses and accepts, and what its text relies on."""

import re
from fractions import Fraction
from typing import Any

import pandas as pd
from scipy.stats import binom

from calibkit_course import lesson00, lessons, open_lesson
from tests.paths import ROOT
from tools.lesson_pages import lesson_pages
from tools.lesson_times import stated, with_minutes

CHECKS = open_lesson("00", keep=False).checks
PREDICTIONS = open_lesson("00", keep=False).predictions

NOTEBOOKS = ROOT / "notebooks"

WRONG: dict[str, list[tuple[Any, str]]] = {
    "0.1": [
        (6, "6 is the number of rainy days"),
        (16.7, "percentage"),
        (5 / 36, "count the rainy days above again"),
        (30 / 36, "the dry days"),
        (0.2, "and also 6 / 30, wet days by dry ones"),
        ("17 %", "rounded too far"),
    ]
}
RIGHT: dict[str, list[Any]] = {
    "0.1": [1 / 6, [1 / 6], Fraction(1, 6), 0.167, pd.Series([1 / 6]), "1/6", "16.7%", "16.7 %"]
}


def test_the_earlier_days_are_as_the_exercise_says() -> None:
    words = lesson00.earlier_days().split()
    assert len(words) == 36 and words.count("rain") == 6
    assert [line.count("rain") for line in lesson00.earlier_days().splitlines()] == [1, 2, 1, 2]


def test_its_words_count_records_as_the_binomial_law_does() -> None:
    assert PREDICTIONS["0a"].outcome == f"{100 * 1800 / 3000:.0f}"
    assert f"fewer in {100 * binom.cdf(6, 36, 0.2):.0f} of 100" in CHECKS["0.1"].praise


def test_the_table_of_lessons_has_the_times_of_their_headers() -> None:
    """And `dev.py run` mends one that is wrong."""
    text = (NOTEBOOKS / "00_start_here.md").read_text(encoding="utf-8")
    assert with_minutes(text.replace(" min |", "5 min |").replace(" min]", "0 min]")) == text
    core = lesson_pages("04")[0].read_text(encoding="utf-8")
    assert with_minutes(re.sub(r"\), \d+ min\)", "), 5 min)", core)) == core
    for name in lessons():
        path, *further = lesson_pages(name)
        (row,) = [line for line in text.splitlines() if line.startswith(f"| [{name} ")]
        assert f"]({path.name}) | " in row
        more = [f"[{stated(one)} min](further/{one.name})" for one in further] or ["–"]
        assert row.endswith(f" | {stated(path)} min | {more[0]} |"), path.name
