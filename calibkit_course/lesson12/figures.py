"""Stated against true numbers of all classes, and the frame that lights a panel up. Lesson 12.

Source: the review of calibration notions, section 1.4 (reduced notions); methods of our own.
"""

import numpy as np
from matplotlib.axes import Axes

from calibkit.inputs import FloatMatrix
from calibkit.plot import look
from calibkit.results import spell
from calibkit_course.simplex import CODES

_MOST_POINTS = 300  # of each class; more of them hide each other
_MARGIN = 0.025
_WORDS = "Each stated probability against the true one, given the whole stated vector"


def stated_and_true(stated: FloatMatrix, true: FloatMatrix, ax: Axes | None = None) -> Axes:
    """Draw each stated probability against the true one, for three classes at once."""
    with look.drawing(ax, (4.4, 4.2)) as ax:
        _frame(ax)
        rows = slice(None, None, -(-len(stated) // _MOST_POINTS))
        small = len(stated) > 60
        for k, (colour, marker) in enumerate(CODES):
            ax.scatter(
                stated[rows, k],
                true[rows, k],
                s=7 if small else 30,
                marker=marker,
                facecolor=colour,
                edgecolor="none" if small else "white",
                linewidth=0.6,
                alpha=0.5 if small else 1.0,
                zorder=3,
                gid=f"entries-{k}",
            )
            ax.plot([], [], linestyle="none", marker=marker, color=colour, label=f"class {k}")
    n = spell(len(stated), "stated vector")
    look.remember(ax, [f"{_WORDS}: {n} of three classes."])
    return ax


def _frame(ax: Axes) -> None:
    ax.set(xlim=(-_MARGIN, 1 + _MARGIN), ylim=(-_MARGIN, 1 + _MARGIN), aspect="equal")
    ax.set_anchor("NW")
    ticks = np.linspace(0, 1, 6 if look.width_in_points(ax) > 170 else 3)
    ax.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
    ax.set_yticks(ticks, [f"{tick:.2g}" for tick in ticks])
    ax.set_xlabel("stated probability", fontsize=look.FONT_SIZE)
    ax.set_ylabel("true probability", fontsize=look.FONT_SIZE)
    ax.plot(
        [0, 1],
        [0, 1],
        color=look.INK,
        linewidth=1.0,
        linestyle=(0, (5, 3)),
        zorder=2.2,
        label="perfect calibration",
        gid="diagonal",
    )


def light(ax: Axes, straight: bool, chosen: bool) -> Axes:
    """Frame a panel by its verdict: green and solid if straight, vermilion and dashed if not."""
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_color(look.TRUTH if straight else look.OVER)
        spine.set_linewidth(2.6 if chosen else 1.3)
        spine.set_linestyle("solid" if straight else (0, (4, 2)))
    ax.title.set_color(look.TRUTH if straight else look.OVER)
    ax.title.set_fontweight("bold" if chosen else "normal")
    return ax
