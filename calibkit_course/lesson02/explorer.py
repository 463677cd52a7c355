"""Distort me: rename a forecaster's numbers and see which virtue it costs. Lesson 02."""

from typing import Any

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson02 import figures
from calibkit_course.lesson02.view import STARTS, Virtues, distort_me_view

_HIGHEST_SCORE = 0.5


def _draw(view: Virtues, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 3)
    titles = ("", "", "") if compact else ("Ranking", "Reliability", "Parts of the Brier score")
    figures.roc(view, axes[0], title=titles[0], legend=False)
    plot.reliability(view.table, ax=axes[1], show={"means", "gaps"}, title=titles[1], legend=False)
    axes[1].set_ylabel("observed frequency")
    figures.score_parts(view.parts, axes[2], title=titles[2], top=_HIGHEST_SCORE)


_CONTROLS = (
    Slider(
        "temperature",
        "Temperature",
        (0.25, 0.33, 0.5, 0.75, *(round(1 + 0.25 * k, 2) for k in range(13)), 5.0),
        default=1.0,
        book=(0.33, 0.5, 1.0, 1.5, 2.0, 2.5),
        form="{:g}",
    ),
    Slider(
        "bias",
        "Bias",
        tuple(round(-2 + 0.25 * k, 2) for k in range(17)),
        default=0.0,
        book=(-1.0, 0.0, 1.0),
        unit="on the logit scale",
        form="{:+g}",
    ),
    Choice("start", "Start", tuple(STARTS), default="calibrated", book=tuple(STARTS)),
)


def distort_me(**defaults: Any) -> Explorer[Virtues]:
    """Return the explorer *distort me*, which renames the numbers of a forecaster."""
    return Explorer(
        name="distort-me",
        title="Distort me",
        controls=_CONTROLS,
        view=distort_me_view,
        draw=_draw,
        play="temperature",
        presets=[
            ("as it is", {}),
            ("bold: temperature 0.33", {"temperature": 0.33}),
            ("timid: temperature 2.5", {"temperature": 2.5}),
            ("too high: bias +1", {"bias": 1.0}),
        ],
        size=(8.6, 3.7),
        cell=(8.6, 2.7),
    ).starting_at(**defaults)
