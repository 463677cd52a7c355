"""What every one-dimensional calibrator can do: fit a map, draw it, repair predictions."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from calibkit._validation import as_predictions, as_probability_array

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.intp]


class Calibrator(BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """A family of maps from predictions to probabilities, and a way to fit one of them.

    Subclasses implement ``_fit`` and ``_curve``; checks of the input are here.

    Attributes
    ----------
    n_parameters_ : int or None
        Number of free parameters of the fitted map; None for non-parametric families.
    converged_, n_iter_ : bool, int
        Whether the fit reached its optimum; steps of the optimiser, 0 where the fit is a formula.
    """

    family: ClassVar[str] = ""
    loss_name: ClassVar[str] = "Brier"

    n_parameters_: int | None
    converged_: bool
    n_iter_: int

    def fit(self, p: Any, y: Any) -> Self:
        """Fit the map to predictions `p` and labels `y`, both of shape (n,).

        Raises
        ------
        ValueError
            If the input is not valid (the message names row and value), or too small for the
            family.
        """
        label, prob = as_predictions(y, p)
        _refuse_columns(prob)
        self.converged_, self.n_iter_ = True, 0
        self._fit(prob.astype(np.float64), label.astype(np.float64))
        return self

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        raise NotImplementedError

    def curve(self, p: Any) -> FloatVector:
        """Return the fitted map at `p`; it may leave [0, 1]. An evaluator measures this map."""
        prob = np.asarray(as_probability_array(p), dtype=np.float64)
        _refuse_columns(prob)
        self._check_fitted()
        return self._curve(prob.ravel()).reshape(prob.shape)

    def _curve(self, prob: FloatVector) -> FloatVector:
        raise NotImplementedError

    def calibrate(self, p: Any) -> FloatVector:
        """Return the calibrated probabilities, of the same shape as `p`: the map cut to [0, 1]."""
        return np.clip(self.curve(p), 0.0, 1.0)

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the map as points to draw, with NaN between separate pieces."""
        x = np.linspace(0, 1, 501)
        return x, self.curve(x)

    def _check_fitted(self) -> None:
        if not hasattr(self, "converged_"):
            raise ValueError(f"{type(self).__name__} is not fitted yet; call fit(p, y) first.")


def _refuse_columns(prob: NDArray[Any]) -> None:
    if prob.ndim > 1:
        raise ValueError(
            f"p must be one-dimensional, the probability of one event, got shape {prob.shape}. "
            "Take one column, p[:, 1], or choose a view first, e.g. "
            "calibkit.binary_problem(y, p, view='top-label')."
        )


def drawn_apart(
    left: FloatVector, right: FloatVector, heights: tuple[FloatVector, FloatVector]
) -> tuple[FloatVector, FloatVector]:
    """Return straight pieces as one line to draw: the two ends of each, NaN between them."""
    gap = np.full(len(left), np.nan)
    x, y = (np.column_stack([*ends, gap]).ravel()[:-1] for ends in ((left, right), heights))
    return x, y
