"""The plain against the debiased estimate of one known calibration error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from book.experiments.verified.events import check_size, check_view, events
from book.experiments.verified.maps import finite_errors, happened_of
from calibkit.bins import assign
from calibkit.calibrators import PlattCalibrator, ScalingBinning
from calibkit.inputs import FloatVector, as_count, data_generator
from calibkit.results import Result, spell
from calibkit_course.lesson11.population import Population

IntVector = NDArray[np.int64]
THOUSANDS = (2000, 3000, 4000, 5000, 6000, 7000)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EstimatorComparison(Result):
    """Estimates of the squared calibration error of one scaling-binning calibrator.

    Parameters
    ----------
    sizes : ndarray of int, shape (S,)
        Numbers of rows the error is estimated from.
    truth : float
        The squared error on the population.
    plain_mean, debiased_mean : ndarray of shape (S,)
        Means of the estimates over samples; debiased ones are not cut at 0.
    plain_mse, debiased_mse : ndarray of shape (S,)
        Mean squared distances from the truth.
    cut_mse : ndarray of shape (S,)
        The same for the debiased estimate that is cut at 0.
    plain_draws, debiased_draws : ndarray of shape (n_samples,)
        The estimates at the smallest size.
    n_bins : int
        Number of bins of the calibrator.
    view : str
        ``"top-label"`` or ``"class-wise"``; squares of classes are averaged.
    n_calibration, n_samples : int
        Rows the calibrator was fitted to, and samples per size.
    name : str
        The population.
    """

    sizes: IntVector
    truth: float
    plain_mean: FloatVector
    debiased_mean: FloatVector
    plain_mse: FloatVector
    debiased_mse: FloatVector
    cut_mse: FloatVector
    plain_draws: FloatVector
    debiased_draws: FloatVector
    n_bins: int
    view: str
    n_calibration: int
    n_samples: int
    name: str

    @property
    def median_deviations(self) -> tuple[float, float]:
        """Median distances from the truth at the smallest size: plain, debiased (cut at 0)."""
        debiased = np.maximum(self.debiased_draws, 0)
        plain, other = (
            float(np.median(np.abs(draws - self.truth))) for draws in (self.plain_draws, debiased)
        )
        return plain, other

    def describe(self) -> str:
        """Say the truth and both estimates at the smallest and the largest size."""
        return (
            f"Squared error {self.truth:.6f} of {self.name} ({self.view}, "
            f"{spell(self.n_bins, 'bin')}). From {self.sizes[0]:,} rows the plain estimate is "
            f"{self.plain_mean[0]:.6f} on average, the debiased one {self.debiased_mean[0]:.6f}; "
            f"from {self.sizes[-1]:,} rows {self.plain_mean[-1]:.6f} and "
            f"{self.debiased_mean[-1]:.6f}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("sizes", "plain_mean", "debiased_mean", "plain_mse", "debiased_mse", "cut_mse")
        return {name: getattr(self, name) for name in names}


def compare_estimators(
    population: Population,
    *,
    n_bins: int = 100,
    view: str = "top-label",
    sizes: Sequence[int] = THOUSANDS,
    n_calibration: int = 3000,
    n_samples: int = 1000,
    rng: int | np.random.Generator | None = None,
) -> EstimatorComparison:
    """Estimate one known calibration error again and again (figures 9, 10 and 11).

    Scaling-binning is fitted to the first rows of a shuffled population. The other rows become
    the population: the calibrator has a known error there. Samples are drawn from them with
    replacement, and the error is estimated from each.
    """
    check_view(view)
    n_bins, generator = as_count(n_bins, "n_bins"), data_generator(rng)
    n_calibration = as_count(n_calibration, "n_calibration")
    check_size(population, n_calibration, "n_calibration")
    label, order = population.labels(generator), generator.permutation(population.n)
    first, others = order[:n_calibration], population.select(order[n_calibration:])
    maps = fitted_maps(population.select(first), label[first], n_bins, view)
    truth, index = measured_on(maps, others, view)
    samples = [RowSamples(others, index, view, as_count(size, "sizes")) for size in sizes]
    drawn = [one.estimates(maps, as_count(n_samples, "n_samples"), generator) for one in samples]
    estimates = np.array(drawn)  # (sizes, samples, 2)
    mse = ((estimates - truth) ** 2).mean(axis=1)
    means = estimates.mean(axis=1)
    cut = np.maximum(estimates[..., 1], 0)
    return EstimatorComparison(
        sizes=np.array(sizes),
        truth=truth,
        plain_mean=means[:, 0],
        debiased_mean=means[:, 1],
        plain_mse=mse[:, 0],
        debiased_mse=mse[:, 1],
        cut_mse=((cut - truth) ** 2).mean(axis=1),
        plain_draws=estimates[0, :, 0],
        debiased_draws=estimates[0, :, 1],
        n_bins=n_bins,
        view=view,
        n_calibration=n_calibration,
        n_samples=estimates.shape[1],
        name=population.name,
    )


def fitted_maps(rows: Population, label: IntVector, n_bins: int, view: str) -> list[ScalingBinning]:
    """Fit one calibrator per event."""
    said, _ = events(rows, rows.y_prob, view)
    happened = happened_of(rows.y_prob, label, view)
    return [
        ScalingBinning(n_bins, PlattCalibrator(smoothing=False)).fit(column, event)
        for column, event in zip(said.T, happened.T, strict=True)
    ]


def measured_on(
    maps: list[ScalingBinning], others: Population, view: str
) -> tuple[float, NDArray[np.intp]]:
    """Return the true squared error, and the bin of each row and event: shape (n, events)."""
    said, chance = events(others, others.y_prob, view)
    squares, index = [], np.empty(said.shape, dtype=np.intp)
    for e, model in enumerate(maps):
        scaled = model.scaler_.calibrate(said[:, e])
        squares.append(finite_errors(model.value_, model.edges_, scaled, chance[:, e])[0])
        index[:, e] = assign(scaled, model.edges_)
    return float(np.mean(squares)), index


@dataclass(frozen=True, slots=True)
class RowSamples:
    """Samples of one size; `index` is the bin of each row and event, shape (n, events)."""

    others: Population
    index: NDArray[np.intp]
    view: str
    size: int

    def draw(self, generator: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Draw rows with replacement; return the bins and the events of the rows."""
        rows = generator.integers(0, self.others.n, size=self.size)
        drawn = self.others.select(rows)
        happened = happened_of(drawn.y_prob, drawn.labels(generator), self.view)
        return self.index[rows], happened == 1

    def estimates(
        self, maps: list[ScalingBinning], n_samples: int, generator: np.random.Generator
    ) -> list[tuple[float, float]]:
        """Return both estimates of many samples."""
        return [estimates_of(maps, *self.draw(generator)) for _ in range(n_samples)]


def estimates_of(
    maps: list[ScalingBinning], index: NDArray[np.intp], happened: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return the plain and the debiased estimate of the squared error, averaged over events."""
    plain, debiased = [], []
    for e, model in enumerate(maps):
        output = model.value_
        count = np.bincount(index[:, e], minlength=len(output))
        hits = np.bincount(index[:, e][happened[:, e]], minlength=len(output))
        used = count > 0
        n, f = count[used], hits[used] / count[used]
        gap = (output[used] - f) ** 2
        several = n > 1
        chance = f * (1 - f) / np.where(several, n - 1, 1)
        plain.append((n * gap).sum() / len(index))
        debiased.append((n * np.where(several, gap - chance, 0.0)).sum() / len(index))
    return float(np.mean(plain)), float(np.mean(debiased))
