"""The hospital: who is treated, what it wins, and for which costs calibration pays. Lesson 13."""

from dataclasses import replace
from typing import Any

import numpy as np

from calibkit import plot
from calibkit.decisions import DecisionCurve
from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson13 import figures
from calibkit_course.lesson13.models import MODELS
from calibkit_course.lesson13.view import Hospital, boldness_view, hospital_view


def _draw(hospital: Hospital, figure: AnyFigure, compact: bool) -> None:
    rows, widths = ("ABC", [1.0, 0.9, 0.9]) if compact else ("AB;AC", [1.0, 1.15])
    panels = figure.subplot_mosaic(rows, width_ratios=widths)
    plot.reliability(hospital.table, ax=panels["A"], show={"bars", "means", "gaps"})
    panels["A"].axvline(hospital.game.threshold, color="k", linestyle=":", label="threshold t")
    figures.game_scores(hospital.plays, panels["B"])
    curve, now = hospital.curve, hospital.game.threshold
    seen = curve.threshold <= now  # what lies beyond has not been played yet
    played = replace(curve, threshold=curve.threshold[seen], regret=curve.regret[seen])
    figures.draw_regret(played, panels["C"], mark=now)
    # The same scale for all prices, so that they move the picture and not the axis.
    highest = 0.11 if curve.regret.max() > 0.04 else 0.04
    panels["C"].set(ylim=(0, highest), ylabel="regret", xlabel="best threshold t")
    panels["B"].set(xlim=_WON, xlabel="won per patient")


_WON = (-0.6, 1.7)
_CONTROLS = (
    Slider(
        "harm",
        "Harm of a wrong treatment",
        (0.5, 1, 2, 4, 6, 10, 18),
        default=0.5,
        book=(0.5, 1, 2, 4, 6, 10, 18),
        form="{:g}",
    ),
    Choice("model", "Model", MODELS, default="over-confident", book=MODELS),
    Slider(
        "beds", "Beds for 10 patients", (1, 2, 4, 6, 8, 10), default=10, book=(4, 10), unit="beds"
    ),
    Slider("rounds", "Rounds", (2, 5, 20, 100, 500), default=500, unit="rounds"),
    Slider("week", "Week", tuple(range(1, 13)), default=1),
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
        presets=(
            ("Over-confident, harm 0.5", {}),
            ("Over-confident, harm 6", {"harm": 6}),
            ("Over-confident, harm 18", {"harm": 18}),
            ("Recalibrated, harm 6", {"harm": 6, "model": "recalibrated"}),
        ),
        size=(7.4, 4.6),
        cell=(7.8, 2.5),
    ).starting_at(**defaults)


def _draw_boldness(curve: DecisionCurve, figure: AnyFigure, compact: bool) -> None:
    curves = {"the truth": boldness_view(times=1), "the model": curve}
    ax = plot.decision_curve(curves, figure.subplots())
    idle = np.maximum(curve.treat_all, 0)
    code = look.area("none", look.OVER, hatch="////", label="worth less than no model")
    places = curve.threshold, idle, curve.net_benefit
    ax.fill_between(*places, where=curve.net_benefit < idle, gid="loss", **code)
    ax.set(ylim=(-0.1, 0.32), ylabel="net benefit")


_TIMES = (0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4)
_BOLDNESS = (Slider("times", "Logits times", _TIMES, default=2, book=_TIMES, form="{:g}"),)


def boldness(**defaults: Any) -> Explorer[DecisionCurve]:
    """Return the decision curve of a model that says less than it knows, or more."""
    return Explorer(
        name="boldness",
        title="Too timid, too bold",
        controls=_BOLDNESS,
        view=boldness_view,
        draw=_draw_boldness,
        play="times",
        presets=tuple((f"Logits times {t:g}", {"times": t}) for t in (0.5, 1, 2, 4)),
        size=(4.1, 4.6),
        cell=(4.2, 3.0),
    ).starting_at(**defaults)
