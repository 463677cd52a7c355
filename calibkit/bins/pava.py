"""Bins that follow the labels: PAVA, and PAVA with bounds on the size of a bin.

PAVA (pool adjacent violators) cuts the sorted predictions into the blocks of isotonic regression:
neighbours are pooled until the event frequency of the blocks increases. Lessons 06 and 08.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit.bins.edges import AssignedByEdges, Edges1D, between
from calibkit.bins.merging import Counts, merge
from calibkit.inputs import FloatArray, IntArray, as_count
from calibkit.results import spell

Bounds = NDArray[np.intp]

_ROUNDING = 1e-12  # of sums of weights that are no whole numbers


class _Blocks(AssignedByEdges):
    """What both binnings share: sorting, and edges between blocks."""

    __slots__ = ()
    uses_labels: ClassVar[bool] = True

    def bounds(self, prob: FloatArray, label: IntArray) -> Bounds:
        """Return where blocks begin and end in predictions that are sorted already."""
        raise NotImplementedError

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> Edges1D:
        """Return the edges: 0, the middles between neighbouring blocks, 1."""
        if label is None:
            raise ValueError(f"{self} need labels, which a cut of predictions alone has not.")
        order = np.argsort(prob)
        ordered = prob[order]
        return edges_between(ordered, self.bounds(ordered, label[order]))


@dataclass(frozen=True, slots=True)
class Pava(_Blocks):
    """The blocks of isotonic regression: frequencies increase strictly from bin to bin.

    The blocks minimise ``sum_b (n_b / n) var_b`` of the labels among all cuts with increasing
    frequencies (Matsubara et al. 2023, Proposition 1). Labels are needed, so the bins of a
    redraw differ. Time O(n) after sorting. Taught in lesson 08.

    Equal predictions are pooled first, so that the order of the rows cannot matter.

    Examples
    --------
    >>> Pava().edges(np.array([0.1, 0.2, 0.6, 0.8]), np.array([0, 1, 0, 1])).round(3).tolist()
    [0.0, 0.15, 0.7, 1.0]
    """

    def bounds(self, prob: FloatArray, label: IntArray) -> Bounds:
        """Return where blocks begin and end in predictions that are sorted already."""
        hits, counts = _before(prob, label)
        return np.append(counts[isotonic_blocks(np.diff(hits), np.diff(counts))], len(prob))

    def __str__(self) -> str:
        return "PAVA bins"


@dataclass(frozen=True, slots=True)
class PavaBC(_Blocks):
    """PAVA blocks with bounds on their size (PAVA with block constraints).

    Parameters
    ----------
    n_min, n_max : int, optional
        Smallest and largest number of predictions in a bin; ``n // 20`` and ``n // 5`` if not
        given (for fewer than 20 predictions there is no smallest size).

    Notes
    -----
    Matsubara et al. (2023), Algorithm 2. Predictions join one by one; the last two blocks merge
    while the earlier is smaller than `n_min`, or while its frequency is not below that of the
    later and both together fit into `n_max`. The last `n_min` predictions never steer the pooling:
    they join the last block if the bound allows it, and are a bin of their own otherwise. With
    ``n_max >= 2 n_min`` and n of at least `n_min`, each bin holds from `n_min` to `n_max`
    predictions, or with ties of up to t, which are never split, up to
    ``max(n_max, t, 2 n_min - 2 + t)``. With a smaller `n_max`, the block before the tail may fall
    short of `n_min`. Frequencies need not increase, because `n_max` can forbid a merger. Time O(n)
    after sorting. Taught in lesson 08.

    Examples
    --------
    >>> bins = PavaBC(n_min=2, n_max=4)
    >>> bins.bounds(np.linspace(0.05, 0.95, 10), np.array([0, 0, 1, 0, 0, 1, 1, 1, 1, 1])).tolist()
    [0, 2, 5, 8, 10]
    """

    n_min: int | None = None
    n_max: int | None = None

    def __post_init__(self) -> None:
        if self.n_min is not None:
            as_count(self.n_min, "n_min", minimum=0)
        if self.n_max is not None:
            as_count(self.n_max, "n_max")
        if self.n_min is not None and self.n_max is not None and self.n_min > self.n_max:
            raise ValueError(f"n_min = {self.n_min} is larger than n_max = {self.n_max}.")

    def sizes(self, n: int) -> tuple[int, int]:
        """Return the smallest and the largest size for `n` predictions."""
        n_min = n // 20 if self.n_min is None else int(self.n_min)
        n_max = max(1, n // 5) if self.n_max is None else int(self.n_max)
        if n_min > n_max:
            raise ValueError(
                f"n_min = {n_min} is larger than n_max = {n_max} (for {spell(n, 'prediction')}: "
                "n // 20 and n // 5 where not given). Give both."
            )
        return n_min, n_max

    def bounds(self, prob: FloatArray, label: IntArray) -> Bounds:
        """Return where blocks begin and end in predictions that are sorted already."""
        n_min, n_max = self.sizes(len(prob))
        hits, counts = _before(prob, label)
        body = int(np.searchsorted(counts, max(0, len(prob) - n_min), side="right"))
        sizes = merge(hits[:body], counts[:body], n_min, n_max)
        tail = len(prob) - int(counts[body - 1])
        # The second case arises from ties only: the smallest size outranks the largest.
        if sizes and (sizes[-1] + tail <= n_max or (2 * n_min <= n_max and sizes[-1] < n_min)):
            sizes[-1] += tail
        elif tail:
            sizes.append(tail)
        return np.concatenate(([0], np.cumsum(sizes, dtype=np.intp)))

    def __str__(self) -> str:
        low = "n // 20" if self.n_min is None else f"{self.n_min}"
        high = "n // 5" if self.n_max is None else f"{self.n_max}"
        return f"PAVA-BC bins of {low} to {high} predictions"


def isotonic_blocks(hits: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first item of each block of isotonic regression, from events and counts in order.

    Both may be sums of weights.

    >>> isotonic_blocks(np.array([0, 1, 0, 1]), np.array([1, 1, 1, 1])).tolist()
    [0, 1, 3]
    """
    from scipy.optimize import isotonic_regression  # slow to import, and rarely needed

    blocks = isotonic_regression(hits / counts, weights=counts).blocks
    starts: NDArray[np.intp] = blocks[:-1].astype(np.intp)
    slack: float = 1
    if all(np.array_equal(sums, np.rint(sums)) for sums in (hits, counts)):
        hits, counts = hits.astype(np.int64), counts.astype(np.int64)
    else:
        slack += _ROUNDING
    while True:
        # Rounding can leave neighbours apart whose frequencies are equal: compare whole numbers.
        y, w = np.add.reduceat(hits, starts), np.add.reduceat(counts, starts)
        rises = y[1:] * w[:-1] > y[:-1] * w[1:] * slack
        if rises.all():
            return starts
        starts = starts[np.concatenate(([True], rises))]


def _before(prob: FloatArray, label: IntArray) -> tuple[Counts, Counts]:
    """Return events and predictions before each distinct value, and in total."""
    places = np.flatnonzero(np.concatenate(([True], prob[1:] != prob[:-1], [True])))
    return np.concatenate(([0], np.cumsum(label, dtype=np.int64)))[places], places


def edges_between(ordered: FloatArray, bounds: Bounds) -> Edges1D:
    """Return edges from 0 to 1 half-way between the blocks of sorted predictions."""
    cuts = bounds[1:-1]
    left, right = ordered[cuts - 1].astype(np.float64), ordered[cuts].astype(np.float64)
    return np.concatenate(([0.0], between(left, right), [1.0]))
