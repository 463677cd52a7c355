"""The beta distribution on [low, 1], with the partial means that exact errors are made of."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import integrate, special

from calibkit.inputs import FloatVector

LARGEST_DOUBT = 1e-8


def to_unit(q: Any, low: float) -> FloatVector:
    """Map [low, 1] to [0, 1], and what lies outside to the nearer end."""
    return np.asarray(np.clip((np.asarray(q, dtype=np.float64) - low) / (1 - low), 0, 1))


def partial_mean(u: FloatVector, low: float, mean: Any, a: Any, b: Any) -> FloatVector:
    """``E[Q; B <= u]``: low times the share of rows, plus the beta's own part of the mean."""
    rows = special.betainc(a, b, u)
    return np.asarray(low * rows + (mean - low) * special.betainc(a + 1, b, u))


@dataclass(frozen=True, slots=True)
class ScaledBeta:
    """``Q = low + (1 - low) B`` with ``B ~ Beta(m s, (1 - m) s)`` and ``E Q = mean``."""

    low: float
    mean: float  # strictly between `low` and 1
    concentration: float  # s: large is narrow, small is spread to both ends

    @property
    def a(self) -> float:
        return self.concentration * (self.mean - self.low) / (1 - self.low)

    @property
    def b(self) -> float:
        return self.concentration * (1 - self.mean) / (1 - self.low)

    @property
    def variance(self) -> float:
        return (self.mean - self.low) * (1 - self.mean) / (self.concentration + 1)

    def cdf(self, q: Any) -> FloatVector:
        return np.asarray(special.betainc(self.a, self.b, to_unit(q, self.low)))

    def partial_mean(self, q: Any) -> FloatVector:
        """``M(q) = E[Q; Q <= q]``."""
        return partial_mean(to_unit(q, self.low), self.low, self.mean, self.a, self.b)

    def quantile(self, level: Any) -> FloatVector:
        return np.asarray(self.low + (1 - self.low) * special.betaincinv(self.a, self.b, level))

    def mean_distance(self, point: float) -> float:
        """``E |Q - point|``, by F and M."""
        if point >= 1:
            return point - self.mean
        if point <= self.low:
            return self.mean - point
        below = point * self.cdf(point) - self.partial_mean(point)
        return float(2 * below + self.mean - point)

    def expectation(self, function: Callable[[float, float], float]) -> float:
        """``E function(Q, 1 - Q)`` by adaptive quadrature, for a bounded function with few kinks.

        It gets both Q and 1 - Q because the difference would lose its digits where Q is nearly 1.
        """

        def at_level(level: float) -> float:
            rest = (1 - self.low) * special.betaincinv(self.b, self.a, 1 - level)
            return function(float(self.quantile(level)), float(rest))

        # For small concentrations nearly all change happens where mass jumps to the other end.
        jump = min(max(self.b / (self.a + self.b), 1e-3), 1 - 1e-3)
        value, doubt = 0.0, 0.0
        for low, high in pairwise([0.0, jump / 2, jump, (1 + jump) / 2, 1.0]):
            # With full output quad warns about rounding in its result, not on the screen.
            piece, error, *_ = integrate.quad(
                at_level, low, high, limit=200, epsabs=1e-12, epsrel=1e-12, full_output=1
            )
            value, doubt = value + piece, doubt + error
        if not doubt <= LARGEST_DOUBT * (1 + abs(value)):
            raise RuntimeError(f"the quadrature is unsure by {doubt:.1g}; the dials are extreme.")
        return float(value)
