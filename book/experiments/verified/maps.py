"""Histogram binning against scaling-binning, and what to scale with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from book.experiments.verified.events import check_size, check_view, events
from calibkit.bins import EqualMass, assign
from calibkit.calibrators import DirichletCalibrator, PlattCalibrator, TemperatureScaling
from calibkit.inputs import FloatVector, as_count, data_generator
from calibkit.reliability import reliability_table
from calibkit.results import Result, spell
from calibkit_course.lesson11.population import Population

IntVector = NDArray[np.int64]
TENS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)

# A scaler: scores of all rows, from the rows and labels of the calibration sample.
Scaler = Callable[[FloatVector, NDArray[np.intp], IntVector], FloatVector]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CalibratorComparison(Result):
    """Calibration and Brier score of calibrators with finitely many outputs.

    Parameters
    ----------
    methods : tuple of str
        The M calibrators.
    n_bins : ndarray of int, shape (B,)
        Numbers of bins.
    squared : ndarray of shape (M, B)
        Mean over trials of the squared calibration error with norm 2, on the whole population.
    standard_error : ndarray of shape (M, B)
        Standard error of that mean.
    low, high : ndarray of shape (M, B)
        5 % and 95 % quantile of the squared error over trials.
    brier : ndarray of shape (M, B)
        Mean over trials of the mean squared distance from the outcome, per event.
    view : str
        ``"top-label"`` or ``"class-wise"``; errors and scores of classes are averaged.
    n_calibration, n_trials : int
        Rows per trial, and number of trials.
    name : str
        The population.
    """

    methods: tuple[str, ...]
    n_bins: IntVector
    squared: FloatVector
    standard_error: FloatVector
    low: FloatVector
    high: FloatVector
    brier: FloatVector
    view: str
    n_calibration: int
    n_trials: int
    name: str

    def of(self, method: str) -> FloatVector:
        """Return the mean squared errors of one calibrator, one per number of bins."""
        if method not in self.methods:
            raise ValueError(f"no method {method!r}; there are {', '.join(self.methods)}.")
        return np.asarray(self.squared[self.methods.index(method)])

    def describe(self) -> str:
        """Say which calibrator has the smaller error at the fewest and at the most bins."""
        first, last = (self.methods[int(self.squared[:, b].argmin())] for b in (0, -1))
        return (
            f"{spell(self.n_trials, 'trial')} with {spell(self.n_calibration, 'row')} of "
            f"{self.name} ({self.view}): the smallest squared error with "
            f"{spell(int(self.n_bins[0]), 'bin')} has {first} ({self.squared[:, 0].min():.5f}), "
            f"with {self.n_bins[-1]} {last} ({self.squared[:, -1].min():.5f})."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "method": np.repeat(self.methods, len(self.n_bins)),
            "n_bins": np.tile(self.n_bins, len(self.methods)),
            "squared": self.squared.ravel(),
            "standard_error": self.standard_error.ravel(),
            "brier": self.brier.ravel(),
        }


def compare_calibrators(
    population: Population,
    *,
    methods: Sequence[str] = ("histogram", "Platt"),
    view: str = "top-label",
    n_bins: Sequence[int] = TENS,
    n_calibration: int = 1000,
    n_trials: int = 100,
    rng: int | np.random.Generator | None = None,
) -> CalibratorComparison:
    """Fit calibrators with bins to small samples, and measure them on the population.

    Figures 5 and 6 compare histogram binning with scaling-binning, figure 8 the scalers.
    """
    check_view(view)
    for method in methods:
        if method != "histogram" and method not in SCALERS:
            known = ", ".join(["histogram", *SCALERS])
            raise ValueError(f"methods must be out of {known}, got {method!r}.")
    numbers = [as_count(number, "n_bins") for number in n_bins]
    size, generator = as_count(n_calibration, "n_calibration"), data_generator(rng)
    check_size(population, size, "n_calibration")
    trials = np.array(
        [
            _trial(population, tuple(methods), view, numbers, (size, generator))
            for _ in range(as_count(n_trials, "n_trials"))
        ]
    )  # (trials, methods, bins, 2)
    squared, brier = trials[..., 0], trials[..., 1]
    low, high = np.quantile(squared, [0.05, 0.95], axis=0)
    spread = squared.std(axis=0, ddof=1) if len(squared) > 1 else np.full(squared[0].shape, np.nan)
    return CalibratorComparison(
        methods=tuple(methods),
        n_bins=np.array(numbers),
        squared=squared.mean(axis=0),
        standard_error=spread / np.sqrt(len(squared)),
        low=low,
        high=high,
        brier=brier.mean(axis=0),
        view=view,
        n_calibration=size,
        n_trials=len(trials),
        name=population.name,
    )


def _trial(
    population: Population,
    methods: tuple[str, ...],
    view: str,
    numbers: list[int],
    draw: tuple[int, np.random.Generator],
) -> FloatVector:
    """Draw one calibration sample and return squared error and Brier score of all methods."""
    size, generator = draw
    rows = generator.integers(0, population.n, size=size)
    label = population.select(rows).labels(generator)
    found = np.empty((len(methods), len(numbers), 2))
    for m, method in enumerate(methods):
        scores = population.y_prob
        if method in JOINT:
            scores = JOINT[method](scores, rows, label)
        said, chance = events(population, scores, view)
        happened = happened_of(scores[rows], label, view)
        per_event = [
            measured_maps(method, said[:, e], chance[:, e], (rows, happened[:, e]), numbers)
            for e in range(said.shape[1])
        ]
        found[m] = np.mean(per_event, axis=0)
    return found


def happened_of(scores: FloatVector, label: IntVector, view: str) -> IntVector:
    """Return which events happened: shape (n, views)."""
    if view == "top-label":
        right = scores.argmax(axis=1) == label
        return np.asarray(right[:, np.newaxis], dtype=np.int64)
    return np.asarray(label[:, np.newaxis] == np.arange(scores.shape[1]), dtype=np.int64)


def measured_maps(
    method: str,
    said: FloatVector,
    chance: FloatVector,
    sample: tuple[NDArray[np.intp], IntVector],
    numbers: list[int],
) -> list[tuple[float, float]]:
    """Return squared error and Brier score of one event, one pair per number of bins."""
    rows, happened = sample
    if method == "Platt":
        said = PlattCalibrator(smoothing=False).fit(said[rows], happened).calibrate(said)
    found = []
    for number in numbers:
        table = reliability_table(happened, said[rows], bins=EqualMass(number))
        output = table.frequency if method == "histogram" else table.mean_prob
        found.append(finite_errors(output, table.edges, said, chance))
    return found


def finite_errors(
    output: FloatVector, edges: FloatVector, said: FloatVector, chance: FloatVector
) -> tuple[float, float]:
    """Return squared error and Brier score of a map with one output per bin of predictions."""
    index = assign(said, edges)
    value, same = np.unique(output, return_inverse=True)  # equal outputs cannot be told apart
    index = same[index]
    mass = np.bincount(index, minlength=len(value)) / len(said)
    share = np.bincount(index, chance, len(value)) / len(said)
    gap = np.divide(share, mass, out=value.copy(), where=mass > 0) - value
    brier = mass * value**2 - 2 * value * share + share
    return float((mass * gap**2).sum()), float(brier.sum())


def _temperature(scores: FloatVector, rows: NDArray[np.intp], label: IntVector) -> FloatVector:
    fitted = TemperatureScaling("probabilities").fit(scores[rows], label)
    return np.asarray(fitted.calibrate(scores))


def _dirichlet(penalty: Any) -> Scaler:
    def scale(scores: FloatVector, rows: NDArray[np.intp], label: IntVector) -> FloatVector:
        model = DirichletCalibrator("probabilities", penalty=penalty)
        return np.asarray(model.fit(scores[rows], label).calibrate(scores))

    return scale


JOINT: dict[str, Scaler] = {
    "temperature": _temperature,
    "Dirichlet": _dirichlet("auto"),
    "Dirichlet, no penalty": _dirichlet(0.0),
}
SCALERS = ("Platt", *JOINT)
