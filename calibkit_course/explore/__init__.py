"""The machine behind the explorers: figures with controls, for JupyterLab and for pages.

An explorer is declared: its controls, a pure function ``*_view(**values)`` that returns a result,
and a function that draws it. Two shells show it. In JupyterLab ipywidgets reach any state (`lab`).
Where the environment variable ``CALIBKIT_BOOK`` is 1, the states of a smaller grid are rendered
beforehand, and ``explorer.js`` (beside this file) switches them (`page`).

Import it explicitly, ``from calibkit_course import explore``: it needs matplotlib, and ipywidgets
for the live form.
"""

from calibkit_course.explore._controls import Choice, Control, Slider
from calibkit_course.explore._explorer import Explorer, Preset
from calibkit_course.explore._quiz import Quiz
from calibkit_course.explore._shells import OF_EXPLORERS, OF_QUIZZES
from calibkit_course.explore._shown import Shown

# What is declared knows no shell, and the shells know what is declared: so no import is a circle.
Explorer.shell, Quiz.shell = OF_EXPLORERS, OF_QUIZZES

__all__ = ["Choice", "Control", "Explorer", "Preset", "Quiz", "Shown", "Slider"]
