"""The fake-classifier factory: five dials, a diagram, and the program on trial. Lesson 03."""

from typing import Any

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson03 import figures
from calibkit_course.lesson03.view import FactoryView, fake_factory_view

_DIRECTIONS = {"over": "over-confident", "under": "under-confident", "pivot": "around the accuracy"}


def _draw(view: FactoryView, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2, width_ratios=(3, 4))
    plot.reliability(
        view.error.tables[0],
        ax=axes[0],
        truth=view.fake.true_map,
        show={"means", "truth", "counts"},
        title=None if compact else "A sample and the true map",
        legend=False,
    )
    figures.same_counts([axes[0]])  # linear in all states, so that they compare
    figures.trial(view, axes[1], title=None if compact else "The program on trial")


_CONTROLS = (
    Slider(
        "share",
        "Share",
        (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
        default=0.0,
        book=(0.0, 0.2, 0.4, 0.6, 0.8, 0.95),
        form="{:.0%}",
    ),
    Slider("n_classes", "Classes", (2, 3, 5, 10, 20), default=10, unit="classes"),
    Slider(
        "accuracy",
        "Accuracy",
        (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98),
        default=0.8,
        book=(0.6, 0.8),
        form="{:.2f}",
    ),
    Choice(
        "direction",
        "Direction",
        tuple(_DIRECTIONS),
        default="pivot",
        book=tuple(_DIRECTIONS),
        texts=_DIRECTIONS,
    ),
    Slider(
        "concentration",
        "Concentration",
        (0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 50.0),
        default=2.0,
        form="{:g}",
    ),
)


def fake_factory(**defaults: Any) -> Explorer[FactoryView]:
    """Return the explorer *fake-classifier factory*, where each dial moves one thing."""
    return Explorer(
        name="fake-factory",
        title="Fake-classifier factory",
        controls=_CONTROLS,
        view=fake_factory_view,
        draw=_draw,
        play="share",
        presets=(
            ("around the accuracy, share 0", {}),
            ("share 60 %", {"share": 0.6}),
            ("over-confident", {"share": 0.6, "direction": "over"}),
            ("under-confident", {"share": 0.6, "direction": "under"}),
        ),
        size=(7.4, 4.6),
        cell=(6.6, 3.2),
    ).starting_at(**defaults)
