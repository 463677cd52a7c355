"""The solved build: every solution runs before its check, and every check must say Correct.

Learners run cells twice, and go back. So each cell runs twice in a row, and at the end all
solutions and checks run once more: nothing may raise, and no printed text may change.
"""

import ast
import copy
import re
from collections.abc import Iterator
from pathlib import Path

from nbclient import NotebookClient
from nbformat import NotebookNode

from calibkit_course import open_lesson
from tools import notebook_files as files
from tools.notebook_check import said

Problems = list[str]
ALL_POINTS = re.compile(r"Self-assessed: (\d+) of \1 points")


def with_solutions(source: NotebookNode) -> NotebookNode:
    """Return a copy in which each solution stands, unfolded, before its check.

    A solution belongs to the nearest check above it. A text has two: in the second, where learners
    say which points they made, all points of the rubric are filled in.
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
        if files.ticks_points(cell):
            cell.source = files.BLANK_POINTS.sub(f"contains={all_points(cell)}", cell.source)
        elif "check" in files.tags(cell):
            if check is not None and not solutions:
                raise files.NotebookProblem(f"the check before cell {position} has no solution")
            check, solutions = len(cells), 0
        cells.append(cell)
    if check is not None and not solutions:
        raise files.NotebookProblem("the last check has no solution")
    solved.cells = cells
    return solved


def run_twice(client: NotebookClient) -> Iterator[str]:
    """Run each code cell twice, solutions and checks at the end again; yield what says else then.

    The notebook keeps what was said first.
    """
    cells = [pair for pair in enumerate(client.nb.cells) if pair[1].cell_type == "code"]
    for place, cell in cells:
        client.execute_cell(cell, place)
        yield from said_again(client, place, cell)
    for place, cell in cells:
        if {"solution", "check"} & {*files.tags(cell)}:
            yield from said_again(client, place, cell)


def said_again(client: NotebookClient, place: int, cell: NotebookNode) -> Iterator[str]:
    """Run a cell again, and yield in what it says something else."""
    first, again = copy.deepcopy(cell), copy.deepcopy(cell)
    client.execute_cell(again, place)
    client.nb.cells[place] = cell
    for one in (first, again):
        one["outputs"] = files.normalise_outputs(one, 1)
    if first.outputs != again.outputs and files.IGNORED_BY_NBVAL not in files.tags(cell):
        line = first.source.splitlines()[0]
        words = [files.output_text(output) for output in again.outputs]
        yield f"run again, this cell says something else: {line}: {words}"


def all_points(cell: NotebookNode) -> list[int]:
    """Return the numbers of all points of the exercise that a cell names."""
    cid = ast.literal_eval(ast.parse(cell.source).body[-1].value.args[0])
    rubric = open_lesson(cid.partition(".")[0]).checks[cid].rubric
    return list(range(1, len(rubric.points) + 1)) if rubric else []


def state_problems(executed: NotebookNode) -> Problems:
    """Return the checks of an executed, solved notebook that do not say Correct.

    A text is compared first; it counts as correct when the next check has all its points.
    """
    problems: Problems = []
    checks = [cell for cell in executed.cells if "check" in files.tags(cell)]
    answers = ["".join(files.output_text(output) for output in cell.outputs) for cell in checks]
    for cell, answer, following in zip(checks, answers, [*answers[1:], ""], strict=True):
        compared = answer.startswith("Compare") and following.startswith("Self-assessed")
        if not (said(cell, "Correct") or compared or ALL_POINTS.match(answer)):
            problems.append(f"{cell.source.strip()} answers: {answer.strip() or 'nothing'}")
    return problems


def count_checks(notebook: NotebookNode) -> int:
    """Return the number of check cells, a text's second one left out."""
    return sum(
        "check" in files.tags(cell) and "contains=" not in cell.source for cell in notebook.cells
    )


def write_solved(executed: NotebookNode, path: Path) -> None:
    """Write a solved notebook, with its figures, for teachers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    executed.metadata.pop("widgets", None)
    path.write_text(files.text_of(executed), encoding="utf-8", newline="\n")
