"""The shape of the package: imports point down, rooms stay small, importing changes nothing."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "calibkit"

# A room may import rooms on lower floors only. A new room needs a floor before it can be merged.
FLOORS = {
    "_version": 0,
    "types": 0,
    "containers": 0.5,
    "validation": 1,
    "results": 1,
    "links": 1,
    "progress": 1,
    "views": 2,
    "bins": 2,
    "fakes": 2,
    "data": 2,
    "reliability": 3,
    "finite": 3,
    "corp": 3,
    "scores": 4,
    "errors": 4,
    "calibrators": 4,
    "piecewise": 4.5,
    "multiclass": 4.6,
    "significance": 5,
    "decisions": 5.2,
    "fit_on_test": 6,
    "counts": 6.4,
    "plot": 8,
    "auditing": 8.5,
    "doctor": 10.5,
    "cli": 10.6,
    "__main__": 10.7,
}
HIGHEST_OF_THE_CORE = 7
FRONT_PAGE = 5.5  # `calibkit/__init__.py` shows the core; what stands above may import from it
CORE_DEPENDENCIES = {"numpy", "scipy", "sklearn", "joblib"}
# What takes long to load; `dev.py bench` compares the time of the import.
HEAVY = (
    "torch",
    "matplotlib",
    "ipywidgets",
    "pandas",
    "polars",
    "IPython",
    "pooch",
    "sklearn",
    "joblib",
)
LONGEST_MODULE, LONGEST_FUNCTION, MOST_PARAMETERS = 350, 40, 6
LONGEST_LESSON = 1100  # lines of a whole folder; its files divide it as reads best
# Lesson 10 holds its networks, and all that uses torch; lesson 13 three games, their exact values
# and two explorers. Nothing else needs them.
LONGER_LESSONS = {"lesson10": 1950, "lesson13": 1700}
MACHINES = ("explore", "learn")

COURSE = ROOT / "calibkit_course"
MODULES = sorted(PACKAGE.rglob("*.py"))
COURSE_MODULES = sorted(COURSE.rglob("*.py"))


def room_of(path: Path) -> str:
    """Return the room that a file belongs to: its module, or its folder in the package."""
    return path.relative_to(ROOT).parts[1].removesuffix(".py")


def each(paths: list[Path]) -> Callable[[Callable[[Path], None]], Callable[[str], None]]:
    """Run a test on each module; those of a room are one case."""
    rooms = {room: list(found) for room, found in groupby(paths, room_of)}

    def decorate(test: Callable[[Path], None]) -> Callable[[str], None]:
        @pytest.mark.parametrize("room", rooms)
        def on_room(room: str) -> None:
            for path in rooms[room]:
                test(path)

        on_room.__doc__ = test.__doc__
        return on_room

    return decorate


def up_to(floor: float) -> list[Path]:
    """Return the modules on a floor and below, the front page included."""
    return [path for path in MODULES if FLOORS.get(room_of(path), 0) <= floor]


def imported(tree: ast.AST, package: list[str]) -> Iterator[str]:
    """Yield the full dotted name of everything that is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a module to be looked at and not to be changed."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> list[str]:
    package = list(path.relative_to(ROOT).parent.parts)
    return list(imported(tree_of(path), package))


def at_module_level(path: Path) -> list[str]:
    """Return what importing the file itself imports, leaving out function bodies."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            node.body = [item for item in node.body if not isinstance(item, ast.FunctionDef)]
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    return list(imported(tree, list(path.relative_to(ROOT).parent.parts)))


def test_every_room_has_a_floor() -> None:
    rooms = {room_of(path) for path in MODULES} - {"__init__"}
    assert rooms == set(FLOORS)


@each(MODULES)
def test_imports_point_down(path: Path) -> None:
    room = room_of(path)
    floor = FLOORS.get(room, FRONT_PAGE)
    front = path == PACKAGE / "__init__.py"  # it imports the audit when it is asked for
    for target in at_module_level(path) if front else imports_of(path):
        top, _, rest = target.partition(".")
        other = rest.partition(".")[0]
        if top == "calibkit" and other != room:
            assert FLOORS.get(other, FRONT_PAGE) < floor, f"floor {floor} imports {target}"


@each(up_to(HIGHEST_OF_THE_CORE))
def test_the_core_imports_only_its_dependencies(path: Path) -> None:
    tops = {name.partition(".")[0] for name in at_module_level(path)}
    foreign = tops - set(sys.stdlib_module_names) - CORE_DEPENDENCIES - {"calibkit"}
    assert not foreign


@each(up_to(FLOORS["plot"] - 1))
def test_nothing_below_plot_draws(path: Path) -> None:
    assert not [name for name in imports_of(path) if name.startswith("matplotlib")]


@each([*MODULES, *COURSE_MODULES])
def test_modules_and_functions_stay_small(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST_MODULE or path in COURSE_MODULES
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert code_lines(node) <= LONGEST_FUNCTION, node.name
            assert len(positional(node)) <= MOST_PARAMETERS, node.name


# --- one lesson, one room ------------------------------------------------------------------------

LESSONS = sorted(path for path in COURSE.iterdir() if path.name.startswith("lesson"))


def lessons_in(path: Path) -> set[str]:
    """Return the lessons that a file imports, and those that it names in a string."""
    named = {part for name in imports_of(path) for part in name.split(".")}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named.update(re.findall(r"calibkit_course\.(lesson\d\d)", node.value))
    return {part for part in named if re.fullmatch(r"lesson\d\d", part)}


@each([*MODULES, *COURSE_MODULES])
def test_a_lesson_is_imported_by_no_one_but_itself(path: Path) -> None:
    assert lessons_in(path) <= {room_of(path)}


def test_outside_the_package_only_experiments_import_a_lesson() -> None:
    outside = [ROOT / "dev.py", *(ROOT / "tools").rglob("*.py"), *(ROOT / "book/_ext").glob("*.py")]
    assert {path.name: found for path in outside if (found := lessons_in(path))} == {}


@each([*MODULES, *COURSE_MODULES])
def test_torch_serves_lesson_10_alone(path: Path) -> None:
    used = "torch" in {name.partition(".")[0] for name in imports_of(path)}
    assert not used or room_of(path) == "lesson10"
    assert not [name for name in at_module_level(path) if name.partition(".")[0] == "torch"]


@each([path for path in COURSE_MODULES if room_of(path) in MACHINES])
def test_the_machines_know_no_lesson(path: Path) -> None:
    code = ast.unparse(without_docstrings(ast.parse(path.read_text(encoding="utf-8"))))
    assert not re.search(r"lesson[ _]?\d|[\"']\d\d[\"']|[\"']\d+\.\d[\"']", code)


@each([path for path in COURSE_MODULES if room_of(path) == "explore"])
def test_explore_computes_nothing(path: Path) -> None:
    """A view is computed by its lesson; the machine holds controls and pictures."""
    rooms = {".".join(name.split(".")[:2]) for name in imports_of(path) if "calibkit" in name}
    known = ("calibkit.plot", "calibkit.results", "calibkit.validation", "calibkit.types")
    assert rooms <= {"calibkit_course.explore", *known}
    foreign = {name.partition(".")[0] for name in imports_of(path)}
    assert not foreign & {"scipy", "sklearn"}


@pytest.mark.parametrize("folder", LESSONS, ids=lambda folder: folder.name)
def test_a_lesson_stays_small(folder: Path) -> None:
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in folder.rglob("*.py"))
    assert lines <= LONGER_LESSONS.get(folder.name, LONGEST_LESSON)


def without_docstrings(tree: ast.Module) -> ast.Module:
    """Return a module without the strings that explain it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the parameters that may be given by position."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return [name for name in names if name not in ("self", "cls")]


def python(code: str) -> str:
    """Run code in a fresh interpreter in which every warning is an error."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_import_works_with_the_heavy_packages_blocked() -> None:
    python(
        f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {set(HEAVY) - CORE_DEPENDENCIES!r}:
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
import calibkit
for name in calibkit.__all__:
    getattr(calibkit, name)
"""
    )


def test_import_loads_none_of_the_heavy_packages() -> None:
    loaded = python(
        f"import sys, calibkit; print([n for n in {HEAVY!r} if n in sys.modules])"
    ).strip()
    assert loaded == "[]"


@pytest.mark.slow
def test_import_leaves_global_settings_alone() -> None:
    python(
        """
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
    )
