"""The grid of cells, and adding rows to it: the one loop over predictions of this room.

A prediction p lies in cell c if ``c / G <= p < (c + 1) / G``; the last cell is closed. What is
left of p, ``r = p G - c`` in [0, 1), is kept in whole steps of 2⁻³⁰.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibkit._validation import FloatArray, IntArray
from calibkit.bins import EqualWidth

FloatVector = NDArray[np.float64]
Counts = NDArray[np.int64]

CELLS = 25_200  # 2^4 * 3^2 * 5^2 * 7: a multiple of every usual number of bins
MOST_CELLS = 1_000_000
# Whole steps of what is left of a prediction within its cell.
STEPS = 2**30
# Adding and taking off this number rounds to whole steps: its last bit is worth 1 / STEPS. It is
# larger than any p G.
_ROUNDER = 2.0**22
# More rows than this, all at the end of one cell, would overflow the sum of their steps.
MOST_ROWS = 2**33
# Work arrays of one block stay inside the processor's cache.
BLOCK = 131_072


@dataclass(frozen=True, slots=True)
class Sums:
    """What a table keeps of some rows of one binary problem."""

    count: Counts  # (G, 2): rows in each cell, without and with the event
    steps: Counts  # (G, 2): sums of what is left of their predictions, in steps of 1 / (2³⁰ G)
    square: float  # sum over all rows of what is left, in cells, squared
    impossible: int  # rows whose prediction was exactly 0 or 1, and wrong


class Adder:
    """Adds up rows of a binary problem that have been checked; its work arrays are used again."""

    def __init__(self, cells: int) -> None:
        self.cells = cells
        self.count = np.zeros(2 * cells, dtype=np.int64)
        self.steps = np.zeros(2 * cells, dtype=np.int64)
        self.square, self.impossible = 0.0, 0
        self._cell = np.empty(BLOCK, dtype=np.int32)
        self._rest = np.empty(BLOCK)
        self._place = np.empty(BLOCK, dtype=np.intp)

    def add(self, prob: FloatArray, label: IntArray) -> None:
        for start in range(0, len(prob), BLOCK):
            self._add_block(prob[start : start + BLOCK], label[start : start + BLOCK])

    def _add_block(self, prob: FloatArray, label: IntArray) -> None:
        n, places = len(prob), 2 * self.cells
        cell, rest, place = self._cell[:n], self._rest[:n], self._place[:n]
        _locate(prob, self.cells, cell, rest)
        self.square += float(rest @ rest)
        if prob.min() == 0 or prob.max() == 1:
            self.impossible += int(np.count_nonzero(prob == 1 - label.astype(np.int8)))
        # Events have every second place: one pass counts both kinds.
        np.multiply(cell, 2, out=cell)
        np.add(cell, label, out=place, casting="unsafe")
        self.count += np.bincount(place, minlength=places)
        # A block is short enough for these sums of whole steps to be exact in float64.
        part = np.bincount(place, weights=rest, minlength=places)
        self.steps += np.multiply(part, STEPS, out=part).astype(np.int64)

    def sums(self) -> Sums:
        """Return what was added up; the adder is not to be used any more."""
        count, steps = (part.reshape(self.cells, 2) for part in (self.count, self.steps))
        return Sums(count, steps, self.square, self.impossible)


def _locate(prob: FloatArray, cells: int, cell: NDArray[np.int32], rest: FloatVector) -> None:
    """Fill in the cell of each prediction and what is left of it, in cells and whole steps."""
    np.multiply(prob, cells, out=rest, dtype=np.float64)
    np.copyto(cell, rest, casting="unsafe")  # towards 0
    np.minimum(cell, cells - 1, out=cell)
    if prob.dtype.itemsize > 4:
        _move_to_edges(prob, cells, cell)
    rest += _ROUNDER
    rest -= _ROUNDER
    rest -= cell


def _move_to_edges(prob: FloatArray, cells: int, cell: NDArray[np.int32]) -> None:
    # The product p G of a float64 just below an edge may be rounded up to it, and the reverse; a
    # float32 has too few digits to come that close to an edge without being on it.
    edges = grid_edges(cells)
    cell -= prob < edges[cell]
    # The closed end of the last cell is not an edge to step over.
    cell += (prob >= edges[1:][cell]) & (cell < cells - 1)


def grid_edges(cells: int) -> FloatVector:
    """Return the ``G + 1`` edges of the cells."""
    return EqualWidth(cells).edges(np.empty(0))
