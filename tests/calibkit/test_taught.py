"""What a docstring says about lessons is true: the lesson names the function, or its term."""

import ast
import re
from functools import cache

import pytest

from tests.paths import ROOT, lesson_text

PACKAGE = ROOT / "calibkit"
CLAIM = re.compile(r"Taught\s+in\s+lessons?\s+((?:\d\d(?:,?\s+(?:and\s+)?)?)+)")
# Where a lesson speaks of the thing by its term, and never calls it.
TERMS = {"SweepBinning": "sweep"}


@cache
def claims() -> frozenset[tuple[str, str]]:
    """Return each documented name with the lessons that its docstring claims."""
    nodes = (n for path in PACKAGE.rglob("*.py") for n in ast.walk(ast.parse(path.read_bytes())))
    return frozenset(
        (node.name, number)
        for node in nodes
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        for match in CLAIM.finditer(ast.get_docstring(node) or "")
        for number in re.findall(r"\d\d", match[1])
    )


def named(text: str, name: str) -> bool:
    """Tell whether a text holds a name as a whole word."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


@pytest.mark.parametrize(("name", "number"), sorted(claims()))
def test_the_lesson_names_what_a_docstring_says_it_teaches(name, number) -> None:
    assert len(claims()) > 30
    text = lesson_text(number)
    assert named(text, name) or named(text.lower(), TERMS.get(name, name).lower()), (
        f"lesson {number} never names {name}: mend the docstring, or the lesson"
    )
