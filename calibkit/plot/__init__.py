"""Figures: one drawing function per kind of result.

Each function takes a result, draws it on `ax` (by default on a fresh figure with a legend), and
returns the Axes; `title` is what stands above, `legend` says whether there is one. None of them
computes a statistic, shows a window or changes ``rcParams``. Colours come from a palette that is
safe for colour-blind readers, and line style or hatch says the same a second time.

Import it explicitly, ``from calibkit import plot``: it needs matplotlib.
"""

from importlib.util import find_spec

if find_spec("matplotlib") is None:
    raise ModuleNotFoundError(
        "calibkit.plot draws with matplotlib, which is not installed; run: pip install matplotlib",
        name="matplotlib",
    )

from calibkit.plot._chance import cumulative_differences, null_level
from calibkit.plot._choice import choice
from calibkit.plot._corp import corp
from calibkit.plot._decisions import decision_curve, murphy
from calibkit.plot._fit_on_test import fit_on_test
from calibkit.plot._reliability import reliability, reliability_diagram
from calibkit.plot.look import alt_text, legend, style

__all__ = [
    "alt_text",
    "choice",
    "corp",
    "cumulative_differences",
    "decision_curve",
    "fit_on_test",
    "legend",
    "murphy",
    "null_level",
    "reliability",
    "reliability_diagram",
    "style",
]
