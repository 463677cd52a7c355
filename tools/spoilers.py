"""What can be read of a lesson before an outcome is revealed: none of it may tell the outcome.

Each `Prediction` names in its `tells` what would: regular expressions, which ignore case, line
breaks and marks of emphasis. `python dev.py check` lists what a lesson tells too early.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from nbformat import NotebookNode

from calibkit_course import open_lesson
from calibkit_course.learn import Lesson, Prediction
from tools.lesson_pages import lesson_pages
from tools.notebook_files import called_ids, output_text, read_stored, sources, tags

HEADING = re.compile(r"^#{1,6} (.+)$", flags=re.MULTILINE)
MARKS = re.compile(r"[\s*`_]+")  # an underscore too: the name of a variable is read as words

Seen = tuple[str, str]  # where it stands, and its words


def told(name: str) -> Iterator[tuple[str, str, str]]:
    """Go through what a lesson tells too early: name of the prediction, place, telling words."""
    lesson = open_lesson(name, keep=False)
    cells = [cell for path in lesson_pages(name) for cell in read_stored(path).cells]
    for pid, prediction in lesson.predictions.items():
        for place, text in (*titles(), *visible(lesson, cells, pid)):
            yield from ((pid, place, words) for words in telling(prediction, text))


@cache
def titles() -> list[Seen]:
    """Return the titles of all lessons, which stand beside every page of the book."""
    found = ((path, HEADING.search(path.read_text(encoding="utf-8"))) for path in sources())
    return [(f"title of {path.stem[:2]}", title[1]) for path, title in found if title]


def telling(prediction: Prediction, text: str) -> Iterator[str]:
    """Go through the words of a text that tell the outcome of a prediction."""
    words = MARKS.sub(" ", text)
    for pattern in prediction.tells:
        if found := re.search(pattern, words, flags=re.IGNORECASE):
            yield words[max(0, found.start() - 20) : found.end() + 20].strip()


def visible(lesson: Lesson, cells: Sequence[NotebookNode], pid: str) -> Iterator[Seen]:
    """Go through what can be read before the outcome of a prediction.

    That is every heading of the page, for its outline shows them all; whatever stands above the
    guess, with outputs, captions, alternative texts and questions; and text and code from there
    to the cell that reveals, whose outputs a working copy does not hold and the book folds.
    """
    guessed = False
    for number, cell in enumerate(cells, start=1):
        if cell.cell_type == "markdown":
            yield from ((f"heading {number}", words) for words in HEADING.findall(cell.source))
    for number, cell in enumerate(cells, start=1):
        code = cell.cell_type == "code"
        if code and pid in called_ids(cell, "reveal"):
            return
        asked = called_ids(cell, "predict") if code else []
        for one in asked:  # its options are no news, whatever they say
            yield f"question {one}", lesson.predictions[one].question
        if not asked:
            yield f"cell {number}", cell.source
        if code and not asked and not guessed:
            yield from ((f"cell {number}, shown", words) for words in _shown(lesson, cell))
        guessed = guessed or pid in asked
    raise ValueError(f"no cell of lesson {lesson.id} reveals {pid}")


def _shown(lesson: Lesson, cell: NotebookNode) -> Iterator[str]:
    """Go through what a code cell shows: outputs, and the words that its metadata holds."""
    yield from map(output_text, cell.outputs)
    for part in cell.metadata.get("mystnb", {}).values():
        yield from map(str, part.values())
    if "quiz" in tags(cell):
        yield from map(str, lesson.questions)
