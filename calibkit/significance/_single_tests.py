"""What decides about one prediction: the exact test, and the t-test of Matsubara and others."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.significance._binomial import BinomialTest
from calibkit.types import FloatVector
from calibkit.validation import as_choice, as_level

TESTS = {
    "binomial": "exact binomial test",
    "mid-p": "binomial mid-p test",
    "t": "t-test",
    "t-as-published": "t-test as published, without its square root",
}


class TTest(NamedTuple):
    """A t-test of the frequency of a bin against each prediction in it.

    ``t = sqrt(N) |f - p| / s`` with N - 1 degrees of freedom and ``s = sqrt(f (1 - f))``. The code
    of Matsubara and others (2023) has ``s = f (1 - f)``, at most half as large: their many
    rejections (Table 11) are an artefact of the missing root. Where all labels of a bin agree, s
    is 0 and nothing but ``p = f`` passes (as `published`, not even that). Taught in lesson 08.
    """

    alpha: float
    published: bool = False

    def rejections(
        self, hits: NDArray[np.int64], bounds: NDArray[np.intp], prob: FloatVector
    ) -> NDArray[np.bool_]:
        """Test every prediction against the events of its bin; see `BinomialTest`."""
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


SingleTest = BinomialTest | TTest


def single_test(test: str, alpha: float) -> SingleTest:
    """Return the test of this name at this level."""
    level = as_level(alpha, "alpha")
    as_choice(test, "test", TESTS)
    if test in ("binomial", "mid-p"):
        return BinomialTest(level, test == "mid-p")
    return TTest(level, test == "t-as-published")
