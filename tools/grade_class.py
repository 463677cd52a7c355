"""A class beside its workbooks: the roster, and what was guessed together in a room.

The roster is the list that Moodle or Canvas exports. Its columns stay as they are, so that the
platform takes `points.csv` back, and each lesson adds one: how many exercises are Correct. The
last two columns name the lessons that are missing and those that came late. A room's answers are
the files `class_….csv` that `dev.py class` writes.
"""

import csv
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from calibkit_course.learn.forecasts import COLUMNS as FORECAST, Forecast, read_rows
from tools.grade_run import Grade

ANSWERS = ["student", *FORECAST, "guess"]
Answers = dict[str, dict[str, Forecast]]
NUMBERED = re.compile(r" #(\d+)$")  # behind a name: the number that Canvas gives its student


def words_of(text: str) -> str:
    """Return the words of a name, in whatever order they are written."""
    return " ".join(sorted(re.findall(r"[^\W_]+", text.casefold())))


def read_roster(path: Path) -> list[dict[str, str]]:
    """Return the rows of a roster, or say what is wrong with it."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head, *lines = csv.reader(file)
    except (OSError, ValueError, csv.Error) as error:
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
    roster: list[dict[str, str]], grades: Iterable[Grade]
) -> tuple[list[dict[str, str]], list[str]]:
    """Return one row per student of the roster, and who was graded but fits not one row alone.

    Of several files of one lesson the one with most points counts, and of equals one in time.
    """
    known = [names_in(row) for row in roster]
    best: list[dict[str, Grade]] = [{} for _ in roster]
    strangers, lessons = set[str](), set[str]()
    for one in sorted(grades, key=lambda one: (one.points, not one.late)):
        names = {words_of(one.student), *NUMBERED.findall(one.student)}
        found = [theirs for theirs, row in zip(best, known, strict=True) if names & row]
        lessons.add(one.lesson)
        if len(found) == 1:
            found[0][one.lesson] = one
        else:
            strangers.add(one.student)
    rows, all_of = [], sorted(lessons)
    for row, theirs in zip(roster, best, strict=True):
        scores = {f"lesson {n}": str(theirs[n].points) if n in theirs else "" for n in all_of}
        missing = " ".join(n for n in all_of if n not in theirs)
        late = " ".join(n for n in all_of if n in theirs and theirs[n].late)
        rows.append(row | scores | {"missing": missing, "late": late})
    return rows, sorted(strangers)


def read_answers(path: Path) -> Answers:
    """Return the forecasts of each student in the file of a class, or say what is wrong with it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        head, *lines = [*csv.reader(file)] or [[]]
    if head != ANSWERS:
        raise ValueError(f"its first line is not {','.join(ANSWERS)}")
    found: Answers = {}
    for number, line in enumerate(lines, start=2):
        try:
            student, name, options, sure, right, _ = line
            row = ",".join((name, options, sure, right))
            read = read_rows(f"{','.join(FORECAST)}\n{row}")
        except ValueError as error:
            raise ValueError(f"line {number} is damaged; mend or delete it ({error})") from None
        found.setdefault(student, {}).update(read)
    return found


def guessed_in(folder: Path, roster: Path | None) -> tuple[Answers, list[Path]]:
    """Return what was guessed together, and the files that are no workbooks: with the roster."""
    answers: Answers = {}
    taken = [roster.resolve()] if roster else []
    for path in (one.resolve() for one in sorted(folder.glob("class_*.csv"))):
        if path in taken:
            continue
        try:
            read = read_answers(path)
        except (OSError, ValueError, csv.Error) as problem:
            print(f"{path.name} is no file of `dev.py class`: {problem}.")
            continue
        taken.append(path)
        for student, rows in read.items():
            answers[student] = answers.get(student, {}) | rows
    return answers, taken
