"""The prevalence dial: one model, made for one share of events and used at another. Lesson 09."""

from typing import Any

from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson09 import figures
from calibkit_course.lesson09.view import REPAIRS, PrevalenceView, prevalence_dial_view

_ENDS = (0.0005, 1.0)  # the axes stay where they are while a dial moves the picture
_SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)


def _draw(view: PrevalenceView, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2, width_ratios=(1.15, 1))
    titles = "Ten equal-mass bins", "Four measures of the same"
    first, second = (None, None) if compact else titles
    figures.rare_events(
        view.table,
        axes[0],
        ends=_ENDS,
        band=view.band,
        truth=view.true_map,
        title=first,
        legend=False,
    )
    figures.measures(view, axes[1], title=second, legend=False)


_CONTROLS = (
    Slider(
        "made_for", "Made for", _SHARES, default=0.01, book=_SHARES, form="{:.1%}", unit="events"
    ),
    Slider(
        "times",
        "Events come",
        (0.5, 1.0, 1.5, 2.0),
        default=2.0,
        book=(1.0, 2.0),
        form="{:g}",
        unit="times as often",
    ),
    Choice("repair", "Repair", tuple(REPAIRS), default="none", book=tuple(REPAIRS), texts=REPAIRS),
    Slider(
        "signal",
        "Distance of the classes",
        (0.25, 0.5, 1.0, 2.0, 3.0),
        default=0.5,
        unit="standard deviations",
        form="{:g}",
    ),
    Slider("n", "Sample size", (1000, 2000, 6000, 8000), default=6000, unit="predictions"),
)


def prevalence_dial(**defaults: Any) -> Explorer[PrevalenceView]:
    """Return the explorer *prevalence dial*: one fault, from rare to frequent events."""
    return Explorer(
        name="prevalence-dial",
        title="Prevalence dial",
        controls=_CONTROLS,
        view=prevalence_dial_view,
        draw=_draw,
        play="made_for",
        presets=(
            ("made for 1 %, used at 2 %", {}),
            ("made for 5 %, used at 10 %", {"made_for": 0.05}),
            ("made for 20 %, used at 40 %", {"made_for": 0.2}),
            ("made for 1 %, used at 1 %", {"times": 1.0}),
        ),
        size=(8.0, 4.6),
        cell=(7.6, 3.8),
    ).starting_at(**defaults)
