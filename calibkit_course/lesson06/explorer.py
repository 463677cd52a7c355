"""The bin tuner: two hundred data sets, one truth. Lesson 06."""

from typing import Any

from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson06 import figures
from calibkit_course.lesson06.view import ESTIMATORS, GRID, SHAPES, BinTuner, bin_tuner_view

_SCALE, _TICKS = (-0.03, 0.21), (0.0, 0.1, 0.2)


def _draw(view: BinTuner, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2)
    titles = f"Estimates of {len(view.n_bins)} data sets", "The same against the bins"
    first, second = (None, None) if compact else titles
    points = view.n_bins, view.replicates.values
    figures.replicates([view.replicates], ax=axes[0], title=first, legend=False)
    figures.bin_drift(view, ax=axes[1], points=points, title=second, legend=False)
    # The same scale in all states, so that a dial moves the picture and not the axis.
    axes[0].set_xlim(_SCALE)
    axes[0].set_xticks(_TICKS)
    axes[1].set_ylim(_SCALE)
    axes[1].set_yticks(_TICKS)


_CONTROLS = (
    Slider(
        "n_bins",
        "Bins",
        tuple(GRID.tolist()),
        default=5,
        book=(1, 2, 3, 5, 8, 12, 20, 50),
        unit="bins",
    ),
    Slider(
        "n",
        "Sample size",
        (250, 500, 1000, 2000, 5000),
        default=1000,
        book=(250, 1000, 5000),
        unit="predictions",
    ),
    Choice("shape", "Predictions", tuple(SHAPES), default="stairs", texts=SHAPES),
    Slider(
        "error",
        "True error",
        (0.0, 0.01, 0.02, 0.05, 0.1),
        default=0.05,
        book=(0.0, 0.05),
        form="{:g}",
    ),
    Choice("estimator", "Estimate", tuple(ESTIMATORS), default="plain", texts=ESTIMATORS),
)


def bin_tuner(**defaults: Any) -> Explorer[BinTuner]:
    """Return the explorer *bin tuner*: turn the bins until the estimate meets the truth."""
    return Explorer(
        name="bin-tuner",
        title="Bin tuner",
        controls=_CONTROLS,
        view=bin_tuner_view,
        draw=_draw,
        play="n_bins",
        presets=(
            ("1,000 predictions, 5 bins", {}),
            ("1,000 predictions, 15 bins", {"n_bins": 15}),
            ("5,000 predictions, 5 bins", {"n": 5000}),
            ("5,000 predictions, 12 bins", {"n": 5000, "n_bins": 12}),
        ),
        size=(7.4, 4.4),
        cell=(6.6, 2.5),
    ).starting_at(**defaults)
