"""Where things stand: the repository, its lessons, and the programs that tests run in Node."""

from pathlib import Path

from tools.lesson_pages import lesson_pages

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "tools" / "in_node"


def lesson_text(number: str, suffix: str = ".md") -> str:
    """Return what stands in the pages of a lesson, its core first."""
    return "".join(path.read_text(encoding="utf-8") for path in lesson_pages(number, suffix))
