"""The pages of the lessons: cores in `notebooks/`, what goes further in `notebooks/further/`.

The first lines of a page name its extra packages. torch is large, so that some people go without
it (`--no-torch`); their run leaves out the pages that need it and says so. Standard library only.
"""

import re
from importlib.util import find_spec
from pathlib import Path

from tools.virtual_environment import ROOT, side_by_side

NOTEBOOKS = ROOT / "notebooks"
HEADER = re.compile(r"· extra packages: ([^·\n]+) ·")


# A cell that takes as long as this hangs; how quick a machine is decides nothing.
NBVAL = [
    "--nbval",
    "--nbval-current-env",
    "--nbval-cell-timeout=1200",
    "-p",
    "tools.notebook_nbval",
]
NBVAL += [f"--nbval-sanitize-with={ROOT / 'tests' / 'nbval_sanitize.cfg'}"]
NBVAL += ["-o", "filterwarnings=default", *side_by_side("loadfile")]


def lesson_pages(
    lesson: str = "[0-9][0-9]", suffix: str = ".md", folder: Path = NOTEBOOKS
) -> list[Path]:
    """Return the pages of a lesson, or of all; the core of each comes first."""
    name = f"{lesson}_*{suffix}"
    found = [*folder.glob(name), *folder.glob(f"further/{name}")]
    return sorted(found, key=lambda path: (path.name[:2], len(path.parts), path.name))


def extra_packages(path: Path) -> list[str]:
    """Return what the header of a lesson names beyond the packages of the lab.

    >>> extra_packages(lesson_pages("04")[0])
    []
    """
    found = HEADER.search(path.with_suffix(".md").read_text(encoding="utf-8"))
    names = found[1].strip().split(", ") if found else []
    return [name for name in names if name != "none"]


def missing(path: Path) -> list[str]:
    """Return the extra packages of a lesson that this Python has not installed."""
    return [name for name in extra_packages(path) if find_spec(name.replace("-", "_")) is None]
