"""Run, check and solve the lessons: `python dev.py run | check | solved [names]`.

Names are beginnings of file names, e.g. 04; without names, all. `solved` runs each cell twice in a
row. That lessons as they are print what is stored, nbval sees to.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from calibkit_course import lessons
from tools import notebook_files as files
from tools.lesson_pages import NOTEBOOKS, missing
from tools.lesson_times import with_minutes, with_time
from tools.notebook_check import pair_problems
from tools.notebook_hints import with_hints
from tools.notebook_solved import (
    count_checks,
    run_twice,
    state_problems,
    with_solutions,
    write_solved,
)
from tools.spoilers import told
from tools.virtual_environment import ROOT, kernel_environment

SOLVED = ROOT / "build" / "solved"
CELL_TIMEOUT = 1200  # no verdict: only a lesson that hangs meets it
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@contextmanager
def client_of(notebook: NotebookNode, folder: Path) -> Iterator[NotebookClient]:
    """Yield what executes a notebook in place, in the lesson's folder; what raises is a problem."""
    try:
        yield NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT,
            iopub_timeout=CELL_TIMEOUT,  # by default a late output is lost after 4 seconds
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            record_timing=False,
        )
    except CellExecutionError as error:
        raise files.NotebookProblem(COLOUR.sub("", str(error))) from None
    except (CellTimeoutError, DeadKernelError) as error:
        raise files.NotebookProblem(f"{type(error).__name__}: {error}") from None


def execute(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run all cells in a fresh kernel."""
    with client_of(notebook, folder) as client:
        client.execute(env=kernel_environment())
    return notebook


def run(path: Path) -> str:
    """Bring one source into its canonical form, with hints and time; execute it, write `.ipynb`."""
    started = time.monotonic()
    text = with_time(path, with_hints(path, files.source_text(path)))
    tidied = write_if_new(path, text)
    executed = execute(files.read_source(path), path.parent)
    stored = write_if_new(path.with_suffix(".ipynb"), files.text_of(files.normalise(executed)))
    written = [suffix for suffix, new in ((".md", tidied), (".ipynb", stored)) if new]
    verdict = f"{' and '.join(written)} written" if written else "unchanged"
    return f"{verdict}, {time.monotonic() - started:.1f} s"


def write_if_new(path: Path, text: str) -> bool:
    """Write a file unless it holds the text already; tell whether it was written."""
    if path.exists() and path.read_bytes() == text.encode():
        return False
    path.write_text(text, encoding="utf-8", newline="\n")
    return True


def check(path: Path) -> str:
    """Check one pair; with the core, what the lesson tells too early."""
    name = path.stem[:2] if path.parent == NOTEBOOKS else ""
    early = told(name) if name in lessons() and not missing(path) else ()
    too_early = (f"{pid} is told by {place}: … {words} …" for pid, place, words in early)
    refuse([*pair_problems(path), *too_early])
    return "in sync, run in order, text only, tells no outcome before its guess"


def refuse(problems: Iterable[str]) -> None:
    """Raise with every problem, where there is one."""
    if found := [*problems]:
        raise files.NotebookProblem("\n  ".join(found))


def solve(path: Path, folder: Path = SOLVED) -> str:
    """Build one solved notebook, run each cell twice; raise with the answers that are not right."""
    started, solved = time.monotonic(), with_solutions(files.read_source(path))
    with client_of(solved, path.parent) as client, client.setup_kernel(env=kernel_environment()):
        problems = [*run_twice(client)]
    problems = [*state_problems(solved), *problems]
    write_solved(solved, folder / f"{path.stem}.ipynb")
    refuse(problems)
    return f"{count_checks(solved)} checks correct, {time.monotonic() - started:.1f} s"


TASKS: dict[str, Callable[[Path], str]] = {"run": run, "check": check, "solved": solve}


def attempt(task: Callable[[Path], str], path: Path) -> tuple[bool, str]:
    """Do a task on one lesson; tell whether it failed, and what was seen."""
    if task is not check and (lacks := missing(path)):
        return False, f"skipped, needs {', '.join(lacks)}"
    try:
        return False, task(path)
    except files.NotebookProblem as problem:
        return True, f"FAILED\n  {problem}"


def each(task: Callable[[Path], str], paths: Sequence[Path]) -> int:
    """Do a task on lessons, one for each processor at a time; return how many failed."""
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, (bad, words) in zip(paths, pool.map(partial(attempt, task), paths), strict=True):
            failed += bad
            print(f"{path.stem}: {words}", flush=True)
    return failed


def main(arguments: list[str]) -> int:
    """Do one task on all lessons, or on those whose names begin as given."""
    parser = argparse.ArgumentParser(prog="notebooks", description=__doc__)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("names", nargs="*", help="beginnings of file names, e.g. 04")
    chosen = parser.parse_args(arguments)
    try:
        failed = each(TASKS[chosen.task], files.sources(chosen.names))
    except files.NotebookProblem as problem:
        print(problem)
        return 1
    for path in files.sources() if chosen.task == "run" else []:
        if write_if_new(path, with_minutes(path.read_text(encoding="utf-8"))):
            stored = files.read_stored(path)
            for cell in stored.cells:
                cell.source = with_minutes(cell.source)
            write_if_new(path.with_suffix(".ipynb"), files.text_of(files.normalise(stored)))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
