"""Runs inside Pyodide: a lesson's cells, its solutions, its explorers, against what is stored."""

import json
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"

import matplotlib.pyplot as plt
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import calibkit_course  # noqa: F401 - counted with the imports


class Shell(InteractiveShell):
    """Keeps no history in a database, as the kernel of a page."""

    def init_history(self) -> None:
        """Count the cells, and write nothing."""
        self.history_manager = HistoryManager(shell=self, parent=self, enabled=False)


shell: Any = Shell.instance()
inline = import_module("matplotlib_inline.backend_inline")  # Pyodide has it
inline.configure_inline_support(shell, os.environ["MPLBACKEND"])
FREE = {"nbval-ignore-output", "widget", "raises-exception"}


def run_lesson(text: str) -> str:
    """Return what went wrong in a lesson, as JSON."""
    shell.reset(new_session=False)
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    found: dict[str, Any] = {"cells": len(cells), "errors": [], "differs": [], "redraws": []}
    for number, cell in enumerate(cells):
        tags = set(cell["metadata"].get("tags", []))
        with capture_output() as shown:
            result = shell.run_cell("".join(cell["source"]), store_history=False)
        plt.close("all")
        raised = result.error_before_exec or result.error_in_exec
        if raised is not None:
            found["errors"].append([number, type(raised).__name__, str(raised)[:300]])
            continue
        if not tags & FREE:
            found["differs"] += differences(number, cell, shown, result)
        if "widget" in tags and result.result is not None:
            found["redraws"] += redraws(result.result)
    found["checks"] = [
        solved(cells, number) for number in range(2, len(cells)) if is_solution(cells, number)
    ]
    return json.dumps(found)


def differences(number: int, cell: dict[str, Any], shown: Any, result: Any) -> Iterator[Any]:
    """Yield what a cell prints, or returns, otherwise than it is stored."""
    printed = joined(cell["outputs"], "stream", lambda output: output["text"])
    stored = joined(cell["outputs"], "execute_result", lambda output: output["data"]["text/plain"])
    now = ""
    if result.result is not None:
        now = shell.display_formatter.format(result.result)[0].get("text/plain", "")
    said = shown.stdout.rsplit("Out[", 1)[0] if now else shown.stdout
    for before, after in ((printed, said), (stored, now)):
        if before.strip() != after.strip():
            yield [number, before[:2000], after[:2000]]


def joined(outputs: list[Any], kind: str, text: Callable[[Any], Any]) -> str:
    """Return the texts of all outputs of a kind, in order."""
    return "".join("".join(text(output)) for output in outputs if output["output_type"] == kind)


def redraws(explorer: Any) -> list[float]:
    """Move each control once, or draw a game's next round, and return the seconds."""
    if not hasattr(explorer, "controls"):
        return [timed(lambda: explorer.picture(explorer.first + 1, revealed=False))]
    seconds = []
    for control in explorer.controls:
        other = next(value for value in control.values if value != control.default)
        seconds.append(timed(partial(explorer.show, **{control.name: other})))
    return seconds


def timed(call: Callable[[], Any]) -> float:
    """Return how many seconds a call takes."""
    start = time.perf_counter()
    call()
    return round(time.perf_counter() - start, 2)


def is_solution(cells: list[Any], number: int) -> bool:
    """Tell whether a cell is the solution of the exercise and the check before it."""
    tags = [cells[k]["metadata"].get("tags", []) for k in (number - 1, number)]
    return "check" in tags[0] and "solution" in tags[1]


def solved(cells: list[Any], number: int) -> list[str]:
    """Return the check and its state after the solution."""
    task, check, solution = ("".join(cells[k]["source"]) for k in (number - 2, number - 1, number))
    exercise = "exercise" in cells[number - 2]["metadata"].get("tags", [])
    with capture_output():
        shell.run_cell((task + "\n" if exercise else "") + solution)
        result = shell.run_cell(check)
    return [check.splitlines()[-1], str(getattr(result.result, "state", result.error_in_exec))]
