"""The calibrator race: who comes closest to the truth, with how many rows? Lesson 11."""

from typing import Any

from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson11 import figures
from calibkit_course.lesson11.race import DISTORTIONS, MEASURES, SIZES
from calibkit_course.lesson11.view import GROUPS, MEASURE_TEXTS, RaceView, calibrator_race_view

_GROUP_TEXTS = {name: ", ".join(group) for name, group in GROUPS.items()} | {"all": "all six"}
_DISTORTION_TEXTS = {
    "line": "over-confident, a line in logits",
    "bent": "bent to and fro",
    "square": "too low everywhere",
    "none": "none: calibrated",
}
_SCALES = {
    MEASURE_TEXTS[key]: (low, 0.3) for key, low in (("map", 2e-3), ("left", 2e-3), ("loss", 2e-5))
}


def _draw(view: RaceView, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2)
    titles = (None, None) if compact else ("All calibration sets", f"One set of {view.n:,} rows")
    figures.learning_curves(view, ax=axes[0], title=titles[0], legend=False)
    figures.race_maps(view, ax=axes[1], title=titles[1], legend=False)
    # The same scale in all states, so that a dial moves the picture and not the axis.
    axes[0].set_ylim(_SCALES[view.measure])


_CONTROLS = (
    Slider(name="n", label="Calibration set", values=SIZES, default=100, book=SIZES, unit="rows"),
    Choice(
        name="distortion",
        label="Distortion",
        values=DISTORTIONS,
        default="bent",
        book=("line", "bent"),
        texts=_DISTORTION_TEXTS,
    ),
    Choice(
        name="measure",
        label="Measure",
        values=MEASURES,
        default="map",
        book=("map", "loss"),
        texts=MEASURE_TEXTS,
    ),
    Choice(
        name="methods",
        label="Calibrators",
        values=tuple(GROUPS),
        default="rigid and free",
        book=("rigid and free", "all"),
        texts=_GROUP_TEXTS,
    ),
    Slider(
        name="n_bins",
        label="Bins, where there are bins",
        values=(2, 5, 15, 50),
        default=15,
        unit="bins",
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("bent to and fro, 100 rows", {}),
    ("bent to and fro, 1,000 rows", {"n": 1000}),
    ("bent to and fro, 10,000 rows", {"n": 10_000}),
    ("a line in logits, 10,000 rows", {"n": 10_000, "distortion": "line"}),
)


def calibrator_race(**defaults: Any) -> Explorer[RaceView]:
    """Return the explorer *calibrator race*: learning curves and maps of six calibrators."""
    return Explorer(
        name="calibrator-race",
        title="Calibrator race",
        controls=_CONTROLS,
        view=calibrator_race_view,
        draw=_draw,
        play="n",
        presets=_PRESETS,
        size=(8.0, 4.6),
        cell=(6.6, 3.1),
    ).starting_at(**defaults)
