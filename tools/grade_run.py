"""Run one student's workbook and judge the variables that it leaves; `tools.grade` does each.

The cells run in a kernel of its own, in an empty folder, under the limits of `tools.grade_judge`.
One that ends the kernel, or does not end itself, is left out, and all begins anew. What cells
print, which checks they delete, edit or overwrite plays no part. The judge shares the kernel with
the student's code, so it withstands slips and simple tricks; code written to deceive it can change
the package in memory.
"""

import ast
import asyncio
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from calibkit_course import lessons, open_lesson
from calibkit_course.learn import Lesson, Prediction
from calibkit_course.learn.forecasts import Forecast, Log
from calibkit_course.learn.record import Record
from tools import notebook_files as files
from tools.lesson_pages import lesson_pages
from tools.virtual_environment import environment, kernel_environment
from tools.workbook import name_of

LARGEST_WORKBOOK = 25 * 2**20
TRIES = 9
LATE = 1200  # seconds until a kernel, or an output, counts as lost
OPENED = re.compile(r"\bopen_lesson\(\s*(?:id\s*=\s*)?[\"']?(\d{1,2})[\"']?\s*\)")
ASKED = re.compile(r"\.check\(\s*(?:cid\s*=\s*)?[\"'](\d+\.\d+)[\"']")
NAMED = re.compile(r"\.(?:check|predict|reveal)\(\s*(?:[cp]id\s*=\s*)?[\"'](\d{1,2})")
BEGIN = "from tools.grade_judge import begin as _begin; _begin({!r}, {!r})"
JUDGE = "from tools.grade_judge import judge as _judge; _judge({!r}, globals())"


class Row(NamedTuple):
    """One thing that is known of a workbook."""

    kind: str
    item: str = ""
    state: str = ""
    says: str = ""
    task: str = ""


@dataclass
class Grade:
    """One file that was handed in, and what was found in it."""

    path: Path
    file: str  # as it is called in the folder
    owner: str  # the sub-folder, else the name of the file
    lesson: str = ""
    problem: str = ""
    rows: list[Row] = field(default_factory=list)
    shapes: set[str] = field(default_factory=set)
    forecasts: dict[str, Forecast] = field(default_factory=dict)
    again: int = 1
    late: bool = False
    seconds: float = 0.0

    @property
    def student(self) -> str:
        """Who handed it in: its owner, without what names the lesson in the name of a file."""
        if not self.lesson or self.owner != self.path.stem:
            return self.owner
        rest = re.sub(rf"(?<!\d){self.lesson[:2]}(?!\d)|\(\d+\)", "", self.owner)
        for page in reversed(lesson_pages(self.lesson[:2])):
            rest = rest.replace(page.stem[3:], "")
        return " ".join(rest.split()).strip(" _-.") or self.owner

    def of(self, *kinds: str) -> list[Row]:
        """Return the rows of some kinds."""
        return [row for row in self.rows if row.kind in kinds]

    @property
    def points(self) -> int:
        """How many exercises are right."""
        return sum(row.state == "Correct" for row in self.of("exercise"))

    @property
    def in_words(self) -> str:
        """One line about the whole; whether an outcome was seen before a guess, no file tells."""
        if self.problem:
            return f"not graded: {self.problem}"
        states = Counter(row.state for row in self.of("exercise")) | Counter(Correct=0)
        guesses, raised = self.of("guess"), len(self.of("cell"))
        parts = [f"{count} {state}" for state, count in states.items()]
        parts += [f"{sum(bool(row.says) for row in guesses)} of {len(guesses)} guesses typed in"]
        parts += [f"cells that raised: {raised}"] if raised else []
        parts += [f"one of {self.again} files of this lesson"] if self.again > 1 else []
        parts += ["late"] if self.late else []
        return ", ".join([*parts, *(row.says for row in self.of("note", "doubt"))])


# --- the workbook --------------------------------------------------------------------------------


def read_workbook(path: Path) -> list[NotebookNode]:
    """Return the code cells of a workbook, or say why there are none."""
    if path.suffix != ".ipynb":
        said = "This is no notebook (.ipynb). The file itself is needed, and not in an archive."
        raise files.NotebookProblem(said)
    if path.stat().st_size > LARGEST_WORKBOOK:
        raise files.NotebookProblem(f"The file is larger than {LARGEST_WORKBOOK // 2**20} MB.")
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8-sig"), as_version=4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        return [new_code_cell(str(c.source), metadata={"tags": files.tags(c)}) for c in cells]
    except Exception as error:  # whatever a file may hold
        raise files.NotebookProblem(f"The file is not a notebook ({error!r:.200}).") from None


def lesson_of(sources: Iterable[str], name: str, known: tuple[str, ...]) -> str:
    """Return the lesson that is opened, or whose exercises are named, or that names the file."""
    code = "\n".join(sources)
    opened, asked = ([n.zfill(2) for n in sign.findall(code)] for sign in (OPENED, NAMED))
    if opened and opened[0] not in known:
        raise files.NotebookProblem(f"There is no lesson {opened[0]}.")
    for number in (*opened[:1], *asked, *re.findall(r"(?<!\d)\d\d(?!\d)", name)):
        if number in known:
            return str(number)
    raise files.NotebookProblem("No cell opens a lesson, and the file is not named after one.")


def statements(source: str) -> list[str]:
    """Return the statements of a cell without comments and layout."""
    try:
        return [ast.unparse(one) for one in ast.parse(source).body]
    except Exception:
        return []


def page_of(sources: Iterable[str], lesson: str) -> tuple[str, NotebookNode]:
    """Return the page that a workbook was made from, and how it is called: 04 or 04_further.

    It is the core, unless more of the other one stands in the workbook.
    """
    written = {*sources}
    pages = [(name_of(path), files.read_source(path)) for path in files.sources([lesson])]
    return max(pages, key=lambda pair: sum(cell.source in written for cell in pair[1].cells))


def solutions(page: NotebookNode) -> Iterator[tuple[str, list[str]]]:
    """Yield each exercise with the statements of its folded solution."""
    for cell in files.cells_for_page(page):
        if "solution" in cell:
            yield cell["exercise"], statements(cell["solution"])


def own_code(cells: list[NotebookNode], page: NotebookNode) -> tuple[list[str], int]:
    """Empty the folded solutions, known by their tag, or by their text below the check.

    Return how many have lost their tag, too.
    """
    below, own, lost = list[list[str]](), list[str](), 0
    for cell in cells:
        below += [code for cid, code in solutions(page) if cid in ASKED.findall(cell.source)]
        tagged = "solution" in files.tags(cell)
        is_folded = tagged or statements(cell.source) in below
        own.append("" if is_folded else cell.source)
        lost += is_folded and not tagged and bool(cell.source)
    return own, lost


def copied(sources: Iterable[str], page: NotebookNode) -> list[str]:
    """Return the exercises with all statements of a folded solution of three lines or more."""
    written = {one for source in sources for one in statements(source)}
    found = [(cid, code) for cid, code in solutions(page) if written.issuperset(code)]
    return [cid for cid, code in found if "\n".join(code).count("\n") >= 2]


def shapes(sources: Iterable[str]) -> set[str]:
    """Return the statements of three lines or more, with every name by its place.

    Two that differ in names, comments or layout are one.
    """
    found = set()
    for tree in (ast.parse(one) for source in sources for one in statements(source)):
        names: dict[str, str] = {}
        for node in ast.walk(tree):
            for part in {"id", "arg", "name"} & {*node._fields}:
                name = getattr(node, part)
                setattr(node, part, name and names.setdefault(name, f"_{len(names)}"))
        found.add(ast.unparse(tree))
    return {one for one in found if one.count("\n") >= 2}


# --- the run -------------------------------------------------------------------------------------


def with_judges(sources: Iterable[str], begin: str, cids: Iterable[str]) -> NotebookNode:
    """Return a notebook that judges each exercise where it is checked, and all at the end."""
    cells, known = [new_code_cell(begin)], [*cids]
    for number, source in enumerate(sources, start=1):
        cells.append(new_code_cell(source or "...", metadata={"number": number}))
        asked = [cid for cid in ASKED.findall(source) if cid in known]
        cells += (new_code_cell(JUDGE.format(cid), metadata={"check": cid}) for cid in asked)
    cells += (new_code_cell(JUDGE.format(cid), metadata={"check": cid}) for cid in known)
    notebook: NotebookNode = new_notebook(cells=cells)
    return notebook


def execute(notebook: NotebookNode, lesson: str, seconds: int) -> tuple[Record, Log]:
    """Execute a notebook; return what its lesson has kept of guesses, texts and forecasts.

    A cell that ends the kernel, or does not end, is replaced by one that says so.
    """
    env = kernel_environment() | {"MPLBACKEND": "agg"}
    env |= {name: path for name, path in environment().items() if name == "CALIBKIT_DATA"}
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            env |= dict.fromkeys(("CALIBKIT_WORKBOOK", "HOME", "TMPDIR"), folder)
            client = NotebookClient(
                notebook,
                timeout=seconds,
                startup_timeout=LATE,
                iopub_timeout=LATE,
                allow_errors=True,
                kernel_name="python3",
                resources={"metadata": {"path": folder}},
            )
            try:
                asyncio.run(client.async_execute(env=env, stderr=subprocess.DEVNULL))
            except CellTimeoutError:
                said = f"raise TimeoutError('this did not end within {seconds} s')"
            except DeadKernelError:
                said = "raise SystemError('this ended the process')"
            else:
                kept = Path(folder, ".progress")
                return Record(kept / f"{lesson}.json"), Log(kept / "forecasts.csv")
            notebook.cells[client.code_cells_executed - 1].source = said
    raise files.NotebookProblem(f"In each of {TRIES} tries a cell ended the run.")


def rows(executed: NotebookNode, known: Lesson, record: Record) -> Iterator[Row]:
    """Yield what is known about guesses, exercises and cells that raised."""
    yield from (guessed(pid, asked, record) for pid, asked in known.predictions.items())
    found: dict[str, dict[str, str]] = {}
    for cell in executed.cells:
        errors = [one for one in cell.outputs if one.output_type == "error"]
        words = " ".join(f"{one.ename}: {one.evalue:.300}" for one in errors)
        if cid := cell.metadata.get("check"):
            if found.get(cid, {}).get("state") != "Correct":  # once correct, it stays so
                found[cid] = {"state": "Wrong kind", "says": words, "text": ""}
                for data in (one.get("data", {}) for one in cell.outputs):
                    found[cid] |= data.get("application/json", {})
        elif errors:
            yield Row("cell", str(cell.metadata.get("number", 0)), "raised", words)
    for cid, check in known.checks.items():
        said, points = found[cid], record.points.get(cid)
        if points is not None and said["state"] == "Compare":
            made = ", ".join(map(str, points)) or "none"
            said["says"] = f"points that the text makes, by its writer: {made}"
            said["state"] = "Self-assessed"
        yield Row("exercise", cid, said["state"], said["says"], check.task)
        if check.rubric:
            numbered = enumerate(check.rubric.points, start=1)
            yield Row("text", cid, says=said["text"])
            yield Row("rubric", cid, says=" ".join(f"{k}. {point}" for k, point in numbered))


def guessed(pid: str, asked: Prediction, record: Record) -> Row:
    """Return the guess that stood when its outcome was first shown, beside that outcome."""
    first = record.revealed.get(pid)
    guess = asked.read(record.guesses.get(pid) if first is None else first)
    if guess is None:
        return Row("guess", pid, "no guess")
    if asked.outcome is None:  # a line, whose truth a cell computes
        return Row("guess", pid, "typed in, a line", str(guess))
    ended = "right" if asked.is_right(guess, asked.outcome) else "wrong"
    told = f"{asked.compare(guess, asked.outcome)} {asked.why}"
    return Row("guess", pid, f"typed in, {ended}", str(guess), told)


def quiz(sources: Iterable[str], lesson: Lesson) -> Iterator[Row]:
    """Yield what was typed into the quiz, the last time that it was asked."""
    trees = (ast.walk(ast.parse(one)) for source in sources for one in statements(source))
    calls = [node for tree in trees for node in tree if isinstance(node, ast.Call)]
    asked = [call.args for call in calls if getattr(call.func, "attr", "") == "quiz"]
    for question, typed in zip(lesson.questions, asked[-1] if asked else [], strict=False):
        given = getattr(typed, "value", ...)
        if given is not ...:
            said = question.verdict(given)
            yield Row("quiz", question.id, "right" if said[:6] == "Right." else "wrong", said)


def part_of(name: str) -> Lesson:
    """Return a lesson with what one of its pages asks alone: 04 or 04_further."""
    whole, further = open_lesson(name[:2], keep=False), name.endswith("further")
    checks = {cid: one for cid, one in whole.checks.items() if (cid in whole.second) == further}
    asked = {pid: one for pid, one in whole.predictions.items() if (pid in whole.second) == further}
    return replace(whole, checks=checks, predictions=asked)


def grade(found: Grade, seconds: int, memory: float) -> Grade:
    """Run one workbook and note what is found; whatever happens, return it."""
    started = time.monotonic()
    try:
        run(found, seconds, memory)
    except files.NotebookProblem as problem:
        found.problem = str(problem)
    except Exception as error:  # nothing of one workbook may reach the others
        found.problem = f"The run failed ({error!r:.200})."
    found.seconds = time.monotonic() - started
    return found


def run(found: Grade, seconds: int, memory: float) -> None:
    """Note all that is to be said about one workbook."""
    cells = read_workbook(found.path)
    code = [cell.source for cell in cells]
    lesson = found.lesson = lesson_of(code, found.path.stem, lessons())
    found.lesson, page = page_of(code, lesson)
    known, (own, lost) = part_of(found.lesson), own_code(cells, page)
    begin, notes = BEGIN.format(lesson, memory), list[str]()
    if lost:
        notes.append(f"folded solutions that have lost their tag, left out: {lost}")
    if not any(map(OPENED.search, code)):
        begin += "\n" + next(cell.source for cell in page.cells if "setup" in files.tags(cell))
        notes.append("the set-up cell was missing, so the lesson's own was run")
    notebook = with_judges(own, begin, known.checks)
    record, log = execute(notebook, lesson, seconds)
    found.rows = [*rows(notebook, known, record), *quiz(own, known)]
    found.rows += (Row("note", says=note) for note in notes)
    found.forecasts = log.rows
    found.shapes = shapes(own) - shapes(cell.source for cell in page.cells)
    right = {row.item for row in found.of("exercise") if row.state == "Correct"}
    if both := ", ".join(cid for cid in copied(own, page) if cid in right):
        found.rows.append(Row("doubt", says=f"the folded solution, statement by statement: {both}"))
