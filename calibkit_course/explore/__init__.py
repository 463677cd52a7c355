"""The machine behind the explorers: figures with controls, for JupyterLab and for pages.

An explorer is declared: its controls, a pure function ``*_view(**values)`` that returns a result,
and a function that draws it. Two shells show it. In JupyterLab ipywidgets reach any state. Where
the environment variable ``CALIBKIT_BOOK`` is 1, the states of a smaller grid are rendered
beforehand, and ``explorer.js`` (beside this file) switches them.

Import it explicitly, ``from calibkit import explore``: it needs matplotlib, and ipywidgets for
the live form.
"""

from calibkit_course.explore._controls import Check, Choice, Control, Slider
from calibkit_course.explore._explorer import Explorer, Preset
from calibkit_course.explore._quiz import Quiz

__all__ = ["Check", "Choice", "Control", "Explorer", "Preset", "Quiz", "Slider"]
