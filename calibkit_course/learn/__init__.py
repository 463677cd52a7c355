"""Predict, reveal, check: the machinery behind the exercises. It knows no lesson.

In a notebook::

    from calibkit_course import open_lesson

    lesson = open_lesson("04")
    lesson.predict("4a", ..., sure=...)  # a guess, and how sure you are; leaving both is fine
    lesson.reveal("4a")            # the guess beside what happened, and why
    lesson.check("4.1")            # one of five states, never an exception
    lesson.hint("4.1", 2)          # the second hint
    lesson.quiz("b", 0.05)         # the questions at the end, with feedback on each answer
    lesson.progress()              # a table; in a workbook it survives a restart

A check answers *Not defined* (there is no answer yet: ``lesson.check("4.1")`` finds no variable),
*Not attempted* (the answer is ``...``), *Wrong kind* (it cannot be compared), *Almost* (with a
pointed hint) or *Correct*. A free text is not graded: the check shows a rubric (*Compare*), and
``lesson.check("4.5", contains=[1, 3])`` notes what its writer finds in it (*Self-assessed*).
Whatever the answer is, it never raises. Messages show themselves as text and as HTML; both depend
on the answer only, so notebooks store and compare both strictly.
"""

from calibkit_course.learn._lesson import Lesson
from calibkit_course.learn._rendering import Feedback, Message, Progress
from calibkit_course.learn.calibration import (
    OwnCalibration,
    Temperature,
    at_temperature,
    my_calibration,
    temperature,
)
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction, Rubric
from calibkit_course.learn.forecasts import STAND_IN, Forecasts, import_forecasts, my_forecasts
from calibkit_course.learn.messages import State
from calibkit_course.learn.tables import table

__all__ = [
    "STAND_IN",
    "Check",
    "Drawing",
    "Feedback",
    "Forecasts",
    "Lesson",
    "Message",
    "OwnCalibration",
    "Prediction",
    "Progress",
    "Rubric",
    "State",
    "Temperature",
    "at_temperature",
    "import_forecasts",
    "my_calibration",
    "my_forecasts",
    "table",
    "temperature",
]
