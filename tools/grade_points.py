"""One row per student, for a gradebook: `python dev.py grade FOLDER --roster class.csv`.

The roster is the list that Moodle or Canvas exports. Its columns stay as they are, so that the
platform takes `points.csv` back, and each lesson adds one: how many exercises are Correct. The
last two columns name the lessons that are missing and those that came late.
"""

import csv
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

Mark = tuple[str, str, int, bool]  # student, lesson, points, whether it came late
NUMBERED = re.compile(r" #(\d+)$")  # behind a name: the number that Canvas gives its student


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

    Of several files of one lesson the one with most points counts, and of equals one in time.
    """
    best: dict[tuple[str, str], tuple[int, bool]] = {}
    for student, lesson, score, late in marks:
        best[student, lesson] = max(best.get((student, lesson), (0, False)), (score, not late))
    lessons = sorted({lesson for _, lesson in best})
    known = [names_in(row) for row in roster]
    handed_in: list[dict[str, tuple[int, bool]]] = [{} for _ in roster]
    strangers = set()
    for (student, lesson), mark in best.items():
        names = {words_of(student), *NUMBERED.findall(student)}
        found = [place for place, theirs in enumerate(known) if names & theirs]
        if len(found) == 1:
            handed_in[found[0]][lesson] = mark
        else:
            strangers.add(student)
    rows = []
    for row, theirs in zip(roster, handed_in, strict=True):
        scores = {f"lesson {one}": str(theirs[one][0]) if one in theirs else "" for one in lessons}
        missing = " ".join(one for one in lessons if one not in theirs)
        belated = " ".join(one for one in lessons if one in theirs and not theirs[one][1])
        rows.append(row | scores | {"missing": missing, "late": belated})
    return rows, sorted(strangers)
