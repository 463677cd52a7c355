"""The rules that a stored notebook pair keeps, so that validating it means something.

nbval passes a notebook without outputs, and ignores images and counts. These rules close the
gaps: the pair agrees, every code cell was run in order, and nothing but text is stored.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from tools import notebook_files as files
from tools.notebook_hints import hint_problems

WIDEST = 76  # as notebooks/ruff.toml
HINT = "run `python dev.py run {stem}`"


def pair_problems(path: Path) -> list[str]:
    """Return what is wrong with one pair, empty where all is well."""
    try:
        source, stored = files.read_source(path), files.read_stored(path)
    except files.NotebookProblem as problem:
        return [str(problem)]
    drift = list(drift_problems(source, stored))
    if drift:
        return [*drift, "the .md and .ipynb differ: " + HINT.format(stem=path.stem)]
    found = [*source_problems(source), *run_problems(stored), *output_problems(stored)]
    if not found:
        untidy = [*hint_problems(path), *canonical_problems(path, stored)]
        found += [f"{problem}: {HINT.format(stem=path.stem)}" for problem in untidy]
    return found


def canonical_problems(path: Path, stored: NotebookNode) -> Iterator[str]:
    """Compare both files byte for byte with what the tool writes."""
    if path.read_bytes() != files.source_text(path).encode():
        yield "the .md is not written as JupyterLab would save it"
    text = files.text_of(files.normalise(stored))
    if path.with_suffix(".ipynb").read_bytes() != text.encode():
        yield "the .ipynb is not in its canonical form"


def drift_problems(source: NotebookNode, stored: NotebookNode) -> Iterator[str]:
    """Compare the two files cell by cell: kind, text, tags and book settings."""
    pairs = itertools.zip_longest(source.cells, stored.cells)
    for position, both in enumerate(pairs, start=1):
        ours, theirs = (c and (c.cell_type, c.source, files.cell_metadata(c)) for c in both)
        if ours != theirs:
            yield f"cell {position} is another one in the .ipynb"
            return
    if source.metadata.get("kernelspec") != stored.metadata.get("kernelspec"):
        yield "the kernel named in the .ipynb is another one"


def source_problems(source: NotebookNode) -> Iterator[str]:
    """Check the rules of the text itself."""
    for position, cell in enumerate(source.cells, start=1):
        if cell.cell_type != "code":
            if any("$" in fold for fold in files.FOLD.findall(cell.source)):
                yield f"cell {position} has a formula in a fold, where JupyterLab shows its source"
            if "</details>\n<" in cell.source:
                yield f"cell {position} has folds without an empty line between: one stands open"
            continue
        if max(map(len, cell.source.splitlines()), default=0) > WIDEST:
            yield f"cell {position} has a line of more than {WIDEST} characters; the book cuts it"
        if cell.source.rstrip().endswith(";"):
            yield f"cell {position} ends in a semicolon, which nbval does not honour"
        if "needs-data" in files.tags(cell) and files.IGNORED_BY_NBVAL not in files.tags(cell):
            yield f"cell {position} needs data and must be tagged {files.IGNORED_BY_NBVAL}"


def run_problems(stored: NotebookNode) -> Iterator[str]:
    """Check that every code cell was run, in order, and left something behind."""
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    if not code:
        yield "it has no code cells"
    elif [cell.execution_count for cell in code] != list(range(1, len(code) + 1)):
        yield "its code cells were not all run once, in order"
    elif not any(cell.outputs for cell in code):
        yield "no code cell has an output, so validation would compare nothing"


def output_problems(stored: NotebookNode) -> Iterator[str]:
    """Check that outputs are text, free of errors and of traces of a machine."""
    if "widgets" in stored.metadata:
        yield "it stores the state of widgets"
    for position, cell in enumerate(stored.cells, start=1):
        for output in cell.get("outputs", []):
            for problem in one_output(cell, output):
                yield f"cell {position} {problem}"
        if "check" in files.tags(cell) and not said(cell, "Not attempted"):
            yield f"cell {position} is a check that does not answer 'Not attempted'"


def one_output(cell: NotebookNode, output: NotebookNode) -> Iterator[str]:
    """Check a single output."""
    if output.output_type == "error" and "raises-exception" not in files.tags(cell):
        yield f"stores an error: {output.ename}: {output.evalue}"
    if output.output_type == "stream" and output.name == "stderr":
        yield f"stores a warning or message of the error stream: {output.text.strip()[:80]}"
    data = output.get("data", {})
    foreign = [mime for mime in data if mime not in files.KEPT]
    if foreign:
        yield f"stores {', '.join(foreign)}; only text is committed"
    text = "".join([files.output_text(output), *(str(data[mime]) for mime in data)])
    for pattern, name in ((files.ADDRESS, "a memory address"), (files.MACHINE_PATH, "a path")):
        match = pattern.search(text)
        if match:
            yield f"shows {name} of the machine: {match.group(0)}"


def said(cell: NotebookNode, state: str) -> bool:
    """Tell whether the text of a cell's outputs begins with a state."""
    return "".join(files.output_text(output) for output in cell.outputs).startswith(state)
