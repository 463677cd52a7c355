"""Labels drawn from the probabilities of their rows, again and again."""

import numpy as np

from calibkit.inputs import FloatVector, IntVector


class Drawer:
    """Draws a label for every row from its own probabilities.

    Of two classes each row gets its `usual` label with the probability of that label, and else the
    other one: with the observed labels as usual ones, the redraws of the same event under its
    other name (1 - y, 1 - p) are the same.
    """

    def __init__(self, table: FloatVector, usual: IntVector | None = None) -> None:
        self.n, self.k = table.shape
        if self.k == 2:
            self.usual = np.zeros(self.n, dtype=np.intp) if usual is None else usual
            self.first = table[np.arange(self.n), self.usual] / table.sum(axis=1)
        else:
            upper = np.cumsum(table, axis=1)
            upper /= upper[:, -1:]
            upper[:, -1] = 1.0
            # Row i occupies [i, i + 1): one sorted array, one binary search per row.
            self.flat = (upper + np.arange(self.n)[:, np.newaxis]).ravel()
            self.start = np.arange(self.n, dtype=np.intp) * self.k

    def draw(self, rng: np.random.Generator) -> IntVector:
        """Return one label per row."""
        uniform = rng.random(self.n)
        if self.k == 2:
            return np.asarray(self.usual ^ (uniform >= self.first), dtype=np.intp)
        place = np.searchsorted(self.flat, uniform + np.arange(self.n), side="right")
        return np.asarray(np.clip(place - self.start, 0, self.k - 1), dtype=np.intp)

    def changed(self, rng: np.random.Generator) -> IntVector:
        """Redraw two classes as `draw` does; return the rows without their usual label."""
        return np.flatnonzero(rng.random(self.n) >= self.first)
