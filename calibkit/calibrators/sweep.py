"""The monotone sweep: as many bins as keep the frequencies in rising order."""

from typing import ClassVar

import numpy as np

from calibkit.calibrators.binning import ChosenBinning
from calibkit.types import FloatVector, IntVector
from calibkit.validation import as_count


class SweepBinning(ChosenBinning):
    """Slope-1 bins, as many as keep the frequencies in rising order: the monotone sweep.

    Parameters
    ----------
    max_bins, kind, rule
        As in `CrossValidatedBinning`; `max_bins` is by default the number of predictions.

    Attributes
    ----------
    n_bins_ : int
        Chosen number of bins (ties can make fewer of it). Others as in `SlopeOneBinning`.

    Notes
    -----
    B = 1, 2, 3, … while no frequency is below that of the (not empty) bin before it; the last such
    B is chosen, so all smaller numbers are in order, too. The choice depends on labels and ranks
    only (equal mass): any increasing distortion of the predictions has the same number of bins.
    Like `SlopeOneBinning` it may say exactly 0 or 1.
    Roelofs et al. (2022); Kängsepp, Valk and Kull (2022), section 4.6. Taught in lesson 06.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 1000))
    >>> SweepBinning().fit(p, u < p**2).n_bins_
    13
    """

    family: ClassVar[str] = "slope-1 bins, number by the sweep"

    def __init__(
        self, max_bins: int | None = None, kind: str = "equal-mass", rule: str = "midpoint"
    ):
        self.max_bins = max_bins
        self.kind = kind
        self.rule = rule

    def _choose(self, prob: FloatVector, label: FloatVector) -> int:
        most = len(prob) if self.max_bins is None else as_count(self.max_bins, "max_bins")
        events = np.concatenate(([0], np.cumsum(label.astype(np.intp))))
        # If even single predictions are in order, every number of bins is.
        if _rising(events, np.flatnonzero(prob[1:] != prob[:-1]) + 1):
            return most
        for n_bins in range(2, most + 1):
            inner = self._binning(n_bins).edges(prob)[1:-1]
            if not _rising(events, np.searchsorted(prob, inner)):
                return n_bins - 1
        return most


def _rising(events: IntVector, cuts: IntVector) -> bool:
    bounds = np.concatenate(([0], cuts, [len(events) - 1]))
    count, hits = np.diff(bounds), np.diff(events[bounds])
    used = count > 0
    # A quotient of whole numbers is rounded correctly, so equal frequencies compare equal.
    return bool((np.diff(hits[used] / count[used]) >= 0).all())
