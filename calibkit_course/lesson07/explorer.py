"""Knots: straight pieces between predictions or between logits, and how many. Lesson 07."""

from typing import Any

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson07.figures import draw_map
from calibkit_course.lesson07.view import FAKES, KnotsView, knots_view

_SPACES = {"probability": "probabilities (PL)", "logit": "logits (PL3)"}


def _draw_knots(view: KnotsView, figure: AnyFigure, compact: bool) -> None:
    axes = list(figure.subplots(1, 1 if compact else 2, squeeze=False).flat)
    draw_map(view.model, ax=axes[0], truth=view.fake.true_map)
    if not compact:
        plot.choice(view.search, ax=axes[1], mark=view.model.n_pieces_)


_CONTROLS = (
    Slider(
        name="n_pieces",
        label="Pieces",
        values=(1, 2, 3, 4, 5, 6),
        default=1,
        book=(1, 2, 3, 4, 5, 6),
        unit="pieces",
    ),
    Choice(
        name="model",
        label="Model",
        values=tuple(FAKES),
        default="over-confident",
        book=("over-confident", "stairs"),
    ),
    Choice(
        name="space",
        label="Straight between",
        values=tuple(_SPACES),
        default="probability",
        book=tuple(_SPACES),
        texts=_SPACES,
    ),
    Slider(
        name="n",
        label="Sample size",
        values=(200, 300, 500, 1000, 2000, 3000),
        default=300,
        book=(300, 3000),
        unit="predictions",
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("PL, 1 piece", {}),
    ("PL, 3 pieces", {"n_pieces": 3}),
    ("PL, 6 pieces", {"n_pieces": 6}),
    ("PL3, 1 piece", {"space": "logit"}),
)


def knots(**defaults: Any) -> Explorer[KnotsView]:
    """Return the knots explorer: space and number of pieces of a fitted map."""
    return Explorer(
        name="knots",
        title="Knots",
        controls=_CONTROLS,
        view=knots_view,
        draw=_draw_knots,
        play="n_pieces",
        presets=_PRESETS,
        size=(8.2, 4.4),
        cell=(3.5, 3.6),
    ).starting_at(**defaults)
