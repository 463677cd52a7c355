"""The contract of a lesson, held for every notebook that a glob finds.

nbval (in `dev.py test`) compares outputs, the solved build runs the solutions. Here stands what
neither sees: the parts a lesson has, what can be read without seeing the figures, and that no
check or exercise is left without its partner.
"""

import ast
import importlib.util
import json
import re
from collections import Counter
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from calibkit_course import open_lesson
from calibkit_course.learn import Drawing
from tests.helpers import each_case
from tools import notebook_files as files
from tools.lesson_pages import lesson_pages
from tools.lesson_times import stated, with_time
from tools.notebook_check import pair_problems
from tools.notebook_solved import with_solutions
from tools.workbook import PICTURE, without_outputs

PAGES = files.sources()
LESSONS = [path for path in PAGES if path.parent == files.NOTEBOOKS]
FULL_LESSONS = [path for path in LESSONS if not path.stem.startswith("00")]
FURTHER = [path for path in PAGES if path not in LESSONS]
# Lines have 76 characters; imports bring the lesson itself.
MOST_CELLS, MOST_LINES, MOST_IMPORT_LINES = 84, 26, 7  # with the quiz and the installation
LARGEST_NOTEBOOK = 300_000
LONGEST_CORE = 35  # minutes
MOST_CORE_CELLS, MOST_CORE_WORDS = 40, 1160  # words outside folds and references

TAGS = {
    "install",
    "remove-cell",
    "setup",
    "predict",
    "quiz",
    "reveal",
    "exercise",
    "check",
    "solution",
    "hide-cell",
    "hide-input",
    "remove-output",
    "widget",
    "static-twin",
    "nbval-ignore-output",
}
SECTIONS = ("Before you start", "Limits", "Check yourself", "Recap", "References")
TIME_LINE = re.compile(
    r"Time: \d+ min · runs in \d+ s · needs: [^·\n]+"
    r" · extra packages: [^·\n]+ · source: \S",
    re.UNICODE,
)
EXERCISE = re.compile(r"^### Exercise (\d+\.\d+)\b", re.MULTILINE)
MARKDOWN_IMAGE = re.compile(r"!\[([^\]]*)\]\(")
HTML_IMAGE = re.compile(r"<img\b[^>]*>")


def lessons(paths: list[Path]) -> Any:
    """Run a test once per lesson."""
    return each_case("path", paths)


# Reading takes longer than looking. No test changes what it reads.
source, stored_pair = cache(files.read_source), cache(files.read_stored)


def code_cells(path: Path, tag: str | None = None) -> list[NotebookNode]:
    """Return the code cells of the source, or those with a tag."""
    cells = [cell for cell in source(path).cells if cell.cell_type == "code"]
    return [cell for cell in cells if tag is None or tag in files.tags(cell)]


def prose(path: Path) -> str:
    """Return all text of a lesson."""
    cells = source(path).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def headings(path: Path, level: int) -> list[str]:
    """Return the headings of one level, ignoring what stands in code fences."""
    text = re.sub(r"^(```|~~~).*?^\1", "", prose(path), flags=re.MULTILINE | re.DOTALL)
    return re.findall(rf"^{'#' * level} +(.+?) *$", text, flags=re.MULTILINE)


def section(path: Path, heading: str) -> str:
    """Return the text below a second-level heading."""
    _, _, after = prose(path).partition(f"\n## {heading}")
    return re.split(r"^## ", after, maxsplit=1, flags=re.MULTILINE)[0]


def called(path: Path, method: str) -> list[str]:
    """Return the ids that a lesson passes to `lesson.<method>`."""
    return [name for cell in code_cells(path) for name in files.called_ids(cell, method)]


def pages_of(lesson: Path) -> list[Path]:
    """Return the core of a lesson and what goes further."""
    return [path for path in PAGES if path.stem[:2] == lesson.stem[:2]]


def assigned(cell: NotebookNode) -> dict[str, ast.expr]:
    """Return what a cell assigns by name at its top level."""
    found = {}
    for node in ast.parse(cell.source).body:
        if isinstance(node, ast.Assign):
            found |= {n.id: node.value for n in node.targets if isinstance(n, ast.Name)}
    return found


@lessons(PAGES)
def test_the_pair_is_in_sync_run_and_text_only(path: Path) -> None:
    assert pair_problems(path) == []
    assert path.with_suffix(".ipynb").stat().st_size < LARGEST_NOTEBOOK


def test_no_notebook_lacks_its_source() -> None:
    assert [path.with_suffix(".md") for path in lesson_pages(suffix=".ipynb")] == PAGES


@lessons(PAGES)
def test_every_page_has_one_title_a_time_line_and_folds_that_say_so(path: Path) -> None:
    (title,) = headings(path, 1)
    assert open_lesson(path.stem[:2]).title in title
    assert TIME_LINE.search(prose(path))
    # JupyterLab's theme hides the browser's own triangle.
    assert set(re.findall(r"<summary>(.)", prose(path))) <= {"▸"}


@lessons(LESSONS)
def test_every_lesson_has_objectives(path: Path) -> None:
    bullets = re.findall(r"^[-*] \S", section(path, "You will be able to"), flags=re.MULTILINE)
    assert 2 <= len(bullets) <= 5


@lessons(PAGES)
def test_the_stated_times_are_honest(path: Path) -> None:
    """And `dev.py run` mends one that is wrong."""
    text = path.read_text(encoding="utf-8")
    assert with_time(path, text.replace("\nTime: ", "\nTime: 9", 1)) == text
    assert path in FURTHER or stated(path) <= LONGEST_CORE


@lessons(FURTHER)
def test_a_core_says_what_goes_further_and_how_long_that_takes(path: Path) -> None:
    (core,) = (one for one in LESSONS if one.stem[:2] == path.stem[:2])
    assert path.stem == f"{core.stem[:2]}_further_{core.stem[3:]}"
    link = f"**Go further** ([a second notebook](further/{path.name}), {stated(path)} min): "
    assert link in section(core, "Recap") and f"](../{core.name})" in prose(path)
    assert not any(name.startswith("Go further") for name in headings(core, 2))


@lessons(FULL_LESSONS)
def test_a_full_lesson_has_every_part(path: Path) -> None:
    second_level = headings(path, 2)
    for heading in SECTIONS:
        assert sum(name.startswith(heading) for name in second_level) == 1, heading
    order = [name for name in second_level if name.startswith(SECTIONS)]
    assert [next(s for s in SECTIONS if name.startswith(s)) for name in order] == list(SECTIONS)
    assert section(path, "Before you start").count("<details") >= 2
    assert section(path, "Check yourself").count("<details") >= 2
    assert "static-twin" in {tag for cell in code_cells(path) for tag in files.tags(cell)}


@lessons(FULL_LESSONS)
def test_a_core_has_an_end(path: Path) -> None:
    text = files.FOLD.sub(" ", PICTURE.sub("", prose(path))).partition("\n## References")[0]
    assert len(text.split()) <= MOST_CORE_WORDS, "move what can wait to the second notebook"
    assert len(source(path).cells) <= MOST_CORE_CELLS, "move what can wait to the second notebook"


@lessons(PAGES)
def test_lessons_stay_short(path: Path) -> None:
    assert len(source(path).cells) <= MOST_CELLS, "join short cells, or leave one out"
    for cell in code_cells(path):
        assert len(cell.source.splitlines()) <= MOST_LINES, cell.source
    for cell in code_cells(path, "setup"):
        imports = [line for line in cell.source.splitlines() if "import " in line]
        assert len(imports) <= MOST_IMPORT_LINES, cell.source


@lessons(PAGES)
def test_tags_are_known(path: Path) -> None:
    for cell in code_cells(path):
        assert set(files.tags(cell)) <= TAGS, cell.source
    assert len(code_cells(path, "setup")) == 1
    assert "setup" in files.tags(code_cells(path)[1])


def test_lessons_opened_elsewhere_say_what_is_missing_in_the_same_words() -> None:
    """Colab opens a lesson alone. A clone, its copies and the book show nothing of it."""
    first = {(code_cells(path)[0].source, *files.tags(code_cells(path)[0])) for path in PAGES}
    ((source, *tags),) = first
    assert tags == ["install", "remove-cell"]
    code = source.replace("from importlib.util import find_spec", "")
    exec(code, {"find_spec": importlib.util.find_spec})
    with pytest.raises(ModuleNotFoundError, match="see its README"):
        exec(code, {"find_spec": lambda name: None})
    for path in PAGES:
        copied = without_outputs(path.with_suffix(".ipynb"))["cells"]
        assert source not in ["".join(cell["source"]) for cell in copied], path.stem


@lessons(PAGES)
def test_exercises_have_a_check_and_a_solution(path: Path) -> None:
    announced = EXERCISE.findall(prose(path))
    assert announced, "no exercise"
    assert called(path, "check") == announced
    asked = [cell for cell in code_cells(path, "check") if not files.ticks_points(cell)]
    assert len(asked) == len(announced)
    assert len(code_cells(path, "exercise")) >= len(announced)
    with_solutions(source(path))  # raises where a check has no solution
    assert not any("lesson.check" in cell.source for cell in code_cells(path, "solution"))


@lessons(LESSONS)
def test_notebooks_and_package_know_the_same_checks_and_predictions(path: Path) -> None:
    lesson = open_lesson(path.stem[:2])
    found = {
        method: [name for page in pages_of(path) for name in called(page, method)]
        for method in ("check", "predict", "reveal", "hint")
    }
    assert set(found["check"]) == set(lesson.checks)
    assert set(found["predict"]) == set(found["reveal"]) == set(lesson.predictions)
    for method in ("check", "predict", "reveal"):
        twice = [name for name, times in Counter(found[method]).items() if times > 1]
        assert twice == [], method
    assert set(found["hint"]) <= set(lesson.checks)


@lessons(PAGES)
def test_progress_counts_what_each_notebook_asks(path: Path) -> None:
    """The core's own, and in a line of its own what only the second notebook asks."""
    lesson, is_second = open_lesson(path.stem[:2]), "_further_" in path.stem
    names = {*lesson.checks, *lesson.predictions}
    asked = {name for method in ("check", "predict") for name in called(path, method)}
    assert asked == {name for name in names if (name in lesson.second) == is_second}


@lessons(PAGES)
def test_a_check_looks_at_the_variable_that_its_exercise_leaves_blank(path: Path) -> None:
    checks = open_lesson(path.stem[:2]).checks
    blank: dict[str, ast.expr] = {}
    for cell in code_cells(path):
        if "exercise" in files.tags(cell):
            blank = assigned(cell)
        for name in files.called_ids(cell, "check"):
            assert checks[name].variable in blank, name


@lessons(LESSONS)
def test_the_questions_of_a_lesson_stand_in_it_unanswered(path: Path) -> None:
    (cell,) = code_cells(path, "quiz")
    assert cell.source == "lesson.quiz(..., ..., ..., ...)"
    (stored,) = [c for c in stored_pair(path).cells if "quiz" in files.tags(c)]
    said = open_lesson(path.stem[:2]).quiz()
    assert files.output_text(stored.outputs[0]) == repr(said)


@lessons(PAGES)
def test_a_guess_is_asked_before_its_outcome_is_shown(path: Path) -> None:
    asked: list[str] = []
    for cell in code_cells(path):
        asked += files.called_ids(cell, "predict")
        assert set(files.called_ids(cell, "reveal")) <= set(asked), cell.source
    for cell in code_cells(path, "predict"):
        assert "..." in cell.source, "a prediction must be left open"


@lessons(PAGES)
def test_what_can_be_seen_can_be_read(path: Path, subtests: pytest.Subtests) -> None:
    stored = stored_pair(path)
    for cell in stored.cells:
        if cell.cell_type == "code" and shows_figure(cell):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt.split()) >= 5, f"no alternative text: {cell.source}"
            words = [files.output_text(one) for one in cell.outputs]
            assert files.of_figure(cell) in words, cell.source
    for alt in MARKDOWN_IMAGE.findall(prose(path)):
        with subtests.test(alt=alt):
            assert alt.strip()
    for tag in HTML_IMAGE.findall(prose(path)):
        assert re.search(r'\balt="[^"]+"', tag), tag


def shows_figure(cell: NotebookNode) -> bool:
    """Tell whether a stored cell holds the words of a figure, or the trace of one."""
    return any(files.output_text(one).startswith((files.TRACE, "Figure: ")) for one in cell.outputs)


@lessons(FULL_LESSONS)
def test_a_full_lesson_shows_figures_and_an_explorer(path: Path) -> None:
    stored = stored_pair(path)
    assert any(cell.cell_type == "code" and shows_figure(cell) for cell in stored.cells)
    assert code_cells(path, "widget")


def test_six_cores_ask_for_a_line_and_compute_its_truth(subtests) -> None:
    """The truth stands on the stored canvas of the outcome, and is no level line."""
    asking = set()
    for path in PAGES:
        for cell in stored_pair(path).cells:
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
