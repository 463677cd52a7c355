"""Bins and joined pieces, fitted to the same predictions and read for two patients. Lesson 07."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibkit.calibrators import Calibrator, PiecewiseLinear, SlopeOneBinning
from calibkit.fakes import SyntheticShape
from calibkit.inputs import FloatVector, as_count
from calibkit.results import Described, spell

FAKE = SyntheticShape.with_error("square", 0.05)
PATIENTS = np.array([0.66, 0.67])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwoPatients(Described):
    """One state of the explorer: two maps of one sample, and what both say of the patients."""

    maps: Mapping[str, Calibrator]  # the bins and the joined pieces, by name
    means: tuple[FloatVector, ...]  # for each map, what the two stated chances mean
    drawn: int  # which sample
    n: int  # its predictions

    def describe(self) -> str:
        """Give what both maps make of the two patients, beside the truth."""
        low, high = FAKE.true_map(PATIENTS)
        maps = (
            f"With {name}, 0.66 means {one[0]:.2f} and 0.67 means {one[1]:.2f}."
            for name, one in zip(self.maps, self.means, strict=True)
        )
        words = f"Draw {self.drawn} of {spell(self.n, 'prediction')}.", *maps
        return " ".join([*words, f"The truth is {low:.2f} and {high:.2f}."])


def two_patients_view(
    *, drawn: int = 1, n: int = 1000, n_bins: int = 15, n_pieces: int = 2
) -> TwoPatients:
    """Draw predictions of a fake that says too little, and fit bins and joined pieces to them."""
    sample = FAKE.sample(as_count(n, "n"), as_count(drawn, "drawn") - 1)
    models = {
        spell(as_count(n_bins, "n_bins"), "bin"): SlopeOneBinning(n_bins),
        spell(as_count(n_pieces, "n_pieces"), "joined piece"): PiecewiseLinear(n_pieces=n_pieces),
    }
    maps = {name: one.fit(sample.y_prob, sample.y_true) for name, one in models.items()}
    return TwoPatients(
        maps=maps, means=tuple(one.curve(PATIENTS) for one in maps.values()), drawn=drawn, n=n
    )
