"""Sorted predictions with the bounds of their bins: what tests and general losses work on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._result import read_only
from calibkit._validation import IntArray
from calibkit.bins import Binning
from calibkit.bins.pava import edges_between
from calibkit.reliability import BinTable
from calibkit.significance._binned import uses_labels
from calibkit.views import BinaryProblem

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The predictions of a problem, sorted, ready to be cut into bins for any labels.

    Parameters
    ----------
    problem : BinaryProblem
        Predictions and events in the order they were given.
    binning : Binning
        Cuts them.
    order : ndarray of int, shape (n,)
        Sorts the predictions.
    prob : ndarray of shape (n,)
        The sorted predictions in float64.
    edges : ndarray or None
        Edges of the bins if they do not depend on labels.
    fixed : ndarray of int or None
        Bounds of the bins in `prob`, likewise.
    """

    problem: BinaryProblem
    binning: Binning
    order: NDArray[np.intp]
    prob: FloatVector
    edges: FloatVector | None
    fixed: IntVector | None

    @property
    def label(self) -> IntArray:
        """The events in the order of `prob`."""
        return self.problem.label[self.order]

    def cut(self, label: IntArray) -> IntVector:
        """Return the bounds of the bins for labels in sorted order, B + 1 numbers."""
        if self.fixed is not None:
            return self.fixed
        if hasattr(self.binning, "bounds"):
            return np.asarray(self.binning.bounds(self.prob, label))
        return _bounds(self.binning, self.prob, self.binning.edges(self.prob, label))

    def table(self, label: IntArray, bounds: IntVector) -> BinTable:
        """Return the bin table of these labels."""
        if self.edges is not None:
            edges = self.edges
        elif hasattr(self.binning, "bounds"):
            edges = edges_between(self.prob, bounds)
        else:
            edges = self.binning.edges(self.prob, label)
        count = np.diff(bounds)
        owner = np.repeat(np.arange(len(count)), count)
        total = np.bincount(owner, weights=self.prob, minlength=len(count))
        with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: the mark of an empty bin
            mean_prob, frequency = total / count, hits_of(label, bounds) / count
        return BinTable(
            edges=read_only(edges),
            count=read_only(count.astype(np.intp)),
            mean_prob=read_only(mean_prob),
            frequency=read_only(frequency),
            view=self.problem.view,
            bins=str(self.binning),
            binning=self.binning,
        )

    def as_given(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of the sorted predictions in the order the rows were given."""
        back = np.empty_like(values)
        back[self.order] = values
        return back


def group(problem: BinaryProblem, binning: Binning) -> Groups:
    """Sort the predictions of a problem and cut them if that needs no labels."""
    prob = problem.prob
    order = binning.order(prob) if hasattr(binning, "order") else np.argsort(prob)
    ordered = prob[order].astype(np.float64)
    edges = fixed = None
    if not uses_labels(binning):
        edges = binning.edges(prob, problem.label)
        fixed = _bounds(binning, ordered, edges)
    return Groups(
        problem=problem, binning=binning, order=order, prob=ordered, edges=edges, fixed=fixed
    )


def _bounds(binning: Binning, ordered: FloatVector, edges: FloatVector) -> IntVector:
    index = binning.assign(ordered, edges)
    if (np.diff(index) < 0).any():
        raise ValueError(f"{binning} must number bins from low to high predictions.")
    return np.searchsorted(index, np.arange(len(edges))).astype(np.int64)


def hits_of(label: IntArray, bounds: IntVector) -> IntVector:
    """Return the number of events in each bin of sorted labels.

    >>> hits_of(np.array([1, 0, 1, 1]), np.array([0, 2, 2, 4])).tolist()
    [1, 0, 2]
    """
    cumulated = np.concatenate(([0], np.cumsum(label, dtype=np.int64)))
    return np.asarray(np.diff(cumulated[bounds]))
