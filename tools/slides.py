"""Make what is projected of a lesson: `python dev.py slides 04`.

The lesson's core runs, and its title, guesses, outcomes with their figure, and exercises become one
page, `build/slides/04.html`, a screen or a sheet of paper each; it loads nothing. A guess stands
on the screen before its outcome. Notes of the teacher fold below; the last sheet is for the
students' guesses. PageDown goes on.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template

from markdown_it import MarkdownIt
from nbformat import NotebookNode

from calibkit_course import open_lesson
from calibkit_course.learn import Drawing, Prediction
from tools import notebook_files as files
from tools.lesson_pages import lesson_pages
from tools.notebooks import execute
from tools.virtual_environment import ROOT
from tools.workbook import TERM

SLIDES = ROOT / "build" / "slides"
PAGE = Template(Path(__file__).with_name("slides.html").read_text(encoding="utf-8"))
NOTE = re.compile(r"^- \*\*(\d+[a-z]),.*", re.MULTILINE)
CANVAS = re.compile('<svg class="ck-canvas".*?</svg>', re.DOTALL)
PICTURE = '<img src="data:image/png;base64,{}" alt="{}">'


def shown(text: str) -> str:
    """Return Markdown as HTML, without pictures and the glossary's links."""
    plain = re.sub(r"!\[.*?\]\(.*?\)", "", TERM.sub(r"\1", text))
    return str(MarkdownIt().render(re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", plain)))


def slide(title: str, *parts: str, note: str = "") -> str:
    """Return one screen."""
    notes = f"<details><summary>notes</summary>{shown(note)}</details>" if note else ""
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}{notes}</section>"


def question(pid: str, asked: Prediction) -> str:
    """Return a guess with what there is to choose from, or the axes for a line."""
    if isinstance(asked, Drawing):
        return shown(asked.question) + asked.canvas(pid)
    answers = asked.options or (f"a number ({asked.unit})" if asked.unit else "a number",)
    options = "".join(f"<li>{escape(one)}</li>" for one in answers)
    return f"{shown(asked.question)}<ul>{options}</ul>"


def slides(notebook: NotebookNode, lesson: str) -> Iterator[str]:
    """Yield the screens of an executed lesson; a figure goes with the next guess or outcome."""
    guesses, title, picture = open_lesson(lesson).predictions, "", ""
    asked: list[str] = []
    notes_file = ROOT / "calibkit_course" / f"lesson{lesson}" / "teaching.md"
    teaching = notes_file.read_text(encoding="utf-8") if notes_file.exists() else ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for part in re.findall(r"^#.*(?:\n(?!#).*)*", cell.source, re.MULTILINE):
                head, _, text = part.partition("\n")
                title = head.lstrip("# ")
                picture = "" if head.startswith("## ") else picture  # it belongs to its chapter
                if head.startswith("# "):
                    yield slide(title, shown(text.strip().partition("\n\n")[0]))
                elif title.startswith("Exercise"):
                    yield slide(title, shown(files.FOLD.sub("", text)))
            continue
        for output in cell.outputs:
            if png := output.get("data", {}).get("image/png"):
                alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
                picture = PICTURE.format(png, escape(alt))
        for pid in files.called_ids(cell, "predict"):
            notes = [one[0] for one in NOTE.finditer(teaching) if one[1] == pid]
            asked.append(pid)
            yield slide(title, picture, question(pid, guesses[pid]), note="\n".join(notes))
            picture = ""
        for pid in files.called_ids(cell, "reveal"):
            if isinstance(guesses[pid], Drawing):  # a cell computes it, and its output draws it
                told = "".join(one.get("data", {}).get("text/html", "") for one in cell.outputs)
                outcome = "".join(CANVAS.findall(told))
            else:
                outcome = f"<p><b>{escape(guesses[pid].shown(guesses[pid].outcome))}</b></p>"
            yield slide(title, picture, outcome, shown(guesses[pid].why))
            picture = ""
    rows = "".join(
        f"<li><b>{pid}</b>{question(pid, guesses[pid])}"
        f"{'' if isinstance(guesses[pid], Drawing) else 'sure: ____ %'}</li>"
        for pid in asked
    )
    yield f'<section class="sheet"><h2>My guesses</h2><ol>{rows}</ol></section>'


def main(arguments: list[str]) -> int:
    """Write the slides of the lessons that are named."""
    parser = argparse.ArgumentParser(prog="dev.py slides", description=__doc__)
    parser.add_argument("lessons", nargs="+", metavar="NN", help="numbers of lessons")
    SLIDES.mkdir(parents=True, exist_ok=True)
    for lesson in parser.parse_args(arguments).lessons:
        page = lesson_pages(lesson)[0]
        screens = "\n".join(slides(execute(files.read_source(page), page.parent), lesson))
        path = SLIDES / f"{lesson}.html"
        path.write_text(PAGE.substitute(lesson=lesson, slides=screens), encoding="utf-8")
        print(f"{path}: {screens.count('<section')} screens")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
