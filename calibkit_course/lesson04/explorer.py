"""The diagram lab: one fake classifier, drawn in many ways. Lesson 04."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit import plot
from calibkit.bins import EqualMass, EqualWidth
from calibkit.errors import CalibrationError, expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit.plot.look import AnyFigure
from calibkit.reliability import BinTable
from calibkit.results import Result, spell
from calibkit.significance import ConsistencyBand, consistency_band
from calibkit_course.explore import Choice, Explorer, Preset, Slider

MODELS = {
    "calibrated": LogitDistortion(),
    "over-confident": LogitDistortion(slope=0.5),
    "under-confident": LogitDistortion(slope=2.0),
}
_ELEMENTS = {
    "gaps": frozenset({"bars", "means", "gaps", "counts"}),
    "filling": frozenset({"filling", "means", "counts"}),
    "band": frozenset({"means", "band", "counts"}),
    "truth": frozenset({"bars", "means", "truth", "counts"}),
}
_SHOW_TEXTS = {
    "gaps": "bars and gaps",
    "filling": "diagonal filling",
    "band": "consistency band",
    "truth": "true map",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DiagramView(Result):
    """One state of the diagram lab: what it shows, and the elements to draw."""

    table: BinTable
    error: CalibrationError
    band: ConsistencyBand
    model: LogitDistortion
    elements: frozenset[str]

    def describe(self) -> str:
        """Give the error beside its null level, and count the bins outside the band."""
        error, outside = self.error, int(np.sum(self.band.outside))
        used = int(self.table.occupied.sum())
        return (
            f"The ECE is {error.value:.3f} from {spell(self.table.n, 'prediction')} in "
            f"{self.table.bins}; a calibrated model with these predictions would show "
            f"{error.null_mean:.3f} ± {error.null_sd:.3f}. {outside} of {spell(used, 'bin')} "
            f"{'lies' if outside == 1 else 'lie'} outside the {100 * self.band.level:g} % band."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {**self.table._columns(), "lower": self.band.lower, "upper": self.band.upper}


def diagram_lab_view(
    *,
    n: int = 300,
    n_bins: int = 15,
    rule: str = "width",
    model: str = "calibrated",
    show: str = "gaps",
    seed: int = 4,
) -> DiagramView:
    """Draw predictions from a fake classifier and put them into bins."""
    for name, value, options in (
        ("rule", rule, ("width", "mass")),
        ("model", model, tuple(MODELS)),
        ("show", show, tuple(_ELEMENTS)),
    ):
        if value not in options:
            raise ValueError(f"{name}={value!r} does not exist; choose one of {options}.")
    sample = MODELS[model].sample(n, seed)
    bins = EqualWidth(n_bins) if rule == "width" else EqualMass(n_bins)
    error = expected_calibration_error(sample.y_true, sample.y_prob, bins=bins)
    band = consistency_band(sample.y_true, sample.y_prob, bins=bins, rng=seed)
    return DiagramView(
        table=error.tables[0],
        error=error,
        band=band,
        model=MODELS[model],
        elements=_ELEMENTS[show],
    )


def _draw_lab(view: DiagramView, figure: AnyFigure, compact: bool) -> None:
    plot.reliability(
        view.table,
        ax=figure.subplots(),
        band=view.band,
        truth=view.model.true_map,
        show=view.elements,
    )
    if not compact:
        plot.legend(figure)


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
        values=("width", "mass"),
        default="width",
        texts={"width": "equal width", "mass": "equal mass"},
    ),
    Choice(
        name="model",
        label="Model",
        values=tuple(MODELS),
        default="calibrated",
        book=tuple(MODELS),
    ),
    Choice(
        name="show",
        label="Show",
        values=tuple(_ELEMENTS),
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
