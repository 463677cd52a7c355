"""Scaling-binning: fit a smooth map, then output its mean in each of a few bins."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from calibkit.bins import EqualMass, assign
from calibkit.calibrators.base import Calibrator, drawn_apart
from calibkit.calibrators.parametric import PlattCalibrator
from calibkit.inputs import FloatVector, IntVector, as_count

# Steps are looked for on a grid, and found by halving.
_GRID, _HALVINGS = 2001, 60


@dataclass(eq=False, repr=False)
class ScalingBinning(Calibrator):
    """Scaling-binning calibration: the mean of a fitted map in equal-mass bins.

    Three steps: fit a *scaler*; put equal-mass edges on its outputs; output the mean of the
    **scaled predictions** of the bin, not the frequency of the labels as histogram binning does.

    Parameters
    ----------
    n_bins, scaler : int, Calibrator or None
        Equal-mass bins, in which ties stay together; the map to clone, None: `PlattCalibrator`.

    Attributes
    ----------
    scaler_, edges_ : Calibrator, ndarray of shape (B + 1,)
        The fitted scaler, and the edges of the bins of its outputs.
    value_, count_ : ndarray of shape (B,)
        Output of each bin, and the number of predictions from which it was averaged.
    n_parameters_, converged_, n_iter_
        Those of the scaler: the bins do not look at labels.

    Notes
    -----
    The output takes finitely many values, so its calibration error can be measured without bias
    from binning; and it needs fewer labels than a histogram, about ``B + 1 / e^2`` against
    ``B + B / e^2`` for an error of e (up to constants and logarithms). All data serve all steps, as
    in the authors' program; their theory gives each step a third of its own. Kumar, Liang and Ma
    (2019), section 4. Lesson 11 teaches the bins that it smooths.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 600))
    >>> ScalingBinning(n_bins=4).fit(p, u < p**2).value_.round(2).tolist()
    [0.03, 0.17, 0.4, 0.8]
    """

    family: ClassVar[str] = "scaling-binning"
    loss_name: ClassVar[str] = "log loss"

    @property
    def can_say_zero(self) -> bool:  # type: ignore[override]
        """Whether the scaler may say exactly 0 or 1."""
        return self.scaler is not None and bool(self.scaler.can_say_zero)

    n_bins: int = 10
    scaler: Calibrator | None = None

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        bins = EqualMass(as_count(self.n_bins, "n_bins"))
        if not isinstance(self.scaler, Calibrator | None):
            raise ValueError(f"scaler must be a Calibrator or None, got {self.scaler!r}.")
        scaler = PlattCalibrator() if self.scaler is None else clone(self.scaler)
        self.scaler_ = scaler.fit(prob, label)
        scaled = np.sort(scaler.calibrate(prob))  # sums do not depend on the order of the rows
        self.edges_ = bins.edges(scaled)
        index = assign(scaled, self.edges_)
        self.count_ = np.bincount(index)
        self.value_ = np.bincount(index, scaled) / self.count_
        self.n_parameters_ = scaler.n_parameters_
        self.converged_, self.n_iter_ = scaler.converged_, scaler.n_iter_

    def _bin_of(self, prob: FloatVector) -> IntVector:
        return assign(self.scaler_.calibrate(prob), self.edges_)

    def _curve(self, prob: FloatVector) -> FloatVector:
        return self.value_[self._bin_of(prob)]

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the steps, with NaN between them."""
        grid = np.linspace(0, 1, _GRID)
        index = self._bin_of(grid)
        jump = np.flatnonzero(np.diff(index))
        low, high = grid[jump], grid[jump + 1]
        for _ in range(_HALVINGS if len(jump) else 0):
            middle = (low + high) / 2
            stays = self._bin_of(middle) == index[jump]
            low, high = np.where(stays, middle, low), np.where(stays, high, middle)
        start, end = np.concatenate(([0.0], high)), np.concatenate((high, [1.0]))
        level = self.value_[np.concatenate((index[jump], index[-1:]))]
        return drawn_apart(start, end, (level, level))
