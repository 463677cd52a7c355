"""Figures: one drawing function per kind of result.

Each function takes a result, draws it, and returns the Axes. In all of them `ax` says where to
draw (by default on a fresh figure with a legend), `title` what stands above, and `legend` whether
there is one. None of them computes a statistic, shows a window or changes ``rcParams``. Colours
come from a palette that is safe for colour-blind readers, and line style or hatch says the same a
second time.

Import it explicitly, ``from calibkit import plot``: it needs matplotlib.
"""

from calibkit.plot._benefit import decision_curve
from calibkit.plot._choice import choice
from calibkit.plot._corp import corp
from calibkit.plot._cumulative import cumulative_differences
from calibkit.plot._decisions import murphy, regret
from calibkit.plot._fit_on_test import fit_on_test
from calibkit.plot._null import null_level
from calibkit.plot._reliability import overlay, reliability
from calibkit.plot._smooth import smooth
from calibkit.plot._tested import test_based
from calibkit.plot._venn_abers import venn_abers
from calibkit.plot._words import alt_text
from calibkit.plot.look import legend, style

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
    "overlay",
    "regret",
    "reliability",
    "smooth",
    "style",
    "test_based",
    "venn_abers",
]
