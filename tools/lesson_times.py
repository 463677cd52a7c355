"""What a lesson costs a learner.

`python dev.py run` writes it into the header of the page, the table of lesson 00, and the line
of a core that names its second notebook.

Minutes = words / 200 + lines of code / 20 + 1 for each prediction and each figure + 3 for each
explorer + what each exercise's heading states ("### Exercise 4.1 Compute the table · 8 min").
Folded hints, answers, solutions, addresses and the picture at the head are not counted, nor is the
quiz, which is best answered on another day.
"""

import math
import re
from pathlib import Path

from nbformat import NotebookNode

from tools import notebook_files as files
from tools.lesson_pages import NOTEBOOKS, lesson_pages
from tools.workbook import PICTURE

WORDS_PER_MINUTE = 200
WORD = re.compile(r"\w[\w'’.-]*")
ADDRESS = re.compile(r"\]\(\S+\)")
LINES_PER_MINUTE = 20  # code that is read and run, not written
EXERCISE = re.compile(r"^#{1,4} Exercise [\d.]+ .*· (\d+) min *$", re.MULTILINE)
STATED = re.compile(r"^Time: (\d+)(?= min)", re.MULTILINE)
SECOND = re.compile(r"\((further/\S+)\), \d+(?= min)")
UNCOUNTED = ("install", "setup", "check", "exercise", "solution", "reveal", "static-twin", "quiz")
PRICES = {"predict": 1.0, "widget": 3.0} | dict.fromkeys(UNCOUNTED, 0.0)


def counted(notebook: NotebookNode) -> float:
    """Return the minutes that a page takes, by the rule above."""
    minutes = 0.0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            minutes += code_minutes(cell)
            continue
        text = ADDRESS.sub("]", files.FOLD.sub(" ", PICTURE.sub("", cell.source)))
        minutes += sum(map(int, EXERCISE.findall(text)))
        minutes += len(WORD.findall(text)) / WORDS_PER_MINUTE
    return minutes


def code_minutes(cell: NotebookNode) -> float:
    """Return the minutes of a code cell: some have their price, other code is read."""
    tags = set(files.tags(cell))
    for tag, minutes in PRICES.items():
        if tag in tags:
            return minutes
    figure = 1.0 if "figure" in cell.metadata.get("mystnb", {}) else 0.0
    return figure + len(cell.source.splitlines()) / LINES_PER_MINUTE


def stated(path: Path) -> int:
    """Return the minutes that the header of a page states."""
    return int(STATED.findall(path.read_text(encoding="utf-8"))[0])


def minutes_of(path: Path) -> int:
    """Return the minutes that are counted, rounded up to the next five."""
    return 5 * math.ceil(counted(files.read_source(path)) / 5)


def with_time(path: Path, text: str) -> str:
    """Return the text of a page whose header states what is counted."""
    return STATED.sub(f"Time: {minutes_of(path)}", text, count=1)


def with_minutes(text: str) -> str:
    """Return a text that says how long other pages take, with the minutes of their headers."""
    for core in NOTEBOOKS.glob("[0-9]*.md"):
        further = [
            f"[{stated(page)} min](further/{page.name})" for page in lesson_pages(core.name[:2])[1:]
        ]
        row = rf"\g<1>{stated(core)} min | {[*further, '–'][0]} |"
        text = re.sub(rf"(\({core.name}\) \|[^|]*\| ).*\|", row, text)
    return SECOND.sub(lambda link: f"({link[1]}), {stated(NOTEBOOKS / link[1])}", text)
