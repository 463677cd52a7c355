"""A plug-in with which nbval executes lessons, and keeps what they show the reader of the book.

So one execution serves both: the builder of the book finds it in its cache.
"""

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from tools import notebook_files as files
from tools.lesson_pages import missing
from tools.virtual_environment import ROOT

BOOK = "CALIBKIT_BOOK"
EXECUTED = ROOT / "book" / "_build" / ".jupyter_cache"
PATIENCE = 1200  # seconds, no verdict: a message that is late by five would else be a failure


def cache() -> Any:
    """Return where the builder of the book looks for executed lessons."""
    from jupyter_cache import get_cache  # not installed with the oldest packages

    return get_cache(str(EXECUTED))


def pytest_configure() -> None:
    """Make the tables of the cache before several processes want to."""
    if BOOK in os.environ:
        cache().list_cache_records()


def pytest_itemcollected(item: Any) -> None:
    """Leave out the HTML of an explorer, which only a page of the book has, and what cannot run."""
    item.output_timeout = PATIENCE
    if lacks := missing(item.path):
        item.add_marker(pytest.mark.skip(f"needs {', '.join(lacks)}"))
    if "widget" in files.tags(item.cell):
        but = (*item.parent.skip_compare, "text/html")
        item.compare_outputs = partial(item.compare_outputs, skip_compare=but)


def pytest_runtest_teardown(item: Any, nextitem: Any) -> None:
    """Keep a notebook after its last cell."""
    if BOOK in os.environ and (nextitem is None or nextitem.parent is not item.parent):
        cells = [cell for cell in item.session.items if cell.parent is item.parent]
        shown(item.path, [cell.test_outputs for cell in cells if cell.test_outputs is not None])


def shown(path: Path, outputs: list[list[NotebookNode]]) -> None:
    """Keep a lesson with what its cells have shown, if all of them ran to their end."""
    from jupyter_cache.base import CacheBundleIn

    lesson = files.read_source(path.with_suffix(".md"))
    cells = [cell for cell in lesson.cells if cell.cell_type == "code"]
    outcomes = [one.output_type for those in outputs for one in those]
    if len(outputs) == len(cells) and "error" not in outcomes:
        for count, (cell, those) in enumerate(zip(cells, outputs, strict=True), start=1):
            cell.outputs, cell.execution_count = those, count
        lesson.metadata["language_info"] = dict(files.LANGUAGE)
        bundle = CacheBundleIn(lesson, str(path.with_suffix(".md")))
        cache().cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
