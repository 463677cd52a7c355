"""What is written of a graded class: tables for a spreadsheet, for the teacher, for each student.

All of them show the same lines. A student's page has nothing about anybody else, and nothing about
copies, which are for the teacher to ask about.
"""

import base64
import csv
import io
import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import chain, groupby
from pathlib import Path
from string import Template

from calibkit_course.learn.classroom import class_calibration
from calibkit_course.learn.forecasts import as_forecasts
from tools.grade_class import Answers
from tools.grade_run import Grade

COLUMNS = ("student", "lesson", "file", "kind", "item", "state", "detail", "seconds")
PAGE = Template(Path(__file__).with_name("grade_page.html").read_text(encoding="utf-8"))
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
RETURNED = ("exercise", "guess", "quiz", "cell")
Line = tuple[str, ...]


def lines(found: Grade) -> list[Line]:
    """Return the lines of one workbook; the first is about the whole."""
    about = (found.student, found.lesson, found.file)
    state = "not graded" if found.problem else "graded"
    whole = ("workbook", "", state, found.in_words, f"{found.seconds:.0f}")
    return [(*about, *whole), *((*about, *row[:4], "") for row in found.rows)]


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, without unprintable characters."""
    shown = UNSEEN.sub("\ufffd", text)
    return f"'{shown}" if text.startswith(FORMULA) or shown.lstrip().startswith(FORMULA) else shown


def write_csv(path: Path, titles: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Write a table for a spreadsheet."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([titles, *(map(harmless, row) for row in rows)])


def shown(text: str) -> str:
    """Return a text as HTML, without unprintable characters; names of code look like code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escape(UNSEEN.sub("\ufffd", text)))


def html_table(head: Line, rows: Iterable[Line]) -> str:
    """Return a table that scrolls on a narrow page."""
    titles = "".join(f'<th scope="col">{shown(word)}</th>' for word in head)
    cells = ("".join(f"<td>{shown(word)}</td>" for word in row) for row in rows)
    body = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="scroll"><table><tr>{titles}</tr>\n{body}</table></div>'


def write_page(path: Path, title: str, parts: Iterable[str]) -> None:
    """Write a page that loads nothing."""
    page = PAGE.substitute(title=shown(title), body="\n".join(parts))
    path.write_text(page, encoding="utf-8")


# --- for the teacher -----------------------------------------------------------------------------

ABOUT = """<p>States are those of the checks of the installed calibkit, on the variables that each
workbook left behind. Its own outputs play no part.</p>"""


def overview(found: Iterable[Line]) -> str:
    """Return each state, answer and message once, with all who have it, texts by their rubric."""
    groups: dict[Line, list[str]] = {}
    for student, lesson, _, kind, item, state, detail, _ in found:
        groups.setdefault((lesson, item, kind, state, detail), []).append(student)
    often = sorted(groups.items(), key=lambda pair: (pair[0][:3], -len(pair[1]), pair[0]))
    rows = ((*key, str(len(who)), ", ".join(sorted({*who}))) for key, who in often)
    return html_table(("lesson", "item", "what", "state", "detail", "files", "who"), rows)


def class_section(by_student: Answers) -> str:
    """Return how well the class knows what it knows; nothing where nobody made a forecast."""
    known = {name: as_forecasts(by_student[name]) for name in sorted(by_student)}
    known = {name: own for name, own in known.items() if own.n}
    if not known:
        return ""
    found, picture = class_calibration(known), io.BytesIO()
    found.draw().savefig(picture, format="png", dpi=110)
    source, said = base64.b64encode(picture.getvalue()).decode(), escape(found.describe())
    return (f'<h2>How well the class knows what it knows</h2><p>{said}</p><div class="scroll">'
            f'<img alt="{said}" src="data:image/png;base64,{source}"></div>')  # fmt: skip


def teachers_page(grades: Iterable[Grade], by_student: Answers) -> Iterator[str]:
    """Yield the parts of the page for the teacher."""
    found = [lines(one) for one in grades]
    yield ABOUT
    yield html_table(COLUMNS, (first for first, *_ in found))
    yield "<h2>Each exercise, guess and text</h2>"
    yield overview(chain(*(rest for _, *rest in found)))
    yield class_section(by_student)


# --- for each student ----------------------------------------------------------------------------


def section(found: Grade) -> Iterator[str]:
    """Yield what a student gets back of one workbook."""
    yield f"<h2>Lesson {shown(found.lesson or 'unknown')}: {shown(found.path.name)}</h2>"
    if found.problem:
        yield f"<p>This file was not graded. {shown(found.problem)}</p>"
        return
    texts = found.of("rubric")
    said = f"Points: {found.points} of {len(found.of('exercise')) - len(texts)}"
    said += ". Your teacher reads the free text" if texts else ""
    said += ". It came late" if found.late else ""
    more = ". Of several files of one lesson the one with most points counts"
    yield f"<p>{said}{more if found.again > 1 else ''}.</p>"
    yield from (f"<p>Note: {shown(row.says)}.</p>" for row in found.of("note"))
    head = ("what", "item", "state", "your guess, or what the check says", "what it is about")
    yield html_table(head, found.of(*RETURNED))


def write_feedback(grades: Iterable[Grade], folder: Path) -> None:
    """Write a page for each student; two whose names make one file name get two files."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = set[str]()
    for student, theirs in groupby(grades, key=lambda one: one.student):
        plain = name = re.sub(r"[^\w@+ -]", "_", student)[:80].strip() or "_"
        while name.casefold() in taken:
            name = f"{plain}_{len(taken)}"
        taken.add(name.casefold())
        parts = (part for found in theirs for part in section(found))
        write_page(folder / f"{name}.html", student, parts)
