"""The best increasing map: isotonic regression."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import isotonic_blocks
from calibkit.calibrators.base import Calibrator, Weights
from calibkit.inputs import FloatVector


class IsotonicCalibrator(Calibrator):
    """Isotonic regression: of all increasing maps the one with the smallest Brier score.

    It has the smallest value of every proper loss, too. Adjacent violators are pooled: where labels
    decrease from one group of predictions to the next, both become one *block*.

    Attributes
    ----------
    low_, high_, height_, count_ : ndarray of shape (J,)
        Smallest and largest prediction of each block; its frequency, strictly increasing; its size,
        or the sum of its weights.

    Notes
    -----
    Constant on a block and beyond the ends, linear between blocks, as in scikit-learn. Equal
    predictions are pooled first. The blocks are those of `calibkit.scores.corp_decomposition`. Only
    ranks and labels count: any increasing distortion of the predictions leaves the heights alone.
    The outer blocks often say exactly 0 and 1, so one surprise makes the log loss infinite.
    Zadrozny and Elkan (2002). Taught in lessons 05 and 11; the blocks in lesson 04.

    Examples
    --------
    >>> model = IsotonicCalibrator().fit([0.1, 0.2, 0.6, 0.7, 0.9], [0, 1, 0, 1, 1])
    >>> model.calibrate([0.0, 0.4, 0.65, 1.0]).round(3).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """

    family: ClassVar[str] = "isotonic"
    weighted: ClassVar[bool] = True
    can_say_zero: ClassVar[bool] = True

    def _fit(self, prob: FloatVector, label: FloatVector, weight: Weights = None) -> None:
        self.n_parameters_ = None
        if weight is None:
            low, high, hits, mass = _runs(prob, label)
        else:
            low, place = np.unique(prob, return_inverse=True)
            high, hits, mass = low, np.bincount(place, weight * label), np.bincount(place, weight)
        start = isotonic_blocks(hits, mass)
        hits, self.count_ = np.add.reduceat(hits, start), np.add.reduceat(mass, start)
        self.low_, self.high_ = low[start], high[np.append(start[1:], len(high)) - 1]
        self.height_ = hits / self.count_

    def _curve(self, prob: FloatVector) -> FloatVector:
        return np.interp(prob, *self._corners())

    def _corners(self) -> tuple[FloatVector, FloatVector]:
        return np.column_stack([self.low_, self.high_]).ravel(), self.height_.repeat(2)

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the corners of the map, from 0 to 1."""
        x, y = self._corners()
        return np.concatenate(([0.0], x, [1.0])), np.concatenate((y[:1], y, y[-1:]))


def _runs(prob: FloatVector, label: FloatVector) -> tuple[NDArray[Any], ...]:
    """Return lowest and highest prediction, events and size of runs in which labels do not rise.

    Such a run is in one block in any case. One sort of whole numbers finds them: the bits of
    numbers from 0 on are in their order (adding 0 turns -0 into 0). Below the lowest bit comes 1
    for label 0: of equal predictions those with label 1 are first, so a run holds them all.
    """
    key = (prob + 0.0).view(np.int64)
    key <<= 1
    key |= label == 0
    key.sort()
    miss = key & 1
    key >>= 1
    value = key.view(np.float64)
    first = np.flatnonzero(np.diff(miss, prepend=2) < 0)
    size = np.diff(first, append=len(value))
    return value[first], value[first + size - 1], size - np.add.reduceat(miss, first), size
