"""Lessons and package say the same: hints, progress, and the words behind the figures."""

import json
import re
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from calibkit_course import open_lesson
from calibkit_course.learn import Check, Drawing, Lesson, Rubric
from tests.helpers import each_case
from tools import notebook_files as files, notebook_solved
from tools.notebook_hints import BLOCK, hint_problems, with_hints

LESSONS = files.sources()
source = cache(files.read_source)  # no test changes what it reads


def lessons(paths: list[Path]) -> Any:
    return each_case("path", paths)


def one_line(text: str) -> str:
    return " ".join(text.split())


PAGE = """\
# A page

### Exercise 0.1 Count

Do it.

{hints}```{{code-cell}} ipython3
# a comment
```

### Exercise 9.9 Of another package

Do it too.
"""


def test_hints_are_written_where_they_lack_and_where_they_differ(tmp_path: Path) -> None:
    path = tmp_path / "00_page.md"
    path.write_text(PAGE.format(hints=""), encoding="utf-8")
    assert list(hint_problems(path)) == ["the hints of exercise 0.1 are not those of the package"]
    filled = with_hints(path, PAGE.format(hints=""))
    wanted = list(open_lesson("00").checks["0.1"].hints)
    assert [one_line(words) for words in BLOCK.findall(filled)] == wanted
    folded = "".join(found[0] + "\n" for found in BLOCK.finditer(filled))
    assert filled == PAGE.format(hints=folded) == with_hints(path, filled)
    worse = filled.replace(BLOCK.findall(filled)[0], "Another hint.")
    assert with_hints(path, worse) == filled
    broken = filled.replace(wanted[0], wanted[0].replace(" ", "\n", 1))
    assert with_hints(path, broken) == broken  # line breaks are the page's
    assert with_hints(tmp_path / "77_page.md", worse) == worse


@lessons(LESSONS)
def test_the_title_is_that_of_the_package(path: Path) -> None:
    first = source(path).cells[0].source
    title = next(line for line in first.splitlines() if line.startswith("# "))
    assert open_lesson(path.stem[:2]).title in title


def test_six_cores_ask_for_a_line_and_compute_its_truth(subtests) -> None:
    """The truth stands on the stored canvas of the outcome, and is no level line."""
    asking = set()
    for path in LESSONS:
        for cell in files.read_stored(path).cells:
            for pid in files.called_ids(cell, "reveal") if cell.cell_type == "code" else ():
                drawing = open_lesson(path.stem[:2]).predictions[pid]
                if not isinstance(drawing, Drawing):
                    continue
                with subtests.test(pid=pid):
                    found = re.findall(r'data-canvas="(.*?)"', cell.outputs[0].data["text/html"])
                    truth = json.loads(unescape(found[0]))["truth"]
                    assert drawing.read(truth) == truth and len(set(truth)) > 5
                    assert drawing.top / 4 <= max(truth)  # the canvas is no larger than it must be
                    asking |= {path.stem[:2]} if path.parent.name != "further" else set()
    assert len(asking) >= 6


TWO_CHECKS = """\
---
kernelspec: {name: python3, display_name: Python 3, language: python}
---

```{code-cell} ipython3
:tags: [check]

lesson.check("0.7")
```

```{code-cell} ipython3
:tags: [check]

lesson.check("0.7", contains=...)
```

```{code-cell} ipython3
:tags: [solution, hide-cell]

my_text = "A whole sentence about a coin."
```
"""


def test_the_solved_build_ticks_all_points_of_a_text(tmp_path, monkeypatch) -> None:
    rubric = Rubric(points=("One.", "Two.", "Three."), model="m")
    check = Check(task="t", variable="my_text", rubric=rubric, hints=("a", "b"))
    lesson = Lesson("00", "Toy", {"0.7": check}, {})
    monkeypatch.setattr(notebook_solved, "open_lesson", lambda number: lesson)
    path = tmp_path / "00_page.md"
    path.write_text(TWO_CHECKS, encoding="utf-8")
    source = files.read_source(path)
    assert [files.called_ids(cell, "check") for cell in source.cells] == [["0.7"], [], []]
    solved = notebook_solved.with_solutions(source)
    text, first, second = solved.cells
    assert "sentence" in text.source and second.source.endswith("contains=[1, 2, 3])")
    names: dict[str, Any] = {"lesson": lesson}
    exec(text.source, names)
    for cell in (first, second):
        said = repr(eval(cell.source, names))
        cell.outputs = [NotebookNode(output_type="stream", name="stdout", text=said)]
    assert notebook_solved.state_problems(solved) == []
    assert notebook_solved.count_checks(solved) == 1
    second.outputs = []
    assert len(notebook_solved.state_problems(solved)) == 2


@lessons(LESSONS)
def test_no_solution_ticks_points_for_the_learner(path: Path) -> None:
    for cell in source(path).cells:
        assert "solution" not in files.tags(cell) or "lesson.check" not in cell.source, cell.source
