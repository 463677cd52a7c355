"""The capstone: its marks, codes, files and commands."""

import re
from pathlib import Path

import pytest

from calibkit_audit.auditing.settings import CODES, FINDINGS
from calibkit_audit.cli.arguments import command_parser
from calibkit_course import data
from tests.paths import lesson_text


def capstone(root: Path) -> str:
    return (root / "book" / "capstone.md").read_text("utf-8")


def test_the_rubric_has_a_hundred_points(root: Path) -> None:
    table = capstone(root).partition("\n## Marking")[2].partition("\n### What costs")[0]
    assert sum(map(int, re.findall(r"\| (\d+) \|$", table, re.MULTILINE))) == 100


def test_the_capstone_names_all_codes(root: Path, subtests: pytest.Subtests) -> None:
    for topic, codes in CODES.items():
        with subtests.test(topic=topic, codes=codes):
            line = next(one for one in capstone(root).splitlines() if one.startswith(f"- {topic}:"))
            assert tuple(re.findall(r"`([^`]+)`", line)) == codes


def test_the_capstone_names_the_findings(root: Path, subtests: pytest.Subtests) -> None:
    for codes in FINDINGS.values():
        with subtests.test(codes=codes):
            assert all(f"`{code}`" in capstone(root) for code in codes)


def test_files_that_the_capstone_names_exist(root: Path) -> None:
    text = capstone(root).partition("## Choose a file")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z0-9_-]+)`", text))
    assert named <= set(data.REGISTRY) and len(named) == 8
    lesson = lesson_text("14")
    forbidden = text.partition("Do not take")[2]
    assert all(f'"{name}"' in lesson for name in re.findall(r"`([a-z0-9_-]+)`", forbidden))


@pytest.mark.parametrize("page", ["the capstone", "lesson 14"])
def test_commands_on_the_page_can_be_given(page: str, root: Path, subtests) -> None:
    text = lesson_text("14") if page == "lesson 14" else capstone(root)
    commands = re.findall(r"^calibkit (audit .+)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        with subtests.test(command=command):
            options = command_parser().parse_args(command.split())
            assert options.command == "audit" and options.costs == "1:20"
