"""The page for each trade: every cell and every line of its tables runs."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

PAGE = Path(__file__).parents[2] / "book" / "trades.md"
START, *PARTS = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
CELL = re.compile(r"^```\{code-cell\} ipython3\n(?:---\n.*?^---\n)?(.*?)^```$", re.M | re.S)
LINE = re.compile(r"^\| [^|`]+ \| `(.+)` \|$", re.MULTILINE)


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS, ids=[part.partition(":")[0] for part in PARTS])
def test_every_line_runs(part: str, subtests: pytest.Subtests) -> None:
    *cells, figure = CELL.findall(part)
    names: dict[str, object] = {}
    for cell in (*CELL.findall(START), *cells):
        exec(compile(cell, PAGE.name, "exec"), names)
    lines = LINE.findall(part)
    assert len(lines) >= 4
    for line in lines:
        with subtests.test(line):
            assert eval(line, dict(names)) is not None
    exec(figure, names)
    plt.close("all")


def test_each_part_says_where_it_is_taught_and_what_is_not_here() -> None:
    assert len(PARTS) == 5
    for part in PARTS:
        assert "**Where it is taught**" in part and "**Not here**" in part
        assert len(part.split()) < 500  # one screen of words beside its figure
