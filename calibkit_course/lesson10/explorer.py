"""The thermostat: follow a network while it trains, and turn its temperature by hand. Lesson 10."""

from typing import Any

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Explorer, Slider
from calibkit_course.lesson10 import figures, runs
from calibkit_course.lesson10.view import Thermostat, thermostat_view

_NAMES = ("right,\nsure", "wrong,\nsure", "unsure")


def _draw(view: Thermostat, figure: AnyFigure, compact: bool) -> None:
    widths = (1.25, 1) if compact else (0.8, 1.25, 1)
    grid = figure.add_gridspec(2, len(widths), width_ratios=widths, height_ratios=(1.5, 1))
    upper, lower = (figure.add_subplot(grid[place, -2]) for place in (0, 1))
    figures.temperature_curve(view, upper, quantity="log loss")
    figures.temperature_curve(view, lower, quantity="calibration error")
    for ax in (upper, lower):  # the axes name the two curves
        ax.get_lines()[0].set_label("_nolegend_")
    diagram = figure.add_subplot(grid[:, -1])
    plot.reliability(view.table, ax=diagram, show={"bars", "means", "gaps"}, legend=False)
    diagram.set(xlabel="confidence", ylabel="accuracy")
    upper.set_xlabel("")
    upper.tick_params(axis="x", labelbottom=False)  # the panel below has the same axis
    if compact:
        return
    examples = figure.add_subplot(grid[:, 0])
    figures.class_chances(view.chances, examples, labels=view.labels, names=_NAMES)


_CONTROLS = (
    Slider(
        "temperature",
        "Temperature",
        (0.25, 0.35, 0.5, 0.7, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0),
        default=1.0,
        book=(0.5, 0.7, 1.0, 1.5, 2.5, 3.5, 5.0, 8.0),
        form="{:g}",
    ),
    Slider("epoch", "Epoch", runs.KEPT, default=40, book=(2, 5, 10, 20, 40)),
    Slider("n", "Held-out images", (100, 250, 500, 1000, 1500), default=500, unit="images"),
)


def thermostat(**defaults: Any) -> Explorer[Thermostat]:
    """Return the thermostat: a temperature and an epoch for a small network."""
    return Explorer(
        name="thermostat",
        title="Thermostat",
        controls=_CONTROLS,
        view=thermostat_view,
        draw=_draw,
        play="temperature",
        presets=(
            ("epoch 40, T = 1", {}),
            ("epoch 40, T = 2.5", {"temperature": 2.5}),
            ("epoch 40, T = 2.5, 100 images", {"temperature": 2.5, "n": 100}),
            ("epoch 2, T = 1", {"epoch": 2}),
        ),
        size=(9.0, 4.8),
        cell=(5.2, 3.9),
    ).starting_at(**defaults)
