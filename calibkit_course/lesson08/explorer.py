"""The outlier hunter: test each prediction against the events of its bin. Lesson 08."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson08.diagram import draw_test_based
from calibkit_course.lesson08.view import MODELS, RULES, SIZES, Hunt, outlier_hunter_view


def _draw(hunt: Hunt, figure: AnyFigure, compact: bool) -> None:
    ax = draw_test_based(hunt.error, figure.subplots())
    _all_shares_or_none(ax, np.inf if compact else hunt.error.table.occupied.sum())
    if not compact:
        return
    # Four states beside each other: the sum of all bins says more than shares and a histogram each.
    _child(ax, "predictions").remove()
    room: Any = ax.get_axes_locator()
    room.right = 0.0
    error = hunt.error
    ax.text(
        0.02,
        0.98,
        f"rejected: {100 * error.value:.0f} %\nby chance: {100 * error.null_mean:.0f} %",
        transform=ax.transAxes,
        fontsize=look.FONT_SIZE,
        va="top",
        zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        gid="sum",
    )


def _child(ax: Axes, name: str) -> Any:
    return next(child for child in ax.child_axes if child.get_label() == name)


def _all_shares_or_none(ax: Axes, bins: float) -> None:
    """Take the shares above the bars away if some bins are too narrow to have theirs."""
    strip = _child(ax, "counts")
    printed = [text for text in strip.texts if text.get_gid() == "share"]
    if 0 < len(printed) < bins:
        for text in printed:
            text.remove()
        if strip.get_xlabel():
            strip.set_xlabel("predicted probability", fontsize=look.FONT_SIZE)


_CONTROLS = (
    Slider(
        "n",
        "Sample size",
        (100, 200, 500, 1000, 2000, 4000, 8000),
        default=500,
        book=(200, 500, 1000, 2000, 4000, 8000),
        unit="predictions",
    ),
    Choice("model", "Model", tuple(MODELS), default="calibrated", book=tuple(MODELS)),
    Choice(
        "rule",
        "Bins",
        RULES,
        default="mass",
        book=RULES,
        texts={
            "mass": "10 of equal mass",
            "root": "√n of equal mass",
            "pava": "PAVA",
            "pava-bc": "PAVA-BC",
        },
    ),
    Slider("alpha", "Level α", (0.001, 0.01, 0.05, 0.1, 0.2), default=0.05, form="{:g}"),
    Choice(
        "sizes",
        "Sizes of PAVA-BC",
        tuple(SIZES),
        default="source",
        texts={"small": "n/40 to n/10", "source": "n/20 to n/5", "large": "n/10 to n/2"},
    ),
)


def outlier_hunter(**defaults: Any) -> Explorer[Hunt]:
    """Return the outlier hunter: it shows which predictions the events of their bin reject."""
    return Explorer(
        name="outlier-hunter",
        title="Outlier hunter",
        controls=_CONTROLS,
        view=outlier_hunter_view,
        draw=_draw,
        play="n",
        presets=(
            ("500 predictions, 10 bins", {}),
            ("8,000 predictions, 10 bins", {"n": 8000}),
            ("500, over-confident", {"model": "over-confident"}),
            ("8,000, over-confident", {"n": 8000, "model": "over-confident"}),
        ),
        size=(4.25, 5.4),
        cell=(4.0, 3.7),
    ).starting_at(**defaults)
