"""What every calibrator of many classes can do, and the checks that they share."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from calibkit._validation import FloatArray, as_array, as_labels, as_predictions
from calibkit.multiclass._scores import as_logits, as_scores, check_kind

FloatMatrix = NDArray[np.float64]


class MulticlassCalibrator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A family of maps from the scores of K classes to probabilities. Taught in lesson 10.

    What is passed as scores is declared by ``input``, which has no default.

    Attributes
    ----------
    n_classes_, n_parameters_ : int, int or None
        K, as seen by `fit`; free parameters of the fitted map, None for non-parametric families.
    converged_, n_iter_ : bool, int
        Whether the fit reached its optimum, and in how many steps; 0 for a formula.
    """

    family: ClassVar[str] = ""
    loss_name: ClassVar[str] = "log loss"
    # Whether the class of the largest score always keeps the largest probability.
    preserves_argmax: ClassVar[bool] = False
    takes_one_event: ClassVar[bool] = False

    input: str
    n_classes_: int
    n_parameters_: int | None
    converged_: bool
    n_iter_: int

    def fit(self, scores: Any, y: Any) -> Self:
        """Fit the map, on data that the model has not been trained on.

        Parameters
        ----------
        scores : array-like of shape (n, K)
            Logits or probabilities, as declared by ``input``; in some families also the score of
            class 1, shape (n,).
        y : array-like of shape (n,)
            Labels ``0 .. K-1``.

        Raises
        ------
        ValueError
            If the input is not valid (the message names it), or not of the declared kind.
        """
        array, label = self._checked(scores, y)
        self.n_classes_ = array.shape[1] if array.ndim == 2 else 2
        self._one_event = array.ndim == 1
        self.converged_, self.n_iter_ = True, 0
        self._fit(self._prepared(array), label)
        return self

    def _prepared(self, scores: FloatArray) -> FloatArray:
        return as_logits(scores, self.input)

    def _checked(self, scores: Any, y: Any) -> tuple[FloatArray, NDArray[np.intp]]:
        check_kind(self.input)
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
        """Return calibrated probabilities of the shape of `scores`, which are as in `fit`."""
        return self._calibrate(self._ready(scores))

    def _ready(self, scores: Any) -> FloatArray:
        if not hasattr(self, "converged_"):
            raise ValueError(f"{type(self).__name__} is not fitted yet; call fit(scores, y) first.")
        array = as_scores(scores, self.input)
        if (array.ndim == 1) != self._one_event or (
            array.ndim == 2 and array.shape[1] != self.n_classes_
        ):
            wanted = "(n,)" if self._one_event else f"(n, {self.n_classes_})"
            raise ValueError(
                f"scores have shape {array.shape}, but {type(self).__name__} was fitted to {wanted}"
                ". Columns are classes, in the same order as before."
            )
        return self._prepared(array)

    def _calibrate(self, logits: FloatArray) -> FloatMatrix:
        raise NotImplementedError
