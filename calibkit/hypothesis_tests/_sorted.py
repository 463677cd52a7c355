"""Sorted predictions with the bounds of their bins: what the test-based error works on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Binning
from calibkit.bins import assign, edges_between
from calibkit.chance.redraws import uses_labels
from calibkit.inputs import BinaryProblem, FloatVector, IntArray, IntVector
from calibkit.reliability import BinTable


class SortedProblem:
    """Predictions (float64) and events, sorted by `order`, ready to be cut into bins."""

    def __init__(self, problem: BinaryProblem, binning: Binning) -> None:
        prob = problem.prob
        self.view, self.binning = problem.view, binning
        order = getattr(binning, "order", np.argsort)  # where that of equal predictions matters
        self.order: IntVector = order(prob)
        self.prob = prob[self.order].astype(np.float64)
        self.label = problem.label[self.order]
        # Bins that ignore the labels are cut once.
        self._fixed: tuple[FloatVector, IntVector] | None = None
        if not uses_labels(binning):
            edges = binning.edges(prob, problem.label)
            self._fixed = edges, self._bounds(edges)

    def cut(self, label: IntArray) -> IntVector:
        """Return the bounds of the bins for labels in sorted order, B + 1 numbers."""
        if self._fixed is not None:
            return self._fixed[1]
        if hasattr(self.binning, "bounds"):
            return np.asarray(self.binning.bounds(self.prob, label), dtype=np.intp)
        return self._bounds(self.binning.edges(self.prob, label))

    def _bounds(self, edges: FloatVector) -> IntVector:
        index = assign(self.prob, edges)
        if (np.diff(index) < 0).any():
            raise ValueError(f"{self.binning} must number bins from low to high predictions.")
        return np.searchsorted(index, np.arange(len(edges)))

    def table(self, bounds: IntVector) -> BinTable:
        if self._fixed is not None:
            edges = self._fixed[0]
        elif hasattr(self.binning, "bounds"):
            edges = edges_between(self.prob, bounds)
        else:
            edges = self.binning.edges(self.prob, self.label)
        weighted = np.bincount(owners(bounds), weights=self.prob, minlength=len(bounds) - 1)
        count, hits = np.diff(bounds), hits_of(self.label, bounds)
        with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: the mark of an empty bin
            mean_prob, frequency = weighted / count, hits / count
        return BinTable(
            edges=edges,
            count=count,
            mean_prob=mean_prob,
            frequency=frequency,
            view=self.view,
            bins=str(self.binning),
            binning=self.binning,
        )

    def as_given(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of the sorted predictions in the order the rows were given."""
        back = np.empty_like(values)
        back[self.order] = values
        return back


def owners(bounds: IntVector) -> IntVector:
    """Return the bin of each sorted prediction."""
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.intp), np.diff(bounds))


def hits_of(label: NDArray[Any], bounds: IntVector) -> NDArray[np.int64]:
    """Return the number of events in each bin of sorted labels."""
    cumulated = np.concatenate(([0], np.cumsum(label, dtype=np.int64)))
    return np.asarray(np.diff(cumulated[bounds]))
