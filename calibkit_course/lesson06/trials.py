"""What the cells of lesson 06 measure and print. Lesson 06."""

from typing import Any

import numpy as np

from calibkit.calibrators import Calibrator
from calibkit.errors import debiased_calibration_error, expected_calibration_error
from calibkit.fakes import LogitDistortion, SyntheticShape
from calibkit.inputs import FloatVector
from calibkit_course.lesson06.draws import Replicates


def null_ece(
    model: LogitDistortion, n: int, bins: Any, n_sets: int = 200, seed: int = 6
) -> tuple[float, float]:
    """Return the mean ECE of a perfect model over data sets of n rows, and the formula's mean."""
    rng = np.random.default_rng(seed)
    samples = (model.sample(n, rng) for _ in range(n_sets))
    found = [expected_calibration_error(s.y_true, s.y_prob, bins=bins) for s in samples]
    return float(np.mean([e.value for e in found])), float(np.mean([e.null_mean for e in found]))


def estimate(
    model: Calibrator, shape: SyntheticShape, n: int = 1000, n_sets: int = 40
) -> tuple[FloatVector, FloatVector]:
    """Fit a map to many data sets; return how far off the maps are, and the ECEs they give."""
    grid = (np.arange(2000) + 0.5) / 2000  # true probabilities of new predictions
    map_off, ece_off = [], []
    for seed in range(n_sets):
        data = shape.sample(n, seed=seed)
        model.fit(data.y_prob, data.y_true)
        map_off.append(np.abs(model.curve(shape.predict(grid)) - grid).mean())
        ece = np.abs(model.curve(data.y_prob) - data.y_prob).mean()
        ece_off.append(abs(ece - np.abs(data.y_prob - data.true_prob).mean()))
    return np.array(map_off), np.array(ece_off)


def squares(slope: float, n_sets: int = 1000, seed: int = 7) -> tuple[Replicates, Replicates]:
    """Estimate a squared error on many data sets of 1,000 rows: plainly, and debiased.

    The predictions take 20 values, each of them 50 times, and every value has its own bin.
    """
    model, rng = LogitDistortion(slope=slope), np.random.default_rng(seed)
    said = np.repeat((np.arange(20) + 0.5) / 20, 50)
    chance = model.true_map(said)
    truth = float(np.mean((said - chance) ** 2))
    draws = ((rng.random(len(said)) < chance).astype(int) for _ in range(n_sets))
    found = [debiased_calibration_error(y, said, bins=20, norm=2) for y in draws]
    plain = np.array([error.plain_squared for error in found])
    debiased = np.array([error.squared for error in found])
    return (
        Replicates(name="plain", values=plain, truth=truth),
        Replicates(name="debiased", values=debiased, truth=truth),
    )
