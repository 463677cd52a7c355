"""A plug-in with which nbval executes lessons as the book shows them, and keeps what they show.

So one execution serves both: the builder of the book finds it in its cache.
"""

from functools import partial
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from nbformat import NotebookNode

from tools import notebook_files as files
from tools.notebook_compare import HTML, code_cells
from tools.virtual_environment import ROOT

EXECUTED = ROOT / "book" / "_build" / ".jupyter_cache"
PATIENCE = 1200  # seconds, no verdict: a message that is late by five would else be a failure


def cache() -> JupyterCacheAbstract:
    """Return where the builder of the book looks for executed lessons."""
    return get_cache(str(EXECUTED))


def pytest_configure() -> None:
    """Make the tables of the cache before several processes want to."""
    cache().list_cache_records()


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
        shown(item.path, [cell.test_outputs for cell in cells if cell.test_outputs is not None])


def shown(path: Path, outputs: list[list[NotebookNode]]) -> None:
    """Keep a lesson with what its cells have shown, if all of them ran to their end."""
    lesson = files.read_source(path.with_suffix(".md"))
    cells = code_cells(lesson)
    outcomes = [one.output_type for those in outputs for one in those]
    if len(outputs) == len(cells) and "error" not in outcomes:
        for count, (cell, those) in enumerate(zip(cells, outputs, strict=True), start=1):
            cell.outputs, cell.execution_count = those, count
        lesson.metadata["language_info"] = dict(files.LANGUAGE)
        keep(path, lesson)


def keep(path: Path, executed: NotebookNode) -> None:
    """Put an executed lesson where the builder of the book finds it."""
    bundle = CacheBundleIn(executed, str(path.with_suffix(".md")))
    cache().cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
