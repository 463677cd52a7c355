"""A plug-in with which nbval executes lessons as the book shows them, and keeps what they show.

So one execution serves both: the stage `book` finds its outputs here.
"""

from functools import partial
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from tools import notebook_files as files
from tools.notebook_compare import HTML, code_cells
from tools.virtual_environment import ROOT

SHOWN = ROOT / "book" / "_build" / "nbval"
PATIENCE = 1200  # seconds, no verdict: a message that is late by five would else be a failure


def pytest_itemcollected(item: Any) -> None:
    """Leave out the HTML of an explorer, which only a page of the book has."""
    item.output_timeout = PATIENCE
    if "widget" in files.tags(item.cell):
        but = (*item.parent.skip_compare, HTML)
        item.compare_outputs = partial(item.compare_outputs, skip_compare=but)


def pytest_runtest_teardown(item: Any, nextitem: Any) -> None:
    """Keep a notebook after its last cell."""
    if nextitem is None or nextitem.parent is not item.parent:
        cells = [cell for cell in item.session.items if cell.parent is item.parent]
        keep(item.path, [cell.test_outputs for cell in cells if cell.test_outputs is not None])


def keep(path: Path, shown: list[list[NotebookNode]], folder: Path = SHOWN) -> None:
    """Write a notebook with what its cells have shown, if all of them ran to their end."""
    notebook = files.read_stored(path)
    cells = code_cells(notebook)
    outcomes = [output.output_type for outputs in shown for output in outputs]
    if len(shown) < len(cells) or "error" in outcomes:
        return
    for cell, outputs in zip(cells, shown, strict=True):
        cell.outputs = outputs
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_text(files.text_of(notebook), encoding="utf-8")


def kept(path: Path, lesson: NotebookNode, folder: Path = SHOWN) -> NotebookNode | None:
    """Return a lesson with what nbval has seen it show, None if it has not seen this text."""
    try:
        seen = code_cells(files.read_stored(folder / path.name))
    except files.NotebookProblem:
        return None
    cells = code_cells(lesson)
    if [cell.source for cell in seen] != [cell.source for cell in cells]:
        return None
    lesson.metadata["language_info"] = dict(files.LANGUAGE)
    for cell, executed in zip(cells, seen, strict=True):
        cell.outputs, cell.execution_count = executed.outputs, executed.execution_count
    return lesson
