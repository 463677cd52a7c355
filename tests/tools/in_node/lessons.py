"""Runs inside Pyodide: a lesson's cells and its explorers, against what is stored."""

import json
import os
from collections.abc import Iterator
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
    found: dict[str, Any] = {"errors": [], "differs": [], "moved": 0}
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
            redraw(result.result)
            found["moved"] += 1
    return json.dumps(found)


def differences(number: int, cell: dict[str, Any], shown: Any, result: Any) -> Iterator[Any]:
    """Yield what a cell prints, or returns, otherwise than it is stored."""
    stored, now = {"stream": "", "execute_result": ""}, ""
    for output in cell["outputs"]:
        if output["output_type"] in stored:
            text = output.get("text") or output["data"]["text/plain"]
            stored[output["output_type"]] += "".join(text)
    if result.result is not None:
        now = shell.display_formatter.format(result.result)[0].get("text/plain", "")
    said = shown.stdout.rsplit("Out[", 1)[0] if now else shown.stdout
    for before, after in zip(stored.values(), (said, now), strict=True):
        if before.strip() != after.strip():
            yield [number, before[:2000], after[:2000]]


def redraw(explorer: Any) -> None:
    """Move each control once, or draw a game's next round."""
    if not hasattr(explorer, "controls"):
        explorer.picture(explorer.first + 1, revealed=False)
        return
    for control in explorer.controls:
        other = next(value for value in control.values if value != control.default)
        explorer.show(**{control.name: other})
