"""Many draws of events with given probabilities, from as few random bits as decide them."""

import numpy as np
from numpy.typing import NDArray

# From so many rows on, draws by the handful of bits are worth a random stream of their own.
MANY_ROWS = 200_000
_STEPS = 2**16


class Coins:
    """Events that happen with the probabilities `prob`, drawn exactly.

    Sixteen random bits are a number u in 0, ..., 65535, and ``65536 p`` a whole number and a rest.
    Below the whole number the event happens and above it does not; in the one case of 65536 in
    which they are equal, a new number decides, with the rest as its probability.
    """

    def __init__(self, prob: NDArray[np.floating]) -> None:
        scaled = prob.astype(np.float64) * _STEPS
        self.whole = np.minimum(scaled, _STEPS - 1).astype(np.uint16)
        self.rest = scaled - self.whole

    def throw(self, n_draws: int, generator: np.random.Generator) -> NDArray[np.bool_]:
        """Draw all events this many times, shape (n_draws, n)."""
        n = len(self.whole)
        words = generator.integers(0, 2**64, size=-(-n_draws * n // 4), dtype=np.uint64)
        drawn = words.view(np.uint16)[: n_draws * n].reshape(n_draws, n)
        happened = drawn < self.whole
        equal = np.flatnonzero(drawn == self.whole)
        happened.flat[equal] = generator.random(len(equal)) < self.rest[equal % n]
        return happened
