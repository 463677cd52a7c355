"""Chance at work, redraw by redraw; and the diagram lab, one fake drawn in many ways. Lesson 04."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calibkit import plot
from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson04.view import (
    ELEMENTS,
    MODELS,
    RULES,
    SELLERS,
    ChanceAtWork,
    DiagramView,
    chance_at_work_view,
    diagram_lab_view,
)

_SHOW_TEXTS = {
    "gaps": "bars and gaps",
    "filling": "diagonal filling",
    "band": "consistency band",
    "truth": "true map",
}


def _draw_lab(view: DiagramView, figure: AnyFigure, compact: bool) -> None:
    plot.reliability(
        view.table,
        ax=figure.subplots(),
        band=view.band,
        truth=view.model.true_map,
        show=view.elements,
    )


_CONTROLS = (
    Slider(
        "n",
        "Sample size",
        (100, 200, 300, 500, 1000, 2000, 3000, 5000, 10000),
        default=300,
        book=(300, 1000, 10000),
        unit="predictions",
    ),
    Slider(
        "n_bins",
        "Bins",
        (1, 2, 3, 5, 8, 10, 12, 15, 20, 30, 50),
        default=15,
        book=(5, 15),
        unit="bins",
    ),
    Choice(
        "rule",
        "Edges",
        tuple(RULES),
        default="width",
        texts={"width": "equal width", "mass": "equal mass"},
    ),
    Choice("model", "Model", tuple(MODELS), default="calibrated", book=tuple(MODELS)),
    Choice(
        "show",
        "Show",
        tuple(ELEMENTS),
        default="gaps",
        book=("gaps", "filling", "band"),
        texts=_SHOW_TEXTS,
    ),
)


def diagram_lab(**defaults: Any) -> Explorer[DiagramView]:
    """Return the diagram lab: one model, drawn in many ways."""
    return Explorer(
        name="diagram-lab",
        title="Diagram lab",
        controls=_CONTROLS,
        view=diagram_lab_view,
        draw=_draw_lab,
        presets=(
            ("300 predictions, 15 bins", {}),
            ("300 predictions, 5 bins", {"n_bins": 5}),
            ("10,000 predictions, 15 bins", {"n": 10000}),
            ("10,000, over-confident", {"n": 10000, "model": "over-confident"}),
        ),
        size=(4.6, 5.6),
        cell=(3.3, 3.8),
    ).starting_at(**defaults)


_REDRAWS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 65, 85, 110, 140, 180,
            230, 300, 400, 500)  # fmt: skip
_WIDTH = 0.004  # of a column


def _draw_chance(view: ChanceAtWork, figure: AnyFigure, compact: bool) -> None:
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1, 1.15)})
    number = len(view.draws)
    title = f"redraw {number}: ECE {view.draws[-1]:.3f}" if number else f"ECE {view.value:.3f}"
    plot.reliability(view.table, ax=left, show={"means", "gaps"}, title=title)
    words = ("ECE", "redraws")
    with look.drawing(right, (4.0, 3.4), words=words, title="", grid="y") as right:
        _draw_errors(right, view)
    look.remember(right, ["Histogram of the errors so far.", view.describe()])


def _draw_errors(ax: Axes, view: ChanceAtWork) -> None:
    # The seller's value is an edge, so that no column mixes redraws from both sides of it.
    first = -int(view.value / _WIDTH)
    edges = view.value + _WIDTH * np.arange(first, first + 36)
    height, _ = np.histogram(view.draws, edges)
    below = edges[:-1] < view.value - _WIDTH / 2
    grey = {"facecolor": "#C9CED3", "edgecolor": look.GREY}
    for rows, label, code in (
        (below, "smaller", grey),
        (~below, "as large or larger", look.AREAS["over"]),
    ):
        ax.bar(edges[:-1][rows], height[rows], _WIDTH, align="edge", label=label, **code)
    ax.axvline(view.value, label="the seller's", gid="value", **look.stroke(look.INK, 2.2))
    if len(view.draws):
        dashed = look.stroke(look.UNDER, 1.8, (0, (4, 2)))
        ax.axvline(view.draws.mean(), label="mean of the redraws", gid="mean", **dashed)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, max(6, 1.15 * height.max()))
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.yaxis.set_major_formatter("{x:\u2007>3.0f}")  # the panels stay still
    ax.set_ylabel("redraws", fontsize=look.FONT_SIZE)


_CHANCE = (
    Slider("redraws", "Redraws", _REDRAWS, default=0, book=_REDRAWS, unit="so far"),
    Choice(
        "seller",
        "Seller",
        tuple(SELLERS),
        default="left",
        book=tuple(SELLERS),
        texts={"left": "left, 300 predictions", "right": "right, 10,000 predictions"},
    ),
)


def chance_at_work(**defaults: Any) -> Explorer[ChanceAtWork]:
    """Return the explorer in which the null level grows, redraw by redraw."""
    return Explorer(
        name="chance-at-work",
        title="Chance at work",
        controls=_CHANCE,
        view=chance_at_work_view,
        draw=_draw_chance,
        play="redraws",
        presets=(
            ("left, before the first redraw", {}),
            ("left, after 10", {"redraws": 10}),
            ("left, after 500", {"redraws": 500}),
            ("right, after 500", {"redraws": 500, "seller": "right"}),
        ),
        size=(7.2, 3.7),
        cell=(4.8, 3.2),
    ).starting_at(**defaults)
