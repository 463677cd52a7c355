"""Distortions: maps of the probability simplex to itself, row by row.

A distortion turns true probabilities into reported ones, or the reverse: `DirichletFake` says
which. All take and return arrays of shape (n, K) with rows that sum to 1.

Source 001 section 6 (automorphisms of the simplex). Lesson 03.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibkit._validation import as_probabilities
from calibkit.fakes import _dials
from calibkit.fakes._sample import FloatVector

# Newton's method on a convex increasing function: a few steps, unless exponents are extreme.
MOST_STEPS = 200


def as_table(prob: Any) -> FloatVector:
    """Check probabilities of shape (n, K) and return them in double precision."""
    table = as_probabilities(prob).astype(np.float64)
    if table.ndim != 2:
        raise ValueError(
            f"a distortion needs one column per class, got shape {table.shape}; for P(y = 1) pass "
            "np.column_stack([1 - p, p])."
        )
    return table


def log_of(prob: FloatVector) -> FloatVector:
    """Logarithm with log 0 = minus infinity, silently."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(prob))


class Distortion:
    """Base of all distortions of the simplex: callable on rows, some with an inverse.

    Notes
    -----
    Taught in lesson 03.

    Examples
    --------
    >>> isinstance(Power(2), Distortion), Power(2).keeps_order, Power((1, 2)).keeps_order
    (True, True, False)
    """

    __slots__ = ()

    def __call__(self, prob: Any) -> FloatVector:
        """Distort probabilities of shape (n, K)."""
        return self._apply(as_table(prob))

    def inverse(self, prob: Any) -> FloatVector:
        """Undo the distortion of probabilities of shape (n, K)."""
        return self._undo(as_table(prob))

    @property
    def keeps_order(self) -> bool:
        """Whether the order of the classes in each row always stays the same."""
        return False

    def _apply(self, prob: FloatVector) -> FloatVector:
        raise NotImplementedError

    def _undo(self, prob: FloatVector) -> FloatVector:
        raise ValueError(f"{self!r} has no inverse that calibkit knows.")


@dataclass(frozen=True, slots=True)
class Identity(Distortion):
    """Change nothing: the calibrated case.

    Notes
    -----
    Source 001 section 6. Taught in lesson 03.

    Examples
    --------
    >>> Identity()([[0.7, 0.2, 0.1]]).tolist()
    [[0.7, 0.2, 0.1]]
    """

    @property
    def keeps_order(self) -> bool:
        """Whether the order of the classes in each row always stays the same."""
        return True

    def _apply(self, prob: FloatVector) -> FloatVector:
        return prob

    def _undo(self, prob: FloatVector) -> FloatVector:
        return prob


@dataclass(frozen=True, slots=True)
class Power(Distortion):
    """Raise each probability to a power and divide by the sum: ``p_k^e_k / sum_j p_j^e_j``.

    Parameters
    ----------
    exponents : float or sequence of K floats
        Positive. Above 1 pushes to the corners of the simplex, below 1 to its centre. Equal
        exponents keep the order of the classes, unequal ones do not.

    Raises
    ------
    ValueError
        If an exponent is not positive and finite.

    Notes
    -----
    A bijection of the simplex for any exponents; the inverse of unequal ones is found by
    Newton's method, row by row at once. Source 001 section 6. Taught in lesson 03.

    Examples
    --------
    >>> Power(2)([[0.6, 0.3, 0.1]]).round(4).tolist()
    [[0.7826, 0.1957, 0.0217]]
    >>> Power((2, 1, 1)).inverse(Power((2, 1, 1))([[0.6, 0.3, 0.1]])).round(12).tolist()
    [[0.6, 0.3, 0.1]]
    """

    exponents: float | tuple[float, ...]

    def __post_init__(self) -> None:
        if np.ndim(self.exponents) == 0:
            checked: float | tuple[float, ...] = _dials.as_positive(self.exponents, "exponents")
        else:
            checked = tuple(
                _dials.as_positive(value, f"exponents[{k}]")
                for k, value in enumerate(np.asarray(self.exponents).tolist())
            )
        object.__setattr__(self, "exponents", checked)

    @property
    def keeps_order(self) -> bool:
        """Whether the order of the classes in each row always stays the same."""
        return isinstance(self.exponents, float) or len(set(self.exponents)) == 1

    def _for(self, n_classes: int) -> FloatVector:
        values = np.atleast_1d(np.asarray(self.exponents, dtype=np.float64))
        if len(values) not in (1, n_classes):
            raise ValueError(
                f"Power has {len(values)} exponents, but the probabilities have {n_classes} "
                "classes; give one exponent, or one per class."
            )
        return values

    def _apply(self, prob: FloatVector) -> FloatVector:
        return np.asarray(special.softmax(self._for(prob.shape[1]) * log_of(prob), axis=1))

    def _undo(self, prob: FloatVector) -> FloatVector:
        exponents = self._for(prob.shape[1])
        logs = log_of(prob) / exponents
        if self.keeps_order:
            return np.asarray(special.softmax(logs, axis=1))
        # x_k = (m p_k)^(1/e_k), with m such that the row sums to 1: convex in log m.
        shift = np.zeros((len(prob), 1))
        for _ in range(MOST_STEPS):
            terms = logs + shift / exponents
            total = special.logsumexp(terms, axis=1, keepdims=True)
            slope = (special.softmax(terms, axis=1) / exponents).sum(axis=1, keepdims=True)
            step = total / slope
            shift -= step
            if np.all(np.abs(step) <= 1e-14 * (1 + np.abs(shift))):
                return np.asarray(special.softmax(logs + shift / exponents, axis=1))
        raise RuntimeError(f"the inverse of {self!r} did not converge in {MOST_STEPS} steps.")


@dataclass(frozen=True, slots=True)
class Temperature(Distortion):
    """Divide log-probabilities by a temperature: ``Power(1 / temperature)``.

    Parameters
    ----------
    temperature : float
        Above 1 cools down to the centre of the simplex (less confident), below 1 sharpens.

    Raises
    ------
    ValueError
        If the temperature is not positive and finite.

    Notes
    -----
    The usual sense of the word, as in temperature scaling; some software multiplies by the
    temperature instead. Source 001 sections 5 and 6. Taught in lessons 03 and 10.

    Examples
    --------
    >>> Temperature(2)([[0.64, 0.32, 0.04]]).round(4).tolist()
    [[0.511, 0.3613, 0.1277]]
    """

    temperature: float

    def __post_init__(self) -> None:
        checked = _dials.as_positive(self.temperature, "temperature")
        object.__setattr__(self, "temperature", checked)

    @property
    def keeps_order(self) -> bool:
        """Whether the order of the classes in each row always stays the same."""
        return True

    def _apply(self, prob: FloatVector) -> FloatVector:
        return Power(1 / self.temperature)._apply(prob)

    def _undo(self, prob: FloatVector) -> FloatVector:
        return Power(self.temperature)._apply(prob)


@dataclass(frozen=True, slots=True, repr=False)
class MaxComponent(Distortion):
    """Map the largest probability by a function and scale the others to fit.

    Parameters
    ----------
    function : callable
        Takes and returns arrays of probabilities, ``[0, 1] -> [0, 1]``.

    Notes
    -----
    The order of the classes can change, because the others are scaled together. It has no
    inverse in general. A row with a single certain class divides what it loses equally. Source
    001 section 6. Taught in lesson 03.

    Examples
    --------
    >>> MaxComponent(lambda z: 0.5 * z + 0.5)([[0.6, 0.3, 0.1]]).round(4).tolist()
    [[0.8, 0.15, 0.05]]
    """

    function: Callable[[FloatVector], FloatVector]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function must be callable, got {self.function!r}.")

    def __repr__(self) -> str:  # the same in every session, unlike that of a function
        return f"MaxComponent({getattr(self.function, '__name__', 'function')})"

    def _apply(self, prob: FloatVector) -> FloatVector:
        own = np.arange(len(prob)), prob.argmax(axis=1)
        top = np.asarray(self.function(prob[own]), dtype=np.float64)
        if top.shape != prob[own].shape or not np.all((top >= 0) & (top <= 1)):
            raise ValueError("the function of MaxComponent must map probabilities to [0, 1].")
        others = prob.copy()
        others[own] = 0
        total = others.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            others = np.where(total > 0, others / total, 1 / (prob.shape[1] - 1))
        others *= (1 - top)[:, None]
        others[own] = top
        return np.asarray(others)


@dataclass(frozen=True, slots=True)
class RestrictedPower(Distortion):
    """Raise all probabilities but the last to powers of at least 1; the last takes the rest.

    Parameters
    ----------
    exponents : float or sequence of K - 1 floats
        At least 1 each.

    Raises
    ------
    ValueError
        If an exponent is below 1 or not finite.

    Notes
    -----
    One-to-one, but for three or more classes not onto: some rows are never reached. So it is no
    automorphism of the simplex in the strict sense, and `inverse` refuses those rows. Source
    001 section 6. Taught in lesson 03.

    Examples
    --------
    >>> RestrictedPower(2)([[0.5, 0.4, 0.1]]).round(4).tolist()
    [[0.25, 0.16, 0.59]]
    """

    exponents: float | tuple[float, ...]

    def __post_init__(self) -> None:
        checked = Power(self.exponents).exponents
        if min(np.atleast_1d(checked)) < 1:
            raise ValueError(f"exponents must be at least 1, got {self.exponents!r}.")
        object.__setattr__(self, "exponents", checked)

    @property
    def keeps_order(self) -> bool:
        """Whether the order of the classes in each row always stays the same."""
        return set(np.atleast_1d(self.exponents).tolist()) == {1.0}

    def _apply(self, prob: FloatVector) -> FloatVector:
        first = prob[:, :-1] ** Power(self.exponents)._for(prob.shape[1] - 1)
        last = 1 - first.sum(axis=1, keepdims=True)
        return np.hstack([first, np.maximum(last, 0)])

    def _undo(self, prob: FloatVector) -> FloatVector:
        first = prob[:, :-1] ** (1 / Power(self.exponents)._for(prob.shape[1] - 1))
        last = 1 - first.sum(axis=1, keepdims=True)
        if np.any(last < -1e-9):
            row = int(np.flatnonzero(last[:, 0] < -1e-9)[0])
            raise ValueError(f"row {row} is never a result of {self!r}, so it has no inverse.")
        return np.hstack([first, np.maximum(last, 0)])
