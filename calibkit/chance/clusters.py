"""Which rows belong together."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from calibkit.inputs import FloatMatrix, IntVector, one_per_row


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Which rows belong together: `code` (n,) counts clusters from 0; `count` of them."""

    code: IntVector
    count: int

    @property
    def size(self) -> IntVector:
        """Rows of each cluster."""
        return np.bincount(self.code, minlength=self.count)

    def take(self, rows: Any) -> "Clusters":
        """Return the clusters of some rows, by place or mask; those that are left are counted."""
        left, code = np.unique(self.code[rows], return_inverse=True)
        return Clusters(code.astype(np.intp), len(left))

    def resample(self, rng: np.random.Generator) -> IntVector:
        """Return the rows of as many clusters, drawn with replacement."""
        drawn = rng.integers(0, self.count, size=self.count)
        size, order = self.size, np.argsort(self.code, kind="stable")
        start = np.cumsum(size) - size
        # Where each drawn cluster begins among the sorted rows, and then row by row.
        begin = np.repeat(start[drawn] - np.cumsum(size[drawn]) + size[drawn], size[drawn])
        return np.asarray(order[begin + np.arange(len(begin))])

    def sums(self, values: FloatMatrix) -> FloatMatrix:
        """Add up (n,) or (n, q) values per cluster."""
        ones = np.ones(len(self.code))
        place = (self.code, np.arange(len(self.code)))
        adder = sparse.csr_array((ones, place), shape=(self.count, len(self.code)))
        return np.asarray(adder @ values)


def clusters_of(cluster: Any, n: int) -> Clusters:
    """Return checked clusters of n rows; those that have been checked come back.

    Parameters
    ----------
    cluster : array-like of shape (n,)
        A name per row, all texts or all numbers (or dates); rows of one name belong together.
    n : int
        Number of rows.

    Raises
    ------
    ValueError
        If a name is missing, infinite or of another kind than the first, if all rows have one
        name, or if no two rows share one.
    """
    if isinstance(cluster, Clusters):
        return cluster
    array, given = one_per_row(cluster, "cluster", n, "give such a row a name of its own")
    for row, name in enumerate(given):
        if isinstance(name, float) and np.isinf(name):
            raise ValueError(f"cluster[{row}] = {name!r} names nothing; give the row a name.")
        if _kind(name) != _kind(given[0]):
            raise ValueError(
                f"cluster[{row}] = {name!r} is of another kind than cluster[0] = {given[0]!r}; "
                "write all names as texts, or all as numbers."
            )
    names, code = np.unique(array, return_inverse=True)
    refuse_alone(len(names), n, given[0])
    return Clusters(code.astype(np.intp), len(names))


def _kind(name: Any) -> str:
    """Return what can be compared with what: texts, numbers, dates of one type."""
    return "number" if isinstance(name, Real) else type(name).__name__


def refuse_alone(count: int, n: int, name: Any) -> None:
    """Refuse clusters that say nothing: one for all of n rows, or one for each."""
    if count == 1:
        raise ValueError(
            f"cluster has one name, {name!r}, in all rows: nothing is independent of anything "
            "else, and chance cannot be judged. Name a column with more clusters."
        )
    if count == n:
        raise ValueError(
            f"cluster names each of {n:,} rows differently: leave it out if rows are independent, "
            "or name the column that says which rows belong together."
        )
