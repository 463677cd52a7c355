"""Notebook pairs: where they are, how they are read, and their one canonical form.

A lesson is a MyST Markdown file (the source) and an `.ipynb` of the same name that holds the
text outputs. Everything here is deterministic: the same source and outputs give the same bytes.
"""

import ast
import hashlib
import re
from pathlib import Path
from textwrap import fill
from typing import Any

import jupytext
import nbformat
from jupytext.config import load_jupytext_configuration_file
from nbformat import NotebookNode

from tools.lesson_pages import NOTEBOOKS, lesson_pages
from tools.virtual_environment import ROOT

# nbval never compares PNG, JPEG and widgets; a form that it compares and nobody keeps fails there.
KEPT = ("text/html", "text/latex", "text/markdown", "text/plain")
# What a kernel says of itself, and the highlighter of the book asks for.
LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}
IGNORED_BY_NBVAL = "nbval-ignore-output"

TRACE, WIDTH = "<Figure size", 88  # all that a drawing leaves behind in text

BLANK_POINTS = re.compile(r"contains=\.\.\.")
NOT_FOR_A_PAGE = ("install", "predict", "reveal", "quiz", "widget")
FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
MACHINE_PATH = re.compile(
    rf"{re.escape(str(ROOT))}|(?<![\w.])/(?:home|root|tmp|usr|opt|Users|private)/\w|\b[A-Z]:\\\w"
)


class NotebookProblem(Exception):
    """A notebook that breaks a rule; the message names the cell."""


def sources(names: list[str] | None = None, folder: Path = NOTEBOOKS) -> list[Path]:
    """Return the `.md` sources found by glob, or those whose names begin as asked."""
    found = lesson_pages(folder=folder)
    if not names:
        return found
    wanted = [Path(name).stem for name in names]
    unknown = [stem for stem in wanted if not any(p.stem.startswith(stem) for p in found)]
    if unknown:
        raise NotebookProblem(f"no lesson is called {', '.join(unknown)} in {folder.name}/")
    return [path for path in found if any(path.stem.startswith(stem) for stem in wanted)]


def read_source(path: Path) -> NotebookNode:
    """Read a MyST Markdown source as a notebook without outputs."""
    notebook: NotebookNode = jupytext.read(path, fmt="md:myst")
    return notebook


def source_text(path: Path) -> str:
    """Return a source the way JupyterLab would save it, so that saving there changes nothing."""
    notebook = read_source(path)
    notebook.metadata["language_info"] = dict(LANGUAGE)
    settings = load_jupytext_configuration_file(str(NOTEBOOKS / "jupytext.toml"))
    return str(jupytext.writes(notebook, fmt="md:myst", config=settings))


def read_stored(path: Path) -> NotebookNode:
    """Read the `.ipynb` beside a source."""
    try:
        return nbformat.read(path.with_suffix(".ipynb"), as_version=4)  # type: ignore[no-any-return]
    except FileNotFoundError:
        raise NotebookProblem("it has no .ipynb; run `python dev.py run`") from None


def text_of(notebook: NotebookNode) -> str:
    """Return the file content of a notebook."""
    return str(nbformat.writes(notebook, version=4)) + "\n"


def tags(cell: NotebookNode) -> list[str]:
    """Return the tags of a cell."""
    return list(cell.metadata.get("tags", []))


def called_ids(cell: NotebookNode, method: str) -> list[str]:
    """Return the first arguments of `lesson.<method>("id", ...)` calls in a code cell.

    Where a learner ticks the points of a text, the exercise has been checked before.
    """
    if ticks_points(cell):
        return []
    found = []
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, first = node.func.value, node.args[:1]
            named = isinstance(owner, ast.Name) and owner.id == "lesson"
            if named and node.func.attr == method and isinstance(first[0], ast.Constant):
                found.append(str(first[0].value))
    return found


def ticks_points(cell: NotebookNode) -> bool:
    """Tell whether a cell asks which points a text contains: the second check of an exercise."""
    return "check" in tags(cell) and BLANK_POINTS.search(cell.source) is not None


def cells_for_page(notebook: NotebookNode) -> list[dict[str, Any]]:
    """Return the code cells of a lesson as its page's Python is told about them.

    That of an exercise comes with its name and its solution; what only asks or shows stays away.
    """
    cells: list[dict[str, Any]] = []
    for cell in notebook.cells:
        found = set(tags(cell))
        if "check" in found:
            cells[-1]["exercise"] = next(iter(called_ids(cell, "check")), cells[-1].get("exercise"))
        elif "solution" in found:
            cells[-1]["solution"] = cell.source
        elif cell.cell_type == "code" and found.isdisjoint(NOT_FOR_A_PAGE):
            cells.append({"source": cell.source, "always": "setup" in found})
    return cells


def output_text(output: NotebookNode) -> str:
    """Return the text a person reads in one output."""
    if output.output_type == "stream":
        return str(output.text)
    return str(output.get("data", {}).get("text/plain", ""))


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Return the canonical form of an executed notebook.

    Identifiers come from the content, counts run from 1, metadata is reduced to what the source
    holds, and outputs keep their text only.
    """
    seen: dict[str, int] = {}
    cells, count = [], 0
    for cell in notebook.cells:
        new = NotebookNode(cell_type=cell.cell_type, source=cell.source)
        new["id"] = content_id(cell, seen)
        new["metadata"] = cell_metadata(cell)
        if cell.cell_type == "code":
            count += 1
            new["execution_count"] = count
            new["outputs"] = normalise_outputs(cell, count)
        cells.append(new)
    metadata = notebook_metadata(notebook)
    return NotebookNode(cells=cells, metadata=metadata, nbformat=4, nbformat_minor=5)


def content_id(cell: NotebookNode, seen: dict[str, int]) -> str:
    """Return an identifier that depends on the cell's content and on earlier equal cells only."""
    key = f"{cell.cell_type}\n{cell.source}"
    seen[key] = seen.get(key, 0) + 1
    return hashlib.sha256(f"{seen[key]}\n{key}".encode()).hexdigest()[:12]


def cell_metadata(cell: NotebookNode) -> NotebookNode:
    """Return a cell's tags and book settings; solutions arrive folded in JupyterLab."""
    metadata = {key: cell.metadata[key] for key in ("tags", "mystnb") if key in cell.metadata}
    if "solution" in tags(cell):
        metadata["jupyter"] = {"source_hidden": True}
    return NotebookNode(metadata)


def notebook_metadata(notebook: NotebookNode) -> NotebookNode:
    """Return the header without anything that changes with versions."""
    return NotebookNode(
        jupytext={"text_representation": {"extension": ".md", "format_name": "myst"}},
        kernelspec=notebook.metadata.get("kernelspec", {}),
        language_info={"name": "python"},
    )


def normalise_outputs(cell: NotebookNode, count: int) -> list[NotebookNode]:
    """Return the outputs of one cell, text only, streams joined."""
    outputs: list[NotebookNode] = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            if outputs and outputs[-1].get("name") == output.name:
                outputs[-1]["text"] += output.text
            else:
                stream = {"output_type": "stream", "name": output.name, "text": output.text}
                outputs.append(NotebookNode(stream))
        elif output.output_type == "error":
            parts = ("output_type", "ename", "evalue")
            error = {key: output[key] for key in parts} | {"traceback": []}
            outputs.append(NotebookNode(error))
        else:
            data = {mime: output.data[mime] for mime in KEPT if mime in output.data}
            if str(data.get("text/plain", "")).startswith(TRACE) and (words := of_figure(cell)):
                data["text/plain"] = words
            if data:
                outputs.append(shown_output(output, data, count))
    return outputs


def of_figure(cell: NotebookNode) -> str:
    """Return the words that stand for a cell's figure; nothing where it has none."""
    alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
    return fill(f"Figure: {alt}", WIDTH, subsequent_indent="  ") if alt else ""


def shown_output(output: NotebookNode, data: dict[str, Any], count: int) -> NotebookNode:
    """Return a result or display with reduced data."""
    new = NotebookNode(output_type=output.output_type, data=NotebookNode(data), metadata={})
    if output.output_type == "execute_result":
        new["execution_count"] = count
    return new
