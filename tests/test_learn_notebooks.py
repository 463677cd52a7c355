"""Lessons and package say the same: hints, progress, and the words behind the figures."""

import ast
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from calibkit import plot
from calibkit.lessons import open_lesson
from tools import notebook_files as files

LESSONS = files.sources()
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def lessons(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def one_line(text: str) -> str:
    return " ".join(text.split())


@lessons([path for path in LESSONS if path.stem[:2] in ("00", "01")])
def test_the_page_shows_the_hints_of_the_package(path: Path) -> None:
    cells = files.read_source(path).cells
    prose = one_line(" ".join(cell.source for cell in cells if cell.cell_type == "markdown"))
    for cid, check in open_lesson(path.stem[:2]).checks.items():
        for hint in check.hints:
            assert one_line(hint) in prose, f"{cid}: {hint}"


@lessons(LESSONS)
def test_the_title_is_that_of_the_package(path: Path) -> None:
    first = files.read_source(path).cells[0].source
    title = next(line for line in first.splitlines() if line.startswith("# "))
    assert open_lesson(path.stem[:2]).title in title


def run(cell: Any, names: dict[str, Any]) -> None:
    """Execute a cell the way a kernel does, its last value left unseen."""
    exec(compile(ast.parse(cell.source), "cell", "exec"), names)


def numbers(text: str) -> set[float]:
    return {float(number.replace(",", "")) for number in NUMBER.findall(text)}


@pytest.mark.slow
@lessons([path for path in LESSONS if path.stem.startswith("01")])
def test_alternative_texts_give_numbers_that_the_figures_show(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CALIBKIT_DATA", raising=False)
    names: dict[str, Any] = {"__name__": "__main__"}
    seen = 0
    for cell in files.read_source(path).cells:
        if cell.cell_type != "code" or "solution" in files.tags(cell):
            continue
        run(cell, names)
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
        if alt is not None:
            shown = plot.alt_text(plt.gcf())
            # The number of bins, a rank or a level may be spelled in another way.
            unknown = {n for n in numbers(alt) if n != int(n)} - numbers(shown)
            assert not unknown, f"{unknown} not in: {shown}"
            assert len(alt) <= 320, "an alternative text is short; the caption may say more"
            seen += 1
        plt.close("all")
    assert seen >= 5
