"""Calibrators of one dimension put to work on many classes."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import clone

from calibkit.calibrators.base import Calibrator, Weights
from calibkit.calibrators.multiclass import MulticlassCalibrator
from calibkit.calibrators.parametric import PlattCalibrator
from calibkit.inputs import FloatArray, FloatMatrix, IntVector, as_count

Part = tuple[FloatMatrix, NDArray[np.bool_], Weights]


class Wrapper(MulticlassCalibrator):
    """What the wrappers share: probabilities from either kind of scores, and inner maps."""

    weighted: ClassVar[bool] = True  # or the inner maps refuse them

    calibrator: Any
    calibrators_: list[Calibrator]

    @property
    def can_say_zero(self) -> bool:  # type: ignore[override]
        """Whether the inner map may say exactly 0 or 1."""
        return bool(getattr(self.calibrator, "can_say_zero", False))

    def _prepared(self, scores: FloatArray) -> FloatMatrix:
        # Probabilities as they are: by way of logarithms, ties would not stay ties.
        table = np.asarray(scores, dtype=np.float64)
        return np.asarray(special.softmax(table, axis=1)) if self.input == "logits" else table

    def _fit_each(self, parts: list[Part]) -> None:
        inner = PlattCalibrator() if self.calibrator is None else self.calibrator
        if not isinstance(inner, Calibrator):
            raise ValueError(
                f"calibrator must be one of calibkit.calibrators, e.g. IsotonicCalibrator(), got "
                f"{inner!r}."
            )
        self.calibrators_ = [
            clone(inner).fit(prob, event, sample_weight=weight) for prob, event, weight in parts
        ]
        numbers = [one.n_parameters_ for one in self.calibrators_ if one.n_parameters_ is not None]
        self.n_parameters_ = sum(numbers) if len(numbers) == len(parts) else None
        self.converged_ = all(one.converged_ for one in self.calibrators_)
        self.n_iter_ = sum(one.n_iter_ for one in self.calibrators_)


@dataclass(eq=False, repr=False)
class OneVsRest(Wrapper):
    """Calibrate the probability of each class on its own, then make each row sum to 1.

    Parameters
    ----------
    input : {"logits", "probabilities"}, of logits the softmax is calibrated
    calibrator : Calibrator or None
        Any calibrator of one dimension; None: `PlattCalibrator`. It is copied, not fitted.

    Attributes
    ----------
    calibrators_ : list of Calibrator, the fitted copies, one per class

    Notes
    -----
    The division can spoil the calibration of the single classes. A row of zeros becomes uniform.
    Zadrozny and Elkan (2002). Taught in lesson 10.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=2000)
    >>> y = (2 * np.log(p) + rng.gumbel(size=p.shape)).argmax(axis=1)
    >>> OneVsRest("probabilities").fit(p, y).calibrate([[0.6, 0.3, 0.1]]).round(1).tolist()
    [[0.8, 0.2, 0.0]]
    """

    family: ClassVar[str] = "one-vs-rest"

    input: str | None = None
    calibrator: Any = None

    def _fit(self, prob: FloatArray, label: IntVector, weight: Weights = None) -> None:
        self._fit_each([(column, label == c, weight) for c, column in enumerate(prob.T)])

    def _calibrate(self, prob: FloatArray) -> FloatMatrix:
        pairs = zip(self.calibrators_, prob.T, strict=True)
        table = np.column_stack([one.calibrate(column) for one, column in pairs])
        return normalised(table)


def normalised(table: FloatMatrix) -> FloatMatrix:
    """Return the rows divided by their sums; a row of zeros becomes uniform."""
    filled = np.where(table.any(axis=1, keepdims=True), table, 1.0)
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))


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
    falls below what another class receives, the predicted class changes. Kumar, Liang and Ma
    (2019), section 2. Taught in lesson 12.

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
class ClassWise(Reduced):
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
    It repairs the confidence given the predicted class, which may change as in `Reduced`. The
    review of notions of calibration, section 2. Taught in lesson 12.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1], size=4000)
    >>> y = (rng.random(4000) > p[:, 0] ** 2).astype(int)
    >>> ClassWise("probabilities").fit(p, y).calibrate([[0.8, 0.2], [0.2, 0.8]]).round(1).tolist()
    [[0.6, 0.4], [0.0, 1.0]]
    """

    family: ClassVar[str] = "class-wise"

    fewest: int = 30

    def _classes(self, top: IntVector, weight: Weights) -> list[int]:
        count = np.bincount(top, weight, self.n_classes_)
        return [int(c) for c in np.flatnonzero(count >= as_count(self.fewest, "fewest"))]
