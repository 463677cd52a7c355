"""The solved build: every solution runs before its check, and every check must say Correct."""

import copy
from pathlib import Path

from nbformat import NotebookNode

from tools import notebook_files as files
from tools.notebook_check import said

Problems = list[str]


def with_solutions(source: NotebookNode) -> NotebookNode:
    """Return a copy in which each solution stands, unfolded, before its check.

    A solution belongs to the nearest check above it.
    """
    solved = copy.deepcopy(source)
    cells: list[NotebookNode] = []
    check, solutions = None, 0
    for position, cell in enumerate(solved.cells, start=1):
        if "solution" in files.tags(cell):
            if check is None:
                raise files.NotebookProblem(f"cell {position} is a solution without a check above")
            cell.metadata["tags"] = [tag for tag in files.tags(cell) if tag != "hide-cell"]
            cells.insert(check, cell)
            check, solutions = check + 1, solutions + 1
            continue
        if "check" in files.tags(cell):
            if check is not None and not solutions:
                raise files.NotebookProblem(f"the check before cell {position} has no solution")
            check, solutions = len(cells), 0
        cells.append(cell)
    if check is not None and not solutions:
        raise files.NotebookProblem("the last check has no solution")
    solved.cells = cells
    return solved


def state_problems(executed: NotebookNode) -> Problems:
    """Return the checks of an executed, solved notebook that do not say Correct."""
    problems = []
    for cell in executed.cells:
        if "check" not in files.tags(cell) or said(cell, "Correct"):
            continue
        answer = "".join(files.output_text(output) for output in cell.outputs)
        problems.append(f"{cell.source.strip()} answers: {answer.strip() or 'nothing'}")
    return problems


def count_checks(notebook: NotebookNode) -> int:
    """Return the number of check cells."""
    return sum("check" in files.tags(cell) for cell in notebook.cells)


def write_solved(executed: NotebookNode, path: Path) -> None:
    """Write a solved notebook, with its figures, for teachers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    executed.metadata.pop("widgets", None)
    path.write_text(files.text_of(executed), encoding="utf-8", newline="\n")
