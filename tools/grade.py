"""Grade a folder of students' workbooks: `python dev.py grade FOLDER`.

One `.ipynb` per student and lesson, in the folder itself or in a sub-folder for each student. Every
workbook runs in a process of its own (`tools.grade_run`), and its variables are judged by the
checks of the installed calibkit, whatever its own cells print. Results: `grades.csv`, one line per
exercise, guess and cell that raised, and `grades.html`, to be read. A workbook that is broken,
endless or hostile costs its own rows. Exit code 0: all were graded; 1: some could not be; 2: usage.

``--out`` names another folder for the results, ``--jobs`` how many workbooks run at a time (2),
``--seconds`` how long the cells of one may take (300), ``--memory`` GiB for each process (4).
"""

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from tools.grade_class import class_section
from tools.grade_fence import Said, environment, fence, hidden
from tools.virtual_environment import ROOT

COLUMNS = ("student", "lesson", "file", "kind", "item", "state", "detail", "seconds")
LARGEST_WORKBOOK = 100 * 2**20
STATES: tuple[str, ...] = ("Correct", "Almost", "Wrong kind", "Self-assessed", "Compare")
STATES += ("Not attempted", "Not defined")
Line = tuple[str, ...]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


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
    seconds: float = 0.0

    @property
    def student(self) -> str:
        """Who handed it in: the sub-folder, or the file's name without what names the lesson."""
        name = self.workbook.student
        if self.lesson and name == self.workbook.path.stem:
            rest = re.sub(rf"(?<!\d){self.lesson}(?!\d)", "", name)
            for word in lesson_words(self.lesson):
                rest = rest.replace(word, "")
            return rest.strip(" _-.") or name
        return name

    def of(self, kind: str) -> list[Said]:
        """Return the rows of a kind."""
        return [row for row in self.rows if row["kind"] == kind]

    def count(self, state: str) -> int:
        """Return how many exercises stand like this."""
        return sum(row["state"] == state for row in self.of("exercise"))

    @property
    def early(self) -> str:
        """How many of the guesses were made before their outcome was shown."""
        asked = next((int(row["item"]) for row in self.of("predictions")), 0)
        return f"{sum(row['state'] == 'before reveal' for row in self.of('guess'))} of {asked}"

    @property
    def in_words(self) -> str:
        """One line about the whole."""
        if self.problem:
            return f"not graded: {self.problem}"
        assessed = self.count("Self-assessed")
        parts = [f"{self.count('Correct')} of {len(self.of('exercise'))} correct"]
        parts += [f"{assessed} self-assessed"] if assessed else []
        parts += [f"{self.early} guesses"]
        parts += [f"cells that raised: {len(self.raised)}"] if self.raised else []
        return ", ".join(parts)


def lesson_words(lesson: str) -> list[str]:
    """Return what the name of a lesson's file says beside its number."""
    return [path.stem[3:] for path in (ROOT / "notebooks").glob(f"{lesson}_*.md")]


def workbooks(folder: Path) -> list[Workbook]:
    """Return all `.ipynb` files in a stable order, whatever they are."""
    found = []
    for path in sorted(folder.rglob("*.ipynb")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") or part.endswith(".ipynb") for part in parts[:-1]):
            continue
        student = parts[0] if len(parts) > 1 else path.stem
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
    """Start the process of one workbook and return what it reports."""
    if not workbook.path.is_file():
        return {"problem": "This is not a file."}
    if workbook.path.stat().st_size > LARGEST_WORKBOOK:
        return {"problem": f"The file is larger than {LARGEST_WORKBOOK // 2**20} MB."}
    options: Said = {"name": workbook.path.stem, "job": str(job), "hidden": hidden(folder, job)}
    options |= {"seconds": seconds, "memory": memory, "alone": bool(fence())}
    command = [*fence(), sys.executable, "-m", "tools.grade_run", json.dumps(options)]
    raw, patience = workbook.path.read_bytes(), 8 * seconds + 1800
    try:  # the run watches its own time; this is for one that cannot any more, which is killed
        done = subprocess.run(
            command,
            input=raw,
            capture_output=True,
            cwd=ROOT,
            env=environment(job),
            timeout=patience,
        )
        return dict(json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        return {"problem": "The run broke off (it did not end)."}
    except ValueError:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return {"problem": f"The run broke off ({(last or ['nothing was said'])[0][:200]})."}


# --- what is written -----------------------------------------------------------------------------


def table(found: Grade) -> list[Line]:
    """Return the lines of one workbook for `grades.csv`."""
    about = (found.student, found.lesson, found.workbook.file)
    state = "not graded" if found.problem else "graded"
    words, seconds = found.problem or found.in_words, f"{found.seconds:.0f}"
    lines: list[Line] = [(*about, "workbook", "", state, words, seconds)]
    for row in (*found.of("exercise"), *found.of("guess")):
        lines += [(*about, row["kind"], row["item"], row["state"], row["says"], "")]
    return lines + [(*about, "cell", str(n), "raised", words, "") for n, words in found.raised]


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, without unprintable characters."""
    shown = UNSEEN.sub("\ufffd", text)
    return f"'{shown}" if text.startswith(FORMULA) or shown.lstrip().startswith(FORMULA) else shown


def write_csv(grades: list[Grade], path: Path) -> None:
    """Write one line per workbook, exercise, guess and cell that raised."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for found in grades:
            writer.writerows([harmless(word) for word in line] for line in table(found))


STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.5rem 0 1rem; }
caption, th, td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; }
th, td { border-bottom: 1px solid #8888; overflow-wrap: break-word; }
summary { cursor: pointer; padding: 0.2rem 0; }
.scroll { overflow-x: auto; }
"""


def cells(line: Line, tag: str = "td") -> str:
    """Return a row of an HTML table."""
    scope = ' scope="col"' if tag == "th" else ""
    return "<tr>" + "".join(f"<{tag}{scope}>{shown(word)}</{tag}>" for word in line) + "</tr>"


def shown(text: str) -> str:
    """Return a text as HTML, without unprintable characters."""
    return escape(UNSEEN.sub("\ufffd", text))


def html_table(caption: str, head: Line, lines: Sequence[Line]) -> str:
    """Return a table that scrolls on a narrow page."""
    body = "\n".join(cells(line) for line in lines)
    return (f'<div class="scroll"><table><caption>{shown(caption)}</caption><thead>'
            f'{cells(head, "th")}</thead>\n<tbody>{body}</tbody></table></div>')  # fmt: skip


def summary(grades: list[Grade]) -> str:
    """Return one line per workbook."""
    about = ("guesses before reveal", "cells raised", "seconds", "file")
    head = ("student", "lesson", *STATES, *about)
    lines: list[Line] = []
    for found in grades:
        counts = [*(str(found.count(state)) for state in STATES), found.early]
        if found.problem:
            counts = ["not graded", *[""] * len(STATES)]
        last = (str(len(found.raised)), f"{found.seconds:.0f}", found.workbook.file)
        lines.append((found.student, found.lesson, *counts, *last))
    return html_table("All workbooks, with the number of exercises in each state", head, lines)


def details(found: Grade) -> str:
    """Return all that is known about one workbook, folded."""
    parts = [f"<p><strong>Not graded.</strong> {shown(found.problem)}</p>"] if found.problem else []
    tables: dict[str, tuple[Line, list[Line]]] = {
        "Exercises": (
            ("exercise", "task", "state", "what the check says"),
            [(r["item"], r["task"], r["state"], r["says"]) for r in found.of("exercise")],
        ),
        "Guesses": (
            ("prediction", "guess", "when"),
            [(r["item"], r["says"], r["state"]) for r in found.of("guess")],
        ),
        "Cells that raised": (
            ("code cell", "error"),
            [(str(number), words) for number, words in found.raised],
        ),
    }
    parts += [html_table(name, head, rows) for name, (head, rows) in tables.items() if rows]
    title = f"{found.student}, lesson {found.lesson or 'unknown'}: {found.in_words}"
    title = shown(f"{title} ({found.workbook.file})")
    body = "\n".join(parts)
    return f"<details><summary>{title}</summary>\n{body}</details>"


def write_page(grades: list[Grade], path: Path) -> None:
    """Write the page for the teacher; it loads nothing."""
    held = sorted({name for found in grades for name in found.held})
    words = ", ".join(held) or "none"
    page = ["<!doctype html>", '<html lang="en"><head><meta charset="utf-8"><title>Grades</title>']
    page += ['<meta name="viewport" content="width=device-width, initial-scale=1">']
    page += [f"<style>{STYLE}</style></head><body><main><h1>Grades</h1>"]
    page += ["<p>States are those of the checks of the installed calibkit, on the variables that "
             "each workbook left behind. Its own outputs play no part.</p>"]  # fmt: skip
    told = [(found.student, row) for found in grades for row in found.of("forecast")]
    rows = [(name, r["item"], r["task"], r["says"], r["state"]) for name, r in told]
    page += [summary(grades), class_section(rows), "<h2>Each workbook</h2>", *map(details, grades)]
    page += [f"<p>Limits that held on this machine: {shown(words)}.</p></main></body></html>"]
    path.write_text("\n".join(page) + "\n", encoding="utf-8")


# --- the command ---------------------------------------------------------------------------------


def positive(text: str) -> float:
    """Read a number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="dev.py grade", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the workbooks are")
    parser.add_argument("--jobs", type=int, default=2, help="workbooks at a time (2)")
    parser.add_argument("--seconds", type=positive, default=300, help="for the cells of one (300)")
    parser.add_argument("--memory", type=positive, default=4, help="GiB for each process (4)")
    parser.add_argument("--out", type=Path, help="folder of grades.csv and grades.html (FOLDER)")
    chosen = parser.parse_args(arguments)
    if not chosen.folder.is_dir():
        parser.error(f"there is no folder {chosen.folder}")
    if chosen.jobs < 1:
        parser.error("--jobs must be at least 1")
    if not workbooks(chosen.folder):
        parser.error(f"there is no .ipynb file in {chosen.folder}")
    return chosen


def warn_about_limits() -> None:
    """Say which guards this platform does not have."""
    if os.name != "posix":
        print("This platform cannot limit the memory and the files of a process.")
    if not fence():
        print("This platform cannot take the network from a process (no `unshare`); Python's "
              "sockets are refused, other programs are not.")  # fmt: skip


def main(arguments: list[str]) -> int:
    """Grade a folder and return the exit code."""
    chosen = parsed(arguments)
    out = chosen.out or chosen.folder
    out.mkdir(parents=True, exist_ok=True)
    warn_about_limits()
    found = workbooks(chosen.folder)
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
    write_csv(grades, out / "grades.csv")
    write_page(grades, out / "grades.html")
    bad = sum(bool(one.problem) for one in grades)
    print(f"{len(grades) - bad} graded, {bad} not. See {out / 'grades.html'} and grades.csv.")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("Stopped; nothing was written.")
