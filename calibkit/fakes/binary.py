"""Binary fake classifiers: a straight line between logits, and the shapes of a published study."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy import integrate, optimize, special

from calibkit.fakes.sample import FakeSample, InfeasibleTarget
from calibkit.inputs import (
    FloatVector,
    Rng,
    as_choice,
    as_count,
    as_finite,
    as_number,
    as_positive,
    data_generator,
    legacy_generator,
)

# The source bisects for the weight until the error agrees in this many digits.
WEIGHT_DIGITS = 6
STAIR = 2 / 3  # height and width of a step


@dataclass(frozen=True, slots=True)
class LogitDistortion:
    """A binary fake classifier whose true map is a straight line between logits.

    Predictions come from a beta distribution, the event with
    ``c(p) = expit(slope * logit(p) + shift)``: the inverse of temperature and bias scaling (section
    6 of Panchenko, 2021). Lessons 03 and 04.

    Parameters
    ----------
    slope : float
        1 is calibrated; below 1 predictions are too extreme (over-confident), above 1
        under-confident. Not negative.
    shift, scores : float, tuple of two floats
        Above 0 the event happens more often than predicted; parameters of the beta distribution.

    Examples
    --------
    >>> fake = LogitDistortion(slope=0.5)
    >>> round(float(fake.true_map(0.9)), 3), fake.sample(1000, rng=0).n
    (0.75, 1000)
    """

    slope: float = 1.0
    shift: float = 0.0
    scores: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        as_finite(self.slope, "slope", 0)
        as_finite(self.shift, "shift")
        if np.shape(self.scores) != (2,):
            raise ValueError(f"scores must be two positive numbers, got {self.scores!r}.")
        pair = tuple(as_positive(one, f"scores[{i}]") for i, one in enumerate(self.scores))
        object.__setattr__(self, "scores", pair)

    def true_map(self, prob: Any) -> FloatVector:
        """Return the true probability of the event for each prediction in [0, 1]."""
        prob = np.asarray(prob, dtype=np.float64)
        if self.slope == 1 and self.shift == 0:
            return np.array(prob)  # without the detour through logits, exactly calibrated
        if self.slope == 0:  # 0 * logit(0) would be NaN
            return np.full_like(prob, special.expit(self.shift))
        return np.asarray(special.expit(self.slope * special.logit(prob) + self.shift))

    def sample(self, n: int, rng: Rng = None) -> FakeSample:
        """Draw `n` predictions with their labels and true probabilities.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : int, numpy.random.Generator or None
            Seed, generator, or fresh entropy.

        Returns
        -------
        FakeSample
            With ``y_true``, ``y_prob`` and ``true_prob``.

        Examples
        --------
        >>> LogitDistortion(slope=0.5).sample(1000, rng=0).y_prob.shape
        (1000,)
        """
        n, generator = as_count(n, "n"), data_generator(rng)
        y_prob = generator.beta(*self.scores, size=n)
        true_prob = self.true_map(y_prob)
        y_true = (generator.random(n) < true_prob).astype(np.int64)
        return FakeSample(y_true=y_true, y_prob=y_prob, true_prob=true_prob)


def _beta(c: FloatVector, middle: float, a: float, b: float) -> FloatVector:
    """Beta calibration's curve through (middle, 1/2), in the order of operations of the source."""
    factor = np.exp(b * np.log(1 - middle) - a * np.log(middle))
    with np.errstate(divide="ignore", over="ignore"):  # 0 and 1 are mapped to themselves
        return np.asarray(1 / (1 + 1 / (factor * (c**a / (1 - c) ** b))))


def _climb(x: FloatVector) -> FloatVector:
    angle = x * 2 * np.pi / STAIR
    once = angle - np.sin(angle)
    return np.asarray((once - np.sin(once)) * STAIR / (2 * np.pi))


FORMULAS: dict[str, Callable[[FloatVector], FloatVector]] = {
    "square": lambda c: c**2,
    "sqrt": lambda c: np.asarray(c**0.5),
    "beta1": lambda c: _beta(c, 0.4, 0.4, 0.45),
    "beta2": lambda c: _beta(c, 0.48, 2, 2.2),
    # This formula leaves [0, 1] by a rounding error at both ends.
    "stairs": lambda c: np.clip(_climb(c + STAIR / 2) - _climb(np.array(STAIR / 2)), 0, 1),
}
SHAPES = tuple(FORMULAS)


@dataclass(frozen=True, slots=True)
class SyntheticShape:
    """A binary fake classifier with one of the five shapes, at full strength or weaker.

    Parameters
    ----------
    name : {"square", "sqrt", "beta1", "beta2", "stairs"}
        The shape f. It maps truth to prediction, so it is the inverse of the true map.
    weight : float
        Strength w, from 0 (calibrated) to 1 (the full shape).

    Notes
    -----
    The truth c is uniform, the label is drawn from c, the report is ``p = (1 - w) c + w f(c)`` (a
    *derivate*), with w times the error of the full shape: square .1667, sqrt .1667, beta1 .1200,
    beta2 .1033, stairs .1140. Rows come sorted by truth. Kängsepp, Valk and Kull (2022), appendix
    D.3. Taught in lessons 05, 06, 07 and 11.

    Examples
    --------
    >>> shape = SyntheticShape.with_error("beta2", 0.05)
    >>> round(shape.weight, 6), round(shape.true_error(), 6), shape.sample(1000, seed=0).n
    (0.484039, 0.05, 1000)
    """

    name: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        as_choice(self.name, "name", SHAPES)
        object.__setattr__(self, "weight", as_finite(self.weight, "weight", 0, 1))

    @classmethod
    def with_error(cls, name: str, error: float, *, exact: bool = False) -> Self:
        """Return the derivate with this ``E |p - c|``, from 0 to that of the full shape.

        The weight is that of the source, found by bisection to six digits of the error, so that
        data agree; ``exact=True`` gives the exact one.
        """
        full = cls(name).true_error()
        wanted = as_number(error, "error", "a number from 0 on", lambda e: not np.isnan(e))
        if not 0 <= wanted <= full:
            raise InfeasibleTarget(
                f"error={error!r} is impossible: derivates of {name!r} have an error from 0 to "
                f"{full:.6f}, that of the full shape."
            )
        return cls(name, wanted / full if exact else _bisected_weight(wanted, full))

    def predict(self, true_prob: Any) -> FloatVector:
        """Return the prediction ``g(c)`` for each true probability c."""
        c = np.asarray(true_prob, dtype=np.float64)
        return np.asarray((1 - self.weight) * c + self.weight * FORMULAS[self.name](c))

    def true_map(self, prob: Any) -> FloatVector:
        """Return the true probability behind each prediction in [0, 1]: the inverse of `predict`.

        Where steps of the full stairs give one prediction after rounding, the middle of their
        truths.
        """
        p = np.asarray(prob, dtype=np.float64)
        if not np.all((p >= 0) & (p <= 1)):
            raise ValueError("prob must lie in [0, 1].")
        low, high = (self._edge(p.ravel(), below) for below in (np.less, np.less_equal))
        return ((low + high) / 2).reshape(p.shape)

    def _edge(self, p: FloatVector, below: np.ufunc) -> FloatVector:
        """Return the first number at which "prediction below p" is false, or 1.

        Bisects the bit patterns of [0, 1], ordered as the numbers: exact, also next to 0.
        """
        low = np.zeros(p.shape, dtype=np.int64)
        high = np.full(p.shape, np.array(1.0).view(np.int64))
        while np.any(low < high):
            middle = low + (high - low) // 2
            left = below(self.predict(middle.view(np.float64)), p)
            low, high = np.where(left, middle + 1, low), np.where(left, high, middle)
        return np.minimum(low.view(np.float64), 1.0)

    def true_error(self) -> float:
        """Return the true calibration error ``E |p - c|``, without bins."""
        return self.weight * _full_error(self.name)

    def sample(self, n: int, seed: int) -> FakeSample:
        """Draw the paper's data for this size and seed (from 0 on), sorted by truth.

        Labels and truths are the same for every shape and weight: NumPy's legacy generator, seeded
        with ``seed + n`` as in the source; the global one is left alone.
        """
        n, seed = as_count(n, "n"), as_count(seed, "seed", minimum=0)
        generator = legacy_generator(seed + n)
        true_prob = np.sort(generator.dirichlet([1, 1], n)[:, 0])
        y_true = generator.binomial(n=1, p=true_prob).astype(np.int64)
        return FakeSample(y_true=y_true, y_prob=self.predict(true_prob), true_prob=true_prob)


@cache
def _full_error(name: str) -> float:
    """Return the error of a full shape, by quadrature between its crossings of the diagonal."""

    def gap(c: float) -> float:
        return float(FORMULAS[name](np.array([c]))[0] - c)

    grid = np.linspace(0, 1, 1_000)
    signs = np.sign([gap(c) for c in grid])
    changes = np.flatnonzero(signs[:-1] * signs[1:] < 0)
    ends = [0.0, *(float(optimize.brentq(gap, grid[i], grid[i + 1])) for i in changes), 1.0]
    close = {"limit": 200, "epsabs": 1e-13, "epsrel": 1e-12}
    pieces = [integrate.quad(lambda c: abs(gap(c)), *ab, **close)[0] for ab in pairwise(ends)]
    return float(sum(pieces))


def _bisected_weight(error: float, full: float) -> float:
    """Bisect as the source does: stop when the error agrees after rounding, round the weight."""
    if error == 0:
        return 0.0
    low, high, weight = 0.0, 1.0, 0.5
    while round(weight * full, WEIGHT_DIGITS) != round(error, WEIGHT_DIGITS):
        low, high = (weight, high) if weight * full < error else (low, weight)
        weight = (low + high) / 2
    return round(weight, WEIGHT_DIGITS)
