"""Calibrators of the confidence alone: one map for all predictions, or one per predicted class."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibkit.calibrators.base import Weights
from calibkit.calibrators.multiclass import Wrapper
from calibkit.inputs import FloatArray, FloatMatrix, IntVector, as_count


@dataclass(eq=False, repr=False)
class Reduced(Wrapper):
    """Calibrate the confidence: the probability of the predicted class, against being right.

    The other classes share what it leaves, in proportion to what they had.

    Parameters
    ----------
    input, calibrator
        As in `OneVsRest`.

    Attributes
    ----------
    calibrators_ : list of one Calibrator

    Notes
    -----
    It repairs top-label calibration and promises nothing more. Where the calibrated confidence
    falls below what another class receives, the predicted class changes. Panchenko, Benmerzoug and
    de Benito Delgado (2022), whose package kyle has it as well: reduced calibration.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=2000)
    >>> y = (0.5 * np.log(p) + rng.gumbel(size=p.shape)).argmax(axis=1)
    >>> Reduced("probabilities").fit(p, y).calibrate([[0.9, 0.08, 0.02]]).round(2).tolist()
    [[0.74, 0.2, 0.05]]
    """

    family: ClassVar[str] = "reduced"

    input: str | None = None
    calibrator: Any = None

    def _classes(self, top: IntVector, weight: Weights) -> list[int]:
        return []

    def _fit(self, prob: FloatArray, label: IntVector, weight: Weights = None) -> None:
        top, confidence = prob.argmax(axis=1), prob.max(axis=1)
        self.own_ = self._classes(top, weight)
        groups: list[Any] = [slice(None), *(top == c for c in self.own_)]
        right = top == label
        self._fit_each(
            [(confidence[g], right[g], None if weight is None else weight[g]) for g in groups]
        )

    def _calibrate(self, prob: FloatArray) -> FloatMatrix:
        top, confidence = prob.argmax(axis=1), prob.max(axis=1)
        new = self.calibrators_[0].calibrate(confidence)
        for c, one in zip(self.own_, self.calibrators_[1:], strict=True):
            mine = top == c
            if mine.any():
                new[mine] = one.calibrate(confidence[mine])
        row = np.arange(len(prob))
        others: FloatMatrix = np.array(prob)
        others[row, top] = 0
        others[others.sum(axis=1) == 0] = 1.0
        others[row, top] = 0
        others *= ((1 - new) / others.sum(axis=1))[:, np.newaxis]
        others[row, top] = new
        return others


@dataclass(eq=False, repr=False)
class ByPredictedClass(Reduced):
    """Calibrate the confidence, with a map of its own for each predicted class.

    Parameters
    ----------
    input, calibrator
        As in `Reduced`.
    fewest : int
        Predictions of a class that its own map needs. Rarer classes use the map of all.

    Attributes
    ----------
    calibrators_, own_ : list of Calibrator, list of int
        The fitted copies: that of all predictions, then those of the classes with their own,
        `own_`.

    Notes
    -----
    It repairs the confidence given the predicted class, which may change as in `Reduced`. Gupta and
    Ramdas (2022) call it a top-label calibrator, Panchenko and others (2022) and their package kyle
    *class-wise*; class-wise calibration, of each class against all others, is repaired by
    `OneVsRest`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1], size=4000)
    >>> y = (rng.random(4000) > p[:, 0] ** 2).astype(int)
    >>> model = ByPredictedClass("probabilities").fit(p, y)
    >>> model.calibrate([[0.8, 0.2], [0.2, 0.8]]).round(1).tolist()
    [[0.6, 0.4], [0.0, 1.0]]
    """

    family: ClassVar[str] = "by predicted class"

    fewest: int = 30

    def _classes(self, top: IntVector, weight: Weights) -> list[int]:
        count = np.bincount(top, weight, self.n_classes_)
        return [int(c) for c in np.flatnonzero(count >= as_count(self.fewest, "fewest"))]
