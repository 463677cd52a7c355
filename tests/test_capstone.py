"""The capstone: its marks, codes, files and commands."""

import re
from pathlib import Path

import pytest

from calibkit import data
from calibkit.auditing.report import CODES
from calibkit.cli import _parser


def capstone(root: Path) -> str:
    return (root / "book" / "capstone.md").read_text("utf-8")


def test_the_rubric_has_a_hundred_points(root: Path) -> None:
    table = capstone(root).partition("\n## Marking")[2].partition("\n### What costs")[0]
    assert sum(map(int, re.findall(r"\| (\d+) \|$", table, re.MULTILINE))) == 100


def test_the_capstone_names_all_codes(root: Path) -> None:
    for topic, codes in CODES.items():
        line = next(line for line in capstone(root).splitlines() if line.startswith(f"- {topic}:"))
        assert tuple(re.findall(r"`([^`]+)`", line)) == codes


def test_files_that_the_capstone_names_exist(root: Path) -> None:
    text = capstone(root).partition("## Choose a file")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z0-9_-]+)`", text))
    assert named <= set(data.REGISTRY) and len(named) == 8
    lesson = (root / "notebooks" / "14_audit_your_predictions.md").read_text("utf-8")
    forbidden = text.partition("Do not take")[2]
    assert all(f'"{name}"' in lesson for name in re.findall(r"`([a-z0-9_-]+)`", forbidden))


@pytest.mark.parametrize("page", ["book/capstone.md", "notebooks/14_audit_your_predictions.md"])
def test_commands_on_the_page_can_be_given(page: str, root: Path) -> None:
    text = (root / page).read_text("utf-8")
    commands = re.findall(r"^calibkit (audit .+)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        options = _parser().parse_args(command.split())
        assert options.command == "audit" and options.costs == "1:20"
