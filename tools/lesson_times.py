"""What a lesson costs a learner: `python -m tools.lesson_times` prints a table, tests compare it.

Minutes = words / 200 + lines of code / 20 + 1 for each prediction and each figure + 3 for each
explorer + what each exercise's heading states ("### Exercise 4.1 Compute the table · 8 min").
The quiz takes 4 and counts as going further, because it is best answered on another day.
Folded hints, answers and solutions are not counted. A part whose heading begins with "Go further"
is counted apart; it ends at the next heading of its level.
"""

import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from tools import notebook_files as files

WORDS_PER_MINUTE = 200
WORD = re.compile(r"\w[\w'’.-]*")
LINES_PER_MINUTE = 20  # code that is read and run, not written
SECTION = re.compile(r"(?m)^(?=#{1,4} )")
HEADING = re.compile(r"(#{1,4}) (.*)")
EXERCISE = re.compile(r"Exercise [\d.]+ .*· (\d+) min$")
STATED = re.compile(r"^Time: core (\d+) min(?: · go further (\d+) min)?", re.MULTILINE)
UNCOUNTED = ("install", "setup", "check", "exercise", "solution", "reveal", "static-twin")
PRICES = {"predict": 1.0, "widget": 3.0, "quiz": 4.0} | dict.fromkeys(UNCOUNTED, 0.0)


class Minutes(NamedTuple):
    """Minutes of a lesson's core and of its parts "Go further"."""

    core: float
    further: float


def counted(notebook: NotebookNode) -> Minutes:
    """Return what a lesson takes, by the rule above."""
    minutes, level = [0.0, 0.0], 0  # the level of the heading "Go further" that we are below
    for cell in notebook.cells:
        if cell.cell_type == "code":
            minutes[level > 0 or "quiz" in files.tags(cell)] += code_minutes(cell)
            continue
        for text in SECTION.split(files.FOLD.sub(" ", cell.source)):
            if heading := HEADING.match(text):
                depth, title = len(heading[1]), heading[2].strip()
                if title.startswith("Go further"):
                    level = depth
                elif depth <= level:
                    level = 0
                if found := EXERCISE.search(title):
                    minutes[level > 0] += float(found[1])
            minutes[level > 0] += len(WORD.findall(text)) / WORDS_PER_MINUTE
    return Minutes(*minutes)


def code_minutes(cell: NotebookNode) -> float:
    """Return the minutes of a code cell: some have their price, other code is read."""
    tags = set(files.tags(cell))
    for tag, minutes in PRICES.items():
        if tag in tags:
            return minutes
    figure = 1.0 if "figure" in cell.metadata.get("mystnb", {}) else 0.0
    return figure + len(cell.source.splitlines()) / LINES_PER_MINUTE


def stated(path: Path) -> tuple[int, int] | None:
    """Return the minutes that a lesson's header states, or None where it states none."""
    found = STATED.search(path.read_text(encoding="utf-8"))
    return (int(found[1]), int(found[2] or 0)) if found else None


def main(names: list[str]) -> int:
    """Print counted and stated minutes of the lessons, rounded up to the next five."""
    print("lesson  core  go further  header")
    for path in files.sources(names):
        core, further = (5 * math.ceil(part / 5) for part in counted(files.read_source(path)))
        print(f"{path.stem[:2]:>6}{core:>6}{further:>12}  {stated(path) or '-'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
