"""The question bank: from one TOML file per lesson to a page and to files for learning platforms.

    python dev.py bank           write book/question_bank.md, the page with instant feedback
    python dev.py bank FOLDER    write one file of GIFT and one of QTI per lesson into FOLDER
    python dev.py bank FOLDER --seed 7    the same with numbers that stand nowhere on the web

GIFT is Moodle's plain-text format, QTI 2.1 that of many other platforms. The source is
`calibkit_course/lessonNN/questions.toml`: questions with options, or with a number, a tolerance
and slips. A seed draws what stands under `given`; answer and slips are computed from it. Questions
without `given` are left out then.
"""

import argparse
import re
import sys
import zipfile
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

import numpy as np

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

Teachers: `python dev.py bank FOLDER` writes a GIFT file per lesson, which Moodle imports,
and a package of QTI 2.1.
"""


@dataclass(frozen=True)
class Lesson:
    """The questions of one lesson."""

    id: str
    title: str
    questions: tuple[Question, ...]


def read(seed: int | None = None) -> list[Lesson]:
    """Return all questions by lesson, in order; by a seed those alone that have numbers to draw."""
    bank = []
    for name in lessons():
        rng = None if seed is None else np.random.default_rng([seed, int(name)])
        questions = read_questions(name, rng)
        if seed is not None:  # else a platform would take them for those it has
            questions = tuple(replace(one, id=f"{one.id}-{seed}") for one in questions)
        bank += [Lesson(name, title(name), questions)] if questions else []
    return bank


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
    lines += [f'<p id="{name}-text"><strong>Question {one.number}:</strong> {html(one.text)}</p>']
    if not number:
        lines += ['<ol class="ck-options" type="a">']
        lines += [f"<li>{html(answer.text)}</li>" for answer in one.options] + ["</ol>"]
    lines += [f"<details><summary>▸ Answer to question {one.number}</summary>"]
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


# --- QTI -----------------------------------------------------------------------------------------

SPACE = 'xmlns="http://www.imsglobal.org/xsd/{}"'
ITEM = """<?xml version="1.0" encoding="UTF-8"?>
<assessmentItem {space} identifier="calibkit-{id}" title="{id}" adaptive="false"
 timeDependent="false">
<responseDeclaration identifier="RESPONSE" cardinality="single" baseType="{kind}">
<correctResponse><value>{right}</value></correctResponse></responseDeclaration>
<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float"/>
<outcomeDeclaration identifier="FEEDBACK" cardinality="single" baseType="identifier"/>
<itemBody>{body}</itemBody>
<responseProcessing><responseCondition>{rules}</responseCondition></responseProcessing>
{said}
</assessmentItem>
"""
RULE = """<{way}><{same}><variable identifier="RESPONSE"/>
<baseValue baseType="{kind}">{value}</baseValue></{end}>
<setOutcomeValue identifier="SCORE"><baseValue baseType="float">{score:d}</baseValue>
</setOutcomeValue>
<setOutcomeValue identifier="FEEDBACK"><baseValue baseType="identifier">{letter}</baseValue>
</setOutcomeValue></{way}>"""
SAID = """<modalFeedback outcomeIdentifier="FEEDBACK" identifier="{letter}" showHide="show">{says}
</modalFeedback>"""
NUMBER = '<p>{text} <textEntryInteraction responseIdentifier="RESPONSE"/></p>'
OPTIONS = """<choiceInteraction responseIdentifier="RESPONSE" shuffle="true" maxChoices="1">
<prompt>{text}</prompt>{options}</choiceInteraction>"""


def qti(one: Question) -> str:
    """Return a question as an item of QTI 2.1: the first answer that fits is scored and told."""
    number = one.tolerance is not None
    same = f'equal toleranceMode="absolute" tolerance="{one.tolerance} {one.tolerance}"'
    kind, same = ("float", same) if number else ("identifier", "match")
    rules, said, options, right, way = "", "", "", "", "responseIf"
    for letter, answer in zip("abcdef", one.options, strict=False):
        value = answer.text if number else letter
        right = value if answer.right else right
        about = {"kind": kind, "same": same, "end": same.split()[0], "letter": letter}
        rules += RULE.format(way=way, value=value, score=answer.right, **about)
        says = f"{answer.says} {one.solution}".strip() if answer.right else answer.says
        said += SAID.format(letter=letter, says=html(says))
        options += f'<simpleChoice identifier="{letter}">{html(answer.text)}</simpleChoice>'
        way = "responseElseIf"
    text = html(one.text + (f" (in {one.unit})" if one.unit else ""))
    body = (NUMBER if number else OPTIONS).format(text=text, options=options)
    about = {"id": one.id, "kind": kind, "right": right, "body": body, "rules": rules}
    return ITEM.format(space=SPACE.format("imsqti_v2p1"), said=said, **about)


def write_qti(lesson: Lesson, path: Path) -> None:
    """Write the questions of a lesson as a package of QTI 2.1, the same bytes each time."""
    items = {f"calibkit-{one.id}": qti(one) for one in lesson.questions}
    resources = "".join(
        f'<resource identifier="{name}" type="imsqti_item_xmlv2p1" href="{name}.xml">'
        f'<file href="{name}.xml"/></resource>'
        for name in items
    )
    manifest = f"""<manifest {SPACE.format("imscp_v1p1")} identifier="calibkit-{lesson.id}">
<metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion></metadata>
<organizations/><resources>{resources}</resources></manifest>
"""
    with zipfile.ZipFile(path, "w") as file:
        for name, text in [("imsmanifest", manifest), *items.items()]:
            file.writestr(zipfile.ZipInfo(f"{name}.xml"), text)


def main(arguments: list[str]) -> int:
    """Write the page, or the files for a learning platform."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("dev.py bank", description=__doc__, formatter_class=layout)
    parser.add_argument("folder", type=Path, nargs="?", help="where the files go")
    help_ = "draw other numbers, where a question has any"
    parser.add_argument("--seed", type=int, metavar="N", help=help_)
    chosen = parser.parse_args(arguments)
    if chosen.seed is not None and (chosen.seed < 0 or chosen.folder is None):
        parser.error("--seed is 0 or above, and needs a FOLDER: the page has the public numbers")
    bank = read(chosen.seed)
    if chosen.folder is None:
        PAGE.write_text(page(bank), encoding="utf-8", newline="\n")
        print(f"{PAGE.relative_to(ROOT)} written")
        return 0
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for lesson in bank:
        path = chosen.folder / f"calibkit_{lesson.id}.gift"
        path.write_text(gift(lesson), encoding="utf-8", newline="\n")
        write_qti(lesson, path.with_suffix(".zip"))
        print(f"{path} and .zip: {len(lesson.questions)} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
