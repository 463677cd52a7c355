"""Two families: flat and slanted pieces, fitted to the same test labels. Lesson 05."""

from typing import Any

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson05.view import DATA, TOPS, TwoFamilies, two_families_view


def _draw(view: TwoFamilies, figure: AnyFigure, compact: bool) -> None:
    elements = {"map", "distances", "labels", "means"}
    ax = plot.fit_on_test(view.shown, figure.subplots(), show=elements)
    # One frame for all states: the picture must not jump when a map leaves [0, 1].
    ax.set_ylim(-0.2, 1.2)
    for edge in view.shown.evaluator.edges_[1:-1]:
        ax.axvline(edge, color="#8C8C8C", linewidth=0.9, linestyle=":", zorder=1.0, gid="edge")


_CONTROLS = (
    Slider(
        "n_bins",
        "Bins",
        (1, 2, 3, 4, 5, 6, 8, 10, 15, 20),
        default=2,
        book=(1, 2, 3, 4, 5, 6, 8, 10),
        unit="bins",
    ),
    Choice(
        "data",
        "Predictions",
        DATA,
        default="six",
        book=("six", "spread", "clumped"),
        texts={
            "six": "six by hand",
            "spread": "60, over-confident",
            "clumped": "60, five values only",
            "calibrated": "60, calibrated",
        },
    ),
    Slider(
        "moved",
        "Move the edges",
        (-0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4),
        default=0.0,
        unit="bin widths",
        form="{:+.1f}",
    ),
    Choice("tops", "Pieces", TOPS, default="flat", book=TOPS),
)


def two_families(**defaults: Any) -> Explorer[TwoFamilies]:
    """Return the explorer *two families*: flat against slanted pieces."""
    return Explorer(
        name="two-families",
        title="Two families",
        controls=_CONTROLS,
        view=two_families_view,
        draw=_draw,
        play="n_bins",
        presets=(
            ("flat pieces: 0.189, ECE 0.167", {}),
            ("slanted pieces: 0.167, ECE 0.167", {"tops": "slanted"}),
            ("60, flat: 0.084, ECE 0.062", {"data": "spread", "n_bins": 5}),
            ("five values, flat: 0.107, ECE 0.107", {"data": "clumped", "n_bins": 5}),
        ),
        size=(4.25, 6.2),
        cell=(3.4, 4.2),
    ).starting_at(**defaults)
