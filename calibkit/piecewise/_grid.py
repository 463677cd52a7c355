"""Predictions and labels as counts per distinct prediction, for several problems at once.

A fit of ten folds is ten problems on the same predictions: only the counts differ. Keeping them
side by side lets one NumPy call serve all of them.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FloatVector = NDArray[np.float64]
FloatTable = NDArray[np.float64]
IntVector = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Counts of both outcomes at each of m increasing places, for F problems.

    Parameters
    ----------
    x : ndarray of shape (m,)
        Places: predictions or their logits.
    hits, misses : ndarray of shape (F, m)
        How many labels were 1, and how many 0.
    """

    x: FloatVector
    hits: FloatTable
    misses: FloatTable

    n: FloatVector = field(init=False)  # number of predictions of each problem, shape (F,)
    rank: FloatVector = field(init=False)  # share of all predictions up to each place, (m,)

    def __post_init__(self) -> None:
        mass = self.hits + self.misses
        total = np.cumsum(mass.sum(axis=0))
        object.__setattr__(self, "n", mass.sum(axis=1))
        object.__setattr__(self, "rank", (total - mass.sum(axis=0) / 2) / total[-1])

    @property
    def n_problems(self) -> int:
        """Number of problems."""
        return len(self.hits)


def grid_of(x: FloatVector, label: FloatVector, most: int | None = None) -> Grid:
    """Return the grid of one problem; `x` is sorted.

    `most` limits the number of places: neighbours are then joined at their mean.
    """
    return _grid(x, label, np.zeros(len(x), dtype=np.intp), 1, most)


def training_grids(
    x: FloatVector, label: FloatVector, fold: IntVector, n_folds: int, most: int | None = None
) -> Grid:
    """Return one problem per fold: everything but that fold."""
    held_out = _grid(x, label, fold, n_folds, most)
    return Grid(
        held_out.x,
        held_out.hits.sum(axis=0) - held_out.hits,
        held_out.misses.sum(axis=0) - held_out.misses,
    )


def _grid(
    x: FloatVector, label: FloatVector, problem: IntVector, n_problems: int, most: int | None
) -> Grid:
    place = _places(x, most)
    m = int(place[-1]) + 1
    at = problem * m + place
    count = np.bincount(place, minlength=m)
    first = x[np.searchsorted(place, np.arange(m))]
    # Deviations from the first value keep ties exact: their mean is the value itself.
    centre = first + np.bincount(place, x - first[place], m) / count
    hits, misses = (
        np.bincount(at, outcome, n_problems * m).reshape(n_problems, m)
        for outcome in (label, 1 - label)
    )
    return Grid(centre, hits.astype(np.float64), misses.astype(np.float64))


def _places(x: FloatVector, most: int | None) -> IntVector:
    """Return a number for each value.

    Distinct values of sorted `x` get their own number; more than `most` share runs of about
    equal mass.
    """
    new = np.concatenate(([False], np.diff(x) > 0))
    if most is not None and new.sum() >= most:
        run = np.arange(len(x)) * most // len(x)
        # A tie goes where its first member went.
        run = run[np.maximum.accumulate(np.where(new, np.arange(len(x)), 0))]
        new = np.concatenate(([False], np.diff(run) > 0))
    return np.cumsum(new)
