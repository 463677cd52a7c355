"""The judge's bench: a hundred studies of a judge, and which intervals hold. Lesson 15."""

from typing import Any

import numpy as np

from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson15.view import METHODS, NOISES, SOURCES, STUDIES, Bench, judge_bench_view

_DRAWN = 25  # studies of each method
_GROUP = 32  # places that a method takes


def _draw(bench: Bench, figure: AnyFigure, compact: bool) -> None:
    ax = figure.subplots()
    with look.drawing(ax, (0, 0), words=("pass rate", ""), grid="x"):
        place = np.arange(_DRAWN) + _GROUP * np.arange(len(METHODS))[::-1, None]
        low, high = bench.low[:, :_DRAWN], bench.high[:, :_DRAWN]
        held = (low <= bench.truth) & (bench.truth <= high)
        known = ~np.isnan(low)
        for rows, color, width, label in (
            (held & known, look.UNDER, 1.2, "holds the true rate"),
            (~held & known, look.OVER, 2.0, "misses it"),
        ):
            ends = (low[rows], place[rows]), (high[rows], place[rows])
            code = look.stroke(color, width, "solid" if width < 2 else (0, (3, 0.6)))
            code = {f"{key}s": value for key, value in code.items()}
            look.lines(ax, *ends, label=label, gid=label, **code)
        top = _GROUP * len(METHODS)
        look.draw_truth(ax, [bench.truth] * 2, [-4, top], label="true rate")
        words = [
            f"{name}\n{count} of {STUDIES}" for name, count in zip(METHODS, bench.hits, strict=True)
        ]
        ax.set_yticks(place.mean(axis=1), words)
        ax.tick_params(axis="y", length=0)
        ax.set(xlim=(0.4, 1.0), ylim=(-4, top))
    look.remember(ax, [f"{_DRAWN} of {STUDIES} studies of each method.", bench.describe()])


_LABELS = (25, 50, 100, 200, 400, 800)
_CONTROLS = (
    Slider("labels", "Labels", _LABELS, default=25, book=_LABELS),
    Choice("judge", "Judge", tuple(NOISES), default="as published", book=tuple(NOISES)),
    Choice("source", "Labels are of", SOURCES, default=SOURCES[0], book=SOURCES),
)


def judge_bench(**defaults: Any) -> Explorer[Bench]:
    """Return the judge's bench: whether intervals hold, by labels, judge and what was labelled."""
    return Explorer(
        name="judge-bench",
        title="Judge's bench",
        controls=_CONTROLS,
        view=judge_bench_view,
        draw=_draw,
        play="labels",
        presets=(
            ("25 labels", {}),
            ("200 labels", {"labels": 200}),
            ("200 labels, a judge who is nearly blind", {"labels": 200, "judge": "nearly blind"}),
            ("200 labels of an older model", {"labels": 200, "source": "an older model"}),
        ),
        size=(4.2, 4.8),
        cell=(4.2, 3.4),
    ).starting_at(**defaults)
