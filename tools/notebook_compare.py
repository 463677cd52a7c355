"""What an executed lesson prints against what is stored, compared the way nbval does."""

import configparser
import difflib
import re
from collections.abc import Callable, Iterator
from functools import cache

from nbformat import NotebookNode

from tools import notebook_files as files
from tools.virtual_environment import ROOT

SANITISER = ROOT / "tests" / "nbval_sanitize.cfg"
HTML = "text/html"


@cache
def patterns() -> list[tuple[str, str]]:
    """Return the expressions that nbval replaces before it compares, and with what."""
    parser = configparser.RawConfigParser()
    parser.read(SANITISER, encoding="utf-8")
    return [(parser[name]["regex"], parser[name]["replace"]) for name in parser.sections()]


def compared(cell: NotebookNode) -> list[str]:
    """Return the lines of a cell's outputs that are compared.

    The HTML of an explorer is left out: only a page of the book has it.
    """
    ignored = {*files.UNCOMPARED, *([HTML] if "widget" in files.tags(cell) else [])}
    texts: list[str] = []
    for output in cell.outputs:
        shown = output.get("data", {"text": output.get("text", output.get("evalue", ""))})
        texts += (str(shown[kind]) for kind in sorted(shown) if kind not in ignored)
    text = "\n".join(texts)
    for regex, replacement in patterns():
        text = re.sub(regex, replacement, text)
    return text.splitlines()


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def of_a_learner(cell: NotebookNode) -> bool:
    """Tell whether a cell says what a learner has done so far."""
    return "check" in files.tags(cell) or cell.source.startswith("lesson.progress(")


def differences(
    stored: NotebookNode,
    executed: NotebookNode,
    but: Callable[[NotebookNode], bool] = lambda cell: False,
) -> Iterator[str]:
    """Yield what was printed differently, code cell by code cell; some may be left out."""
    both = (code_cells(stored), code_cells(files.normalise(executed)))
    left = ([cell for cell in cells if not but(cell)] for cells in both)
    for position, (old, new) in enumerate(zip(*left, strict=True), start=1):
        if changed := changes(old, new):
            first = old.source.strip().splitlines()[0]
            yield "\n    ".join([f"code cell {position}: {first}", *changed])


def changes(old: NotebookNode, new: NotebookNode) -> list[str]:
    """Return the lines that one run of a cell prints and another does not."""
    if files.IGNORED_BY_NBVAL in files.tags(old):
        return []
    lines = [*difflib.unified_diff(compared(old), compared(new), n=0, lineterm="")]
    return [line for line in lines[2:] if not line.startswith("@@")]  # two name the files
