"""The question bank: from one TOML file per lesson to a page and to files for learning platforms.

    python dev.py bank           write book/question_bank.md, the page with instant feedback
    python dev.py bank FOLDER    write one GIFT file per lesson into FOLDER

GIFT is Moodle's plain-text format; other platforms import it too. The source is
`calibkit_course/lessonNN/questions.toml`: questions with options, or with a number, a tolerance
and slips.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

from calibkit_course import lessons
from calibkit_course.learn.questions import Question, read_questions
from tools.lesson_pages import lesson_pages
from tools.virtual_environment import ROOT

PAGE = ROOT / "book" / "question_bank.md"
CHOICE = 'data-kind="choice"'
SPECIAL = re.compile(r"([\\~=#{}:])")
CODE, BOLD = re.compile(r"`([^`]+)`"), re.compile(r"\*\*(.+?)\*\*")

INTRODUCTION = """# Question bank

Four questions for each lesson, for an examination, for a start-of-class quiz, or for yourself.
Choose an answer and press *Check*: what is said to a wrong one names the idea behind it.
Numbers may be typed as 0.05, 1/20 or 5 %.
A pocket calculator is enough unless a question says otherwise.

The wrong answers are those that learners give.
A test of the package computes every number in bold, and every right number.

Teachers: `python dev.py bank FOLDER` writes one GIFT file per lesson.
Moodle and other learning platforms import them.
"""


@dataclass(frozen=True)
class Lesson:
    """The questions of one lesson."""

    id: str
    title: str
    questions: tuple[Question, ...]


def read() -> list[Lesson]:
    """Return all questions by lesson, in order."""
    return [Lesson(name, title(name), read_questions(name)) for name in lessons()]


def title(name: str) -> str:
    """Return the title of a lesson, as its page states it."""
    text = lesson_pages(name)[0].read_text(encoding="utf-8")
    return next(line[2:] for line in text.splitlines() if line.startswith("# "))


# --- the page ------------------------------------------------------------------------------------


def html(text: str) -> str:
    """Return a text with code and bold numbers as HTML."""
    return BOLD.sub(r"<strong>\1</strong>", CODE.sub(r"<code>\1</code>", escape(text, quote=False)))


def item(one: Question) -> str:
    """Return a question as HTML: text and folded answers, which the script makes answerable."""
    name, number = "q-" + one.id.replace(".", "-"), one.tolerance is not None
    unit = f' data-unit="{escape(one.unit)}"' if one.unit else ""
    kind = f'data-kind="number" data-tolerance="{one.tolerance:g}"{unit}' if number else ""
    lines = [f'<div class="ck-item" id="{name}" {kind or CHOICE}>']
    lines += [f'<p id="{name}-text"><strong>{one.id}</strong> {html(one.text)}</p>']
    if not number:
        lines += ['<ol class="ck-options" type="a">']
        lines += [f"<li>{html(answer.text)}</li>" for answer in one.options] + ["</ol>"]
    lines += [f"<details><summary>▸ Answer {one.id}</summary>"]
    lines += [f'<p class="ck-solution">{html(one.solution)}</p>'] if one.solution else []
    lines += ['<ul class="ck-says">' if number else '<ol class="ck-says" type="a">']
    for answer in one.options:
        right = ' data-right="yes"' if answer.right else ""
        value = f' data-value="{answer.text}"' if number else ""
        shown = f"{answer.text}: " if number else ""
        verdict = "<strong>Right.</strong> " if answer.right else ""
        says = f'<span class="ck-words">{html(answer.says)}</span>'
        lines += [f"<li{value}{right}>{shown}{verdict}{says}</li>"]
    lines += ["</ul>" if number else "</ol>", "</details>", "</div>"]
    return "\n".join(lines)


def page(all_lessons: list[Lesson]) -> str:
    """Return the whole page."""
    parts = [INTRODUCTION]
    for lesson in all_lessons:
        parts.append(f"## Lesson {lesson.id}: {lesson.title}\n")
        parts += [item(one) + "\n" for one in lesson.questions]
    return "\n".join(parts)


# --- GIFT ----------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """Return a text in which GIFT sees no signs of its own."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def gift(lesson: Lesson) -> str:
    """Return the questions of a lesson in Moodle's GIFT format."""
    blocks = [f"// calibkit, lesson {lesson.id}", f"$CATEGORY: calibkit/Lesson {lesson.id}"]
    for one in lesson.questions:
        number = one.tolerance is not None
        unit = f" (in {one.unit})" if one.unit else ""
        lines = [f"// [id:calibkit-{one.id}] [tag:calibkit]"]
        lines += [f"::{quoted(one.id)}::[markdown]{quoted(one.text + unit)} {{" + "#" * number]
        for answer in one.options:
            if number:
                share = "" if answer.right else "%0%"
                lines += [f"={share}{answer.text}:{one.tolerance:g}#{quoted(answer.says)}"]
            else:
                sign = "=" if answer.right else "~"
                lines += [f"{sign}{quoted(answer.text)}#{quoted(answer.says)}"]
        lines += [f"####{quoted(one.solution)}"] if one.solution else []
        blocks.append("\n".join([*lines, "}"]))
    return "\n\n".join(blocks) + "\n"


def main(arguments: list[str]) -> int:
    """Write the page, or the files for a learning platform."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("dev.py bank", description=__doc__, formatter_class=layout)
    parser.add_argument("folder", type=Path, nargs="?", help="where the GIFT files go")
    chosen = parser.parse_args(arguments)
    bank = read()
    if chosen.folder is None:
        PAGE.write_text(page(bank), encoding="utf-8", newline="\n")
        print(f"{PAGE.relative_to(ROOT)} written")
        return 0
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for lesson in bank:
        path = chosen.folder / f"calibkit_{lesson.id}.gift"
        path.write_text(gift(lesson), encoding="utf-8", newline="\n")
        print(f"{path}: {len(lesson.questions)} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
