#!/usr/bin/env python3
"""Set up calibkit and run its tasks: `python dev.py help` lists them.

Standard library only. Needs Python 3.11 or newer; makes everything else itself in `.venv`.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import chain
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import NamedTuple

# Before anything that an older Python cannot evaluate.
if sys.version_info < (3, 11):  # noqa: UP036
    found = ".".join(str(part) for part in sys.version_info[:2])
    sys.exit(f"calibkit needs Python 3.11 or newer; this is Python {found} ({sys.executable}).")

from tools.lesson_pages import NBVAL, NOTEBOOKS, lesson_pages
from tools.live.site import NEEDS_TORCH
from tools.virtual_environment import (
    PACKAGES,
    ROOT,
    VENV,
    WITH_TORCH,
    book_environment,
    call,
    digest,
    environment,
    installed,
    package_files,
    prepare,
    side_by_side,
    stamped,
    venv_python,
)
from tools.workbook import WORKBOOK, copies

BOOK = ROOT / "book" / "_build"
OURS = (*PACKAGES, "tests", "tools", "book", "dev.py")

# Extras and groups of pyproject.toml.
LAB = ("lab", "parquet")
READER = (*LAB, "book")
EVERYTHING = (*READER, "test", "lint", "browser")
# What needs one of these says so, or is skipped, where it cannot be installed.
TORCH = ("nets",)
OPTIONAL = (*TORCH, "cluster", "maps", "room")
NBVAL_NEEDS = (*TORCH, "test")

# --- the stages of `test` ------------------------------------------------------------------


def tool(name: str, *arguments: str) -> int:
    """Run one of the modules in `tools/`."""
    return call(venv_python(), "-m", f"tools.{name}", *arguments)


def lint(fix: bool = False) -> int:
    """Check style, spelling, docstrings, floors, types, and the workflows.

    Repairs leave out notebooks, whose source is .md.
    """
    rules, layout, paths = (["--fix"], [], OURS) if fix else ([], ["--check"], ["."])
    commands: tuple[tuple[object, ...], ...] = (
        ("ruff", "check", "--quiet", *rules, *paths),
        ("ruff", "format", *layout, *paths),
        ("codespell", *OURS, "notebooks", ".github", *(ROOT.glob("*.md"))),
        ("lint-imports", "--no-cache", "--no-logo"),
        ("zizmor", "--quiet", "--offline", "--no-progress", ".github"),
        ("pytest", "-q", "-p", "no:nbval", "-k", "numpydoc", "tests/calibkit/test_signatures.py"),
        ("mypy",),
    )
    return max(call(venv_python().with_name(str(name)), *words) for name, *words in commands)


def pytest(stage: str, *arguments: object, env: dict[str, str] | None = None) -> int:
    """Run pytest, and say where the time goes."""
    options = ["-q", "-p", "no:logging", "--durations=20", "--durations-min=5"]
    if stage != "nbval":  # to load its plug-in takes three seconds
        options += ["-p", "no:nbval"]
    return call(venv_python(), "-m", "pytest", *options, *arguments, env=env)


def unit_tests(length: str) -> int:
    """Run the tests of the package and its doctests, without a browser and, mostly, long ones."""
    without = {"--fast": ("slow", "long"), "--long": ()}.get(length, ("long",))
    marker = " and ".join(f"not {name}" for name in ("browser", "site", *without))
    options = ["-m", marker, "--doctest-modules", *side_by_side("worksteal")]
    if not without:
        options += ["--hypothesis-profile=long"]
    if "slow" in without:  # torch takes seconds to load
        options += ["--ignore-glob=*_nets*.py"]
    return pytest("unit", *options, "tests", *PACKAGES)


def browser_tests(length: str) -> int:
    """Run the tests that need Chromium; each says so and skips where there is none."""
    marker = "browser and not site" + ("" if length == "--long" else " and not long")
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    paths = [path for path in paths if "mark.browser" in path.read_text(encoding="utf-8")]
    options = side_by_side("loadfile")
    if options:  # files with few tests take longest here, and would come last
        options += ["--no-loadscope-reorder"]
    return pytest("browser", "-m", marker, *options, *paths)


def notebook_paths() -> list[Path]:
    """Return every notebook, found by glob."""
    return lesson_pages(suffix=".ipynb")


def today(names: Sequence[str] = (), one_of: int = 10) -> Sequence[str]:
    """Return every tenth of the names, or of all pages, each day others, for what takes long."""
    names = names or [path.stem for path in notebook_paths()]
    return names[int(time.time() // 86_400) % one_of :: one_of]


def floors(length: str) -> int:
    """Test with the oldest packages; a long run takes a few lessons, when named all."""
    return tool("floors", *(["--lessons", *today()] if length else []))


def validate_notebooks() -> int:
    """Execute every notebook as the book shows it, and compare its outputs with the stored ones."""
    forget_outdated_book()
    return pytest("nbval", *NBVAL, *notebook_paths(), env=book_environment())


def build_book() -> int:
    """Build the book with warnings as errors; it executes lessons that nbval has not."""
    forget_outdated_book()
    start = "from jupyter_book.cli.main import main; main()"
    options = ["build", ".", "--path-output", "book", "--config", "book/_config.yml"]
    options += ["--toc", "book/_toc.yml", "-W", "--keep-going", "-q"]
    code = call(venv_python(), "-c", start, *options, env=book_environment())
    if code == 0:
        print(f"The book is ready. Open {BOOK / 'html' / 'index.html'}")
    return code


def check_book() -> int:
    """Build the book, then look at every page of the site."""
    if not {*TORCH} <= installed().keys():
        print("skipped: the book shows what every lesson prints, so it needs torch")
        return 0
    site = {"CALIBKIT_SITE": str(BOOK / "html")}
    return build_book() or pytest("book", "tests/book/test_book.py", env=environment() | site)


def check_live(length: str) -> int:
    """Put the lessons into a site for the browser, and run them there and in Node.

    A long run takes one lesson in Node, and its exercises; when named, the stage runs all.
    """
    if not (BOOK / "html" / "index.html").exists():
        print("skipped: the site is made from the book, which has not been built")
        return 0
    code = call(sys.executable, "-m", "tools.live.site")
    names = [path.stem for path in notebook_paths() if path.name[:2] not in NEEDS_TORCH]
    left = {*names}.difference(today(names, len(names))) if length else ()
    options = ["-m", "site", *(f"--deselect={test}[{name}]" for test in IN_NODE for name in left)]
    env = environment() | {"CALIBKIT_LIVE": str(ROOT / "build" / "site")}
    return code or pytest("live", *side_by_side("loadfile"), *options, *LIVE_TESTS, env=env)


def forget_outdated_book() -> None:
    """Remove an earlier build when the package, or a setting of the book, has changed.

    The builder executes a lesson again when its text changes, but knows nothing of the package.
    """
    settings = sorted([*(ROOT / "book").glob("*.yml"), *(ROOT / "book" / "_ext").glob("*.*")])
    decisive = [ROOT / "constraints.txt", *settings, *package_files()]
    seen, now = BOOK / "package.sha256", digest(*decisive)
    if not stamped(seen, now):
        shutil.rmtree(BOOK, ignore_errors=True)
        BOOK.mkdir(parents=True)
        seen.write_text(now, encoding="utf-8")


# In this order, what takes long first; two at a time where there are two processors.
STAGES: dict[str, tuple[str, Callable[[str], int]]] = {
    "nbval": ("notebooks, as nbval reads them", lambda _: validate_notebooks()),
    "unit": ("unit tests and doctests; pairs of notebooks agree", unit_tests),
    "book": ("the book and its pages", lambda _: check_book()),
    "dist": ("what is published, used from an empty environment", lambda _: tool("dist")),
    "live": ("the site, its lessons in Node and in a browser", check_live),
    "browser": ("browser tests", browser_tests),
    "floors": ("the oldest packages allowed", floors),
    "solved": ("solved notebooks of today", lambda _: tool("notebooks", "solved", *today())),
    "portable": ("a sample of lessons as other processors compute", lambda _: tool("portable")),
    "lint": ("style, spelling, docstrings, floors, types, workflows", lambda _: lint()),
}
# What must be over before: the book takes what nbval has seen, pages are looked at once built, and
# two stages package this checkout, in files beside it.
AFTER = {"book": {"nbval"}, "live": {"nbval", "book", "dist"}, "browser": {"nbval", "book"}}
LIVE_TESTS = tuple(f"tests/tools/test_live{part}.py" for part in ("", "_pages", "_exercises"))
IN_NODE = (
    f"{LIVE_TESTS[0]}::test_a_lesson_runs_and_prints_what_the_desktop_prints",
    f"{LIVE_TESTS[2]}::test_each_exercise_is_solved_in_the_pages_own_python",
)
# Only when named, or with `--long`: what rarely changes. The site fetches a hundred megabytes.
LONG = ("portable", "floors", "live", "dist")
FAST = ("unit", "lint")
# With this line pytest ends; subtests are parts of tests, and not counted.
OUTCOME = re.compile(r"\d+ \w+.* in \d+\.\d+s")
COUNT = re.compile(r"(\d+) (failed|passed|skipped)")


def program_of(name: str, length: str) -> list[str]:
    """Return the command that does a stage in a process of its own."""
    code = f"import dev, sys; sys.exit(dev.STAGES[{name!r}][1]({length!r}))"
    return [sys.executable, "-c", code]


def timed(name: str, length: str) -> tuple[str, float, Counter[str]]:
    """Run a stage in a process of its own; return the verdict, its seconds and its tests.

    Each line that it prints begins with its name. Where pytest counts none it is one test.
    """
    print(f"\n=== {name}: {STAGES[name][0]} ===", flush=True)
    started, tally = time.monotonic(), Counter[str]()
    with subprocess.Popen(
        program_of(name, length), cwd=ROOT, env=environment(), stdout=PIPE, stderr=STDOUT
    ) as process:
        for line in (words.decode("utf-8", "replace") for words in process.stdout or ()):
            print(f"{name:<8} | {line}", end="", flush=True)
            if OUTCOME.match(line):
                tally.update({word: int(number) for number, word in COUNT.findall(line)})
    verdict, seconds = "FAILED" if process.returncode else "passed", time.monotonic() - started
    print(f"--- {name} {verdict} in {seconds:.1f} s", flush=True)
    if process.returncode:  # or pytest itself stopped
        tally["failed"] = tally["failed"] or 1
    return verdict, seconds, tally or Counter(passed=1)


def run_stages(names: Sequence[str], length: str = "") -> int:
    """Run stages, two at a time where there are processors; print times and verdicts.

    Each has phases that one processor does alone: the other stage then uses the rest.
    """
    started, waiting = time.monotonic(), list(names)
    lanes = min(2, len(waiting), os.cpu_count() or 1)
    running: dict[Future[tuple[str, float, Counter[str]]], str] = {}
    rows = {}
    with ThreadPoolExecutor(lanes) as pool:
        while waiting or running:
            ready = [n for n in waiting if not AFTER.get(n, set()) & {*waiting, *running.values()}]
            for name in ready[: lanes - len(running)]:
                waiting.remove(name)
                running[pool.submit(timed, name, length)] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                rows[running.pop(future)] = future.result()
    print("\nStage        Result   Seconds   Tests")
    for name, (result, seconds, tally) in rows.items():
        print(f"{name:<12} {result:<8} {seconds:7.1f}   {in_words(tally)}")
    total = sum((tally for *_, tally in rows.values()), Counter[str]())
    print(f"=== {in_words(total)} in {time.monotonic() - started:.1f}s ===")
    return int(any(result == "FAILED" for result, *_ in rows.values()))


def in_words(tally: Counter[str]) -> str:
    """Return counts the way pytest says them."""
    order = ("failed", "passed", "skipped")
    return ", ".join(f"{tally[word]} {word}" for word in order if tally[word])


# --- commands ------------------------------------------------------------------------------


def settle_jupyterlab() -> None:
    """Keep JupyterLab of this environment from asking for news and updates."""
    folder = VENV / "share" / "jupyter" / "lab" / "settings"
    folder.mkdir(parents=True, exist_ok=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    settings = {"@jupyterlab/apputils-extension:notification": quiet}
    (folder / "overrides.json").write_text(json.dumps(settings), encoding="utf-8")


def parser_of(command: Callable[[list[str]], int]) -> argparse.ArgumentParser:
    """Return a reader of a command's arguments, which also prints its help."""
    name = command.__name__.removeprefix("command_")
    return argparse.ArgumentParser(prog=f"dev.py {name}", description=command.__doc__)


def command_lab(arguments: list[str]) -> int:
    """Open JupyterLab on your copies in workbook/ (authors: `lab --edit` opens notebooks/)."""
    parser = parser_of(command_lab)
    parser.epilog = "Other arguments go to JupyterLab."
    parser.add_argument("--edit", action="store_true", help="open notebooks/, for authors")
    chosen, arguments = parser.parse_known_args(arguments)
    prepare(LAB)
    folder, env = NOTEBOOKS, environment()
    if not chosen.edit:
        folder, env["CALIBKIT_WORKBOOK"] = WORKBOOK, str(WORKBOOK)
        for sentence in chain(*copies()):
            print(sentence)
    settle_jupyterlab()
    options = ["--LabApp.default_url=/lab/tree/00_start_here.ipynb", "--allow-root"]
    command = [str(venv_python()), "-m", "jupyterlab", *options, *arguments]
    if os.name != "nt":  # hand over, so that signals reach JupyterLab itself
        sys.stdout.flush()
        os.chdir(folder)
        os.execve(command[0], command, env)
    return call(*command, cwd=folder, env=env)


def command_workbook(arguments: list[str]) -> int:
    """Make your copies of the lessons; `workbook --fresh 04` makes one anew and keeps the old."""
    parser = parser_of(command_workbook)
    kind = "make copies to be handed out in this folder, without solutions"
    parser.add_argument("--without-solutions", type=Path, metavar="FOLDER", help=kind)
    which = "lessons to make anew; your old copies stay under dated names"
    parser.add_argument("--fresh", nargs="+", default=[], metavar="NN", help=which)
    chosen = parser.parse_args(arguments)
    given = chosen.without_solutions
    folder, left_out = (given, "solution") if given else (WORKBOOK, "install")
    done, found = copies(chosen.fresh, workbook=folder, left_out=left_out)
    for sentence in [*done, *found] or [f"All lessons are in {folder}, none has changed since."]:
        print(sentence)
    return 0


def command_torch(arguments: list[str]) -> int:
    """Install torch, which lesson 10 needs and no other."""
    parser_of(command_torch).parse_args(arguments)
    prepare((*LAB, *TORCH))
    print("Lesson 10 can run: open it, or restart its kernel.")
    return 0


def command_test(arguments: list[str]) -> int:
    """Set up and test; `test --fast` before a commit, `test --long` as continuous integration."""
    parser = parser_of(command_test)
    only = f"run only this stage, repeatable: {', '.join(STAGES)}"
    parser.add_argument("--only", action="append", choices=STAGES, metavar="STAGE", help=only)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--fast", action="store_true", help=f"only {', '.join(FAST)}")
    also = f"also the tests marked `long`, {', '.join(LONG)}"
    length.add_argument("--long", action="store_true", help=also)
    parser.add_argument("--no-torch", action="store_true", help="do not install torch")
    chosen = parser.parse_args(arguments)
    refused = WITH_TORCH if chosen.no_torch else ()
    prepare(EVERYTHING, tuple(name for name in OPTIONAL if name not in refused))
    left = () if chosen.long else LONG
    names = chosen.only or (FAST if chosen.fast else [n for n in STAGES if n not in left])
    return run_stages([*names], "--fast" if chosen.fast else "--long" if chosen.long else "")


def command_book(arguments: list[str]) -> int:
    """Build the book into book/_build/html."""
    parser_of(command_book).parse_args(arguments)
    prepare(READER, TORCH)
    return build_book()


def command_site(arguments: list[str]) -> int:
    """Build the book with lessons that run in the browser, into build/site."""
    parser_of(command_site).parse_args(arguments)
    prepare(READER, TORCH)
    return build_book() or call(sys.executable, "-m", "tools.live.site")


def command_lint(arguments: list[str]) -> int:
    """Check style, types and imports; `lint --fix` repairs what ruff can."""
    parser = parser_of(command_lint)
    parser.add_argument("--fix", action="store_true", help="repair what ruff can")
    chosen = parser.parse_args(arguments)
    prepare((*LAB, "lint", "test"))
    return lint(fix=chosen.fix)


class Module(NamedTuple):
    """A command that is a module of `tools` or `book`, which reads its arguments itself."""

    words: str  # its name, and what it is told first
    says: str
    optional: tuple[str, ...] = ()
    at_hand: bool = False  # its arguments name folders, seen from where the user stands

    def run(self, arguments: list[str]) -> int:
        """Hand the arguments over, in an environment that is ready."""
        prepare(LAB, self.optional)
        env = environment() | {"PYTHONPATH": str(ROOT)}
        folder = Path.cwd() if self.at_hand else ROOT
        return call(venv_python(), "-m", *self.words.split(), *arguments, cwd=folder, env=env)

    @property
    def path(self) -> Path:
        """The file that is run."""
        path = ROOT.joinpath(*self.words.split()[0].split("."))
        return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")

    def help(self) -> str:
        """Return what stands at the head of its text: to import it needs an environment."""
        return f"{self.says}\n\n{ast.get_docstring(ast.parse(self.path.read_text('utf-8')))}"


MODULES = {
    "bench": Module("tools.bench", "Time the package against its yardsticks."),
    "study": Module("book.experiments.synthetic", "Compare evaluators on sets of known truth."),
    "clusters": Module("book.experiments.clustered_rows", "Measure audits by cluster."),
    "networks": Module("book.experiments.networks", "Train lesson 10's networks.", TORCH),
    "pseudo": Module("book.experiments.pseudo_real", "Compare evaluators on clones.", TORCH),
    "solved": Module("tools.notebooks solved", "Build and run the solved notebooks.", TORCH),
    "portable": Module("tools.portable", "Run lessons as other processors would.", NBVAL_NEEDS),
    "floors": Module("tools.floors", "Test with the oldest packages allowed, or the newest."),
    "next": Module("tools.next_sphinx", "Build the book with the newest Sphinx.", TORCH),
    "dist": Module("tools.dist", "Build wheel and source archive, and use them as users will."),
    "run": Module("tools.notebooks run", "Run lessons and write their .ipynb files.", TORCH),
    "check": Module("tools.notebooks check", "Check that each .md and .ipynb pair agrees."),
    "grade": Module("tools.grade", "Run and check a folder of students' workbooks.", TORCH, True),
    "slides": Module("tools.slides", "Make what is projected of a lesson."),
    "bank": Module("book.bank", "Write the question bank, or it as GIFT and QTI.", at_hand=True),
    "class": Module("tools.room", "Guess together, by phone, in a room.", ("room",), True),
}
COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "lab": command_lab,
    "workbook": command_workbook,
    "test": command_test,
    "torch": command_torch,
    "book": command_book,
    "site": command_site,
    "lint": command_lint,
}


def overview() -> str:
    """Return the list of commands."""
    first = {name: (command.__doc__ or "").splitlines()[0] for name, command in COMMANDS.items()}
    first |= {name: module.says for name, module in MODULES.items()}
    first["help"] = "List the commands; `COMMAND --help` says more of one."
    lines = (f"  {name:<10}{says}" for name, says in first.items())
    return "\n".join(["python dev.py COMMAND\n", *lines])


def main(arguments: list[str]) -> int:
    """Run the command that the first argument names."""
    name, *rest = arguments or ["help"]
    if name in ("help", "-h", "--help"):
        print(overview())
        return 0
    if name not in {*COMMANDS, *MODULES}:
        print(f"dev.py does not know {name!r}.\n{overview()}", file=sys.stderr)
        return 2
    if name in MODULES and {"-h", "--help"} & {*rest}:
        print(MODULES[name].help())
        return 0
    try:
        return COMMANDS[name](rest) if name in COMMANDS else MODULES[name].run(rest)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
