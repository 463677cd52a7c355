"""Six calibrators, seven sizes of calibration set, known truth: the runs of the race. Lesson 11.

Each run draws a calibration set, fits every method to it, and measures the fitted maps on a grid
of predictions whose true probabilities are known. So no test set adds noise of its own.

Sources: Kumar, Liang and Ma (2019) sections 3, 4; Kängsepp et al. (2022) sections 3.4, 6.1.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import kl_div

from calibkit.bins import EqualMass
from calibkit.calibrators import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    PlattCalibrator,
    ScalingBinning,
    VennAbers,
)
from calibkit.fakes import LogitDistortion, SyntheticShape
from calibkit.inputs import FloatVector
from calibkit.results import read_only

SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000)
RUNS = 20
_POINTS = 2000  # of the grid on which the maps are measured
_DIGITS = 12  # outputs that agree so far are one output
_SEED = 11

METHODS: dict[str, Callable[[int], Any]] = {
    "Platt": lambda n_bins: PlattCalibrator(),
    "beta": lambda n_bins: BetaCalibrator(),
    "isotonic": lambda n_bins: IsotonicCalibrator(),
    "Venn-Abers": lambda n_bins: VennAbers("probabilities"),
    "histogram": lambda n_bins: HistogramBinning(EqualMass(n_bins)),
    "scaling-binning": lambda n_bins: ScalingBinning(n_bins),
}
BINNED = ("histogram", "scaling-binning")
MEASURES = ("map", "left", "loss")
_LINES = {"line": LogitDistortion(slope=0.5), "none": LogitDistortion()}
_SHAPES = {"bent": SyntheticShape("stairs", 0.35), "square": SyntheticShape("square")}
DISTORTIONS = ("line", "bent", "square", "none")


def grid_of(distortion: str) -> tuple[FloatVector, FloatVector]:
    """Return the predictions on which maps are measured, and their true probabilities."""
    return rows_of(distortion, (np.arange(_POINTS) + 0.5) / _POINTS)


def rows_of(distortion: str, uniform: FloatVector) -> tuple[FloatVector, FloatVector]:
    """Return predictions and their true probabilities at uniform numbers in (0, 1)."""
    if distortion in _LINES:
        return uniform, _LINES[distortion].true_map(uniform)
    return _SHAPES[distortion].predict(uniform), uniform


def measured(fitted: FloatVector, truth: FloatVector) -> tuple[float, float, float]:
    """Return how far a map is from the truth, in three ways."""
    _, index = np.unique(fitted.round(_DIGITS), return_inverse=True)
    mean = np.bincount(index, truth) / np.bincount(index)
    loss = kl_div(truth, fitted) + kl_div(1 - truth, 1 - fitted)
    to_truth, to_frequency = np.abs(fitted - truth), np.abs(fitted - mean[index])
    return float(to_truth.mean()), float(to_frequency.mean()), float(loss.mean())


def runs_of(distortion: str, method: str, n_bins: int) -> FloatVector:
    """Fit a method to all calibration sets, which are the same for all methods.

    Values by measure, size and run, (3, S, R); some losses are infinite.
    """
    return _runs(distortion, method, n_bins if method in BINNED else 0)


@lru_cache(maxsize=64)
def _runs(distortion: str, method: str, n_bins: int) -> FloatVector:
    prob, truth = grid_of(distortion)
    values = np.empty((len(MEASURES), len(SIZES), RUNS))
    rng = np.random.default_rng(_SEED)
    for s, size in enumerate(SIZES):
        for run in range(RUNS):
            said, chance = rows_of(distortion, rng.random(size))
            label = (rng.random(size) < chance).astype(np.int64)
            fitted = METHODS[method](n_bins).fit(said, label).calibrate(prob)
            values[:, s, run] = measured(fitted, truth)
    return read_only(values)
