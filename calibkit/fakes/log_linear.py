"""A distortion that mixes the log-probabilities of the classes: confusions between classes.

Source 001 section 5.2 (Dirichlet calibration) has this family as a calibrator. As a distortion it
makes fakes whose true map such a calibrator can find. Lesson 12.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.fakes._sample import FloatVector
from calibkit.fakes.simplex import Distortion

# Weights times the logarithm of 0 may be 0 times infinity, so it is limited.
SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class LogLinear(Distortion):
    """Mix log-probabilities and normalise: ``softmax(W ln p + b)``.

    Parameters
    ----------
    weights : sequence of K rows of K floats
        W. On the diagonal boldness per class, off the diagonal confusions.
    bias : sequence of K floats, optional
        b; 0 for all classes when left out.

    Raises
    ------
    ValueError
        If the weights are not square, or a number is not finite.

    See Also
    --------
    calibkit.multiclass.DirichletCalibrator : the calibrator of the same form.
    Power : diagonal weights, with an inverse.

    Notes
    -----
    Probabilities below 1e-300 count as 1e-300. No inverse is known here, so a `DirichletFake`
    takes it with ``reading="confidence-is-base"``. Source 001 section 5.2. Taught in lesson 12.

    Examples
    --------
    >>> LogLinear([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])([[0.64, 0.16, 0.2]]).round(4).tolist()
    [[0.381, 0.381, 0.2381]]
    """

    weights: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        weights = _finite(self.weights, "weights", 2)
        k = len(weights)
        if k < 2 or weights.shape != (k, k):
            raise ValueError(
                f"weights must be K rows of K numbers, K at least 2, got shape {weights.shape}."
            )
        object.__setattr__(self, "weights", tuple(map(tuple, weights.tolist())))
        if self.bias is not None:
            bias = _finite(self.bias, "bias", 1)
            if len(bias) != k:
                raise ValueError(f"bias must have {k} numbers, one per class, got {len(bias)}.")
            object.__setattr__(self, "bias", tuple(bias.tolist()))

    def _apply(self, prob: FloatVector) -> FloatVector:
        weights = np.array(self.weights)
        if prob.shape[1] != len(weights):
            raise ValueError(
                f"LogLinear has weights for {len(weights)} classes, but the probabilities have "
                f"{prob.shape[1]}; give one row and one column per class."
            )
        logits = np.log(np.maximum(prob, SMALLEST)) @ weights.T
        return np.asarray(special.softmax(logits + np.array(self.bias or 0.0), axis=1))


def _finite(values: Any, name: str, ndim: int) -> NDArray[np.float64]:
    """Return numbers as an array, or say what is wrong with them."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be numbers in rows of equal length, got {values!r}."
        ) from None
    if array.ndim != ndim or not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers of {ndim} dimensions, got {values!r}.")
    return array
