"""What students get back: `python dev.py grade FOLDER --feedback OTHER` writes a page for each.

It has the points, what the checks say to each answer, and the guesses beside what happens; nothing
about anybody else, and nothing about copies, which are for the teacher to ask about.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any

PAGE = Template(Path(__file__).with_name("grade_page.html").read_text(encoding="utf-8"))
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
Line = tuple[str, ...]


def shown(text: str) -> str:
    """Return a text as HTML, without unprintable characters; names of code look like code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escape(UNSEEN.sub("\ufffd", text)))


def html_table(head: Line, lines: Iterable[Line]) -> str:
    """Return a table that scrolls on a narrow page."""
    titles = "".join(f'<th scope="col">{shown(word)}</th>' for word in head)
    rows = ("".join(f"<td>{shown(word)}</td>" for word in line) for line in lines)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{titles}</tr>\n{body}</table></div>'


def html_page(title: str, *parts: str) -> str:
    """Return a page that loads nothing."""
    return PAGE.substitute(title=shown(title), body="\n".join(parts))


def section(found: Any) -> Iterator[str]:
    """Yield what is said of one workbook, a `tools.grade.Grade`."""
    yield f"<h2>Lesson {shown(found.lesson or 'unknown')}: {shown(found.workbook.path.name)}</h2>"
    if found.problem:
        yield f"<p>This file was not graded. {shown(found.problem)}</p>"
        return
    rows = found.of("exercise")
    judged = [row for row in rows if not row.get("is_text")]  # texts are read by a person
    said = f"Points: {found.count('Correct')} of {len(judged)}"
    said += ". Your teacher reads the free text" if len(judged) < len(rows) else ""
    said += ". It came late" if found.late else ""
    more = ". Of several files of one lesson the one with most points counts"
    yield f"<p>{said}{more if found.again > 1 else ''}.</p>"
    yield from (f"<p>Note: {shown(row['says'])}.</p>" for row in found.of("note"))
    points = {row["item"]: f"{row['state'] == 'Correct':d}" for row in judged}
    lines = [(row["item"], row["task"], points.get(row["item"], ""), row["state"],
              row["says"][:1].upper() + row["says"][1:]) for row in rows]  # fmt: skip
    yield html_table(("exercise", "what is asked", "points", "state", "what the check says"), lines)
    guesses = [(row["item"], row["says"], row["task"]) for row in found.of("guess")]
    yield html_table(("guess", "yours", "what happens"), guesses) if guesses else ""
    quiz = [(row["item"], row["state"], row["says"]) for row in found.of("quiz")]
    yield html_table(("question", "answer", "what it says"), quiz) if quiz else ""
    cells = [(str(number), words) for number, words in found.raised]
    yield html_table(("cell", "raised"), cells) if cells else ""


def feedback(grades: list[Any], folder: Path) -> None:
    """Write a page for each student; two whose names make one file name get two files."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = set[str]()
    for student, theirs in groupby(grades, key=lambda one: one.student):
        plain = name = re.sub(r"[^\w@+ -]", "_", student)[:80].strip() or "_"
        while name.casefold() in taken:
            name = f"{plain}_{len(taken)}"
        taken.add(name.casefold())
        parts = [part for found in theirs for part in section(found)]
        (folder / f"{name}.html").write_text(html_page(student, *parts), encoding="utf-8")
