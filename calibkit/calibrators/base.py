"""What every one-dimensional calibrator can do: fit a map, draw it, repair predictions."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from calibkit.calibrators.words import Answers
from calibkit.types import FloatVector
from calibkit.validation import as_predictions, as_probability_array


class Calibrator(Answers):
    """A family of maps from predictions to probabilities, and a way to fit one of them.

    Subclasses implement ``_fit`` and ``_curve``; checks of the input are here.

    Attributes
    ----------
    can_say_zero, classes_, n_features_in_
        Whether the map may say exactly 0 or 1; the labels 0 and 1; 1.
    n_parameters_ : int or None
        Number of free parameters of the fitted map; None for non-parametric families.
    converged_, n_iter_ : bool, int
        Whether the fit reached its optimum; steps of the optimiser, 0 where the fit is a formula.
    """

    family: ClassVar[str] = ""
    loss_name: ClassVar[str] = "Brier"
    _first = "p"

    def fit(self, p: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit the map to predictions `p` and labels `y`, both of shape (n,).

        Parameters
        ----------
        p, y, sample_weight : array-like of shape (n,)
            Probabilities; labels 0 and 1; how much each row counts, finite and from 0 on: 2 is the
            row twice, 0 is no row. Families without a weighted fit take whole numbers.

        Raises
        ------
        ValueError
            If the input or an option is not valid (the message names row and value, or what would
            be right), or there are too few rows for the family.
        """
        label, prob = as_predictions(y, p)
        _refuse_columns(prob)
        rows = self._weighed(prob.astype(np.float64), label.astype(np.float64), sample_weight)
        with self._learning():
            self._fit(*rows)
            self.classes_, self.n_features_in_ = np.arange(2), 1
        return self

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        # Where `weighted` says so, it takes weights as well.
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        tags.classifier_tags.multi_class = False
        return tags

    def curve(self, p: Any) -> FloatVector:
        """Return the fitted map at `p`; it may leave [0, 1]. An evaluator measures this map."""
        self._check_fitted()
        prob = np.asarray(as_probability_array(p), dtype=np.float64)
        _refuse_columns(prob)
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
