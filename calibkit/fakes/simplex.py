"""Distortions: maps of the probability simplex to itself, rows of shape (n, K) to such rows.

A distortion turns true probabilities into reported ones, or the reverse: `DirichletFake` says
which. Section 6 (automorphisms of the simplex) of the review of notions of calibration. Lesson 03.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from calibkit.inputs import FloatVector, as_array, as_positive, as_probabilities

# Weights times the logarithm of 0 may be 0 times infinity, so `LogLinear` limits it.
SMALLEST = 1e-300


def as_table(prob: Any, who: str = "a distortion needs") -> FloatVector:
    """Check probabilities of shape (n, K) and return them in double precision."""
    table = as_probabilities(prob).astype(np.float64)
    if table.ndim != 2:
        raise ValueError(
            f"{who} one column per class, got shape {table.shape}; for P(y = 1) pass "
            "np.column_stack([1 - p, p])."
        )
    return table


class Distortion:
    """Base of all distortions of the simplex: callable on rows."""

    __slots__ = ()

    keeps_order: ClassVar[bool] = False  # whether that of the classes in each row always stays

    def __call__(self, prob: Any) -> FloatVector:
        """Distort probabilities of shape (n, K)."""
        return self._apply(as_table(prob))

    def _apply(self, prob: FloatVector) -> FloatVector:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Identity(Distortion):
    """Change nothing: the calibrated case."""

    keeps_order: ClassVar[bool] = True

    def _apply(self, prob: FloatVector) -> FloatVector:
        return prob


@dataclass(frozen=True, slots=True)
class Power(Distortion):
    """Raise each probability to a power and divide by the sum: ``p_k^e_k / sum_j p_j^e_j``.

    A bijection of the simplex.

    Parameters
    ----------
    exponents : float or sequence of K floats
        Positive. Above 1 pushes to the corners of the simplex, below 1 to its centre. Only equal
        exponents keep the order of the classes.

    Examples
    --------
    >>> Power(2)([[0.6, 0.3, 0.1]]).round(3).tolist()
    [[0.783, 0.196, 0.022]]
    """

    exponents: float | tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponents", _as_exponents(self.exponents))

    @property
    def keeps_order(self) -> bool:  # type: ignore[override]
        """Whether all exponents are equal."""
        return isinstance(self.exponents, float) or len(set(self.exponents)) == 1

    def _apply(self, prob: FloatVector) -> FloatVector:
        exponents = _exponents_for(self.exponents, prob.shape[1])
        return np.asarray(special.softmax(exponents * _log(prob), axis=1))


@dataclass(frozen=True, slots=True)
class Temperature(Distortion):
    """Divide log-probabilities by a temperature: ``Power(1 / temperature)``. Lessons 03 and 10.

    Parameters
    ----------
    temperature : float
        Positive; as in temperature scaling above 1 cools down to the centre of the simplex (less
        confident), below 1 sharpens. Some software multiplies instead.
    """

    temperature: float
    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked = as_positive(self.temperature, "temperature")
        object.__setattr__(self, "temperature", checked)

    def _apply(self, prob: FloatVector) -> FloatVector:
        return Power(1 / self.temperature)._apply(prob)


@dataclass(frozen=True, slots=True)
class LogLinear(Distortion):
    """Mix log-probabilities and normalise, ``softmax(W ln p)``: confusions between classes.

    The family of Dirichlet calibration (section 5.2 of the review of notions): a
    `DirichletCalibrator` can find the true map. Probabilities count as at least 1e-300. Lesson 12.

    Parameters
    ----------
    weights : sequence of K rows of K floats
        W: on the diagonal boldness per class, off it confusions.
    """

    weights: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        weights = as_array(self.weights, "weights").astype(np.float64)
        k = len(weights)
        if k < 2 or weights.shape != (k, k) or not np.isfinite(weights).all():
            raise ValueError(
                "weights must be K rows of K finite numbers, K at least 2, got "
                f"{weights.tolist()!r}."
            )
        object.__setattr__(self, "weights", tuple(map(tuple, weights.tolist())))

    def _apply(self, prob: FloatVector) -> FloatVector:
        weights = np.array(self.weights)
        if prob.shape[1] != len(weights):
            raise ValueError(
                f"LogLinear has weights for {len(weights)} classes, but the probabilities have "
                f"{prob.shape[1]}; give one row and one column per class."
            )
        logits = np.log(np.maximum(prob, SMALLEST)) @ weights.T
        return np.asarray(special.softmax(logits, axis=1))


def _log(prob: FloatVector) -> FloatVector:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(prob))


def _as_exponents(exponents: Any) -> float | tuple[float, ...]:
    if np.ndim(exponents) == 0:
        return as_positive(exponents, "exponents")
    values = np.asarray(exponents).tolist()
    return tuple(as_positive(value, f"exponents[{k}]") for k, value in enumerate(values))


def _exponents_for(exponents: float | tuple[float, ...], n_classes: int) -> FloatVector:
    values = np.atleast_1d(np.asarray(exponents, dtype=np.float64))
    if len(values) not in (1, n_classes):
        raise ValueError(
            f"Power has {len(values)} exponents, but the probabilities have {n_classes} "
            "classes; give one exponent, or one per class."
        )
    return values
