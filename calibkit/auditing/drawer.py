"""Labels drawn from the probabilities of their rows, again and again."""

from collections.abc import Sequence
from typing import Any

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
        upper[:, -1] = 1.0
        # Row i occupies [i, i + 1): one sorted array, one binary search per row.
        upper = upper + place[:, np.newaxis]
        self.place, self.start = place, place * self.k
        if happens is None:
            self.edges = upper.ravel() if self.k > _FEW else np.ascontiguousarray(upper.T[:-1])
            return
        self.happened = self.usual == happens
        self.low = np.where(happens == 0, 0.0, upper[place, happens - 1])
        self.high = np.where(happens == self.k - 1, np.inf, upper[place, happens])

    def draw(self, rng: np.random.Generator) -> IntVector:
        """Return one label per row."""
        uniform: FloatVector = rng.random(self.n)
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
        uniform: FloatVector = rng.random(self.n)
        if self.k == 2:
            return np.flatnonzero(uniform >= self.first)
        uniform = uniform + self.place
        return np.flatnonzero(((self.low <= uniform) & (uniform < self.high)) != self.happened)


class Changes:
    """The sums of redraws from those of the data: each view only asks whether its event happens.

    A redraw changes some rows: what was an event is none, and what was none is one. Each view
    brings whether its event happened, the cells of rows and their number, and what an event adds
    to the sum of levers and, if not 1, to its cell.
    """

    def __init__(
        self,
        drawer: Drawer,
        sums: tuple[FloatVector, FloatVector],
        views: Sequence[tuple[Any, ...]],
    ) -> None:
        self.drawer, (self.events, self.levers), self.parts = drawer, sums, []
        for lost, cell, size, pull, weight in views:
            self.parts.append((cell + size * lost, size, np.where(lost, -pull, pull), weight))

    def sums(self, rng: np.random.Generator) -> tuple[FloatVector, FloatVector]:
        """Redraw; return the events of all cells, and the sum of levers of every view."""
        rows, cells, levers = self.drawer.changed(rng), [], self.levers.copy()
        for i, (key, size, gain, weight) in enumerate(self.parts):
            # Fancy indices: in the browser `take` needs eight times as long.
            each = None if weight is None else weight[rows]
            won, lost = np.bincount(key[rows], each, 2 * size).reshape(2, size)
            cells.append(won - lost)
            levers[i] += gain[rows].sum()
        return self.events + np.concatenate(cells), levers
