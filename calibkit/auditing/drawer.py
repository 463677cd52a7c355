"""Labels drawn from the probabilities of their rows, again and again."""

import numpy as np

from calibkit.types import FloatVector, IntVector

_FEW = 64  # classes up to which comparing with all edges is faster than a binary search


class Drawer:
    """Draws a label for every row from its own probabilities.

    Of two classes each row gets its `usual` label with the probability of that label, and else the
    other one: with the observed labels as usual ones, the redraws of the same event under its
    other name (1 - y, 1 - p) are the same. Of more classes, `happens` is the one event per row
    that `changed` asks about.
    """

    def __init__(
        self, table: FloatVector, usual: IntVector | None = None, happens: IntVector | None = None
    ) -> None:
        self.n, self.k = table.shape
        place = np.arange(self.n)
        self.usual = np.zeros(self.n, dtype=np.intp) if usual is None else usual
        if self.k == 2:
            self.first = table[place, self.usual] / table.sum(axis=1)
            return
        upper = np.cumsum(table, axis=1)
        upper /= upper[:, -1:]
        # Row i occupies [i, i + 1): one sorted array, one binary search per row.
        upper += place[:, np.newaxis]
        upper[:, -1] = place + 1.0
        self.place, self.start = place, place * self.k
        if happens is None:
            self.edges = upper.ravel() if self.k > _FEW else np.ascontiguousarray(upper.T[:-1])
            return
        self.happened = self.usual == happens
        self.low = np.where(happens == 0, 0.0, upper[place, happens - 1])
        self.high = np.where(happens == self.k - 1, np.inf, upper[place, happens])

    def draw(self, rng: np.random.Generator) -> IntVector:
        """Return one label per row."""
        uniform = rng.random(self.n)
        if self.k == 2:
            return np.asarray(self.usual ^ (uniform >= self.first), dtype=np.intp)
        uniform = uniform + self.place
        if self.k > _FEW:
            place = np.searchsorted(self.edges, uniform, side="right")
            return np.asarray(np.clip(place - self.start, 0, self.k - 1), dtype=np.intp)
        label = np.zeros(self.n, dtype=np.uint8)
        for edge in self.edges:
            label += (uniform >= edge).view(np.uint8)
        return label.astype(np.intp)

    def changed(self, rng: np.random.Generator) -> IntVector:
        """Redraw; return the rows whose event changes: the usual label, or `happens` of many."""
        uniform = rng.random(self.n)
        if self.k == 2:
            return np.flatnonzero(uniform >= self.first)
        uniform = uniform + self.place
        return np.flatnonzero(((self.low <= uniform) & (uniform < self.high)) != self.happened)


def weight_by_label(weight: FloatVector, table: FloatVector, label: IntVector) -> FloatVector:
    """Return the weight that each row would have with each label, (n, K).

    Of two classes log w is a parabola in p with a step at the label, by least squares, as rows may
    have been chosen by their label. P(y | chosen) is then proportional to p_y / w_y, and
    ``sum w (y - p)`` has the mean 0 and the variance ``sum w_0 w_1 p (1 - p)``.
    """
    weights, p = weight[:, np.newaxis], table[:, 1]
    if table.shape[1] > 2 or np.ptp(weight) == 0:
        return np.broadcast_to(weights, table.shape)
    features = np.column_stack([np.ones(len(p)), p, p**2, label - label.mean()])
    step = np.linalg.lstsq(features, np.log(weight), rcond=None)[0][-1]
    return np.asarray(weights * np.exp(step * (np.arange(2) - label[:, np.newaxis])))
