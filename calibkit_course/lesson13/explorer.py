"""The hospital: who is treated, what it wins, and for which costs calibration pays. Lesson 13."""

from typing import Any

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson13 import figures
from calibkit_course.lesson13.models import MODELS
from calibkit_course.lesson13.view import Hospital, hospital_view


def _draw(hospital: Hospital, figure: AnyFigure, compact: bool) -> None:
    rows, widths = ("ABC", [1.0, 0.9, 0.9]) if compact else ("AB;AC", [1.0, 1.15])
    panels = figure.subplot_mosaic(rows, width_ratios=widths)
    plot.reliability(hospital.table, ax=panels["A"], show={"bars", "means", "gaps"})
    figures.game_scores(hospital.plays, panels["B"])
    plot.regret({"regret": hospital.curve}, panels["C"], marks=[hospital.game.threshold])
    # The same scales in all states, so that a dial moves the picture and not the axis.
    panels["C"].set(ylim=(0, 0.11), ylabel="regret", xlabel="best threshold t")
    panels["B"].set(xlim=_WON, xlabel="won per patient")


_WON = (-0.6, 1.7)
_CONTROLS = (
    Slider(
        name="harm",
        label="Harm of a wrong treatment",
        values=(0.5, 1, 2, 4, 6, 10, 18),
        default=6,
        book=(0.5, 1, 2, 4, 6, 10, 18),
        form="{:g}",
    ),
    Choice(name="model", label="Model", values=MODELS, default="over-confident", book=MODELS),
    Slider(
        name="beds",
        label="Beds for 10 patients",
        values=(1, 2, 4, 6, 8, 10),
        default=10,
        book=(4, 10),
        unit="beds",
    ),
    Slider(name="rounds", label="Rounds", values=(2, 5, 20, 100, 500), default=500, unit="rounds"),
    Slider(name="week", label="Week", values=tuple(range(1, 13)), default=1),
)
_PRESETS: tuple[Preset, ...] = (
    ("Over-confident, harm 6", {}),
    ("Over-confident, harm 2", {"harm": 2}),
    ("Over-confident, harm 18", {"harm": 18}),
    ("Recalibrated, harm 6", {"model": "recalibrated"}),
)


def hospital(**defaults: Any) -> Explorer[Hospital]:
    """Return the hospital: what trusting a model wins, by its honesty, the costs and the beds."""
    return Explorer(
        name="hospital",
        title="Hospital",
        controls=_CONTROLS,
        view=hospital_view,
        draw=_draw,
        play="harm",
        presets=_PRESETS,
        size=(7.4, 4.6),
        cell=(7.8, 2.5),
    ).starting_at(**defaults)
