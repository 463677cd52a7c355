"""The lessons: one folder each, with all that serves only that lesson.

In a notebook::

    from calibkit_course import lesson04, open_lesson

    lesson = open_lesson("04")  # predictions, checks, hints, progress
    lesson04.diagram_lab()      # what the lesson explores and draws
    my_calibration()            # in any lesson: how far one's own guesses deserve their "70 %"

A folder holds `words.toml` (title, exercises, guesses, and all that the judges say), `checks` (the
judges), `questions.toml`, `teaching.md` (notes for teachers, which the book puts together),
`explorer` with the `view` that it shows and the `figures` that it draws, and, where the lesson has
its own, games, data and problems. No lesson imports another, and nothing below imports a lesson:
what two of them need belongs in a room of the package.
"""

import importlib
import pkgutil
from threading import Lock

from calibkit_course.learn import Lesson, messages
from calibkit_course.learn.calibration import my_calibration
from calibkit_course.learn.forecasts import Log, import_forecasts, kept_log, my_forecasts
from calibkit_course.learn.questions import read_questions
from calibkit_course.learn.record import Record, kept
from calibkit_course.learn.words import read_words
from calibkit_course.mine import add_to_report, bring, my_report, my_table

__all__ = [
    "add_to_report",
    "bring",
    "import_forecasts",
    "lessons",
    "my_calibration",
    "my_forecasts",
    "my_report",
    "my_table",
    "open_lesson",
]

_IMPORT = Lock()


def open_lesson(id: str | int, *, keep: bool = True) -> Lesson:
    """Open a lesson: its predictions and checks.

    Parameters
    ----------
    id : str or int
        Its number, e.g. ``"01"`` or 1.
    keep : bool
        Whether to go on from what the workbook has kept, and to keep what comes; outside a
        workbook nothing is stored.

    Returns
    -------
    Lesson
        Outside a workbook a fresh one: it knows no guesses and no answers yet.

    Raises
    ------
    ValueError
        If there is no such lesson; the message lists those that exist.

    Examples
    --------
    >>> open_lesson("00")
    <Lesson 00, Start here>
    """
    name = str(id).zfill(2) if str(id) else ""
    known = lessons()
    if name not in known:
        raise ValueError(messages.NO_LESSON.format(id=id, ids=", ".join(known)))
    with _IMPORT:  # two threads that import at once can meet half a module
        checks = importlib.import_module(f"{__name__}.lesson{name}.checks")
    record, log = (kept(name), kept_log()) if keep else (Record(), Log())
    questions = read_questions(name)
    words = read_words(name)
    exercises = words.checks(checks.JUDGES)
    return Lesson(
        name, words.title, exercises, words.predictions, record, questions, log, words.second
    )


def lessons() -> tuple[str, ...]:
    """Return the numbers of the lessons that exist: of the folders here.

    Examples
    --------
    >>> lessons()[:2]
    ('00', '01')
    """
    names = (module.name for module in pkgutil.iter_modules(__path__))
    found = [name.removeprefix("lesson") for name in names if name.startswith("lesson")]
    return tuple(sorted(name for name in found if name.isdigit()))
