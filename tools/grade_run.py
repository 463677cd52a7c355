"""Run one student's workbook in a fenced process; `python dev.py grade` starts one per workbook.

The process limits itself (`tools.grade_fence`), opens the lesson of the installed package, executes
the cells one by one, and judges the variables that they leave. What cells print, which checks they
delete, edit or overwrite plays no part. The judge shares the process with the student's code, so it
withstands slips and simple tricks; code written to deceive it can change the package in memory.
"""

import ast
import contextlib
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode
from traitlets.config import Config

from tools import notebook_files as files
from tools.grade_fence import Said, Stop, limit, lock_files, watch
from tools.workbook import name_of

Cells = list[tuple[str, list[str]]]
OPENED = re.compile(r"\bopen_lesson\(\s*(?:id\s*=\s*)?[\"']?(\d{1,2})[\"']?\s*\)")
ASKED = re.compile(r"\.check\(\s*(?:cid\s*=\s*)?[\"'](\d+\.\d+)[\"']")
NAMED = re.compile(r"\.(?:check|predict|reveal)\(\s*(?:[cp]id\s*=\s*)?[\"'](\d{1,2})")
WORDS = 300  # characters of a message that are kept
TEXT = 20 * WORDS  # and of a free text


class Ungradable(Exception):
    """A workbook that cannot be graded; the message is for the teacher."""


class TimeUp(BaseException):
    """A cell or a check that does not end; no `except Exception` stops it."""


# --- the workbook --------------------------------------------------------------------------------


def read_workbook(raw: bytes) -> Cells:
    """Return source and tags of each code cell, or say why there are none."""
    if not raw.strip():
        raise Ungradable("The file is empty.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Ungradable("The file is not text in UTF-8.") from None
    try:
        notebook = nbformat.reads(text, as_version=4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        return [(str(cell.source), [str(tag) for tag in files.tags(cell)]) for cell in cells]
    except Exception as error:
        raise Ungradable(f"The file is not a notebook ({type(error).__name__}).") from None


def lesson_of(cells: Cells, name: str, known: tuple[str, ...]) -> str:
    """Return the lesson that is opened, or whose exercises are named, or that names the file."""
    code = "\n".join(source for source, _ in cells)
    opened, asked = ([n.zfill(2) for n in sign.findall(code)] for sign in (OPENED, NAMED))
    if opened and opened[0] not in known:
        raise Ungradable(f"There is no lesson {opened[0]}.")
    found = opened[:1] or [*asked, *re.findall(r"(?<!\d)\d\d(?!\d)", name)]
    lessons = [str(number) for number in found if number in known]
    if not lessons:
        raise Ungradable("No cell opens a lesson, and the file is not named after one.")
    return lessons[0]


def statements(source: str) -> list[str]:
    """Return the statements of a cell without comments and layout."""
    try:
        return [ast.unparse(one) for one in ast.parse(source).body]
    except Exception:
        return []


def page_of(cells: Cells, lesson: str) -> tuple[str, NotebookNode]:
    """Return the page that a workbook was made from, and how it is called: 04 or 04_further.

    It is the core, unless more of the other one stands in the workbook.
    """
    written = {source for source, _ in cells}
    pages = [(name_of(path), files.read_source(path)) for path in files.sources([lesson])]
    return max(pages, key=lambda pair: sum(cell.source in written for cell in pair[1].cells))


def solutions(page: NotebookNode) -> Iterator[tuple[str, list[str]]]:
    """Yield each exercise with the statements of its folded solution."""
    for cell in files.cells_for_page(page):
        if "solution" in cell:
            yield cell["exercise"], statements(cell["solution"])


def own_cells(cells: Cells, page: NotebookNode) -> Cells:
    """Empty the folded solutions, known by their tag, or by their text below the check."""
    below, own = list[list[str]](), Cells()
    for source, tags in cells:
        below += [code for cid, code in solutions(page) if cid in ASKED.findall(source)]
        is_folded = "solution" in tags or statements(source) in below
        own.append(("" if is_folded else source, tags))
    return own


def copied(cells: Cells, page: NotebookNode) -> list[str]:
    """Return the exercises with all statements of a folded solution of three lines or more."""
    written = {one for source, _ in cells for one in statements(source)}
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


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop what runs longer: by an alarm each second, or, where that is ignored, by the end."""
    last_resort = threading.Timer(2 * seconds + 10, os._exit, [1])
    last_resort.daemon = True
    last_resort.start()

    def stop(*_: object) -> None:
        raise TimeUp

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        last_resort.cancel()


class Run:
    """One workbook: its lesson, the shell of its cells, and what they leave behind.

    Before each cell and each check a file says which comes: if that ends the process, the next try
    leaves it out.
    """

    def __init__(self, lesson: str, page: NotebookNode, options: Said) -> None:
        from calibkit_course import open_lesson
        from calibkit_course.learn.exercises import MISSING

        self.missing, self.lesson = MISSING, open_lesson(lesson)
        code = "".join(c.source for c in page.cells if {"check", "predict"} & {*files.tags(c)})
        checks, predictions = self.lesson.checks.items(), self.lesson.predictions.items()
        self.checks = {cid: one for cid, one in checks if f'"{cid}"' in code}
        self.predictions = {pid: one for pid, one in predictions if f'"{pid}"' in code}
        self.seconds, self.left_out = float(options["seconds"]), set(options["left_out"])
        self.next_file = Path(options["job"], "next")
        self.raised: dict[int, str] = {}
        self.states: dict[str, Said] = {}
        self.guesses: dict[str, Said] = {}
        self.assessed: dict[str, str] = {}
        self.quizzed: list[Any] = []
        self.notes: list[str] = []
        self.shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
        self.namespace: dict[str, Any] = self.shell.user_ns

    def comes(self, name: str) -> bool:
        """Tell whether a cell or check may run, and note that it is next."""
        self.next_file.write_text(name, encoding="utf-8")
        return name not in self.left_out

    def cells(self, cells: Cells) -> None:
        """Execute the student's cells."""
        left = self.seconds
        for number, (source, _) in enumerate(cells, start=1):
            if not source.strip():
                continue
            if not self.comes(f"cell {number}"):
                self.raised[number] = "the process ended here, so this cell was left out"
            elif left <= 0:
                self.raised[number] = "TimeUp: not run, because the time was over"
            else:
                started = time.monotonic()
                # Half of what is left, so that an endless cell leaves time for those below.
                self.cell(number, source, max(left / 2, 1.0))
                left -= time.monotonic() - started

    def cell(self, number: int, source: str, seconds: float) -> None:
        """Execute a cell, and look at the exercises that it checks."""
        error: BaseException | None
        try:
            with time_limit(seconds):
                result = self.shell.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as found:  # the alarm between two lines of ours
            error = found
        if error is not None:
            words = f"{type(error).__name__}: {error}"
            if isinstance(error, TimeUp):
                words = f"TimeUp: stopped after {seconds:.0f} s"
            self.raised[number] = " ".join(words.split())[:WORDS]
        self.note_guesses()
        if error is None:
            self.note_quiz(source)
        for cid in ASKED.findall(source) if error is None else ():
            if cid in self.checks:
                self.look_at(cid)

    def note_guesses(self) -> None:
        """Note what the learner's lesson knows: guesses, and texts that were self-assessed."""
        found = [one for one in [*self.namespace.values()] if type(one) is type(self.lesson)]
        for record in (one.record for one in found if one.id == self.lesson.id):
            for pid, asked in self.predictions.items():
                if pid in record.guesses:
                    first = record.revealed.get(pid)
                    guess = asked.read(record.guesses[pid] if first is None else first)
                    right = guess is not None and asked.is_right(guess, asked.outcome)
                    known = asked.outcome is not None  # else a line, whose truth a cell computes
                    ended = ("right" if right else "wrong") if known else "a line"
                    told = f"{asked.compare(guess, asked.outcome)} {asked.why}" if known else ""
                    note = {"state": f"typed in, {ended}", "says": str(guess)[:WORDS]}
                    self.guesses[pid] = note | {"task": told}
            for cid, points in [*record.points.items()]:
                made = ", ".join(map(str, points)) or "none"
                self.assessed[str(cid)] = f"points that the text makes, by its writer: {made}"

    def note_quiz(self, source: str) -> None:
        """Note what the quiz was told; the cell has computed it just now."""
        with contextlib.suppress(Exception):
            for call in ast.walk(ast.parse(source)):
                if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "quiz":
                    given = [compile(ast.Expression(one), "quiz", "eval") for one in call.args]
                    self.quizzed = [eval(one, self.namespace) for one in given]

    def look_at(self, cid: str) -> Said:
        """Judge one exercise by the variable that it asks for; once correct, it stays so."""
        if self.states.get(cid, {}).get("state") == "Correct":
            return self.states[cid]
        check, seconds = self.checks[cid], max(self.seconds / 5, 1.0)
        state = "Wrong kind"
        try:
            if self.comes(f"check {cid}"):
                with time_limit(seconds):
                    said = check.look_at(cid, self.namespace.get(check.variable, self.missing))
                state, says = str(said.state), said.text
            else:
                says = "the process ended while this answer was checked."
        except TimeUp:
            says = f"the check did not end within {seconds:.0f} s."
        except BaseException as error:
            says = f"the check was stopped by {type(error).__name__}."
        if cid in self.assessed and check.rubric and state == "Compare":
            state, says = "Self-assessed", self.assessed[cid]
        self.states[cid] = {"state": state, "says": says[:WORDS]}
        return self.states[cid]

    def rows(self) -> Iterator[Said]:
        """Yield what is known about guesses, forecasts and exercises."""
        from calibkit_course.learn.forecasts import kept_log

        def row(kind: str, item: str = "", state: str = "", says: str = "", task: str = "") -> Said:
            return {"kind": kind, "item": item, "state": state, "says": says, "task": task}

        yield row("predictions", str(len(self.predictions)))
        yield from (row("guess", pid, **note) for pid, note in self.guesses.items())
        for name, one in kept_log().rows.items():
            if one.right is not None:
                yield row("forecast", name, f"{one.right:d}", f"{one.sure:g}", f"{one.options}")
        for question, given in zip(self.lesson.questions, self.quizzed, strict=False):
            if given is not ...:
                said = question.verdict(given)
                yield row("quiz", question.id, "right" if said[:6] == "Right." else "wrong", said)
        for cid, check in self.checks.items():
            asked = row("exercise", cid, task=check.task[:WORDS], **self.look_at(cid))
            yield asked | {"is_text": bool(check.rubric)}
            text = self.namespace.get(check.variable)
            if check.rubric and isinstance(text, str):
                yield row("text", cid, self.assessed.get(cid, ""), text[:TEXT])
                points = (f"{k}. {point}" for k, point in enumerate(check.rubric.points, start=1))
                yield row("rubric", cid, says=" ".join(points))
        for note in self.notes:
            yield row("note", says=note)


def without_network() -> None:
    """Make every attempt to reach another computer fail at once, with a sentence."""
    import socket

    def refuse(*_: object, **__: object) -> Any:
        raise OSError("there is no network while a workbook is graded")

    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        setattr(socket, name, refuse)
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, refuse)


def graded(raw: bytes, options: Said) -> Said:
    """Return all that is to be said about one workbook."""
    from calibkit_course import lessons

    found: Said = {"lesson": "", "problem": "", "rows": [], "raised": []}
    try:
        cells = read_workbook(raw)
        found["lesson"] = lesson_of(cells, options["name"], lessons())
        lesson = found["lesson"]
        found["lesson"], page = page_of(cells, lesson)
        run = Run(lesson, page, options)
        os.chdir(Path(options["job"], "here"))
        without_network()
        own = own_cells(cells, page)
        lost = sum(bool(was) and not is_now and "solution" not in tags
                   for (was, tags), (is_now, _) in zip(cells, own, strict=True))  # fmt: skip
        run.notes += [f"folded solutions that have lost their tag, left out: {lost}"] * bool(lost)
        if not any(OPENED.search(source) for source, _ in cells):
            setup = next(cell.source for cell in page.cells if "setup" in files.tags(cell))
            run.cell(0, setup, run.seconds / 2)
            run.notes.append("the set-up cell was missing, so the lesson's own was run")
        run.cells(own)
        found["rows"], found["raised"] = [*run.rows()], sorted(run.raised.items())
        theirs = shapes(source for source, _ in own) - shapes(cell.source for cell in page.cells)
        found["rows"] += [{"kind": "shape", "item": one, "state": ""} for one in sorted(theirs)]
        copies = copied(own, page)
        for row in found["rows"]:
            if row["item"] in copies and row["state"] == "Correct":
                row["copied"] = " Statement by statement the folded solution."
    except Ungradable as problem:
        found["problem"] = str(problem)
    except BaseException as error:  # nothing of one workbook may reach the others
        found["problem"] = f"The run failed: {type(error).__name__}: {str(error)[:WORDS]}"
    return found


def main(options: Said) -> None:
    """Grade the workbook on standard input by the options of `tools.grade`."""
    raw = sys.stdin.buffer.read()
    stop = Stop(alone=bool(options["alone"]))
    held = ["network", "processes"] if stop.alone else []
    if stop.alone and lock_files(options["job"], options["hidden"]):
        held.append("files")
    held += limit(options["memory"])
    job = Path(options["job"])
    threading.Thread(target=watch, args=(job, options["memory"], stop), daemon=True).start()
    stop(found=graded(raw, options) | {"held": held})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
