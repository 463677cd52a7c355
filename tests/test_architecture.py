"""What `lint-imports` and ruff cannot say of the shape of the houses."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from tests.helpers import each_case
from tests.paths import ROOT

# What takes long to load; `dev.py bench` compares the time of the import.
OPTIONAL = {"torch", "matplotlib", "ipywidgets", "pandas", "polars", "IPython", "pooch"}
HEAVY = OPTIONAL | {"sklearn", "joblib"}
LONGEST_MODULE, LONGEST_FUNCTION, MOST_PARAMETERS = 400, 50, 6
LONGEST_LESSON = 1110  # lines of a whole folder; its files divide it as reads best
# Lesson 10 holds its networks, and all that uses torch; lesson 13 three games, their exact values
# and two explorers. Nothing else needs them.
LONGER_LESSONS = {"lesson10": 1720, "lesson13": 1560}
HOUSES = ("calibkit", "calibkit_audit", "calibkit_course")


def house_and_room(path: Path) -> tuple[str, str]:
    """Return the package of a file, and its room: its module, or its folder in the package."""
    house, room = path.relative_to(ROOT).parts[:2]
    return house, room.removesuffix(".py")


PATHS = sorted(path for house in HOUSES for path in (ROOT / house).rglob("*.py"))
ROOMS = {"/".join(key): list(paths) for key, paths in groupby(PATHS, house_and_room)}


def each(wanted: Callable[[str], object] = bool) -> Any:
    """Run a test on each module of the rooms that are wanted."""
    return each_case("path", [path for room in filter(wanted, ROOMS) for path in ROOMS[room]])


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a module to be looked at and not to be changed."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(nodes: Iterator[ast.AST], path: Path) -> Iterator[str]:
    """Yield the full dotted name of everything that these parts of a module import."""
    package = path.relative_to(ROOT).parent.parts
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@each()
def test_no_private_name_crosses_rooms(path: Path) -> None:
    """Neither from room to room, nor from the course into the package."""
    crossing = [
        name
        for name in imported(ast.walk(tree_of(path)), path)
        if (parts := name.split("."))[0] in HOUSES and tuple(parts[:2]) != house_and_room(path)
        if any(is_private(part) for part in parts) and parts[1] != "_version"
    ]
    assert crossing == [], path.name


@each()
def test_modules_and_functions_stay_small(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST_MODULE or path.is_relative_to(ROOT / "calibkit_course"), path.name
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1 - len(docstring_lines(node))
            assert length <= LONGEST_FUNCTION, node.name
            parameters = [*node.args.posonlyargs, *node.args.args]
            named = [one for one in parameters if one.arg not in ("self", "cls")]
            assert len(named) <= MOST_PARAMETERS, node.name


EXPLAINED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(node: ast.AST) -> range:
    """Return the lines of what explains a part of a module; none where nothing does."""
    if not isinstance(node, EXPLAINED) or ast.get_docstring(node) is None:
        return range(0)
    return range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


@each_case("room", [room for room in ROOMS if "/lesson" in room])
def test_a_lesson_stays_small(room: str) -> None:
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in ROOMS[room])
    most = LONGER_LESSONS.get(room.partition("/")[2], LONGEST_LESSON)
    assert lines <= most, f"shorten it by {lines - most} lines, or name it in LONGER_LESSONS"


def test_outside_the_course_only_experiments_and_pages_name_a_lesson() -> None:
    """Imports that a string names, too: `import_module("calibkit_course.lesson04")`."""
    ours = (ROOT / "calibkit", ROOT / "calibkit_audit", ROOT / "tools", ROOT / "book" / "_ext")
    for path in [ROOT / "dev.py", *(path for folder in ours for path in folder.rglob("*.py"))]:
        lesson = r"calibkit_course[. import]+lesson\d\d"
        seen = re.search(lesson, path.read_text("utf-8"))  # at most in an explanation
        assert not (seen and re.search(lesson, code_of(path))), path


@each(lambda room: room in ("calibkit_course/explore", "calibkit_course/learn"))
def test_the_machines_name_no_lesson(path: Path) -> None:
    number = r"lesson[ _]?\d|[\"']\d\d[\"']|[\"']\d+\.\d[\"']"
    assert not re.search(number, code_of(path)), path.name


def code_of(path: Path) -> str:
    """Return a module without comments and without the strings that explain it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if docstring_lines(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


# --- importing changes nothing -------------------------------------------------------------------


def python(code: str) -> str:
    """Run code in a fresh interpreter in which every warning is an error."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.long
def test_every_public_name_works_with_the_heavy_packages_blocked() -> None:
    blocked = dict.fromkeys(OPTIONAL)
    python(f"import sys\nsys.modules.update({blocked})\nfrom calibkit import *")


def test_import_loads_none_of_the_heavy_packages() -> None:
    assert python(f"import sys, calibkit; print({HEAVY!r} & {{*sys.modules}})") == "set()"


SETTINGS = """
import importlib, locale, os, warnings
import numpy, scipy.special, scipy.stats, scipy.optimize, sklearn
import sklearn.isotonic, sklearn.utils.validation
import IPython.display, ipywidgets, matplotlib.pyplot

def settings():
    state = numpy.random.get_state()
    return (
        dict(matplotlib.rcParams), list(warnings.filters), numpy.geterr(),
        numpy.get_printoptions(), [str(part) for part in state],
        state[1].tolist(), locale.setlocale(locale.LC_ALL), dict(os.environ),
    )

before = settings()
course = ("explore", "learn", "lesson04")
for room in ("calibkit", "calibkit.plot", *(f"calibkit_course.{name}" for name in course)):
    importlib.import_module(room)
    for old, new in zip(before, settings()):
        assert old == new, (room, old, new)
"""


@pytest.mark.long
def test_import_leaves_global_settings_alone() -> None:
    python(SETTINGS)


# --- one number takes one short road --------------------------------------------------------------

CALLS, FILES = 16, 4


def test_one_ece_takes_few_calls_through_few_files() -> None:
    y_true, y_prob = np.array([0, 1, 1]), np.array([0.2, 0.6, 0.9])
    stays: list[str] = []

    def look(frame: Any, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(ROOT / "calibkit")):
            stays.append(path)

    sys.setprofile(look)
    try:
        ck.expected_calibration_error(y_true, y_prob)
    finally:
        sys.setprofile(None)
    files = set(stays) - {str(ROOT / "calibkit" / "results.py")}  # what freezes each result
    assert 0 < len(stays) <= CALLS and len(files) <= FILES, stays


# --- how large each part may be: code lines, nodes of the syntax tree, modules --------------------

# What was counted when this was last set. Wanted are 6,500, 4,900, 12,500, 21,000 and 2,500 lines.
SIZES = {
    "calibkit": (6_500, 70_231, 60),
    "calibkit_audit": (5_432, 64_896, 41),
    "calibkit_course": (12_478, 133_645, 161),
    "tests": (24_269, 311_450, 159),
    "tools": (2_663, 30_435, 30),
}


@pytest.mark.parametrize("part", SIZES)
def test_each_part_stays_small(part: str) -> None:
    lines = nodes = modules = 0
    for path in (ROOT / part).rglob("*.py"):
        tree, modules = tree_of(path), modules + 1
        hidden: set[int] = set()
        for node in ast.walk(tree):
            hidden.update(docstring_lines(node))
            nodes += -1 if docstring_lines(node) else 1  # the text counts 2
        for k, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            lines += bool(line.strip()) and line.strip()[0] != "#" and k not in hidden
    for found, most in zip((lines, nodes, modules), SIZES[part], strict=True):
        assert found <= most, (lines, nodes, modules)
