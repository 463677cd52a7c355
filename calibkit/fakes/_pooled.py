"""Pooled confidences: what is left of several errors when only the confidence is looked at.

Component j reports ``Z = (1 - t) Q + t x``, with its own beta distribution of Q, share t and
anchor x. Pooled with weights w_j, the true confidence at z is ``a(z)``. The pooled error is the
integral of ``|sum_j w_j f_j(z) (q_j(z) - z)|``. Between two sign changes the integral is a
difference of the primitive, which F and M give exactly. So the error is the total variation of
the primitive.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from calibkit.fakes._beta import ScaledBeta, partial_mean, to_unit
from calibkit.fakes._sample import FloatVector

# The grid only has to separate the sign changes, and each is then found to rounding.
GRID_POINTS = 4_096
FEWEST_POINTS = 32
TAIL_LEVELS = np.array([1e-12, 1e-9, 1e-6, 1e-4, 1e-3])
# Densities are infinite or zero at the ends of a range; weights must stay finite.
SMALLEST_LOG, LARGEST_LOG = -1e300, 700.0


@dataclass(frozen=True, slots=True)
class PooledKnobs:
    """Components whose confidences are pooled."""

    true: tuple[ScaledBeta, ...]  # laws of the true confidence, all with the same lower end
    share: FloatVector  # each confidence moves by `share`, below 1, of the way to `anchor`
    anchor: FloatVector

    @property
    def _low(self) -> float:
        return self.true[0].low

    def _parameters(self) -> tuple[FloatVector, FloatVector]:
        return np.array([t.a for t in self.true]), np.array([t.b for t in self.true])

    def _behind(self, z: FloatVector) -> FloatVector:
        """Return the q of each component that reports z, as (points, components)."""
        return np.asarray((z[:, None] - self.share * self.anchor) / (1 - self.share))

    def primitive(self, z: FloatVector) -> FloatVector:
        """Integral of ``f_j (q_j - z)`` up to z, as (points, components)."""
        a, b = self._parameters()
        mean = np.array([true.mean for true in self.true])
        u = to_unit(self._behind(z), self._low)
        below = partial_mean(u, self._low, mean, a, b) - self.anchor * special.betainc(a, b, u)
        return np.asarray(self.share * below)

    def _gaps(self, z: FloatVector) -> tuple[FloatVector, FloatVector]:
        """Return relative densities and ``q - z`` of each component, as (points, components).

        Densities are scaled to a largest one of 1 at each point, 0 outside a component's range.
        """
        a, b = self._parameters()
        q = self._behind(z)
        u = to_unit(q, self._low)
        logs = special.xlogy(a - 1, u) + special.xlog1py(b - 1, -u) - special.betaln(a, b)
        logs = np.clip(logs - np.log1p(-self.share), SMALLEST_LOG, LARGEST_LOG)
        said = (q >= self._low) & (q <= 1)
        logs = np.where(said, logs, SMALLEST_LOG)
        relative = np.where(said, np.exp(logs - logs.max(axis=1, keepdims=True)), 0.0)
        return relative, np.clip(q, self._low, 1) - z[:, None]

    def true_map(self, z: FloatVector, weights: FloatVector) -> FloatVector:
        """Return ``a(z)``, the mean true confidence of all who report z; NaN if nobody does."""
        relative, gap = self._gaps(z)
        mass = relative @ weights
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(mass > 0, z + (relative * gap) @ weights / mass, np.nan))

    def grid(self) -> FloatVector:
        """Return points that follow every component's mass, with the ends of its range."""
        inner = max(FEWEST_POINTS, GRID_POINTS // len(self.true))
        levels = np.concatenate([TAIL_LEVELS, np.linspace(0, 1, inner), 1 - TAIL_LEVELS])
        points = [
            (1 - share) * true.quantile(levels) + share * anchor
            for true, share, anchor in zip(self.true, self.share, self.anchor, strict=True)
        ]
        return np.unique(np.concatenate(points))

    def _crossing(self, low: float, high: float, weights: FloatVector) -> float:
        """Return the confidence between two points at which ``a(z) = z``."""

        def gap(point: float) -> float:
            relative, gap = self._gaps(np.array([point]))
            return float((relative * gap)[0] @ weights)

        return float(optimize.brentq(gap, low, high, xtol=1e-15))

    def errors(self, weights: NDArray[np.float64]) -> FloatVector:
        """Return ``integral |sum_j w_j f_j (q_j - z)|`` for every row of `weights`."""
        z = self.grid()
        primitive = self.primitive(z)
        relative, gap = self._gaps(z)
        values = []
        for row in weights:
            signed = (relative * gap) @ row
            changes = np.flatnonzero(signed[:-1] * signed[1:] < 0)
            crossings = np.array([self._crossing(z[i], z[i + 1], row) for i in changes])
            path = primitive @ row
            extra = self.primitive(crossings) @ row if len(crossings) else crossings
            values.append(np.abs(np.diff(np.insert(path, changes + 1, extra))).sum())
        return np.array(values)
