"""Run one student's workbook in a fenced process; `python dev.py grade` starts one per workbook.

The process limits itself (`tools.grade_fence`), starts a kernel, hands it the cells one by one, and
prints what the judge in the kernel (`tools.grade_judge`) has found.
"""

import ast
import hashlib
import json
import math
import os
import re
import secrets
import signal
import sys
import threading
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from tools import notebook_files as files
from tools.grade_fence import Stop, limit, lock_files, watch
from tools.grade_judge import DIED, WORDS, Said

Cells = list[tuple[str, list[str]]]
OPENED = re.compile(r"\bopen_lesson\(\s*(?:id\s*=\s*)?[\"']?(\d{1,2})[\"']?\s*\)")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
TRIES = 4
PATIENCE = 600  # seconds for what is ours: starting a kernel, looking at answers


class Ungradable(Exception):
    """A workbook that cannot be graded; the message is for the teacher."""


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
    except (Exception, RecursionError, MemoryError) as error:
        raise Ungradable(f"The file is not a notebook ({type(error).__name__}).") from None


def lesson_of(cells: Cells, name: str, known: tuple[str, ...]) -> str:
    """Return the lesson that the setup cell opens, or else the one that the file is named after."""
    opened = [number.zfill(2) for source, _ in cells for number in OPENED.findall(source)]
    named = [number for number in re.findall(r"(?<!\d)\d\d(?!\d)", name) if number in known]
    if opened and opened[0] not in known:
        raise Ungradable(f"There is no lesson {opened[0]}.")
    if not opened and not named:
        raise Ungradable("No cell opens a lesson, and the file is not named after one.")
    return str((opened or named)[0])


def plain(source: str) -> str:
    """Return code without comments and layout."""
    try:
        return str(ast.unparse(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def copied(cells: Cells, lesson: str) -> list[str]:
    """Return the exercises that hold the folded solution word for word, of three lines or more."""
    written = {plain(source) for source, tags in cells if "solution" not in tags}
    found, asked = [], ""
    for cell in files.read_source(files.sources([lesson])[0]).cells:
        if "check" in files.tags(cell):  # one that ticks the points of a text names no exercise
            asked = next(iter(files.called_ids(cell, "check")), asked)
        if "solution" in files.tags(cell) and plain(cell.source).count("\n") >= 2:
            found += [asked] if plain(cell.source) in written else []
    return found


# --- the kernel ----------------------------------------------------------------------------------


class Silent(NotebookClient):
    """A client that keeps no outputs: what is printed is nobody's grade."""

    def output(self, *_: object, **__: object) -> None:
        """Drop it."""

    def handle_comm_msg(self, *_: object, **__: object) -> None:
        """Drop it: there is no page with widgets."""


def client_of(sources: list[str], folder: Path) -> Silent:
    """Return a client for a fresh kernel, whatever kernel the workbook names."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    client = Silent(
        nbformat.v4.new_notebook(cells=cells),
        kernel_name="python3",
        allow_errors=True,
        interrupt_on_timeout=True,
        startup_timeout=PATIENCE,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
    )
    client.log.disabled = True
    manager = client.create_kernel_manager()
    if os.name == "posix":  # without a network there is not even a loopback
        manager.transport = "ipc"
        manager.ip = str(folder.parent / "run" / secrets.token_hex(4))
    assert manager.kernel_spec is not None
    manager.kernel_spec.argv[0] = sys.executable
    return client


class Run:
    """One workbook: its cells, what is known about them, and how much time is left."""

    def __init__(self, cells: Cells, lesson: str, options: Said) -> None:
        self.cells, self.lesson = cells, lesson
        self.job, self.seconds = Path(options["job"]), float(options["seconds"])
        self.left = self.seconds
        self.raised: dict[int, str] = {}
        self.fatal: set[int] = set()
        self.left_out: list[str] = []

    def whole(self) -> list[Said]:
        """Execute all cells; a cell or check that ends the process is left out of the next try."""
        for _ in range(TRIES):
            self.raised = {number: self.raised[number] for number in self.fatal}
            rows = self.attempt()
            if rows is not None:
                return rows
        raise Ungradable(f"In each of {TRIES} tries {DIED} before the last cell.")

    def attempt(self) -> list[Said] | None:
        """Execute all cells in one kernel, and the judge; None if the kernel did not live."""
        token, where = secrets.token_hex(16), self.job / secrets.token_hex(8)
        about: Said = {"lesson": self.lesson, "left_out": self.left_out}
        about["seal"] = hashlib.sha256(token.encode()).hexdigest()
        about["seconds"] = max(self.seconds / 5, 1.0)
        first = f"import tools.grade_judge\ntools.grade_judge.start({about!r})\ndel tools"
        sources = [first, *(source for source, _ in self.cells), f"# {token} {where}"]
        client = client_of(sources, self.job / "here")
        with client.setup_kernel():
            try:
                if problem := self.ask(client, 0, PATIENCE):
                    raise Ungradable(f"The lesson cannot be opened here ({problem}).")
                if not self.execute(client):
                    return None
                self.ask(client, len(sources) - 1, PATIENCE)
            except DeadKernelError:
                if not where.exists():
                    raise Ungradable(f"{DIED} before the answers were looked at.") from None
        return self.verdict(where)

    def execute(self, client: Silent) -> bool:
        """Execute the student's cells, but no folded solution; tell whether the kernel lives."""
        for number, (source, tags) in enumerate(self.cells, start=1):
            if "solution" in tags or number in self.fatal or not source.strip():
                continue
            if self.left <= 0:
                self.raised[number] = "TimeUp: not run, because the time was over"
                continue
            started = time.monotonic()
            # Half of what is left, so that an endless cell leaves time for those below.
            share = max(self.left / 2, 1.0)
            try:
                problem = self.ask(client, number, share)
            except DeadKernelError:
                self.fatal.add(number)
                self.raised[number] = f"{DIED} here, so this cell was left out"
                return False
            finally:
                self.left -= min(time.monotonic() - started, share)
            if problem:
                self.raised[number] = problem
        return True

    def ask(self, client: Silent, index: int, seconds: float) -> str:
        """Execute one cell, interrupt it after its time, and return what it raised."""
        raised: list[str] = []
        started = time.monotonic()

        def note(execute_reply: Said, **_: object) -> None:
            content = execute_reply["content"]
            words = COLOUR.sub("", f"{content.get('ename')}: {content.get('evalue')}")
            passed = time.monotonic() - started
            if passed >= seconds and words.startswith("KeyboardInterrupt"):
                words = f"TimeUp: stopped after {passed:.0f} s"
            raised.append(" ".join(words.split())[:WORDS])

        def kill() -> None:
            pid = getattr(getattr(client.km, "provisioner", None), "pid", None)
            if pid:
                os.kill(pid, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)

        client.timeout_func = lambda _: math.ceil(seconds)
        client.on_cell_error = note
        last_resort = threading.Timer(2 * seconds + 10, kill)
        last_resort.daemon = True
        last_resort.start()
        try:
            ours = index in (0, len(self.cells) + 1)
            client.execute_cell(client.nb.cells[index], index, store_history=not ours)
        finally:
            last_resort.cancel()
        return raised[0] if raised else ""

    def verdict(self, path: Path) -> list[Said] | None:
        """Read what the judge has written; None if it did not come to its end."""
        try:
            lines = path.read_text(encoding="utf-8")[:1_000_000].splitlines()
            rows = [clean(json.loads(line)) for line in lines]
        except (OSError, ValueError):
            raise Ungradable("The answers could not be looked at.") from None
        if not rows or rows[-1]["kind"] != "end":
            self.left_out += [row["item"] for row in rows[-1:]]
            return None
        return [row for row in rows if row["kind"] not in ("judging", "end")]


def clean(row: object) -> Said:
    """Return a row of the judge with nothing but short texts."""
    if not isinstance(row, dict):
        raise ValueError(row)
    return {key: str(row.get(key, ""))[:WORDS] for key in ("kind", "item", "state", "says", "task")}


def graded(raw: bytes, options: Said) -> Said:
    """Return all that is to be said about one workbook."""
    from calibkit_course import lessons

    found: Said = {"lesson": "", "problem": "", "rows": [], "raised": []}
    try:
        cells = read_workbook(raw)
        found["lesson"] = lesson_of(cells, options["name"], lessons())
        run = Run(cells, found["lesson"], options)
        try:
            found["rows"] = run.whole()
        finally:
            found["raised"] = sorted(run.raised.items())
        for row in found["rows"]:
            if row["item"] in copied(cells, found["lesson"]) and row["state"] == "Correct":
                row["says"] += " Word for word the folded solution."
    except Ungradable as problem:
        found["problem"] = str(problem)
    except Exception as error:  # nothing of one workbook may reach the others
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
    found = graded(raw, options)
    stop(found=found | {"held": held})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
