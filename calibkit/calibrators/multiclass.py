"""What every calibrator of many classes can do, and the checks that they share."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import validation

from calibkit.calibrators.base import AnyCalibrator
from calibkit.calibrators.class_scores import KINDS, as_logits, as_scores
from calibkit.inputs import (
    FloatArray,
    FloatMatrix,
    as_array,
    as_choice,
    as_labels,
    as_predictions,
    refuse_other_order,
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
    # Whether the class of the largest score always keeps the largest probability.
    preserves_argmax: ClassVar[bool] = False
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
        array, label = self._checked(scores, y)
        rows = self._weighed(self._prepared(array), label, sample_weight)
        with self._learning():
            self.n_classes_ = array.shape[1] if array.ndim == 2 else 2
            self._one_event = array.ndim == 1
            self.classes_ = np.arange(self.n_classes_)
            self._fit(*rows)
            self.n_features_in_ = 1 if self._one_event else self.n_classes_
            self._compare_names(scores, reset=True)
        return self

    def _compare_names(self, scores: Any, *, reset: bool = False) -> None:
        # Older versions of scikit-learn have it as a method. Its words, its warning.
        known = getattr(validation, "_check_feature_names", None)
        (known or type(self)._check_feature_names)(self, scores, reset=reset)

    def _prepared(self, scores: FloatArray) -> FloatArray:
        return as_logits(scores, self.input)

    def _checked(self, scores: Any, y: Any) -> tuple[FloatArray, NDArray[np.intp]]:
        if self.input is None:
            name = type(self).__name__
            raise ValueError(
                f'say what the scores are, {name}(input="logits") or {name}(input="probabilities"):'
                " calibkit does not guess."
            )
        as_choice(self.input, "input", KINDS)
        shape = as_array(scores, "y_prob" if self.input == "probabilities" else "scores").shape
        if len(shape) == 1 and not self.takes_one_event:
            raise ValueError(
                f"{type(self).__name__} needs scores of shape (n, K), got {shape}. For one event "
                "use TemperatureScaling, or calibrators.PlattCalibrator."
            )
        if self.input == "probabilities":
            label, array = as_predictions(y, scores)
        else:
            refuse_other_order(y=y, scores=scores)
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
        return self._prepared(as_scores(scores, self.input))

    def _calibrate(self, logits: FloatArray) -> FloatMatrix:
        raise NotImplementedError
