"""The t-test of source 002, with the square root that it forgot, and as it was published."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]
BoolVector = NDArray[np.bool_]


class TTest(NamedTuple):
    """A t-test of the frequency of a bin against each prediction in it.

    Parameters
    ----------
    alpha : float
        Level in (0, 1).
    published : bool
        Divide by the variance instead of its root, as the published code does.

    Notes
    -----
    ``t = sqrt(N) |f - p| / s`` with N - 1 degrees of freedom and ``s = sqrt(f (1 - f))``. The
    published code has ``s = f (1 - f)``, which is at most half as large: its many rejections
    are an artefact of the missing root. Where all labels of a bin agree, s is 0 and nothing but
    ``p = f`` passes (as published, not even that). Source 002, Table 11. Taught in lesson 08.

    Examples
    --------
    >>> hits, bounds, prob = np.array([50]), np.array([0, 100]), np.linspace(0.3, 0.7, 100)
    >>> int(TTest(0.05).rejections(hits, bounds, prob).sum())
    50
    >>> int(TTest(0.05, published=True).rejections(hits, bounds, prob).sum())
    76
    """

    alpha: float
    published: bool = False

    def rejections(self, hits: IntVector, bounds: IntVector, prob: FloatVector) -> BoolVector:
        """Test every prediction against the events of its bin; see `BinomialTest`."""
        counts = np.diff(bounds)
        low, high = self.acceptance(hits, counts)
        low, high = np.repeat(low, counts), np.repeat(high, counts)
        # Acceptance is open where there is spread, and a point (or nothing) where there is none.
        exact = (low == high) & (prob == low) & (not self.published)
        return np.asarray(~exact & ((prob <= low) | (prob >= high)))

    def acceptance(self, hits: IntVector, counts: IntVector) -> tuple[FloatVector, FloatVector]:
        """Return the ends of the predictions that each bin accepts; they may leave [0, 1]."""
        n = np.maximum(counts, 1)
        frequency = hits / n
        spread = frequency * (1 - frequency)
        if not self.published:
            spread = np.sqrt(spread)
        reach = np.zeros(len(n))
        used = spread > 0  # then there are two labels at least, and a degree of freedom
        quantile = special.stdtrit(n[used] - 1, 1 - self.alpha / 2)
        reach[used] = spread[used] * quantile / np.sqrt(n[used])
        return frequency - reach, frequency + reach
