"""Chance where rows are not independent, or were chosen by their label.

A patient with ten visits, a team on every day of a season, a document with many sentences: their
rows share what is unknown, and ten of them say less than ten independent rows.

- `Dependence` redraws labels from the predictions, each row with its own probability, but so that
  the rows of a cluster agree as much as they do in the data: a Gaussian copula with one
  correlation, found by matching the scatter of the clusters' sums (a method of moments).
- `weights_of_labels`: what a row that was chosen by its label would weigh with the other one.
- `DependentRows` has null levels and intervals, and there is `consistency_band`: they do with such
  rows what the functions of the same name in `calibkit` do with independent ones.

Lesson 14.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from calibkit.bins import Bins, as_bins
from calibkit.chance import BootstrapInterval, ConsistencyBand, NullLevel
from calibkit.chance.null import Measure, measured, redrawn_labels, simultaneous_ends
from calibkit.inputs import (
    BinaryProblem,
    FloatArray,
    FloatMatrix,
    FloatVector,
    IntVector,
    Rng,
    as_generator,
    quiet,
)
from calibkit.reliability import table_of
from calibkit_audit.clusters import Clusters

_CORRELATIONS = np.array([0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1])
_TRIES, _TRIED_NUMBERS = 30, 3_000_000  # redraws behind the correlation; fewer of many rows
_RISK = 0.001  # of a p-value by redraws on the wrong side of a limit


def weights_of_labels(
    weight: FloatVector, table: FloatMatrix, label: NDArray[Any]
) -> tuple[FloatMatrix, FloatMatrix]:
    """Return the weight that each row would have with each label, (n, K), and the labels' chances.

    Of two classes log w is a parabola in p with a step at the label, by least squares, as rows may
    have been chosen by their label. P(y | chosen), the chance, is then proportional to p_y / w_y,
    and ``sum w (y - p)`` has the mean 0 and the variance ``sum w_0 w_1 p (1 - p)``.
    """
    weights, p = np.broadcast_to(weight[:, np.newaxis], table.shape), table[:, 1]
    if table.shape[1] == 2 and np.ptp(weight) > 0:
        features = np.column_stack([np.ones(len(p)), p, p**2, label - label.mean()])
        step = np.linalg.lstsq(features, np.log(weight), rcond=None)[0][-1]
        weights = weights * np.exp(step * (np.arange(2) - label[:, np.newaxis]))
    chance = table / weights
    return weights, chance / chance.sum(axis=1, keepdims=True)


class Dependence:
    """Redraws labels from predictions so that rows of a cluster agree as much as in the data.

    Parameters
    ----------
    prob, label : ndarray of shape (n,) or (n, K), and (n,)
        Checked probabilities and labels.
    clusters : Clusters
        Which rows belong together; also in several ways, each with a normal g of its own.
    rng : numpy.random.Generator
        What draws; also for the correlations, which `correlation` then holds, one per way.

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
        self.prob, self.ways = prob.astype(np.float64), (clusters, *clusters.beside)
        table = self.prob if prob.ndim == 2 else self.prob[:, np.newaxis]
        variance, each = table * (1 - table), np.eye(len(self.ways))
        self._table, self._total = table, np.maximum(variance.sum(axis=0), 1e-300)
        self._share = [way.sums(variance) for way in self.ways]
        self.target = self._scatters(label)
        grids = []
        for _ in range(int(np.clip(_TRIED_NUMBERS // len(prob), 3, _TRIES))):
            noise = self._noise(rng)  # the same for every correlation of the grid
            drawn = [[self._labels(r * one, noise) for r in _CORRELATIONS] for one in each]
            grids.append([[self._scatters(y)[k] for y in own] for k, own in enumerate(drawn)])
        self._grid = np.maximum.accumulate(np.mean(grids, axis=0), axis=1)
        self.correlation = self._correlations(np.ones(len(each)))

    def _noise(self, rng: np.random.Generator) -> list[FloatVector]:
        """Draw what the rows of a cluster share, in every way, and what each has for itself."""
        shared = [rng.standard_normal(way.count)[way.code] for way in self.ways]
        return [*shared, rng.standard_normal(len(self.prob))]

    def _labels(self, r: FloatVector, noise: list[FloatVector]) -> IntVector:
        parts = np.sqrt([*r, max(1 - r.sum(), 0.0)])
        uniform = special.ndtr(sum(a * b for a, b in zip(parts, noise, strict=True)))
        if self.prob.ndim == 1:
            return np.asarray(uniform < self.prob, dtype=np.intp)
        upper = np.cumsum(np.ascontiguousarray(self.prob.T[:-1]), axis=0)
        drawn = np.zeros(uniform.shape, dtype=np.intp)
        for passed in upper:  # the class is the number of cumulative sums passed
            drawn += uniform >= passed
        return drawn

    def _scatters(self, label: NDArray[Any]) -> list[float]:
        """Return the sums of squares of what clusters add to residuals without a common gap."""
        first = 1 if self.prob.ndim == 1 else 0
        residual = (label[:, np.newaxis] == np.arange(self._table.shape[1]) + first) - self._table
        gap = residual.sum(axis=0) / self._total
        pairs = zip(self.ways, self._share, strict=True)
        return [float(((way.sums(residual) - share * gap) ** 2).sum()) for way, share in pairs]

    def _correlations(self, factors: FloatVector) -> FloatVector:
        """Return the correlation in every way that explains so many times what was found."""
        ways = zip(self.target, factors, self._grid, strict=True)
        r = np.array([np.interp(goal * factor, grid, _CORRELATIONS) for goal, factor, grid in ways])
        return r / max(float(r.sum()), 1.0)

    def redraws(self, n_draws: int, rng: np.random.Generator) -> Iterator[IntVector]:
        """Yield one label per row, so many times."""
        df = [max(way.count - 1, 1) for way in self.ways]
        for _ in range(n_draws):
            factors = np.array([one / rng.chisquare(one) for one in df])
            yield self._labels(self._correlations(factors), self._noise(rng))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DependentRows:
    """Labels 0 .. K-1 and predictions of rows that hang together, or stand for several each."""

    label: NDArray[Any]
    prob: FloatArray
    clusters: Clusters | None = None
    weight: FloatVector | None = None

    def redraws(
        self, n_draws: int, rng: np.random.Generator
    ) -> Iterator[tuple[IntVector, FloatVector | None]]:
        """Yield labels drawn from the predictions, and the weights that rows have with them.

        A row chosen by its label had the label y with a probability in proportion to p_y / w_y.
        """
        prob, weights = self.prob, None
        if self.weight is not None:
            both = np.column_stack([1 - prob, prob]) if prob.ndim == 1 else prob
            weights, chance = weights_of_labels(self.weight, both.astype(np.float64), self.label)
            prob = chance[:, 1] if prob.ndim == 1 else chance
        two = prob.ndim == 2 and prob.shape[1] == 2
        if self.clusters is not None:
            prob = prob[:, 1] if two else prob
            drawn = Dependence(prob, self.label, self.clusters, rng).redraws(n_draws, rng)
        elif two:  # its own label or not: so the event's other name (1 - y, 1 - p) has the same
            own = redrawn_labels(prob[np.arange(len(prob)), self.label], n_draws, rng)
            drawn = (1 - (self.label ^ again) for again in own)
        else:
            drawn = redrawn_labels(prob, n_draws, rng)
        for labels in drawn:
            yield labels, None if weights is None else weights[np.arange(len(labels)), labels]

    def null_level(self, measure: Measure, *, n_draws: int, rng: Rng, **options: Any) -> NullLevel:
        """Do what `calibkit.null_level` does."""
        redraws = self.redraws(n_draws, as_generator(rng))
        samples = ((drawn, self.prob, weight) for drawn, weight in redraws)
        return NullLevel.of(*self._measure(measure, samples, options, "null level"))

    def bootstrap_interval(
        self, measure: Measure, *, level: float, n_draws: int, rng: Rng, **options: Any
    ) -> BootstrapInterval:
        """Return a reflected interval as `calibkit` does; whole clusters are redrawn."""
        generator, n = as_generator(rng), len(self.prob)
        groups, known = self.clusters, (self.label, self.prob, self.weight)
        places = (
            groups.resample(generator) if groups else generator.integers(0, n, size=n)
            for _ in range(n_draws)
        )
        samples = ([one if one is None else one[rows] for one in known] for rows in places)
        value, name, draws = self._measure(measure, samples, options, "interval")
        low, high = map(float, np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]))
        ends = {"low": 2 * value - high, "high": 2 * value - low, "level": level}
        return BootstrapInterval(value=value, name=name, method="reflected", draws=draws, **ends)

    def _measure(
        self, measure: Measure, samples: Iterator[Any], options: Any, wanted: str
    ) -> tuple[float, str, FloatVector]:
        """Return value and name of what is measured on the data, and its values on samples."""
        how = {**options, "sample_weight": self.weight}
        value, name = measured(measure, self.label, self.prob, how, wanted)
        with quiet():  # what is to be said was said of the data
            draws = [float(measure(y, p, sample_weight=w, **options)) for y, p, w in samples]
        return value, name, np.array(draws)


def consistency_band(
    problem: BinaryProblem,
    *,
    bins: Bins,
    level: float,
    n_draws: int,
    rng: Rng,
    clusters: Clusters | None = None,
) -> ConsistencyBand:
    """Return a simultaneous band as `calibkit.consistency_band` does; weights follow labels."""
    table, prob = table_of(problem, as_bins(bins)), problem.prob.astype(np.float64)
    index, size = table.assign(problem.prob), table.n_bins
    how: Any = {"clusters": clusters, "weight": problem.weight}
    rows = DependentRows(label=problem.label, prob=prob, **how)
    frequency = np.empty((n_draws, size))
    for place, (label, weight) in enumerate(rows.redraws(n_draws, as_generator(rng))):
        won = np.bincount(index, label - prob if weight is None else weight * (label - prob), size)
        with np.errstate(invalid="ignore"):  # empty bins stay NaN
            frequency[place] = table.mean_prob + won / np.bincount(index, weight, size)
    variance = np.bincount(index, prob * (1 - prob), size).astype(np.float64)
    if clusters is not None or problem.weight is not None:
        variance = (frequency.std(axis=0) * table.total) ** 2
    lower, upper = simultaneous_ends(frequency, variance, table, level)
    return ConsistencyBand(table=table, lower=lower, upper=upper, level=level, simultaneous=True)


def undecided(beyond: int, n_draws: int, limits: Sequence[float]) -> bool:
    """Tell whether it is open on which side of a limit the p-value lies, after so many redraws.

    `beyond` of them were as loud as the data. The side is settled where ``(R + 1) b(beyond; R,
    limit)``, b being the binomial probability, is at most 0.001: were the limit itself the
    p-value, this would ever happen, however often one looks, with at most that probability
    (Robbins, 1970; for Monte Carlo tests Gandy, 2009, and Ding, Gandy and Hahn, 2020).
    """
    chance = stats.binom.pmf(beyond, n_draws, np.asarray(limits))
    return bool(((n_draws + 1) * chance > _RISK).any())
