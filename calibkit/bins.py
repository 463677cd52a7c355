"""Partitions of [0, 1]: where the edges are and into which bin a prediction falls.

One rule holds in every function: bins are closed on the left and open on the right, ``[a, b)``,
and the last one is closed, so that 0 and 1 always have a home. What is an edge up to the precision
of its type (``np.float32(0.7)``, ``0.7 + 0.1``) belongs to the bin above; not so at edges that are
made from the predictions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import (
    FloatArray,
    FloatVector,
    IntArray,
    IntVector,
    as_array,
    as_choice,
    as_count,
)
from calibkit.results import spell

__all__ = ["Distinct", "EqualMass", "EqualWidth", "FixedEdges", "Pava", "PavaBC"]

_ROUNDING = 1e-12  # of sums of weights that are no whole numbers


class Binning(Protocol):
    """What a binning can do: find its edges for some predictions."""

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> FloatVector:
        """Return the ``B + 1`` increasing edges, from 0 to 1."""


Bins = Binning | int | Sequence[float]


def as_bins(bins: Bins) -> Binning:
    """Return a binning: an ``int`` means that many equal-width bins, a list its edges."""
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        return EqualWidth(as_count(bins, "bins"))
    if isinstance(bins, list | tuple | np.ndarray):
        return FixedEdges(bins)
    if hasattr(bins, "edges") and not isinstance(bins, type):
        return bins
    wanted = "a number of bins, a list of edges from 0 to 1, or a binning such as EqualMass(15)"
    raise ValueError(f"bins must be {wanted}, got {bins!r}.")


def assign(prob: FloatArray, edges: FloatVector, slack: float = 0.0) -> IntVector:
    """Return the bin of each prediction, 0 to B - 1: ``[a, b)``, the last one closed.

    A prediction below an inner edge by no more than `slack` is on it.

    >>> assign(np.array([0.0, 0.3, 0.5, 1.0]), np.array([0.0, 0.3, 0.5, 1.0])).tolist()
    [0, 1, 2, 2]
    """
    inner = edges[1:-1] - slack
    if len(prob) < 4_000 or len(inner) > 100:
        return np.searchsorted(inner, prob, side="right")
    # To compare many rows with each of a few edges takes a ninth of the time of a search.
    passed = np.zeros(len(prob), dtype=np.uint8)
    for k in range(len(inner)):  # as arrays of one: older versions of NumPy round single numbers
        passed += prob >= inner[k : k + 1]
    return passed.astype(np.intp)


def bounds_of_bins(ordered: FloatArray, edges: FloatVector, slack: float = 0.0) -> IntVector:
    """Return where each bin begins in sorted predictions, and where the last one ends."""
    return np.concatenate(([0], np.searchsorted(ordered, edges[1:-1] - slack), [len(ordered)]))


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """`n_bins` bins of the same width.

    The edges are the numbers ``k / B`` themselves: .3 is in the bin that starts at .3, which
    ``numpy.linspace`` and multiplication by ``0.1`` get wrong. Lesson 04.

    Parameters
    ----------
    n_bins : int

    Examples
    --------
    >>> EqualWidth(4).edges(np.array([0.5])).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    tolerance: ClassVar[float] = 1.0  # at edges, in units of the rounding of predictions
    n_bins: int = 15

    def __post_init__(self) -> None:
        if type(self.n_bins) is not int or self.n_bins < 1:
            as_count(self.n_bins, "n_bins")

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> FloatVector:
        """Return the edges; they do not depend on the data."""
        return np.arange(self.n_bins + 1) / self.n_bins

    def __str__(self) -> str:
        return f"{self.n_bins:,} equal-width bin{'' if self.n_bins == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class EqualMass:
    """`n_bins` bins with (almost) the same number of predictions in each.

    Equal predictions stay together, in the bin above the edge. Lesson 04.

    Parameters
    ----------
    n_bins : int
        Wanted; many ties make fewer, and so do fewer predictions, except for quantiles.
    rule : {"midpoint", "first", "quantile"}
        ``"midpoint"``: sort, cut into B runs whose sizes differ by at most one, put the edge
        half-way between neighbours (Kumar et al. 2019). ``"first"``: the same runs, with the
        edge at the first prediction of the upper one (program of Kängsepp et al. 2022).
        ``"quantile"``: the edges are ``numpy.quantile(p, k / B)``.

    Examples
    --------
    >>> EqualMass(2).edges(np.array([0.1, 0.2, 0.4, 0.9])).round(3).tolist()
    [0.0, 0.3, 1.0]
    """

    n_bins: int = 15
    rule: str = "midpoint"

    def __post_init__(self) -> None:
        as_count(self.n_bins, "n_bins")
        as_choice(self.rule, "rule", ("first", "midpoint", "quantile"))

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> FloatVector:
        """Return the edges for these predictions."""
        if self.rule == "quantile":
            inner = np.quantile(prob.astype(np.float64), np.arange(1, self.n_bins) / self.n_bins)
        else:
            ordered = np.sort(prob).astype(np.float64)
            cuts = run_ends(len(prob), self.n_bins)[1:-1]
            left, right = ordered[cuts - 1], ordered[cuts]
            # A cut inside a tie moves below it; it is dropped where another cut is there already.
            apart = left < right
            kept = apart | ~np.isin(left, right[apart])
            inner = np.where(apart, between(left, right), left)[kept]
            inner = right if self.rule == "first" else inner
        inner = np.unique(inner)
        # An edge at the smallest prediction would open an empty bin, one at 1 a bin of width 0.
        inner = inner[(inner > prob.min()) & (inner < 1)]
        return np.concatenate(([0.0], inner, [1.0]))

    def __str__(self) -> str:
        rule = "" if self.rule == "midpoint" else f" ({self.rule} edges)"
        return f"{spell(self.n_bins, 'equal-mass bin')}{rule}"


def run_ends(n: int, n_bins: int) -> IntVector:
    """Return where runs of `n` sorted predictions end whose sizes differ by at most one.

    The larger runs come first, and there are no more runs than predictions.

    >>> run_ends(10, 4).tolist()
    [0, 3, 6, 8, 10]
    """
    number = min(n_bins, n)
    size, extra = divmod(n, number)
    before = np.arange(number + 1)
    return np.asarray(before * size + np.minimum(before, extra), dtype=np.intp)


def between(left: FloatVector, right: FloatVector) -> FloatVector:
    """Return an edge half-way between two floats: `right` where the middle rounds to `left`."""
    middle = (left + right) / 2
    return np.where(middle <= left, right, middle)


@dataclass(frozen=True, slots=True)
class Distinct:
    """One bin per distinct prediction, with edges half-way between neighbours.

    The natural choice for a few round numbers, and for models with finitely many outputs, where
    the binned error is exact (Kumar et al. 2019, section 4). Lesson 01.

    Examples
    --------
    >>> Distinct().edges(np.array([0.1, 0.1, 0.4, 0.9])).tolist()
    [0.0, 0.25, 0.65, 1.0]
    """

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> FloatVector:
        """Return the edges for these predictions."""
        values = np.unique(prob).astype(np.float64)
        return np.concatenate(([0.0], between(values[:-1], values[1:]), [1.0]))

    def __str__(self) -> str:
        return "one bin per distinct prediction"


@dataclass(frozen=True, slots=True)
class FixedEdges:
    """Bins with edges of your own.

    Parameters
    ----------
    values : sequence of float
        Strictly increasing, from 0 to 1.

    Examples
    --------
    >>> str(FixedEdges([0, 0.2, 0.5, 1]))
    '3 bins with given edges'
    """

    values: Any

    def __post_init__(self) -> None:
        edges = as_array(self.values, "values").astype(np.float64)
        if edges.ndim != 1 or len(edges) < 2 or edges[0] != 0 or edges[-1] != 1:
            raise ValueError("Edges must be a list that starts at 0 and ends at 1.")
        for place, (low, high) in enumerate(pairwise(edges)):
            if not low < high:
                raise ValueError(
                    f"Edges must increase, but edge {place} is {low:g} and edge {place + 1} is "
                    f"{high:g}."
                )
        object.__setattr__(self, "values", tuple(edges.tolist()))

    @property
    def tolerance(self) -> float:
        """As in `EqualWidth`, and less for edges near 0, which may lie close together."""
        return float(min(1, 100 * self.values[1]))

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> FloatVector:
        """Return the given edges."""
        return np.array(self.values)

    def __str__(self) -> str:
        return f"{spell(len(self.values) - 1, 'bin')} with given edges"


class _Blocks:
    """Bins that follow the labels: sorting, and edges between blocks."""

    __slots__ = ()
    uses_labels: ClassVar[bool] = True

    def bounds(self, prob: FloatArray, label: IntArray) -> IntVector:
        """Return where blocks begin and end in predictions that are sorted already."""
        raise NotImplementedError

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> FloatVector:
        """Return the edges: 0, the middles between neighbouring blocks, 1."""
        if label is None:
            raise ValueError(f"{self} need labels, which a cut of predictions alone has not.")
        order = np.argsort(prob)
        return edges_between(prob[order], self.bounds(prob[order], label[order]))


def edges_between(ordered: FloatArray, bounds: IntVector) -> FloatVector:
    """Return edges from 0 to 1 half-way between the blocks of sorted predictions."""
    cuts = bounds[1:-1]
    left, right = ordered[cuts - 1].astype(np.float64), ordered[cuts].astype(np.float64)
    return np.concatenate(([0.0], between(left, right), [1.0]))


@dataclass(frozen=True, slots=True)
class Pava(_Blocks):
    """The blocks of isotonic regression: frequencies increase strictly from bin to bin.

    Neighbours are pooled until they do (pool adjacent violators). The blocks minimise
    ``sum_b (n_b / n) var_b`` of the labels among all cuts with increasing frequencies (Matsubara
    et al. 2023, Proposition 1). Labels are needed, so the bins of a redraw differ. Equal
    predictions are pooled first, so that the order of the rows cannot matter. Lesson 08.

    Examples
    --------
    >>> Pava().edges(np.array([0.1, 0.2, 0.6, 0.8]), np.array([0, 1, 0, 1])).round(3).tolist()
    [0.0, 0.15, 0.7, 1.0]
    """

    def bounds(self, prob: FloatArray, label: IntArray) -> IntVector:
        """Return where blocks begin and end in predictions that are sorted already."""
        starts, hits, counts = _pooled(prob, label)
        return np.append(starts[isotonic_blocks(hits, counts)], len(prob))

    def __str__(self) -> str:
        return "PAVA bins"


@dataclass(frozen=True, slots=True)
class PavaBC(_Blocks):
    """PAVA blocks with bounds on their size (PAVA with block constraints).

    Predictions join one by one; the last two blocks merge while the earlier is smaller than
    `n_min`, or while its frequency is not below that of the later and both together fit into
    `n_max`. The last `n_min` predictions never steer the pooling: they join the last block if the
    bound allows it, and are a bin of their own otherwise (Matsubara et al. 2023, Algorithm 2).
    With ``n_max >= 2 n_min`` and n of at least `n_min`, each bin holds from `n_min` to `n_max`
    predictions, or with ties of up to t, which are never split, up to
    ``max(n_max, t, 2 n_min - 2 + t)``. Frequencies need not increase. Lesson 08.

    Parameters
    ----------
    n_min, n_max : int, optional
        Smallest and largest number of predictions in a bin; ``n // 20`` and ``n // 5`` if not
        given (for fewer than 20 predictions there is no smallest size).

    Examples
    --------
    >>> bins = PavaBC(n_min=2, n_max=4)
    >>> bins.bounds(np.linspace(0.05, 0.95, 10), np.array([0, 0, 1, 0, 0, 1, 1, 1, 1, 1])).tolist()
    [0, 2, 5, 8, 10]
    """

    n_min: int | None = None
    n_max: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("n_min", 0), ("n_max", 1)):
            if getattr(self, name) is not None:
                as_count(getattr(self, name), name, least)
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

    def bounds(self, prob: FloatArray, label: IntArray) -> IntVector:
        """Return where blocks begin and end in predictions that are sorted already."""
        n_min, n_max = self.sizes(len(prob))
        _, hits, counts = _pooled(prob, label)
        body = np.searchsorted(np.cumsum(counts), max(0, len(prob) - n_min), side="right")
        rows = zip(hits[:body].tolist(), counts[:body].tolist(), strict=True)
        events, size = next(rows, (0, 0))  # of the last block, which grows
        blocks: list[tuple[int, int]] = []  # those before `last`: none of them is small
        last, last_size = 0, n_max  # the block before; here one that nothing joins
        for y, w in rows:
            if size >= n_min and (size + w > n_max or events * w < y * size):
                blocks.append((last, last_size))
                last, last_size = events, size
                events = size = 0
            events, size = events + y, size + w
            while last_size + size <= n_max and last * size >= events * last_size:
                events, size = events + last, size + last_size
                last, last_size = blocks.pop()
        blocks += [(last, last_size), (events, size)]
        sizes = [w for _, w in blocks[1:] if w]
        tail = len(prob) - sum(sizes)
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


def isotonic_blocks(hits: NDArray[Any], counts: NDArray[Any]) -> IntVector:
    """Return the first item of each isotonic block, from events and counts (or weights) in order.

    >>> isotonic_blocks(np.array([0, 1, 0, 1]), np.array([1, 1, 1, 1])).tolist()
    [0, 1, 3]
    """
    from scipy.optimize import isotonic_regression  # slow to import, and rarely needed

    starts = isotonic_regression(hits / counts, weights=counts).blocks[:-1].astype(np.intp)
    whole = all(np.array_equal(sums, np.rint(sums)) for sums in (hits, counts))
    slack = 1 + _ROUNDING
    if whole and counts.sum() < 2**31:  # products of larger sums need more than 64 bits
        hits, counts, slack = hits.astype(np.int64), counts.astype(np.int64), 1
    while True:
        # Rounding can leave neighbours apart whose frequencies are equal: compare whole numbers.
        y, w = np.add.reduceat(hits, starts), np.add.reduceat(counts, starts)
        rises = y[1:] * w[:-1] > y[:-1] * w[1:] * slack
        if rises.all():
            return np.asarray(starts)
        starts = starts[np.concatenate(([True], rises))]


def _pooled(prob: FloatArray, label: IntArray) -> tuple[IntVector, IntVector, IntVector]:
    """Return, of each distinct value of sorted predictions, its first place, events and count."""
    starts = np.flatnonzero(np.concatenate(([True], prob[1:] != prob[:-1])))
    return starts, np.add.reduceat(label, starts, dtype=np.intp), np.diff(starts, append=len(prob))
