"""Flat and slanted pieces, fitted to the same test labels in the same bins. Lesson 05.

Source: Kängsepp, Valk and Kull (2022), section 4.4: the constant pieces that one might guess, and
the slanted pieces, of slope 1.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import FixedEdges
from calibkit.calibrators import HistogramBinning, SlopeOneBinning
from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit.fit_on_test import FitOnTest, fit_on_test
from calibkit.inputs import FloatVector, as_choice, as_count, as_number
from calibkit.results import Described, spell

_SIX = ((0.1, 0.3, 0.4, 0.6, 0.7, 0.9), (0, 1, 0, 1, 1, 1))
_CLUMPS = (0.1, 0.3, 0.5, 0.7, 0.9)
_N = 60
_SEED = 5
DATA = ("six", "spread", "clumped", "calibrated")
TOPS = ("flat", "slanted")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwoFamilies(Described):
    """Both families on the same data and bins, each with the smallest Brier score on these labels.

    `ece` is the error of the bins, `tops` the family that is drawn; a crossed bin has predictions
    strictly on both sides of its flat piece.
    """

    flat: FitOnTest
    slanted: FitOnTest
    ece: float
    tops: str
    crossed: int

    @property
    def shown(self) -> FitOnTest:
        """The fit that is drawn."""
        return self.flat if self.tops == "flat" else self.slanted

    def describe(self) -> str:
        """Give both estimates beside the ECE, also squared, and count the crossed pieces."""
        flat, slanted = self.flat, self.slanted
        verb = "crosses" if self.crossed == 1 else "cross"
        return (
            f"The mean distance from the diagonal is {flat.value:.4f} for flat pieces and "
            f"{slanted.value:.4f} for slanted ones. The ECE of these bins is {self.ece:.4f}. "
            f"Squared, the distances are {flat.squared:.4f} and {slanted.squared:.4f}. "
            f"{spell(self.crossed, 'flat piece')} {verb} the diagonal between predictions."
        )


@cache
def _sample(data: str) -> tuple[FloatVector, NDArray[np.int64]]:
    """Return the data of one name: six by hand, or sixty of an over-confident model."""
    if data == "six":
        return np.array(_SIX[0]), np.array(_SIX[1])
    if data == "clumped":
        prob = np.repeat(_CLUMPS, _N // len(_CLUMPS))
        chance = LogitDistortion(slope=0.5).true_map(prob)
        happened = np.random.default_rng(_SEED).random(_N) < chance
        return prob, happened.astype(np.int64)
    slope = 1.0 if data == "calibrated" else 0.5
    sample = LogitDistortion(slope=slope).sample(_N, _SEED)
    return sample.y_prob, sample.y_true.astype(np.int64)


def two_families_view(
    *, data: str = "six", n_bins: int = 2, moved: float = 0.0, tops: str = "flat"
) -> TwoFamilies:
    """Fit flat and slanted pieces to the same test labels, in the same bins."""
    as_choice(data, "data", DATA)
    as_choice(tops, "tops", TOPS)
    n_bins = as_count(n_bins, "n_bins")
    as_number(moved, "moved", "a number from -0.5 to 0.5", lambda value: -0.5 <= value <= 0.5)
    # Rounded: an edge at 0.3 is 0.3, not 0.30000000000000004, and a prediction of 0.3 is on it.
    inner = [round((k + moved) / n_bins, 12) for k in range(1, n_bins)]
    bins = FixedEdges([0.0, *inner, 1.0])
    prob, label = _sample(data)
    flat = fit_on_test(label, prob, evaluator=HistogramBinning(bins))
    return TwoFamilies(
        flat=flat,
        slanted=fit_on_test(label, prob, evaluator=SlopeOneBinning(bins)),
        ece=expected_calibration_error(label, prob, bins=bins).value,
        tops=tops,
        crossed=_crossed(flat),
    )


def _crossed(flat: FitOnTest) -> int:
    """Count bins with predictions on both sides of their flat piece."""
    below = flat.fitted > flat.prob + 1e-12
    above = flat.fitted < flat.prob - 1e-12
    edges = flat.evaluator.edges_
    index = np.searchsorted(edges[1:-1], flat.prob, side="right")
    return len(np.intersect1d(index[below], index[above]))
