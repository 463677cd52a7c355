"""The t-test of Matsubara and others (2023) in place of the exact test: their Table 11."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from book.experiments.tce.measures import AsGiven, Labelled
from calibkit.inputs import FloatVector


class TTest(NamedTuple):
    """A t-test of the frequency of a bin against each prediction in it.

    ``t = sqrt(N) |f - p| / s`` with N - 1 degrees of freedom and ``s = sqrt(f (1 - f))``. The code
    of Matsubara and others (2023) has ``s = f (1 - f)``, at most half as large: their many
    rejections (Table 11) are an artefact of the missing root. Where all labels of a bin agree, s
    is 0 and nothing but ``p = f`` passes (as `published`, not even that).
    """

    alpha: float
    published: bool = False

    def rejections(
        self, hits: NDArray[np.int64], bounds: NDArray[np.intp], prob: FloatVector
    ) -> NDArray[np.bool_]:
        """Test predictions ``bounds[b] : bounds[b + 1]``, in order, against ``hits[b]`` events."""
        counts = np.diff(bounds)
        low, high = (np.repeat(end, counts) for end in self.acceptance(hits, counts))
        # Acceptance is open where there is spread, and a point (or nothing) where there is none.
        exact = (low == high) & (prob == low) & (not self.published)
        return np.asarray(~exact & ((prob <= low) | (prob >= high)))

    def acceptance(
        self, hits: NDArray[np.int64], counts: NDArray[np.intp]
    ) -> tuple[FloatVector, FloatVector]:
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


def percent_by_t(data: Labelled, binning: AsGiven, *, published: bool = False) -> float:
    """Return the share of predictions that the t-test rejects, in per cent, at the 5 % level."""
    label, prob = (np.asarray(part) for part in data)
    order: Any = np.argsort(prob, kind="stable")
    bounds = binning.bounds(prob[order], label[order])
    hits = np.add.reduceat(label[order].astype(np.int64), bounds[:-1])
    rejected = TTest(0.05, published).rejections(hits, bounds, prob[order].astype(np.float64))
    return 100 * float(rejected.mean())
