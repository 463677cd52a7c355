"""The diagram lab: one fake classifier, drawn in many ways. Lesson 04."""

from typing import Any

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson04.view import ELEMENTS, MODELS, RULES, DiagramView, diagram_lab_view

_SHOW_TEXTS = {
    "gaps": "bars and gaps",
    "filling": "diagonal filling",
    "band": "consistency band",
    "truth": "true map",
}


def _draw_lab(view: DiagramView, figure: AnyFigure, compact: bool) -> None:
    plot.reliability(
        view.table,
        ax=figure.subplots(),
        band=view.band,
        truth=view.model.true_map,
        show=view.elements,
    )


_CONTROLS = (
    Slider(
        name="n",
        label="Sample size",
        values=(100, 200, 300, 500, 1000, 2000, 3000, 5000, 10000),
        default=300,
        book=(300, 1000, 10000),
        unit="predictions",
    ),
    Slider(
        name="n_bins",
        label="Bins",
        values=(1, 2, 3, 5, 8, 10, 12, 15, 20, 30, 50),
        default=15,
        book=(5, 15),
        unit="bins",
    ),
    Choice(
        name="rule",
        label="Edges",
        values=tuple(RULES),
        default="width",
        texts={"width": "equal width", "mass": "equal mass"},
    ),
    Choice(
        name="model", label="Model", values=tuple(MODELS), default="calibrated", book=tuple(MODELS)
    ),
    Choice(
        name="show",
        label="Show",
        values=tuple(ELEMENTS),
        default="gaps",
        book=("gaps", "filling", "band"),
        texts=_SHOW_TEXTS,
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("300 predictions, 15 bins", {}),
    ("300 predictions, 5 bins", {"n_bins": 5}),
    ("10,000 predictions, 15 bins", {"n": 10000}),
    ("10,000, over-confident", {"n": 10000, "model": "over-confident"}),
)


def diagram_lab(**defaults: Any) -> Explorer[DiagramView]:
    """Return the diagram lab: one model, drawn in many ways."""
    return Explorer(
        name="diagram-lab",
        title="Diagram lab",
        controls=_CONTROLS,
        view=diagram_lab_view,
        draw=_draw_lab,
        presets=_PRESETS,
        size=(4.6, 5.6),
        cell=(3.3, 3.8),
    ).starting_at(**defaults)
