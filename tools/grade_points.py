"""One row per student, for a gradebook: `python dev.py grade FOLDER --roster class.csv`.

The roster is the list that Moodle or Canvas exports. Its columns stay as they are, so that the
platform takes `points.csv` back, and each lesson adds one: how many exercises are Correct.
"""

import csv
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

Mark = tuple[str, str, int]  # student, lesson, points


def words_of(text: str) -> str:
    """Return the words of a name, in whatever order they are written."""
    return " ".join(sorted(re.findall(r"[^\W_]+", text.casefold())))


def read_roster(path: Path) -> list[dict[str, str]]:
    """Return the rows of a roster, or say what is wrong with it."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head, *lines = csv.reader(file)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"{path} is no CSV in UTF-8 with a row of titles ({error}).") from None
    if not lines or len(set(head)) < len(head):
        raise ValueError(f"{path} has no row below its titles, or two titles that are the same.")
    for number, line in enumerate(lines, start=2):
        if line and len(line) != len(head):
            raise ValueError(f"{path}, row {number}: {len(line)} fields under {len(head)} titles.")
    return [dict(zip(head, line, strict=True)) for line in lines if any(line)]


def names_in(row: dict[str, str]) -> set[str]:
    """Return what names a student: each field, and two that stand side by side."""
    fields = [*row.values()]
    pairs = map(" ".join, pairwise(fields))
    return {words_of(text) for text in (*fields, *pairs)} - {""}


def points(
    roster: list[dict[str, str]], marks: Iterable[Mark]
) -> tuple[list[dict[str, str]], list[str]]:
    """Return one row per student of the roster, and who was graded but fits not one row alone.

    Of several files of one lesson the one with most points counts.
    """
    best: dict[tuple[str, str], int] = {}
    for student, lesson, score in marks:
        best[student, lesson] = max(best.get((student, lesson), 0), score)
    titles = {lesson: f"lesson {lesson}" for lesson in sorted({lesson for _, lesson in best})}
    rows = [row | dict.fromkeys(titles.values(), "") for row in roster]
    missing, strangers = [set(titles) for _ in roster], []
    for (student, lesson), score in best.items():
        name = words_of(student)
        found = [k for k, row in enumerate(roster) if name in names_in(row)]
        if len(found) != 1:
            strangers.append(student)
            continue
        rows[found[0]][titles[lesson]] = str(score)
        missing[found[0]].discard(lesson)
    for row, absent in zip(rows, missing, strict=True):
        row["missing"] = " ".join(sorted(absent))
    return rows, sorted(set(strangers))
