"""What is published, checked as its users get it: `python dev.py dist`.

Builds the source archive and, from it, the wheel, both into `build/dist`. Their metadata, the
citation file and the workflows are checked by the tools of those formats. Then the wheel goes into
an empty environment, away from this checkout: lessons run from it as far as their first exercise,
and `calibkit audit` judges a file. ``--tag v0.1.0`` refuses, unless that is the version's tag.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import calibkit
from tools import notebook_files as files
from tools.lesson_pages import lesson_pages
from tools.virtual_environment import PACKAGES, ROOT, Failure, fresh, quietly

DIST = ROOT / "build" / "dist"
CHECKERS = ROOT / "build" / "checkers"
EMPTY = ROOT / "build" / "empty"
TOOLS = ("build==1.6.1", "twine==7.0.0", "check-jsonschema==0.39.0")
LEFT_AT_HOME = {"teaching.md"}  # what a folder of the packages holds for the book
TRIED = ("00", "04", "14")
AUDIT_SAYS_MISCALIBRATED = 1


def build(python: Path, tag: str | None) -> Path:
    """Build both archives and return the wheel."""
    version = calibkit.__version__
    if tag is not None and tag != f"v{version}":
        raise Failure(f"the tag {tag} is not that of version {version}: v{version}.")
    shutil.rmtree(DIST, ignore_errors=True)
    quietly(python, "-m", "build", "--outdir", DIST)
    found = sorted(path.name for path in DIST.iterdir())
    wanted = [f"calibkit-{version}-py3-none-any.whl", f"calibkit-{version}.tar.gz"]
    if found != wanted:
        raise Failure(f"built {found} instead of {wanted}.")
    return DIST / wanted[0]


def check_formats(python: Path) -> None:
    """Ask the tools of each format whether ours is valid."""
    quietly(python, "-m", "twine", "check", "--strict", *DIST.iterdir())
    check = (python.with_name("check-jsonschema"), "--builtin-schema")
    quietly(*check, "vendor.citation-file-format", ROOT / "CITATION.cff")
    github = ROOT / ".github"
    quietly(*check, "vendor.github-workflows", *(github / "workflows").glob("*.yml"))
    quietly(*check, "vendor.dependabot", github / "dependabot.yml")


def check_contents(names: Iterable[str]) -> int:
    """Compare a wheel with the folders of the packages; return how many files both have."""
    packed = {name for name in names if ".dist-info/" not in name}
    found = (path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file())
    kept = (path for path in found if path.suffix != ".pyc" and path.name not in LEFT_AT_HOME)
    ours = {path.relative_to(ROOT).as_posix() for path in kept}
    if packed != ours:
        raise Failure(f"the wheel lacks {[*ours - packed][:5]}, and has {[*packed - ours][:5]}.")
    return len(ours)


def first_cells(number: str) -> list[str]:
    """Return the code of a lesson up to its first exercise."""
    path = lesson_pages(number)[0]
    cells = [cell for cell in files.read_source(path).cells if cell.cell_type == "code"]
    stop = next((i for i, one in enumerate(cells) if "exercise" in files.tags(one)), len(cells))
    return [cell.source for cell in cells[:stop]]


RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
import matplotlib
matplotlib.use("agg")
import calibkit
assert "site-packages" in calibkit.__file__, calibkit.__file__
shell = InteractiveShell.instance()
for source in json.load(open(sys.argv[1], encoding="utf-8")):
    shell.run_cell(source).raise_error()
"""
ROWS = "outcome,score\n" + "".join(
    f"{int(i % 5 == 0)},{0.5 + i % 9 / 20:.2f}\n" for i in range(600)
)


def try_out(wheel: Path) -> None:
    """Use the wheel as somebody does who has nothing else."""
    python = fresh(EMPTY, f"{wheel}[lab]", "-c", ROOT / "constraints.txt")
    with tempfile.TemporaryDirectory() as name:
        away = Path(name)
        for number in TRIED:
            cells = away / f"{number}.json"
            cells.write_text(json.dumps(first_cells(number)), encoding="utf-8")
            quietly(python, "-c", RUN, cells, cwd=away)
            print(f"Lesson {number} runs from the wheel.")
        (away / "predictions.csv").write_text(ROWS, encoding="utf-8")
        command = python.with_name("calibkit.exe" if os.name == "nt" else "calibkit")
        words = (command, "audit", "predictions.csv", "--label", "outcome", "--prob", "score")
        quietly(*words, "--fail-if", "miscalibrated", cwd=away, expected=AUDIT_SAYS_MISCALIBRATED)
        print("`calibkit audit` finds a file miscalibrated that is.")


def main(arguments: list[str]) -> None:
    """Build and check; stop at the first fault."""
    parser = argparse.ArgumentParser(prog="dev.py dist", description=__doc__)
    parser.add_argument("--tag", help="refuse, unless this is the tag of the version: v0.1.0")
    chosen = parser.parse_args(arguments)
    python = fresh(CHECKERS, *TOOLS)
    wheel = build(python, chosen.tag)
    check_formats(python)
    packed = check_contents(zipfile.ZipFile(wheel).namelist())
    print(f"Archives, citation and workflows are valid; {packed} files packed.")
    try_out(wheel)
    size = wheel.stat().st_size / 1e6
    print(f"Ready in {DIST}: {wheel.name} ({size:.1f} MB) and the source archive.")


if __name__ == "__main__":
    main(sys.argv[1:])
