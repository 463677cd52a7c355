"""Grade a folder of students' workbooks: `python dev.py grade FOLDER`.

One `.ipynb` per student and lesson, in the folder itself or in a sub-folder for each student. Every
workbook runs in a process of its own (`tools.grade_run`), and its variables are judged by the
checks of the installed calibkit, whatever its own cells print. Results: `grades.csv`, one line per
exercise, free text, guess, answer of the quiz and cell that raised, and `grades.html`, to be read.
A workbook that is broken, endless or hostile costs its own rows. Who shares a longer statement that
no lesson gives, but for its names, is noted. Exit code 0: all graded; 1: some not; 2: usage.

``--out`` names another folder for the results, ``--jobs`` how many workbooks run at a time (2),
``--seconds`` how long the cells of one may take (300), ``--memory`` GiB for each process (4).
``--roster class.csv`` writes `points.csv` too, one row per student (`tools.grade_points`),
``--due 2026-12-01T18:00`` notes files that were changed later, and ``--feedback OTHER`` writes a
page for each student to be handed back (`tools.grade_feedback`).
"""

import argparse
import base64
import contextlib
import csv
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

from tools.grade_feedback import UNSEEN, Line, feedback, html_page, html_table, shown
from tools.grade_fence import Said, environment, fence, hidden
from tools.grade_points import points, read_roster
from tools.grade_room import answers_of
from tools.lesson_pages import lesson_pages
from tools.virtual_environment import ROOT

COLUMNS = ("student", "lesson", "file", "kind", "item", "state", "detail", "seconds")
LARGEST_WORKBOOK = 100 * 2**20
TRIES = 4
STATES: tuple[str, ...] = ("Correct", "Almost", "Wrong kind", "Self-assessed", "Compare")
STATES += ("Not attempted", "Not defined")
SHOWN = ("exercise", "text", "rubric", "guess", "quiz")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
PASSED_OVER = ("grades.csv", "grades.html", "points.csv", "desktop.ini", "Thumbs.db")
MOODLE = re.compile(r"_\d+_assignsubmission_.*")
# Canvas: moellerivy_LATE_7_48213_04.ipynb, with the numbers of student and file.
CANVAS = re.compile(r"(?i)^([^\W\d]+?)(_late)?_(\d+)_\d{4,}_.")
LESSON_FOLDER = re.compile(r"(?i)(week|lesson|session|unit)?[ _-]*\d+")


@dataclass(frozen=True)
class Workbook:
    """One file that was handed in."""

    path: Path
    file: str
    student: str


@dataclass
class Grade:
    """What was found in one workbook."""

    workbook: Workbook
    lesson: str = ""
    problem: str = ""
    rows: list[Said] = field(default_factory=list)
    raised: list[tuple[int, str]] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    again: int = 1
    late: bool = False
    seconds: float = 0.0

    @property
    def student(self) -> str:
        """Who handed it in: the sub-folder, or the file's name without what names the lesson."""
        name = self.workbook.student
        if self.lesson and name == self.workbook.path.stem:
            number = self.lesson[:2]
            rest = re.sub(rf"(?<!\d){number}(?!\d)|\(\d+\)", "", name)
            for page in reversed(lesson_pages(number)):
                rest = rest.replace(page.stem[3:], "")
            return " ".join(rest.split()).strip(" _-.") or name
        return name

    def of(self, kind: str) -> list[Said]:
        """Return the rows of a kind."""
        return [row for row in self.rows if row["kind"] == kind]

    def count(self, state: str) -> int:
        """Return how many exercises stand like this."""
        return sum(row["state"] == state for row in self.of("exercise"))

    @property
    def typed(self) -> str:
        """How many guesses there are; whether its outcome was looked at before, no file tells."""
        asked = next((row["item"] for row in self.of("predictions")), 0)
        return f"{len(self.of('guess'))} of {asked}"

    @property
    def in_words(self) -> str:
        """One line about the whole."""
        if self.problem:
            return f"not graded: {self.problem}"
        assessed = self.count("Self-assessed")
        parts = [f"{self.count('Correct')} of {len(self.of('exercise'))} correct"]
        parts += [f"{assessed} self-assessed"] if assessed else []
        parts += [f"{self.typed} guesses typed in"]
        parts += [f"cells that raised: {len(self.raised)}"] if self.raised else []
        parts += [f"one of {self.again} files of this lesson"] if self.again > 1 else []
        parts += ["late"] if self.late else []
        copied = ", ".join(row["item"] for row in self.of("exercise") if "copied" in row)
        parts += [f"the folded solution in {copied}"] if copied else []
        parts += [row["says"] for kind in ("note", "alike") for row in self.of(kind)]
        return ", ".join(parts)


def workbooks(folder: Path) -> list[Workbook]:
    """Return all that was handed in, in a stable order: what is no notebook, too.

    The student is the outermost folder that names no week or lesson, or Moodle's; else the file,
    of which Canvas has put name and number first.
    """
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        folded = any(part.endswith(".ipynb") for part in parts[:-1])
        if folded or path.name in PASSED_OVER or any(part[0] in "._" for part in parts):
            continue
        if path.is_file() or path.suffix == ".ipynb":
            names = [part for part in parts[:-1] if not LESSON_FOLDER.fullmatch(part)]
            names = [part for part in names if MOODLE.search(part)] or names
            student = MOODLE.sub("", names[0]) if names else path.stem
            if not names and (canvas := CANVAS.match(path.name)):
                student = f"{canvas[1]} #{canvas[3]}"
            found.append(Workbook(path, "/".join(parts), student))
    return found


# --- one workbook --------------------------------------------------------------------------------


def grade(workbook: Workbook, folder: Path, seconds: float, memory: float) -> Grade:
    """Run one workbook; whatever happens, return a grade."""
    started = time.monotonic()
    job = Path(tempfile.mkdtemp(prefix="grade-")).resolve()
    try:
        found = result(workbook, folder, job, seconds, memory)
    except (OSError, ValueError) as error:
        found = {"problem": f"The file cannot be read ({type(error).__name__})."}
    finally:
        shutil.rmtree(job, ignore_errors=True)
    known = {key: found[key] for key in ("lesson", "problem", "rows", "held") if key in found}
    raised = [(int(number), str(words)) for number, words in found.get("raised", [])]
    return Grade(workbook, **known, raised=raised, seconds=time.monotonic() - started)


def result(workbook: Workbook, folder: Path, job: Path, seconds: float, memory: float) -> Said:
    """Return what the process of one workbook reports; what ends it is left out of the next try."""
    if not workbook.path.is_file():
        return {"problem": "This is not a file."}
    if workbook.path.suffix != ".ipynb":
        return {"problem": "This is no notebook (.ipynb). Unpack it, or ask its student for one."}
    if workbook.path.stat().st_size > LARGEST_WORKBOOK:
        return {"problem": f"The file is larger than {LARGEST_WORKBOOK // 2**20} MB."}
    options: Said = {"name": workbook.path.stem, "job": str(job), "hidden": hidden(folder, job)}
    options |= {"seconds": seconds, "memory": memory, "alone": bool(fence()), "left_out": []}
    raw, env = workbook.path.read_bytes(), environment(job)
    for _ in range(TRIES):
        command = [*fence(), sys.executable, "-m", "tools.grade_run", json.dumps(options)]
        patience = 8 * seconds + 1800  # the run watches its own time; this is if it cannot any more
        try:
            done = subprocess.run(
                command, input=raw, capture_output=True, cwd=ROOT, env=env, timeout=patience
            )
        except subprocess.TimeoutExpired:
            return {"problem": "The run broke off (it did not end)."}
        with contextlib.suppress(ValueError):
            return dict(json.loads(done.stdout))
        try:
            options["left_out"].append((job / "next").read_text(encoding="utf-8"))
        except OSError:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            return {"problem": f"The run broke off ({(last or ['nothing was said'])[0][:200]})."}
    return {"problem": f"In each of {TRIES} tries the process ended before the last cell."}


# --- what is written -----------------------------------------------------------------------------


def table(found: Grade) -> list[Line]:
    """Return the lines of one workbook for `grades.csv`."""
    about = (found.student, found.lesson, found.workbook.file)
    state = "not graded" if found.problem else "graded"
    words, seconds = found.problem or found.in_words, f"{found.seconds:.0f}"
    lines: list[Line] = [(*about, "workbook", "", state, words, seconds)]
    for row in (row for kind in SHOWN for row in found.of(kind)):
        says = row["says"] + row.get("copied", "")
        lines += [(*about, row["kind"], row["item"], row["state"], says, "")]
    return lines + [(*about, "cell", str(n), "raised", words, "") for n, words in found.raised]


def is_late(workbook: Workbook, due: datetime | None) -> bool:
    """Tell whether a file came late: by the word in Canvas's name, or changed after it was due."""
    canvas = CANVAS.match(workbook.path.name)
    changed = workbook.path.stat().st_mtime
    return bool((canvas and canvas[2]) or (due and changed > due.timestamp()))


def note_alike(grades: list[Grade]) -> None:
    """Note whose workbooks share statements of three lines, but for names, that no lesson gives."""
    writers: dict[tuple[str, str], set[str]] = {}
    found = [(one, (one.lesson, row["item"])) for one in grades for row in one.of("shape")]
    for one, shape in found:
        writers.setdefault(shape, set()).add(one.student)
    for one in grades:
        others = set[str]().union(*(writers[shape] for who, shape in found if who is one))
        if names := ", ".join(sorted(others - {one.student})):
            one.rows.append({"kind": "alike", "says": f"shares statements with {names}"})


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, without unprintable characters."""
    shown = UNSEEN.sub("\ufffd", text)
    return f"'{shown}" if text.startswith(FORMULA) or shown.lstrip().startswith(FORMULA) else shown


def write_csv(path: Path, titles: Iterable[str], lines: Iterable[Iterable[str]]) -> None:
    """Write a table for a spreadsheet."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([titles, *(map(harmless, line) for line in lines)])


def write_points(roster: list[dict[str, str]], grades: list[Grade], path: Path) -> list[str]:
    """Write one row per student, if there is a roster; return who stands not in it."""
    if not roster:
        return []
    marks = [(g.student, g.lesson, g.count("Correct"), g.late) for g in grades if not g.problem]
    rows, strangers = points(roster, marks)
    write_csv(path, rows[0], (row.values() for row in rows))
    return strangers


ABOUT = """<p>States are those of the checks of the installed calibkit, on the variables that each
workbook left behind. Its own outputs play no part.</p>"""


def summary(grades: list[Grade]) -> str:
    """Return one line per workbook, with the number of exercises in each state that occurs."""
    about = ("guesses typed in", "cells raised", "seconds", "file")
    states = [one for one in STATES if one == "Correct" or any(g.count(one) for g in grades)]
    lines: list[Line] = []
    for found in grades:
        counts = [*(str(found.count(state)) for state in states), found.typed]
        if found.problem:
            counts = ["not graded", *[""] * len(states)]
        last = (str(len(found.raised)), f"{found.seconds:.0f}", found.workbook.file)
        lines.append((found.student, found.lesson, *counts, *last))
    return html_table(("student", "lesson", *states, *about), lines)


def overview(grades: list[Grade]) -> str:
    """Return how often each exercise has each state and each guess was made, and by whom."""
    found: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for one in grades:
        for row in (*one.of("exercise"), *one.of("guess")):
            guessed = f"{row['says']} ({row['state']})" if row["kind"] == "guess" else row["state"]
            answers = found.setdefault((one.lesson, row["kind"], row["item"]), {})
            answers.setdefault(guessed, []).append(one.student)
    lines = list[Line]()
    for key, answers in sorted(found.items()):
        often = sorted(answers.items(), key=lambda pair: -len(pair[1]))
        lines += [(*key, answer, str(len(who)), ", ".join(sorted({*who}))) for answer, who in often]
    return html_table(("lesson", "what", "item", "state or guess", "files", "who"), lines)


def details(found: Grade) -> str:
    """Return the lines of one workbook, folded."""
    title = f"{found.student}, lesson {found.lesson or 'unknown'}: {found.in_words}"
    title = shown(f"{title} ({found.workbook.file})")
    body = html_table(COLUMNS[3:7], [line[3:7] for line in table(found)[1:]])
    return f"<details><summary>{title}</summary>\n{body}</details>"


def write_page(grades: list[Grade], path: Path, answers: Iterable[Line] = ()) -> None:
    """Write the page for the teacher, with what was answered in class; it loads nothing."""
    told = [(found.student, row) for found in grades for row in found.of("forecast")]
    rows = [(name, r["item"], r["task"], r["says"], r["state"]) for name, r in told]
    limits = shown(", ".join(sorted({name for one in grades for name in one.held})) or "none")
    parts = [ABOUT, summary(grades), "<h2>Each exercise and guess</h2>", overview(grades)]
    parts += [class_section([*rows, *answers]), "<h2>Each workbook</h2>"]
    parts += [*map(details, grades), f"<p>Limits that held on this machine: {limits}.</p>"]
    path.write_text(html_page("Grades", *parts), encoding="utf-8")


def class_section(rows: Iterable[Line]) -> str:
    """Return how well the class knows what it knows; nothing where nobody made a forecast.

    A line that is no forecast, which only a workbook that meddles can make, is left out.
    """
    from calibkit_course.learn.classroom import class_calibration
    from calibkit_course.learn.forecasts import COLUMNS as names, as_forecasts, read_rows

    found: dict[str, Any] = {}
    for student, *line in rows:
        with contextlib.suppress(ValueError):
            row = read_rows(f"{','.join(names)}\n{','.join(line)}\n")
            found.setdefault(student, {}).update(row)
    if not found:
        return ""
    known = class_calibration({name: as_forecasts(found[name]) for name in sorted(found)})
    picture = io.BytesIO()
    known.draw().savefig(picture, format="png", dpi=110)
    source, said = base64.b64encode(picture.getvalue()).decode(), escape(known.describe())
    return (f'<h2>How well the class knows what it knows</h2><p>{said}</p><div class="scroll">'
            f'<img alt="{said}" src="data:image/png;base64,{source}"></div>')  # fmt: skip


# --- the command ---------------------------------------------------------------------------------


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
    parser.add_argument("--seconds", type=float, default=300, help="for the cells of one (300)")
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
        chosen.roster_rows = read_roster(chosen.roster) if chosen.roster else []
    except ValueError as error:
        parser.error(str(error))
    return chosen


def main(arguments: list[str]) -> int:
    """Grade a folder and return the exit code."""
    chosen = parsed(arguments)
    out = chosen.out or chosen.folder
    out.mkdir(parents=True, exist_ok=True)
    if not fence():
        print("This platform cannot take the network from a process (no `unshare`).")
        print("Python's sockets are refused; the page says which limits held.")
    roster = chosen.roster and chosen.roster.resolve()
    answers, read, said = answers_of(chosen.folder, roster)
    print(*map(harmless, said), sep="\n", end="\n" if said else "")
    left = {roster, *(path.resolve() for path in read)}
    found = [one for one in workbooks(chosen.folder) if one.path.resolve() not in left]
    grades: list[Grade] = []
    with ThreadPoolExecutor(chosen.jobs) as pool:
        seen = pool.map(lambda w: grade(w, chosen.folder, chosen.seconds, chosen.memory), found)
        try:
            for number, one in enumerate(seen, start=1):
                grades.append(one)
                words = f"{harmless(one.workbook.file)}: {one.in_words} ({one.seconds:.0f} s)"
                print(f"{number}/{len(found)} {words}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    grades.sort(key=lambda one: (one.student, one.lesson, one.workbook.file))
    handed_in = Counter((one.student, one.lesson) for one in grades if not one.problem)
    for one in grades:
        one.again = handed_in[one.student, one.lesson]
        one.late = is_late(one.workbook, chosen.due)
    note_alike(grades)
    write_csv(out / "grades.csv", COLUMNS, chain.from_iterable(map(table, grades)))
    strangers = write_points(chosen.roster_rows, grades, out / "points.csv")
    if strangers:
        print(f"Not one row of the roster, or several: {harmless(', '.join(strangers))}.")
    write_page(grades, out / "grades.html", answers)
    if chosen.feedback:
        feedback(grades, chosen.feedback)
    bad = sum(bool(one.problem) for one in grades)
    print(f"{len(grades) - bad} graded, {bad} not. See {out / 'grades.html'} and grades.csv.")
    return 1 if bad or strangers else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("Stopped; nothing was written.")
