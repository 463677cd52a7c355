"""The rules that a stored notebook pair keeps, so that validating it means something.

nbval passes a notebook without outputs, and ignores images and counts. These rules close the gaps:
the pair agrees, it is what `run` writes, and nothing but text is stored.
"""

from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from tools import notebook_files as files
from tools.notebook_hints import with_hints

HINT = "run `python dev.py run {stem}`"


def pair_problems(path: Path) -> list[str]:
    """Return what is wrong with one pair, empty where all is well."""
    try:
        source, stored = files.read_source(path), files.read_stored(path)
        found = [*source_problems(source), *output_problems(stored)]
        untidy = [] if found else [*drift_problems(path, source, stored)]
    except files.NotebookProblem as problem:
        return [str(problem)]
    return found + [f"{problem}: {HINT.format(stem=path.stem)}" for problem in untidy]


def drift_problems(path: Path, source: NotebookNode, stored: NotebookNode) -> Iterator[str]:
    """Compare both files byte for byte with what the tool writes of the source and the outputs."""
    if path.read_bytes() != with_hints(path, files.source_text(path)).encode():
        yield "the .md is not as JupyterLab would save it, with the hints of the package"
    for ours, theirs in zip(source.cells, stored.cells, strict=False):
        ours["outputs"] = theirs.get("outputs", [])
    written = files.text_of(files.normalise(source))
    if path.with_suffix(".ipynb").read_bytes() != written.encode():
        same = [cell.source for cell in source.cells] == [cell.source for cell in stored.cells]
        what = "is not in its canonical form" if same else "has another text than the .md"
        yield f"the .ipynb {what}"


def source_problems(source: NotebookNode) -> Iterator[str]:
    """Check the rules of the text itself."""
    for position, cell in enumerate(source.cells, start=1):
        if cell.cell_type != "code":
            if any("$" in fold for fold in files.FOLD.findall(cell.source)):
                yield f"cell {position} has a formula in a fold, where JupyterLab shows its source"
            if "</details>\n<" in cell.source:
                yield f"cell {position} has folds without an empty line between: one stands open"
            continue
        if cell.source.rstrip().endswith(";"):
            yield f"cell {position} ends in a semicolon, which nbval does not honour"


def output_problems(stored: NotebookNode) -> Iterator[str]:
    """Check that there are outputs, free of errors and of traces of a machine."""
    if not any(cell.get("outputs") for cell in stored.cells):
        yield "no code cell has an output, so validation would compare nothing"
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
    text = "".join([files.output_text(output), *map(str, data.values())])
    for pattern, name in ((files.ADDRESS, "a memory address"), (files.MACHINE_PATH, "a path")):
        match = pattern.search(text)
        if match:
            yield f"shows {name} of the machine: {match.group(0)}"


def said(cell: NotebookNode, state: str) -> bool:
    """Tell whether the text of a cell's outputs begins with a state."""
    return "".join(files.output_text(output) for output in cell.outputs).startswith(state)
