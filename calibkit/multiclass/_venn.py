"""Isotonic fits with one more point, for all places of that point at once, in exact arithmetic."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

FloatVector = NDArray[np.float64]
Scores = NDArray[np.floating]
IntVector = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Brackets:
    """The two isotonic fits of every new score: with label 0 (lower) and with label 1 (upper)."""

    distinct: Scores  # those that were fitted to, in increasing order
    lower: FloatVector  # by the number of distinct scores up to the new one
    upper: FloatVector  # by the number of distinct scores below the new one

    @classmethod
    def fit(cls, score: Scores, event: NDArray[np.bool_]) -> Self:
        """Fit to scores and whether the event happened."""
        distinct, group = np.unique(score, return_inverse=True)
        count = np.bincount(group, minlength=len(distinct))
        hits = np.bincount(group[event], minlength=len(distinct))
        # With label 0 everything is as with label 1, seen from the other end.
        lower = 1 - _with_a_hit(count[::-1], (count - hits)[::-1])[::-1]
        return cls(distinct, lower, _with_a_hit(count, hits))

    def at(self, score: Scores) -> tuple[FloatVector, FloatVector]:
        """Return both fits at new scores."""
        lower = self.lower[np.searchsorted(self.distinct, score, "right")]
        upper = self.upper[np.searchsorted(self.distinct, score, "left")]
        return lower, upper


def merged(lower: FloatVector, upper: FloatVector) -> FloatVector:
    """Return the probability between the two whose largest regret of log loss is smallest."""
    return np.asarray(upper / (1 - lower + upper))


def _with_a_hit(count: IntVector, hits: IntVector) -> FloatVector:
    """Return the isotonic fit at a new point with label 1, just before each group and at the end.

    The fit is the slope of the greatest convex minorant of the sums of labels against counts.
    The new point lifts all sums after it by (1, 1). So the slope is that of the common tangent of
    the sums before, lowered by (1, 1), and the sums after. Whole numbers: all comparisons are
    exact.
    """
    x = [0, *np.cumsum(count).tolist()]
    y = [0, *np.cumsum(hits).tolist()]

    def slope(before: int, after: int) -> tuple[int, int]:
        """Return run and rise from a lowered point to a point after the new one."""
        return x[after] - x[before] + 1, y[after] - y[before] + 1

    follower = _hulls(x, y)
    last = len(x) - 1
    before = touch = 0
    run, rise = 1, 1
    values = np.empty(last + 1)
    for i in range(last + 1):
        if i == 0 or (y[i] - y[before]) * run < rise * (x[i] - x[before]):
            before, touch = i, max(touch, i)
            run, rise = slope(before, touch)
            while touch < last:
                further = slope(before, follower[touch])
                if further[1] * run >= rise * further[0]:
                    break
                touch, (run, rise) = follower[touch], further
        values[i] = rise / run
    return values


def _hulls(x: list[int], y: list[int]) -> list[int]:
    """Return for each point the next corner of the convex minorant of it and all points after."""
    last = len(x) - 1
    follower = [last] * (last + 1)
    for i in range(last - 1, -1, -1):
        j = i + 1
        while j < last:
            k = follower[j]
            if (y[j] - y[i]) * (x[k] - x[i]) < (y[k] - y[i]) * (x[j] - x[i]):
                break
            j = k
        follower[i] = j
    return follower
