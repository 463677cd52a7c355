"""Figures: one drawing function per kind of result.

Each function takes a result, draws on `ax` or on a fresh figure, and returns the Axes. None of
them computes a statistic, shows a window or changes ``rcParams``. Colours come from a palette
that is safe for colour-blind readers, and line style or hatch says the same a second time.

Import it explicitly, ``from calibkit import plot``: it needs matplotlib.
"""

from calibkit.plot._corp import corp
from calibkit.plot._forecaster import forecaster
from calibkit.plot._null import null_level
from calibkit.plot._plane import accuracy_error
from calibkit.plot._reliability import reliability
from calibkit.plot._simplex import simplex
from calibkit.plot._style import alt_text, legend, style
from calibkit.plot._virtues import roc, score_parts

__all__ = [
    "accuracy_error",
    "alt_text",
    "corp",
    "forecaster",
    "legend",
    "null_level",
    "reliability",
    "roc",
    "score_parts",
    "simplex",
    "style",
]
