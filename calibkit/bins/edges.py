"""The partitions that look at predictions only: equal width, equal mass, distinct, fixed."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibkit.inputs import FloatArray, IntArray, as_array, as_choice, as_count
from calibkit.results import spell

Edges1D = NDArray[np.float64]
Assigned = NDArray[np.intp]
# From so many predictions on, and with so few edges, passes over the predictions beat a search.
_MANY, _FEW_EDGES = 4096, 64


class Binning(Protocol):
    """What a binning can do: find its edges for some predictions, and assign predictions."""

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> Edges1D:
        """Return the ``B + 1`` increasing edges, from 0 to 1."""

    def assign(self, prob: FloatArray, edges: Edges1D) -> Assigned:
        """Return the number of the bin, 0 to B - 1, for each prediction."""


Bins = Binning | int


def assign(prob: FloatArray, edges: Edges1D) -> Assigned:
    """Return the bin of each prediction, 0 to B - 1: ``[a, b)``, the last one closed.

    Parameters
    ----------
    prob, edges : ndarray
        Predictions in [0, 1], and B + 1 increasing edges from 0 to 1.

    Examples
    --------
    >>> assign(np.array([0.0, 0.3, 0.5, 1.0]), np.array([0.0, 0.3, 0.5, 1.0])).tolist()
    [0, 1, 2, 2]
    """
    inner = edges[1:-1]
    if not (len(inner) <= _FEW_EDGES and prob.ndim == 1 and len(prob) >= _MANY):
        return np.searchsorted(inner, prob, side="right")
    passed = np.zeros(len(prob), dtype=np.int8)  # as few comparisons as here beat a search
    for edge in inner:
        passed += (prob >= edge).view(np.int8)
    return passed.astype(np.intp)


def _order_statistics(prob: FloatArray, ranks: NDArray[np.intp]) -> FloatArray:
    """Return what stands at these places of the sorted predictions, without sorting them all."""
    if len(prob) < _MANY:
        return np.sort(prob)[ranks]
    cell = (prob * 4096).astype(np.uint16)  # never falls as predictions rise
    count = np.bincount(cell)
    before = np.cumsum(count) - count
    own = np.searchsorted(before + count, ranks, side="right")
    wanted = np.zeros(len(count), dtype=bool)
    wanted[own] = True
    # Of the predictions in cells that hold a wanted place, look at the same places as before.
    kept = np.where(wanted, count, 0)
    place = ranks - before[own] + (np.cumsum(kept) - kept)[own]
    return np.asarray(np.partition(prob[wanted[cell]], np.unique(place))[place])


class AssignedByEdges:
    """What most binnings share: predictions are assigned by their edges."""

    __slots__ = ()

    def assign(self, prob: FloatArray, edges: Edges1D) -> Assigned:
        """Return the bin of each prediction."""
        return assign(prob, edges)


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """`n_bins` bins of the same width. Taught in lesson 04.

    The edges are the numbers ``k / B`` themselves: .3 is in the bin that starts
    at .3, which ``numpy.linspace`` and multiplication by ``0.1`` get wrong.

    Parameters
    ----------
    n_bins : int

    Examples
    --------
    >>> EqualWidth(4).edges(np.array([0.5])).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    n_bins: int = 15

    def __post_init__(self) -> None:
        as_count(self.n_bins, "n_bins")

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> Edges1D:
        """Return the edges; they do not depend on the data."""
        return _equal_width_edges(self.n_bins).copy()

    def assign(self, prob: FloatArray, edges: Edges1D) -> Assigned:
        """Return the bin of each prediction."""
        if not _product_rule_is_exact(self.n_bins):
            return assign(prob, edges)
        index = np.multiply(prob, self.n_bins, dtype=np.float64).astype(np.intp)
        return np.minimum(index, self.n_bins - 1, out=index)

    def __str__(self) -> str:
        return spell(self.n_bins, "equal-width bin")


@lru_cache(maxsize=256)
def _equal_width(n_bins: int) -> EqualWidth:
    return EqualWidth(as_count(n_bins, "bins"))


@lru_cache(maxsize=256)
def _equal_width_edges(n_bins: int) -> Edges1D:
    return np.arange(n_bins + 1) / n_bins


@lru_cache(maxsize=256)
def _product_rule_is_exact(n_bins: int) -> bool:
    """Tell whether ``floor(p * B)`` puts every float into the bin that the edges say.

    ``p * B`` in floating point never decreases with p, so it suffices to look at each edge and
    at the float just below it. On a million rows the product is six times faster than a search:
    `tools/bench.py` promises a ratio that a search would miss.
    """
    edges = _equal_width_edges(n_bins)[1:-1]
    at_edge = np.floor(edges * n_bins)
    below = np.floor(np.nextafter(edges, 0.0) * n_bins)
    wanted = np.arange(1, n_bins)
    return bool(np.array_equal(at_edge, wanted) and np.array_equal(below, wanted - 1))


@dataclass(frozen=True, slots=True)
class EqualMass(AssignedByEdges):
    """`n_bins` bins with (almost) the same number of predictions in each. Taught in lesson 04.

    Equal predictions stay together, in the bin above the edge.

    Parameters
    ----------
    n_bins : int
        Wanted; with many ties, or fewer predictions than bins, there are fewer.
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

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> Edges1D:
        """Return the edges for these predictions."""
        if self.rule == "quantile":
            inner = np.quantile(prob.astype(np.float64), np.arange(1, self.n_bins) / self.n_bins)
        else:
            inner = self._between_runs(prob)
        inner = np.unique(inner)
        # An edge at the smallest prediction would open an empty bin, one at 1 a bin of width 0.
        inner = inner[(inner > prob.min()) & (inner < 1)]
        return np.concatenate(([0.0], inner, [1.0]))

    def _between_runs(self, prob: FloatArray) -> Edges1D:
        cuts = run_ends(len(prob), self.n_bins)[1:-1]
        beside = np.concatenate([cuts - 1, cuts])
        left, right = _order_statistics(prob, beside).astype(np.float64).reshape(2, -1)
        if self.rule == "first":
            return right
        # A cut inside a tie moves below it; it is dropped where another cut is there already.
        apart = left < right
        middle = np.where(apart, between(left, right), left)
        return middle[apart | ~np.isin(left, right[apart])]

    def __str__(self) -> str:
        rule = "" if self.rule == "midpoint" else f" ({self.rule} edges)"
        return f"{spell(self.n_bins, 'equal-mass bin')}{rule}"


def run_ends(n: int, n_bins: ArrayLike, run: ArrayLike | None = None) -> NDArray[np.intp]:
    """Return where runs of `n` sorted predictions end whose sizes differ by at most one.

    This is the one rule for equal-mass cuts: the larger runs come first, and there are no more
    runs than predictions. Without `run` it gives all ends from 0 to n; `run` asks for the end
    of that many runs only, with one `n_bins` for each if that is an array.

    >>> run_ends(10, 4).tolist(), run_ends(10, [4, 5], [1, 1]).tolist()
    ([0, 3, 6, 8, 10], [3, 2])
    """
    number = np.minimum(n_bins, n)
    before = np.arange(int(number) + 1) if run is None else np.asarray(run)
    size, extra = np.divmod(n, number)
    return np.asarray(before * size + np.minimum(before, extra), dtype=np.intp)


def between(left: Edges1D, right: Edges1D) -> Edges1D:
    """Return an edge half-way between two floats: `right` where the middle rounds to `left`."""
    middle = (left + right) / 2
    return np.where(middle <= left, right, middle)


@dataclass(frozen=True, slots=True)
class Distinct(AssignedByEdges):
    """One bin per distinct prediction, with edges half-way between neighbours.

    The natural choice for a few round numbers, and for models with finitely many outputs, where
    the binned error is exact (lesson 01; Kumar et al. 2019, section 4).

    Examples
    --------
    >>> Distinct().edges(np.array([0.1, 0.1, 0.4, 0.9])).tolist()
    [0.0, 0.25, 0.65, 1.0]
    """

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> Edges1D:
        """Return the edges for these predictions."""
        values = np.unique(prob).astype(np.float64)
        return np.concatenate(([0.0], between(values[:-1], values[1:]), [1.0]))

    def __str__(self) -> str:
        return "one bin per distinct prediction"


@dataclass(frozen=True, slots=True)
class FixedEdges(AssignedByEdges):
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

    def edges(self, prob: FloatArray, label: IntArray | None = None) -> Edges1D:
        """Return the given edges."""
        return np.array(self.values)

    def __str__(self) -> str:
        return f"{spell(len(self.values) - 1, 'bin')} with given edges"


def as_bins(bins: Bins) -> Binning:
    """Return a binning: an ``int`` means that many equal-width bins.

    Parameters
    ----------
    bins : int or binning
        An object with ``edges`` and ``assign``; anything else is refused.

    Examples
    --------
    >>> str(as_bins(10))
    '10 equal-width bins'
    """
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        return _equal_width(bins)
    if hasattr(bins, "edges") and hasattr(bins, "assign") and not isinstance(bins, type):
        return bins
    raise ValueError(
        f"bins must be a number of bins or a binning such as EqualMass(15), got {bins!r}."
    )
