"""Where things stand: the repository, its lessons, and the programs that tests run in Node."""

import os
from pathlib import Path

from tools.lesson_pages import lesson_pages

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "tools" / "in_node"
LIVE = os.environ.get("CALIBKIT_LIVE", "")  # the site with Python in its pages
PYODIDE = Path(LIVE, "lite", "static", "pyodide")


def lesson_text(number: str, suffix: str = ".md") -> str:
    """Return what stands in the pages of a lesson, its core first."""
    return "".join(path.read_text(encoding="utf-8") for path in lesson_pages(number, suffix))
