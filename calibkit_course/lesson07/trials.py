"""What the cells of lesson 07 count, print and train. Lesson 07."""

import numpy as np
from numpy.typing import ArrayLike

from calibkit.calibrators import Calibrator
from calibkit.fakes import FakeSample, LogitDistortion, SyntheticShape
from calibkit.inputs import FloatVector, expit

Fake = LogitDistortion | SyntheticShape


def map_error(fitted: Calibrator, fake: Fake, n: int = 2000) -> float:
    """Return the mean distance between a fitted map and the true one, on n new predictions."""
    grid = (np.arange(n) + 0.5) / n
    if isinstance(fake, SyntheticShape):  # there, the truth is evenly spaced
        prob, true_prob = fake.predict(grid), grid
    else:
        prob, true_prob = grid, np.asarray(fake.true_map(grid))
    return float(np.abs(fitted.curve(prob) - true_prob).mean())


def reported(fitted: Calibrator, sample: FakeSample) -> float:
    """Return the calibration error that a fitted map reports: its distance from the diagonal."""
    return float(np.abs(fitted.curve(sample.y_prob) - sample.y_prob).mean())


def true_error(sample: FakeSample) -> float:
    """Return the mean distance between predictions and true probabilities."""
    return float(np.abs(sample.true_prob - sample.y_prob).mean())


def train_with_adam(
    z: ArrayLike, y: ArrayLike, knot: float, rounds: int = 1500
) -> tuple[FloatVector, FloatVector]:
    """Train PL3 of one piece as a network is trained, with outer knots at logits of ±`knot`.

    Returns the two heights, as logits, and the fitted probabilities of the rows. Each round goes
    through the data in four batches, in random order.
    """
    z, y = np.asarray(z, dtype=np.float64), np.asarray(y)
    shares = np.stack([knot - z, knot + z]) / (2 * knot)  # what either height contributes
    heights = np.array([z.min(), z.max()])
    mean, square = np.zeros(2), np.zeros(2)
    rng = np.random.default_rng(7)
    for step in range(1, 4 * rounds + 1):
        if step % 4 == 1:
            batches = rng.permutation(len(z)).reshape(4, -1)
        rows = batches[step % 4]
        slope = shares[:, rows] @ (expit(heights @ shares[:, rows]) - y[rows]) / len(rows)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        scale = np.sqrt(square / (1 - 0.999**step)) + 1e-7
        heights = heights - 0.01 * mean / (1 - 0.9**step) / scale
    return heights, np.asarray(expit(heights @ shares))
