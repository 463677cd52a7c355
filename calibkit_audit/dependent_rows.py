"""Rows that belong together: chance where only whole clusters are independent.

A patient with ten visits, a team on every day of a season, a document with many sentences: their
rows share what is unknown, and ten of them say less than ten independent rows.

- `clusters_of` checks the names, `Clusters` adds up what the rows of each bring.
- `Dependence` redraws labels from the predictions, each row with its own probability, but so that
  the rows of a cluster agree as much as they do in the data: a Gaussian copula with one
  correlation. Its level is found by matching the scatter of the clusters' sums (a method of
  moments); its uncertainty with few clusters goes into the redraws, each of which has its own.
- `robust_sd` is the larger of a standard deviation that a model promises and of the sandwich
  (Liang and Zeger, 1986), which holds whatever the dependence within clusters.
- `weights_of_labels`: what a row that was chosen by its label would weigh with the other one.
- `pseudo_values` (jackknife, Tukey 1958) turn a mean over rows into a mean over independent
  clusters, so that any interval for a mean serves; `mean_interval` is the usual one.

Measured rates stand in the Notes of `calibkit_audit.audit`. Taught in lesson 14.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from calibkit.inputs import FloatArray, FloatMatrix, FloatVector, IntArray, IntVector
from calibkit_audit.incoming import one_per_row

FEW = 30  # clusters, below which a report says that they are few
_GRID = np.array([0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1])
_TRIES, _NUMBERS = 30, 3_000_000  # redraws behind the correlation; fewer of many rows


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
    _refuse_alone(len(names), n, given[0])
    return Clusters(code.astype(np.intp), len(names))


def _kind(name: Any) -> str:
    """Return what can be compared with what: texts, numbers, dates of one type."""
    return "number" if isinstance(name, Real) else type(name).__name__


def _refuse_alone(count: int, n: int, name: Any) -> None:
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


class ClusterSums:
    """Sums per cluster of rows that come in blocks: `names`, `size`, and `sums` of (C, q)."""

    def __init__(self) -> None:
        self.number: dict[Any, int] = {}
        self.size: IntVector = np.zeros(0, dtype=np.int64)
        self.sums: FloatMatrix = np.zeros((0, 0))

    def add(self, names: NDArray[Any], values: FloatMatrix) -> None:
        """Add (n, q) values of rows to the sums of their clusters."""
        here, code = np.unique(names, return_inverse=True)
        block = Clusters(code.astype(np.intp), len(here))
        place = [self.number.setdefault(name, len(self.number)) for name in here.tolist()]
        if len(self.number) > len(self.size):  # doubled, so that many clusters cost no more
            more = max(len(self.number), 2 * len(self.size)) - len(self.size)
            self.size = np.pad(self.size, (0, more))
            old = self.sums if self.sums.size else np.zeros((0, values.shape[1]))
            self.sums = np.pad(old, ((0, more), (0, 0)))
        self.size[place] += block.size
        self.sums[place] += block.sums(values)

    def found(self) -> tuple[FloatMatrix, IntVector]:
        """Return the sums (C, q) and the rows of each cluster."""
        count = len(self.number)
        return self.sums[:count], self.size[:count]

    def refuse_alone(self) -> None:
        """Refuse clusters of which none holds two rows together, or one holds all."""
        if self.number:
            _refuse_alone(len(self.number), int(self.size.sum()), next(iter(self.number)))


def classes_at(prob: FloatArray, uniform: FloatVector) -> NDArray[np.int64]:
    """Return the labels that (..., n) uniform numbers stand for."""
    if prob.ndim == 1:
        return (uniform < prob).astype(np.int64)
    upper = np.cumsum(np.ascontiguousarray(prob.T[:-1]), axis=0, dtype=np.float64)
    drawn = np.zeros(uniform.shape, dtype=np.int64)
    for passed in upper:  # the class is the number of cumulative sums passed
        drawn += uniform >= passed
    return drawn


def weights_of_labels(weight: FloatVector, table: FloatMatrix, label: IntArray) -> FloatMatrix:
    """Return the weight that each row would have with each label, (n, K).

    Of two classes log w is a parabola in p with a step at the label, by least squares, as rows may
    have been chosen by their label. P(y | chosen) is then proportional to p_y / w_y, and
    ``sum w (y - p)`` has the mean 0 and the variance ``sum w_0 w_1 p (1 - p)``.
    """
    weights, p = weight[:, np.newaxis], table[:, 1]
    if table.shape[1] > 2 or np.ptp(weight) == 0:
        return np.broadcast_to(weights, table.shape)
    features = np.column_stack([np.ones(len(p)), p, p**2, label - label.mean()])
    step = np.linalg.lstsq(features, np.log(weight), rcond=None)[0][-1]
    return np.asarray(weights * np.exp(step * (np.arange(2) - label[:, np.newaxis])))


class Dependence:
    """Redraws labels from predictions so that rows of a cluster agree as much as in the data.

    Parameters
    ----------
    prob, label : ndarray of shape (n,) or (n, K), and (n,)
        Checked probabilities and labels.
    clusters : Clusters
        Which rows belong together.
    rng : numpy.random.Generator
        What draws; also for the correlation, which `correlation` then holds.

    Notes
    -----
    Row i of cluster c gets ``u_i = Phi(sqrt(r) g_c + sqrt(1 - r) e_i)`` with normal g and e: u is
    uniform, so each label keeps its own probability. r makes ``sum_c |sum_(i in c) (y - p)|^2``,
    after a common gap has been subtracted, as large on average as it is in the data. A redraw
    multiplies that sum by ``(C - 1) / chi2_(C-1)``, as Student's law does with a variance.
    """

    def __init__(
        self, prob: FloatArray, label: NDArray[Any], clusters: Clusters, rng: np.random.Generator
    ) -> None:
        self.prob, self.clusters = prob.astype(np.float64), clusters
        table = self.prob if prob.ndim == 2 else self.prob[:, np.newaxis]
        variance = table * (1 - table)
        self._table, self._total = table, np.maximum(variance.sum(axis=0), 1e-300)
        self._share = clusters.sums(variance)
        self.target = self._scatter(label)
        tries = int(np.clip(_NUMBERS // len(prob), 3, _TRIES))
        found = [[self._scatter(y) for y in self._along(rng)] for _ in range(tries)]
        self._scatters = np.maximum.accumulate(np.mean(found, axis=0))
        self.correlation = float(np.interp(self.target, self._scatters, _GRID))

    def _along(self, rng: np.random.Generator) -> Any:
        """Yield labels for every correlation of the grid, from the same random numbers."""
        shared, own = self._normal(rng)
        for r in _GRID:
            yield classes_at(self.prob, special.ndtr(np.sqrt(r) * shared + np.sqrt(1 - r) * own))

    def _normal(self, rng: np.random.Generator) -> tuple[FloatVector, FloatVector]:
        shared = rng.standard_normal(self.clusters.count)[self.clusters.code]
        return shared, rng.standard_normal(len(shared))

    def _scatter(self, label: NDArray[Any]) -> float:
        """Return the sum of squares of what clusters add to residuals without a common gap."""
        first = 1 if self.prob.ndim == 1 else 0
        residual = (label[:, np.newaxis] == np.arange(self._table.shape[1]) + first) - self._table
        gap = residual.sum(axis=0) / self._total
        return float(((self.clusters.sums(residual) - self._share * gap) ** 2).sum())

    def draw(self, rng: np.random.Generator) -> IntVector:
        """Return one label per row."""
        return classes_at(self.prob, self.uniform(rng))

    def uniform(self, rng: np.random.Generator) -> FloatVector:
        """Return a uniform number per row, correlated within clusters."""
        df = max(self.clusters.count - 1, 1)
        r = np.interp(self.target * df / rng.chisquare(df), self._scatters, _GRID)
        shared, own = self._normal(rng)
        return np.asarray(special.ndtr(np.sqrt(r) * shared + np.sqrt(1 - r) * own))


def robust_sd(promised: FloatVector, scores: FloatMatrix) -> FloatVector:
    """Return the larger of promised standard deviations and those of (C, q) scores of clusters."""
    return np.asarray(np.sqrt(np.maximum(promised**2, (scores**2).sum(axis=0))))


def score_test(scores: FloatMatrix, promised: FloatVector) -> tuple[float, int, float]:
    """Test that (C, q) scores of clusters have mean 0: statistic, degrees of freedom, p-value.

    ``Q = U' V^-1 U`` with the sum U of the scores and the sandwich ``V = sum_c u_c u_c'``, whose
    diagonal is at least `promised` squared (uncorrelated scores of independent rows). The law is
    Hotelling's: ``(C - q) / q * Q / (C - Q)`` is F with q and C - q degrees of freedom.
    """
    count, sd = len(scores), robust_sd(promised, scores)
    used = sd > 0
    if not used.any() or count <= used.sum():
        return 0.0, int(used.sum()), 1.0
    scaled = scores[:, used] / sd[used]
    cross = scaled.T @ scaled
    np.fill_diagonal(cross, 1.0)
    total, q = scaled.sum(axis=0), int(used.sum())
    value = float(total @ np.linalg.pinv(cross, 1e-9, True) @ total)
    value = min(value, count * (1 - 1e-12))
    return value, q, float(special.fdtrc(q, count - q, (count - q) / q * value / (count - value)))


def pseudo_values(values: FloatMatrix, clusters: Clusters) -> FloatMatrix:
    """Return jackknife pseudo-values (m, C) of the means over rows of (m, n) values.

    ``C T - (C - 1) T_c`` with the mean T and the mean T_c without cluster c.
    """
    return _pseudo_values(clusters.sums(values.T).T, clusters.size)


def _pseudo_values(sums: FloatMatrix, size: IntVector) -> FloatMatrix:
    total, n, count = sums.sum(axis=1, keepdims=True), size.sum(), len(size)
    return np.asarray(count * total / n - (count - 1) * (total - sums) / (n - size))


def means_of_sums(sums: FloatMatrix, size: IntVector) -> tuple[FloatVector, FloatMatrix, float]:
    """Return means, their covariances, and degrees of freedom, of (m, C) sums over clusters.

    Covariances are the jackknife's. Student's degrees of freedom are an effective number of
    clusters less one, ``(sum v_c)^2 / sum v_c^2 - 1``: C - 1 where all have one size. A variance
    v_c grows like the size n_c where rows are independent, like its square where a cluster has one
    outcome (Carter, Schnepel and Steigerwald, 2017); here it is n_c^1.25. Nominal 90 % intervals
    held the difference of two models in 89 to 91 of 100 sets with sizes of 1 to 400 (600 sets in
    each of three designs); with C - 1 degrees in 85 to 89, with n_c^2 in 95 to 97.
    """
    mean, count = sums.sum(axis=1) / size.sum(), len(size)
    if count < 2:
        return mean, np.full((len(mean), len(mean)), np.nan), 1.0
    share = (size / size.max()) ** 1.25
    df = max(float(share.sum() ** 2 / (share @ share)) - 1, 1.0)
    return mean, np.atleast_2d(np.cov(_pseudo_values(sums, size))) / count, df


def mean_interval(
    values: FloatMatrix, level: float, clusters: Clusters | None = None
) -> tuple[FloatVector, FloatVector]:
    """Return Student's intervals of the means of (m, n) values, by cluster where some are given."""
    n = values.shape[1]
    if clusters is None:
        variance, df = values.var(axis=1, ddof=1) / n if n > 1 else np.nan, n - 1.0
    else:
        _, cover, df = means_of_sums(clusters.sums(values.T).T, clusters.size)
        variance = np.diag(cover)
    mean, half = values.mean(axis=1), student(variance, df, level)
    return mean - half, mean + half


def student(variance: Any, df: float, level: float) -> Any:
    """Return half the width of Student's interval around an estimate with this variance."""
    return special.stdtrit(df, (1 + level) / 2) * np.sqrt(variance)
