"""One fake classifier in bins, with its error and its band. Lesson 04."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import EqualMass, EqualWidth
from calibkit.errors import CalibrationError, expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit.reliability import BinTable
from calibkit.results import Result, spell
from calibkit.significance import ConsistencyBand, consistency_band
from calibkit.validation import as_choice

MODELS = {
    "calibrated": LogitDistortion(),
    "over-confident": LogitDistortion(slope=0.5),
    "under-confident": LogitDistortion(slope=2.0),
}
RULES = {"width": EqualWidth, "mass": EqualMass}
ELEMENTS = {
    "gaps": frozenset({"bars", "means", "gaps", "counts"}),
    "filling": frozenset({"filling", "means", "counts"}),
    "band": frozenset({"means", "band", "counts"}),
    "truth": frozenset({"bars", "means", "truth", "counts"}),
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
        used, (mean, sd) = int(self.table.occupied.sum()), error.null_moments
        return (
            f"The ECE is {error.value:.3f} from {spell(self.table.n, 'prediction')} in "
            f"{self.table.bins}; a calibrated model with these predictions would show "
            f"{mean:.3f} ± {sd:.3f}. {outside} of {spell(used, 'bin')} "
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
    elements = ELEMENTS[as_choice(show, "show", ELEMENTS)]
    fake = MODELS[as_choice(model, "model", MODELS)]
    bins = RULES[as_choice(rule, "rule", RULES)](n_bins)
    sample = fake.sample(n, seed)
    error = expected_calibration_error(sample.y_true, sample.y_prob, bins=bins)
    band = consistency_band(sample.y_true, sample.y_prob, bins=bins, rng=seed)
    return DiagramView(table=error.tables[0], error=error, band=band, model=fake, elements=elements)
