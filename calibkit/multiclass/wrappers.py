"""Calibrators of one dimension put to work on many classes."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from calibkit._validation import FloatArray, as_count
from calibkit.calibrators import Calibrator, PlattCalibrator
from calibkit.multiclass._base import FloatMatrix, MulticlassCalibrator
from calibkit.multiclass._scores import softmax

IntVector = NDArray[np.intp]


def _fresh(calibrator: Any) -> Calibrator:
    """Return an unfitted copy of a calibrator of one dimension."""
    if calibrator is None:
        return PlattCalibrator()
    if not isinstance(calibrator, Calibrator):
        raise ValueError(
            f"calibrator must be one of calibkit.calibrators, e.g. IsotonicCalibrator(), got "
            f"{calibrator!r}."
        )
    copy: Calibrator = clone(calibrator)
    return copy


def _total(calibrators: Sequence[Calibrator]) -> int | None:
    """Return the number of parameters of all; None if one of them is non-parametric."""
    numbers = [one.n_parameters_ for one in calibrators]
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


class Wrapper(MulticlassCalibrator):
    """What the wrappers share: probabilities from either kind of scores."""

    calibrator: Any
    calibrators_: list[Calibrator]

    def _prepared(self, scores: FloatArray) -> FloatArray:
        # Probabilities as they are: by way of logarithms, ties would not stay ties.
        if self.input == "logits":
            return softmax(scores)
        return np.asarray(scores, dtype=np.float64)

    def _keep(self, calibrators: list[Calibrator]) -> None:
        self.calibrators_ = calibrators
        self.n_parameters_ = _total(calibrators)
        self.converged_ = all(one.converged_ for one in calibrators)
        self.n_iter_ = sum(one.n_iter_ for one in calibrators)


class OneVsRest(Wrapper):
    """Calibrate the probability of each class on its own, then make each row sum to 1.

    Parameters
    ----------
    input : {"logits", "probabilities"}
        What is passed as scores; it has no default. Of logits the softmax is calibrated.
    calibrator : Calibrator or None
        Any calibrator of one dimension; None: `PlattCalibrator`. It is copied, not fitted.
    normalise : bool
        Whether to divide each row by its sum. Without it rows need not sum to 1, and each class
        keeps the calibration that it was given.

    Attributes
    ----------
    calibrators_ : list of Calibrator
        The fitted copies, one per class.
    n_parameters_, converged_, n_iter_
        All of them together.

    Raises
    ------
    ValueError
        By ``fit``, as in `MulticlassCalibrator`, and if `calibrator` is not a calibrator of one
        dimension.

    Notes
    -----
    The division makes up for nothing that was learnt: it can spoil the calibration of the single
    classes. A row in which every class got 0 becomes uniform.

    Taught in lesson 10. Zadrozny and Elkan (2002); source 001 section 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=2000)
    >>> y = (2 * np.log(p) + rng.gumbel(size=p.shape)).argmax(axis=1)
    >>> model = OneVsRest("probabilities").fit(p, y)
    >>> model.calibrate([[0.6, 0.3, 0.1]]).round(1).tolist()
    [[0.8, 0.2, 0.0]]
    """

    family: ClassVar[str] = "one-vs-rest"

    def __init__(self, input: str, calibrator: Any = None, normalise: bool = True):
        self.input = input
        self.calibrator = calibrator
        self.normalise = normalise

    def _fit(self, prob: FloatArray, label: IntVector) -> None:
        if not isinstance(self.normalise, bool | np.bool_):
            raise ValueError(f"normalise must be True or False, got {self.normalise!r}.")
        self._keep(
            [_fresh(self.calibrator).fit(column, label == c) for c, column in enumerate(prob.T)]
        )

    def _calibrate(self, prob: FloatArray) -> FloatMatrix:
        each = [
            one.calibrate(column) for one, column in zip(self.calibrators_, prob.T, strict=True)
        ]
        table = np.column_stack(each)
        if not self.normalise:
            return table
        return normalised(table)


def normalised(table: FloatMatrix) -> FloatMatrix:
    """Return the rows divided by their sums; a row of zeros becomes uniform."""
    total = table.sum(axis=1, keepdims=True)
    empty = total[:, 0] == 0
    filled = np.where(empty[:, np.newaxis], 1.0, table)
    return np.asarray(filled / np.where(empty[:, np.newaxis], table.shape[1], total))


class _Confidence(Wrapper):
    """Calibrate the confidence, and share out what is left among the other classes."""

    rest: str

    def _confidence(self, prob: FloatArray) -> tuple[IntVector, FloatMatrix]:
        top = prob.argmax(axis=1)
        return top, prob[np.arange(len(prob)), top]

    def _check_rest(self) -> None:
        if not isinstance(self.rest, str) or self.rest not in ("proportional", "uniform"):
            raise ValueError(f'rest must be "proportional" or "uniform", got {self.rest!r}.')

    def _shared(self, prob: FloatArray, top: IntVector, confidence: FloatMatrix) -> FloatMatrix:
        row = np.arange(len(prob))
        others = np.ones(prob.shape)
        if self.rest == "proportional":
            others = np.array(prob, dtype=np.float64)
            others[row, top] = 0
            others[others.sum(axis=1) == 0] = 1.0
        others[row, top] = 0
        others *= ((1 - confidence) / others.sum(axis=1))[:, np.newaxis]
        others[row, top] = confidence
        return others


class Reduced(_Confidence):
    """Calibrate the confidence: the probability of the predicted class, against being right.

    Parameters
    ----------
    input : {"logits", "probabilities"}
        What is passed as scores; it has no default. Of logits the softmax is calibrated.
    calibrator : Calibrator or None
        Any calibrator of one dimension; None: `PlattCalibrator`. It is copied, not fitted.
    rest : {"proportional", "uniform"}
        How the other classes share what the predicted one leaves: in proportion to what they
        had, or alike.

    Attributes
    ----------
    calibrators_ : list of one Calibrator
        The fitted copy.
    n_parameters_, converged_, n_iter_
        Those of the copy.

    Raises
    ------
    ValueError
        By ``fit``, as in `MulticlassCalibrator`, for an unknown `rest`, and if `calibrator` is
        not a calibrator of one dimension.

    Notes
    -----
    It repairs top-label calibration and promises nothing more. Where the calibrated confidence
    falls below what another class receives, the predicted class changes.

    Taught in lessons 10 and 12. Source 001 section 2 for the notion; source 003 section 2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=2000)
    >>> y = (0.5 * np.log(p) + rng.gumbel(size=p.shape)).argmax(axis=1)
    >>> model = Reduced("probabilities").fit(p, y)
    >>> model.calibrate([[0.9, 0.08, 0.02]]).round(2).tolist()
    [[0.74, 0.2, 0.05]]
    """

    family: ClassVar[str] = "reduced"

    def __init__(self, input: str, calibrator: Any = None, rest: str = "proportional"):
        self.input = input
        self.calibrator = calibrator
        self.rest = rest

    def _fit(self, prob: FloatArray, label: IntVector) -> None:
        self._check_rest()
        top, confidence = self._confidence(prob)
        self._keep([_fresh(self.calibrator).fit(confidence, top == label)])

    def _calibrate(self, prob: FloatArray) -> FloatMatrix:
        top, confidence = self._confidence(prob)
        return self._shared(prob, top, self.calibrators_[0].calibrate(confidence))


class ClassWise(_Confidence):
    """Calibrate the confidence, with a map of its own for each predicted class.

    Parameters
    ----------
    input : {"logits", "probabilities"}
        What is passed as scores; it has no default. Of logits the softmax is calibrated.
    calibrator : Calibrator or None
        Any calibrator of one dimension; None: `PlattCalibrator`. It is copied, not fitted.
    rest : {"proportional", "uniform"}
        How the other classes share what the predicted one leaves.
    fewest : int
        Predictions of a class that its own map needs. Rarer classes use the map of all.

    Attributes
    ----------
    calibrators_ : list of Calibrator
        The fitted copies: that of all predictions first, then those of `own_`.
    own_ : list of int
        Classes with a map of their own.
    n_parameters_, converged_, n_iter_
        All of them together.

    Raises
    ------
    ValueError
        By ``fit``, as in `Reduced`, and if `fewest` is not a number from 1 on.

    Notes
    -----
    It repairs the confidence given the predicted class. Where the calibrated confidence falls
    below what another class receives, the predicted class changes.

    Taught in lessons 10 and 12. Source 001 section 2 for the notion.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1], size=4000)
    >>> y = (rng.random(4000) > p[:, 0] ** 2).astype(int)
    >>> model = ClassWise("probabilities").fit(p, y)
    >>> model.calibrate([[0.8, 0.2], [0.2, 0.8]]).round(1).tolist()
    [[0.6, 0.4], [0.0, 1.0]]
    """

    family: ClassVar[str] = "class-wise"

    own_: list[int]

    def __init__(
        self, input: str, calibrator: Any = None, rest: str = "proportional", fewest: int = 30
    ):
        self.input = input
        self.calibrator = calibrator
        self.rest = rest
        self.fewest = fewest

    def _fit(self, prob: FloatArray, label: IntVector) -> None:
        self._check_rest()
        fewest = as_count(self.fewest, "fewest")
        top, confidence = self._confidence(prob)
        count = np.bincount(top, minlength=self.n_classes_)
        self.own_ = [int(c) for c in np.flatnonzero(count >= fewest)]
        groups = [np.full(len(top), True), *(top == c for c in self.own_)]
        right = top == label
        self._keep([_fresh(self.calibrator).fit(confidence[g], right[g]) for g in groups])

    def _calibrate(self, prob: FloatArray) -> FloatMatrix:
        top, confidence = self._confidence(prob)
        new = self.calibrators_[0].calibrate(confidence)
        for c, one in zip(self.own_, self.calibrators_[1:], strict=True):
            mine = top == c
            if mine.any():
                new[mine] = one.calibrate(confidence[mine])
        return self._shared(prob, top, new)
