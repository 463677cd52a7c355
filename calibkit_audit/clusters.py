"""Rows that belong together: names, sums, and what a mean over them is worth.

- `Clusters` says which rows belong together, and adds up what they bring.
- `robust_sd` is the larger of a standard deviation that a model promises and of the sandwich
  (Liang and Zeger, 1986), which holds whatever the dependence within clusters.
- `moments` are those of means over rows, or by the jackknife (Tukey, 1958) over independent
  clusters, and `mean_interval` is Student's. Lesson 14.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse, special

from calibkit.inputs import FloatMatrix, FloatVector, IntVector
from calibkit_audit.incoming import one_per_row

FEW = 30  # clusters, below which a report says that they are few


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Which rows belong together: `code` (n,) counts clusters from 0; `count` of them.

    `beside`: in what other ways they do, where several columns say so.
    """

    code: IntVector
    count: int
    beside: tuple["Clusters", ...] = ()

    @property
    def size(self) -> IntVector:
        """Rows of each cluster."""
        return np.bincount(self.code, minlength=self.count)

    def take(self, rows: Any) -> "Clusters":
        """Return the clusters of some rows, by place or mask; those that are left are counted."""
        left, code = np.unique(self.code[rows], return_inverse=True)
        beside = tuple(one.take(rows) for one in self.beside)
        return Clusters(code.astype(np.intp), len(left), beside)

    def resample(self, rng: np.random.Generator) -> IntVector:
        """Return the rows of as many clusters, drawn with replacement."""
        drawn = np.bincount(rng.integers(0, self.count, size=self.count), minlength=self.count)
        return np.repeat(np.arange(len(self.code)), drawn[self.code])

    def sums(self, values: FloatMatrix) -> FloatMatrix:
        """Add up (n,) or (n, q) values per cluster."""
        ones = np.ones(len(self.code))
        place = (self.code, np.arange(len(self.code)))
        adder = sparse.csr_array((ones, place), shape=(self.count, len(self.code)))
        return np.asarray(adder @ values)


def clusters_of(cluster: Any, n: int, *, several: bool = False) -> Clusters:
    """Return checked clusters of n rows; those that have been checked come back.

    Parameters
    ----------
    cluster : array-like of shape (n,), or a sequence of such where `several` may be
        A name per row, all texts or all numbers (or dates); rows of one name belong together.
        Several names per row (patient, doctor): rows that share any of them are dependent.
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
    if several and isinstance(cluster, list | tuple) and cluster and np.ndim(cluster[0]) == 1:
        return _ways([clusters_of(one, n) for one in cluster])
    array, given = one_per_row(cluster, "cluster", n, "give such a row a name of its own")
    # Only texts, numbers, or dates of one type can be compared with each other.
    kinds = [Real if isinstance(name, Real) else type(name) for name in given]
    for row, name in enumerate(given):
        if isinstance(name, float) and np.isinf(name):
            raise ValueError(f"cluster[{row}] = {name!r} names nothing; give the row a name.")
        if kinds[row] != kinds[0]:
            raise ValueError(
                f"cluster[{row}] = {name!r} is of another kind than cluster[0] = {given[0]!r}; "
                "write all names as texts, or all as numbers."
            )
    names, code = np.unique(array, return_inverse=True)
    if len(names) == 1:
        raise ValueError(
            f"cluster has one name, {given[0]!r}, in all rows: nothing is independent of anything "
            "else, and chance cannot be judged. Name a column with more clusters."
        )
    if len(names) == n:
        raise ValueError(
            f"cluster names each of {n:,} rows differently: leave it out if rows are independent, "
            "or name the column that says which rows belong together."
        )
    return Clusters(code.astype(np.intp), len(names))


def _ways(several: Sequence[Clusters]) -> Clusters:
    """Return the clusters that tell least, beside the others; none lies within another's."""
    kept = list[Clusters]()
    for one in sorted(several, key=lambda one: worth_of(one.size)):
        pairs = (len(np.unique(one.code * c.count + c.code)) for c in kept)
        if one.count not in pairs:  # else each of its clusters lies in a single one of those
            kept.append(one)
    return replace(kept[0], beside=tuple(kept[1:]))


def robust_sd(promised: FloatVector, scores: FloatMatrix) -> FloatVector:
    """Return the larger of promised standard deviations and those of (C, q) scores of clusters."""
    return np.asarray(np.sqrt(np.maximum(promised**2, (scores**2).sum(axis=0))))


def worth_of(size: IntVector) -> float:
    """Return how many clusters of one size tell as much: all of them where sizes are equal.

    ``(sum v_c)^2 / sum v_c^2``: a variance v_c grows like the size n_c where rows are independent,
    like its square where a cluster has one outcome (Carter, Schnepel and Steigerwald, 2017); here
    it is n_c^1.25.
    """
    share = (size / size.max()) ** 1.25
    return float(share.sum() ** 2 / (share @ share))


def moments(
    values: FloatMatrix, clusters: Clusters | None
) -> tuple[FloatVector, FloatMatrix, float]:
    """Return means over rows of (m, n) values, their covariances, and degrees of freedom.

    Where only clusters are independent, covariances are the jackknife's: those of the pseudo-values
    ``C T - (C - 1) T_c``, with the mean T and the mean T_c without cluster c. Student's degrees of
    freedom are then `worth_of` less one.
    """
    n, mean = values.shape[1], values.mean(axis=1)
    count, units, df = n, values, n - 1.0
    if clusters is not None:
        size, count = clusters.size, clusters.count
        sums, df = clusters.sums(values.T).T, worth_of(size) - 1
        rest = np.maximum(n - size, 1)
        units = count * mean[:, np.newaxis] - (count - 1) * (n * mean[:, np.newaxis] - sums) / rest
    if count < 2:
        return mean, np.full((len(mean), len(mean)), np.nan), 1.0
    return mean, np.atleast_2d(np.cov(units)) / count, max(df, 1.0)


def mean_interval(
    values: FloatMatrix, level: float, clusters: Clusters | None = None
) -> tuple[FloatVector, FloatVector]:
    """Return Student's intervals of the means of (m, n) values, by cluster where some are given."""
    mean, cover, df = moments(values, clusters)
    half = student(np.diag(cover), df, level)
    return mean - half, mean + half


def student(variance: Any, df: float, level: float) -> Any:
    """Return half the width of Student's interval around an estimate with this variance."""
    return special.stdtrit(df, (1 + level) / 2) * np.sqrt(variance)


def cluster_folds(
    cluster: IntVector, n_folds: int, rng: np.random.Generator
) -> tuple[IntVector, int]:
    """Return the fold of each row, and their number; a cluster is held out as a whole.

    The largest clusters go first, each to the fold with the fewest rows.
    """
    size = np.bincount(cluster)
    shuffled = rng.permutation(len(size))
    fold, rows = np.empty(len(size), dtype=np.intp), np.zeros(min(n_folds, len(size)))
    for one in shuffled[np.argsort(-size[shuffled], kind="stable")].tolist():
        fold[one] = rows.argmin()
        rows[fold[one]] += size[one]
    return fold[cluster], len(rows)
