"""What every calibrator of many classes can do; and one-vs-rest, a map of one event per class."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import clone
from sklearn.utils import validation

from calibkit.calibrators.base import AnyCalibrator, Calibrator, Weights
from calibkit.calibrators.logistic import PlattCalibrator
from calibkit.inputs import (
    EPS,
    TIE,
    FloatArray,
    FloatMatrix,
    IntVector,
    as_array,
    as_choice,
    as_labels,
    as_predictions,
    as_probabilities,
    least_prediction,
    logit,
    refuse_other_columns,
    refuse_other_order,
)

KINDS = ("logits", "probabilities")
# So few rows can look like probabilities by chance.
_BY_CHANCE = 5
_ROUNDED, _MOST_OFF = 0.0051, 0.1  # what two digits may change in a class, and in a sum
_LARGEST = 1e30  # larger logits are mistakes of some kind
_REFIT = 'fit with input="probabilities"'


def as_scores(
    scores: Any, kind: str | None, remedy: str = _REFIT, *, doubtful: bool = True
) -> FloatArray:
    """Check scores of the declared kind.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, K)
        The scores of one event, or of K classes.
    kind : {"logits", "probabilities"}
        What the scores are; nothing is guessed.
    remedy : str
        What to do with logits that are probabilities, in words.
    doubtful : bool
        Whether logits that look like probabilities are refused; after a fit they may look so.

    Returns
    -------
    ndarray of the shape of `scores`
        Floating numbers, in the precision given.

    Raises
    ------
    ValueError
        If scores are not of the declared kind.
    """
    if as_choice(kind, "input", KINDS) == "probabilities":
        return as_probabilities(scores)
    array = as_array(scores, "scores")
    refuse_other_columns(scores, "scores")
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] < 2):
        raise ValueError(
            f"scores have shape {array.shape}; logits are (n,) for one event, or (n, K) with one "
            "column for each of K >= 2 classes."
        )
    low, high = array.min(), array.max()
    if not (low >= -_LARGEST and high <= _LARGEST):
        place = tuple(int(i) for i in np.argwhere(~(np.abs(array) <= _LARGEST))[0])
        raise ValueError(
            f"scores[{', '.join(map(str, place))}] = {float(array[place])!r} is not a finite logit "
            "(within ±1e30). Logarithms of probabilities that contain 0 are infinite: if you "
            f"have the probabilities, {remedy}. Drop or repair rows with NaN."
        )
    if doubtful and low >= 0 and high <= 1 and low < high and len(array) >= _BY_CHANCE:
        _refuse_probabilities(array, remedy)
    return array


def _refuse_probabilities(array: FloatArray, remedy: str) -> None:
    what = "all values lie in [0, 1]"
    if array.ndim == 2:
        off = float(np.abs(array.sum(axis=1, dtype=np.float64) - 1).max())
        one_digit, k = bool((np.abs(array - np.round(array, 1)) < TIE).all()), array.shape[1]
        if off > (10 * _ROUNDED * k if one_digit else min(_ROUNDED * k, _MOST_OFF)):
            return
        what = f"all rows sum to 1 within {off:.2g}"
    row = np.array2string(np.atleast_1d(array[0]), threshold=6, edgeitems=2, precision=4)
    raise ValueError(
        f"scores are declared as logits, but {what} as probabilities do (row 0: "
        f"{row}). If they are probabilities, {remedy}. If they are logits all the same, pass "
        "their softmax (or expit) as probabilities."
    )


class MulticlassCalibrator(AnyCalibrator):
    """A family of maps from the scores of K classes to probabilities.

    What is passed as scores is declared by ``input``; `fit` refuses to guess it.

    Attributes
    ----------
    can_say_zero, classes_, n_features_in_
        Whether the map may say exactly 0 or 1; the labels; number of columns, 1 for one event.
    feature_names_in_ : ndarray of shape (K,)
        Names of the columns, where `fit` was given a frame; another order is then refused.
    n_classes_, n_parameters_ : int, int or None
        K, as seen by `fit`; free parameters of the fitted map, None for non-parametric families.
    converged_, n_iter_ : bool, int
        Whether the fit reached its optimum, and in how many steps; 0 for a formula.
    """

    loss_name: ClassVar[str] = "log loss"
    takes_one_event: ClassVar[bool] = False
    _first = "scores"

    input: str | None
    n_classes_: int

    def fit(self, scores: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit the map, on data that the model has not been trained on.

        Parameters
        ----------
        scores : array-like of shape (n, K)
            Logits or probabilities, as declared by ``input``; in some families also the score of
            class 1, shape (n,).
        y : array-like of shape (n,)
            Labels ``0 .. K-1``.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, finite and from 0 on: 2 is the row twice, 0 is no row.
            Families without a weighted fit take whole numbers.

        Returns
        -------
        self : MulticlassCalibrator

        Raises
        ------
        ValueError
            If the input or an option is not valid (the message says what would be right), or the
            scores are not of the declared kind.
        """
        refuse_other_order(y_true=y, scores=scores, sample_weight=sample_weight)
        array, label = self._checked(scores, y)
        rows, *others = self._weighed(array, label, sample_weight)
        with self._learning():
            self._least = least_prediction(array) if self.input == "probabilities" else EPS
            self.n_classes_ = array.shape[1] if array.ndim == 2 else 2
            self._one_event = array.ndim == 1
            self.classes_ = np.arange(self.n_classes_)
            self._fit(self._prepared(rows), *others)
            self.n_features_in_ = 1 if self._one_event else self.n_classes_
            self._compare_names(scores, reset=True)
        return self

    def _compare_names(self, scores: Any, *, reset: bool = False) -> None:
        # Older versions of scikit-learn have it as a method. Its words, its warning.
        known = getattr(validation, "_check_feature_names", None)
        (known or type(self)._check_feature_names)(self, scores, reset=reset)

    def _prepared(self, scores: FloatArray) -> FloatArray:
        if self.input == "logits":
            return scores
        if scores.ndim == 1:
            return logit(scores, self._least)
        return np.asarray(np.log(np.maximum(scores.astype(np.float64), self._least)))

    def _checked(self, scores: Any, y: Any) -> tuple[FloatArray, NDArray[np.intp]]:
        if self.input is None:
            name = type(self).__name__
            raise ValueError(
                f'say what the scores are, {name}(input="logits") or {name}(input="probabilities"):'
                " calibkit does not guess."
            )
        shape = as_array(scores, "y_prob" if self.input == "probabilities" else "scores").shape
        if len(shape) == 1 and not self.takes_one_event:
            raise ValueError(
                f"{type(self).__name__} needs scores of shape (n, K), got {shape}. For one event "
                "use TemperatureScaling, or calibrators.PlattCalibrator."
            )
        if self.input == "probabilities":
            label, array = as_predictions(y, scores)
        else:
            array = as_scores(scores, self.input)
            label = as_labels(y, array)
        return array, label.astype(np.intp)

    def _fit(self, logits: FloatArray, label: NDArray[np.intp]) -> None:
        raise NotImplementedError

    def calibrate(self, scores: Any) -> FloatMatrix:
        """Return calibrated probabilities.

        Parameters
        ----------
        scores : array-like of shape (n, K), or (n,) after a fit to one event
            Logits or probabilities, as in `fit`, columns in the same order.

        Returns
        -------
        ndarray of the shape of `scores`
        """
        return self._calibrate(self._ready(scores))

    def _ready(self, scores: Any) -> FloatArray:
        self._check_fitted()
        shape, name = as_array(scores, "scores").shape, type(self).__name__
        fits = len(shape) == 1 if self._one_event else shape[1:] == (self.n_classes_,)
        if not fits:
            wanted = "(n,)" if self._one_event else f"(n, {self.n_classes_})"
            raise ValueError(
                f"scores have shape {shape}, but {name} was fitted to {wanted}. Columns are classes"
                f" in the same order. X has {shape[-1]} features, but {name} is expecting "
                f"{self.n_features_in_} features as input."
            )
        self._compare_names(scores)
        return self._prepared(as_scores(scores, self.input, doubtful=False))

    def _calibrate(self, logits: FloatArray) -> FloatMatrix:
        raise NotImplementedError


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
