"""Grade a folder of students' workbooks: `python dev.py grade FOLDER`.

One `.ipynb` per student and lesson, in the folder itself or in a sub-folder for each student. Every
workbook runs in a kernel of its own (`tools.grade_run`), and its variables are judged by the
checks of the installed calibkit, whatever its own cells print. Results: `grades.csv`, one line per
exercise, free text, guess, answer of the quiz and cell that raised, and `grades.html`, to be read.
A workbook that is broken or endless costs its own rows. Who shares a longer statement that no
lesson gives, but for its names, is noted. Exit code 0: all graded; 1: some not; 2: usage.

``--out`` names another folder for the results, ``--jobs`` how many workbooks run at a time (2),
``--seconds`` how long a cell may take (60), ``--memory`` GiB for each process (4).
``--roster class.csv`` writes `points.csv` too, one row per student (`tools.grade_class`),
``--due 2026-12-01T18:00`` notes files that were changed later, and ``--feedback OTHER`` writes a
page for each student to be handed back (`tools.grade_tables`).
"""

import argparse
import os
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path

from tools import grade_class as of_class, grade_tables as tables
from tools.grade_run import Grade, Row, grade

PASSED_OVER = ("grades.csv", "grades.html", "points.csv", "desktop.ini", "Thumbs.db")
MOODLE = re.compile(r"_\d+_assignsubmission_.*")
# Canvas: moellerivy_LATE_7_48213_04.ipynb, with the numbers of student and file.
CANVAS = re.compile(r"(?i)^([^\W\d]+?)(_late)?_(\d+)_\d{4,}_.")
LESSON_FOLDER = re.compile(r"(?i)(week|lesson|session|unit)?[ _-]*\d+")


def workbooks(folder: Path) -> list[Grade]:
    """Return all that was handed in, in a stable order: what is no notebook, too.

    The student is the outermost folder that names no week or lesson, or Moodle's; else the file,
    of which Canvas has put name and number first.
    """
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.name in PASSED_OVER or any(part[0] in "._" for part in parts):
            continue
        if path.is_file():
            names = [part for part in parts[:-1] if not LESSON_FOLDER.fullmatch(part)]
            names = [part for part in names if MOODLE.search(part)] or names
            student = MOODLE.sub("", names[0]) if names else path.stem
            if not names and (canvas := CANVAS.match(path.name)):
                student = f"{canvas[1]} #{canvas[3]}"
            found.append(Grade(path, "/".join(parts), student))
    return found


def is_late(workbook: Grade, due: datetime | None) -> bool:
    """Tell whether a file came late: by the word in Canvas's name, or changed after it was due."""
    canvas = CANVAS.match(workbook.path.name)
    changed = workbook.path.stat().st_mtime
    return bool((canvas and canvas[2]) or (due and changed > due.timestamp()))


def note_alike(grades: list[Grade]) -> None:
    """Note whose workbooks share statements of three lines, but for names, that no lesson gives."""
    writers: dict[tuple[str, str], set[str]] = {}
    for one in grades:
        for shape in one.shapes:
            writers.setdefault((one.lesson, shape), set()).add(one.student)
    for one in grades:
        others = set[str]().union(*(writers[one.lesson, shape] for shape in one.shapes))
        if names := ", ".join(sorted(others - {one.student})):
            one.rows.append(Row("doubt", says=f"shares statements with {names}"))


def moment(text: str) -> datetime:
    """Read a date with the time of day; one without ends with its day."""
    try:
        return datetime.fromisoformat(text if len(text) > 10 else f"{text}T23:59:59")
    except ValueError:
        words = f"{text!r} is no date such as 2026-12-01T18:00"
        raise argparse.ArgumentTypeError(words) from None


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="dev.py grade", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the workbooks are")
    parser.add_argument("--jobs", type=int, default=2, help="workbooks at a time (2)")
    parser.add_argument("--seconds", type=int, default=60, help="for one cell (60)")
    parser.add_argument("--memory", type=float, default=4, help="GiB for each process (4)")
    parser.add_argument("--roster", type=Path, help="the class, as Moodle or Canvas exports it")
    parser.add_argument("--due", type=moment, help="what changed later is late: 2026-12-01T18:00")
    parser.add_argument("--feedback", type=Path, help="folder of a page for each student")
    parser.add_argument("--out", type=Path, help="folder of grades.csv and grades.html (FOLDER)")
    chosen = parser.parse_args(arguments)
    if not chosen.folder.is_dir():
        parser.error(f"there is no folder {chosen.folder}")
    for name in ("jobs", "seconds", "memory"):
        if not 0 < getattr(chosen, name) < float("inf"):
            parser.error(f"--{name} is not above 0")
    if chosen.feedback and chosen.feedback.resolve().is_relative_to(chosen.folder.resolve()):
        parser.error("--feedback lies among the workbooks, and would be graded. Name another")
    if not workbooks(chosen.folder):
        parser.error(f"there is no file in {chosen.folder}")
    try:
        chosen.roster_rows = of_class.read_roster(chosen.roster) if chosen.roster else []
    except ValueError as error:
        parser.error(str(error))
    chosen.out = chosen.out or chosen.folder
    return chosen


def main(arguments: list[str]) -> int:
    """Grade a folder and return the exit code."""
    chosen = parsed(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    guessed, left = of_class.guessed_in(chosen.folder, chosen.roster)
    grades = [one for one in workbooks(chosen.folder) if one.path.resolve() not in left]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        run = partial(grade, seconds=chosen.seconds, memory=chosen.memory)
        try:
            for number, one in enumerate(pool.map(run, grades), start=1):
                words = f"{one.file}: {one.in_words} ({one.seconds:.0f} s)"
                print(f"{number}/{len(grades)} {tables.harmless(words)}", flush=True)
        except KeyboardInterrupt:
            print("Stopped; nothing was written.", file=sys.stderr, flush=True)
            os._exit(1)  # kernels end with this process; their threads would wait for them
    grades.sort(key=lambda one: (one.student, one.lesson, one.file))
    handed_in = Counter((one.student, one.lesson) for one in grades if not one.problem)
    for one in grades:
        one.again = handed_in[one.student, one.lesson]
        one.late = is_late(one, chosen.due)
        guessed[one.student] = one.forecasts | guessed.get(one.student, {})  # the room's counts
    note_alike(grades)
    return write(grades, guessed, chosen)


def write(grades: list[Grade], guessed: of_class.Answers, chosen: argparse.Namespace) -> int:
    """Write all that was asked for; return the exit code."""
    out = chosen.out
    tables.write_csv(out / "grades.csv", tables.COLUMNS, chain(*map(tables.lines, grades)))
    tables.write_page(out / "grades.html", "Grades", tables.teachers_page(grades, guessed))
    if chosen.feedback:
        tables.write_feedback(grades, chosen.feedback)
    well = [one for one in grades if not one.problem]
    strangers = list[str]()
    if chosen.roster_rows:
        rows, strangers = of_class.points(chosen.roster_rows, well)
        tables.write_csv(out / "points.csv", rows[0], (row.values() for row in rows))
    if strangers:
        words = tables.harmless(", ".join(strangers))
        print(f"Not one row of the roster, or several: {words}.")
    bad = len(grades) - len(well)
    print(f"{len(well)} graded, {bad} not. See {out / 'grades.html'} and grades.csv.")
    return 1 if bad or strangers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
