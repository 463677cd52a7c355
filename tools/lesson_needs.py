"""Which lessons lack a package here: `python -m tools.lesson_needs` prints them.

The first lines of a lesson name its extra packages. torch is large, so that some people go
without it (`--no-torch`); their run leaves out the lessons that need it and says so.
Standard library only.
"""

import re
from importlib.util import find_spec
from pathlib import Path

from tools.virtual_environment import ROOT

HEADER = re.compile(r"· extra packages: ([^·\n]+) ·")


def extra_packages(path: Path) -> list[str]:
    """Return what the header of a lesson names beyond the packages of the lab.

    >>> extra_packages(ROOT / "notebooks" / "04_read_a_reliability_diagram.md")
    []
    """
    found = HEADER.search(path.with_suffix(".md").read_text(encoding="utf-8"))
    names = found[1].strip().split(", ") if found else []
    return [name for name in names if name != "none"]


def missing(path: Path) -> list[str]:
    """Return the extra packages of a lesson that this Python has not installed."""
    return [name for name in extra_packages(path) if find_spec(name.replace("-", "_")) is None]


def main() -> None:
    """Print one line per lesson that cannot run here: its name, then what is missing."""
    for path in sorted((ROOT / "notebooks").glob("*.md")):
        if lacks := missing(path):
            print(f"{path.stem} {', '.join(lacks)}")


if __name__ == "__main__":
    main()
