"""Made workbooks for the grader: right, wrong, broken, endless, hostile. No tests in here."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from tools import notebook_files as files
from tools.notebook_solved import with_solutions

ROOT = Path(__file__).resolve().parent.parent
STRAY = "86399.25"  # seconds that a stray process would sleep
FORGED = {"lesson": "00", "problem": "", "rows": [{"kind": "exercise", "item": "0.1"}]}


@dataclass
class Copy:
    """A workbook to be made, and what the grader has to say about it."""

    content: Callable[[], bytes]
    states: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    raised: tuple[str, ...] = ()  # in what each cell that raises says
    guesses: dict[str, str] = field(default_factory=dict)


def source(lesson: str) -> NotebookNode:
    """Return a lesson as students get it."""
    return files.read_source(files.sources([lesson])[0])


def solved(lesson: str) -> NotebookNode:
    """Return a lesson in which a student has written every solution into the exercise's cell."""
    notebook = with_solutions(source(lesson))
    for cell in notebook.cells:
        cell.metadata["tags"] = [tag for tag in files.tags(cell) if tag != "solution"]
    return notebook


def written(notebook: NotebookNode) -> bytes:
    """Return the bytes of a file."""
    return nbformat.writes(notebook).encode()


def of_code(*sources: str, **metadata: Any) -> bytes:
    """Return a workbook of these cells alone."""
    cells = [nbformat.v4.new_code_cell(text) for text in sources]
    return written(nbformat.v4.new_notebook(cells=cells, metadata=metadata))


def answering(lesson: str, answers: dict[str, str], keep: bool = True) -> bytes:
    """Return a lesson whose exercises hold these lines, with or without its check cells."""
    notebook, found = source(lesson), list(answers.items())
    cells, last = [], None
    for cell in notebook.cells:
        if "exercise" in files.tags(cell):
            last = cell
        asked = files.called_ids(cell, "check") if "check" in files.tags(cell) else []
        for cid, text in found:
            if cid in asked and last is not None:
                last.source = text
        if keep or "check" not in files.tags(cell):
            cells.append(cell)
    notebook.cells = cells
    return written(notebook)


SETUP = 'from calibkit_course import open_lesson\nlesson = open_lesson("00")'
GOOD, BAD = "share = 6 / 36", "share = 5 / 36"
CHECK = 'lesson.check("0.1")'


def short(*lines: str, answer: str = GOOD) -> Callable[[], bytes]:
    """Return a maker of a small workbook of lesson 00 with these cells before the answer."""
    return lambda: of_code(SETUP, *lines, answer, CHECK)


def edited_checks() -> bytes:
    """Return a workbook whose checks all say Correct, and whose lesson agrees."""
    praise = 'print("Correct: well done.")\nprint(\'{"state": "Correct"}\')'
    patch = (
        "from calibkit_course.learn import Lesson\nfrom calibkit_course.lesson00 import checks\n"
        "class Praise:\n    state, text = 'Correct', 'well done.'\n"
        "Lesson.check = lambda *a, **k: Praise()\nchecks.JUDGES.clear()"
    )
    return of_code(
        SETUP, BAD, praise, patch, "lesson.check('0.1')", f"print({json.dumps(FORGED)!r})"
    )


def guessed() -> bytes:
    """Return a workbook with one guess before the outcome."""
    notebook = copy.deepcopy(source("00"))
    for cell in notebook.cells:
        cell.source = cell.source.replace('lesson.predict("0a", ...)', 'lesson.predict("0a", "70")')
    return written(notebook)


RIGHT, ALMOST, BLANK = ({"0.1": word} for word in ("Correct", "Almost", "Not attempted"))
CORRECT_01 = dict.fromkeys(("1.1", "1.2"), "Correct")
ANSWERS_04 = {
    "4.1": "def bin_statistics(y_true, y_prob, n_bins):\n    pass",
    "4.2": "my_null = ...\nraise RuntimeError('stuck')",
}
SWARM = (
    "import subprocess, time\nmany = [subprocess.Popen(['sleep', '99']) for _ in range(100)]\n"
    "time.sleep(100)"
)
FILL = (
    "import time\nfor number in range(6):\n    open(f'{number}', 'wb').truncate(2**28)\n"
    "time.sleep(100)"
)
JULIA = {"name": "julia", "display_name": "J"}
DIES = "import os\nos._exit(1)"
SUB = "import subprocess, sys\n"
WRITE = (
    "with open('big.bin', 'wb') as file:\n    for _ in range(10_000):\n"
    "        file.write(bytes(2**20))"
)


def copies(folder: Path, fenced: bool = True) -> dict[str, Copy]:
    """Return all made workbooks by the file that they go to; some need a namespace to end well."""
    connect = "import socket; socket.create_connection(('203.0.113.1', 80), timeout=5)"
    other = f"{SUB}subprocess.run([sys.executable, '-c', {connect!r}], check=True)"
    spy = f"import pathlib\nassert pathlib.Path({str(folder)!r}, 'ann').exists(), 'out of sight'"
    spoil = f"open({str(ROOT / 'spoilt.txt')!r}, 'w')"
    stray = (
        f"{SUB}for alone in (True, False):\n"
        f"    subprocess.Popen(['sleep', '{STRAY}'], start_new_session=alone)"
    )
    cells = {
        "undefined + 1": "NameError",
        "hog = [bytearray(2**30) for _ in range(64)]": "MemoryErr",
    }
    cells |= {WRITE: "OSError", connect: "no network"}
    if fenced:
        cells |= {other: "CalledProcessError", spy: "out of sight", spoil: "Read-only"}
    found = {
        "00_solved.ipynb": Copy(lambda: written(solved("00")), RIGHT),
        "ann/01_what.ipynb": Copy(lambda: written(solved("01")), CORRECT_01),
        "04_partly.ipynb": Copy(
            lambda: answering("04", ANSWERS_04),
            {"4.1": "Wrong kind", "4.2": "Not attempted"},
            raised=("RuntimeError: stuck",),
        ),
        "00_wrong.ipynb": Copy(lambda: answering("00", {"0.1": BAD}), ALMOST),
        "guess_00.ipynb": Copy(guessed, BLANK, guesses={"0a": "typed in, wrong"}),
        "exits_00.ipynb": Copy(short(DIES), RIGHT, raised=("the process ended",)),
        "Zoë Ñandú 学生_00.ipynb": Copy(
            lambda: of_code(SETUP, *cells, stray, GOOD, CHECK, kernelspec=JULIA),
            RIGHT,
            raised=(*cells.values(),),
        ),
        "no_checks_01.ipynb": Copy(
            lambda: answering("01", {"1.2": "six = [(0.5, k % 2) for k in range(6)]"}, keep=False),
            {"1.2": "Correct", "1.1": "Not attempted"},
        ),
        "edited_00.ipynb": Copy(edited_checks, ALMOST),
        "not_json.ipynb": Copy(lambda: b"{'cells': [", problem="not a notebook"),
        "empty.ipynb": Copy(lambda: b"", problem="empty"),
        "lesson_77.ipynb": Copy(lambda: of_code('open_lesson("77")'), problem="no lesson 77"),
        "which.ipynb": Copy(lambda: of_code("1 + 1"), problem="No cell opens a lesson"),
        "swarm_00.ipynb": Copy(short(SWARM), problem="more than 64 processes"),
        "fill_00.ipynb": Copy(short(FILL), problem="too much to the disk"),
        "=cmd()_00.ipynb": Copy(
            short("raise ValueError('=cmd() <script>alert(1)</script>')"),
            RIGHT,
            raised=("=cmd() <script>",),
        ),
        "<script>alert(2)<b>_00.ipynb": Copy(
            short(answer="share = '=1+1<script>'"), {"0.1": "Wrong kind"}
        ),
    }
    return found if fenced else {name: found[name] for name in found if name[:5] != "swarm"}
