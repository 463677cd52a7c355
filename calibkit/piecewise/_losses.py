"""The two losses in the two spaces: value, slope and curvature at each place.

Arguments are the height of the map (a probability, or a logit) and the counts of both outcomes.
The curvature is never negative: where the loss itself is not convex (Brier score of a logit) it
is that of Gauss and Newton, which leaves out the term that averages to zero.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

FloatVector = NDArray[np.float64]
Parts = tuple[FloatVector, FloatVector, FloatVector]
Loss = Callable[[FloatVector, FloatVector, FloatVector], Parts]

# Heights in probability space keep this distance from 0 and 1, so that log loss stays finite.
MARGIN = 1e-12


def log_loss_of_probability(height: FloatVector, hits: FloatVector, misses: FloatVector) -> Parts:
    """Return ``-hits log g - misses log(1 - g)`` and its derivatives."""
    g = np.clip(height, MARGIN, 1 - MARGIN)
    value = -(hits * np.log(g) + misses * np.log1p(-g))
    up, down = hits / g, misses / (1 - g)
    return value, down - up, up / g + down / (1 - g)


def brier_of_probability(height: FloatVector, hits: FloatVector, misses: FloatVector) -> Parts:
    """Return ``hits (1 - g)^2 + misses g^2`` and its derivatives."""
    n = hits + misses
    return n * height**2 - 2 * hits * height + hits, 2 * (n * height - hits), 2 * n


def log_loss_of_logit(height: FloatVector, hits: FloatVector, misses: FloatVector) -> Parts:
    """Return the log loss of ``expit(v)`` and its derivatives."""
    n, prob = hits + misses, expit(height)
    value = n * np.logaddexp(0, height) - hits * height
    return value, n * prob - hits, n * prob * (1 - prob)


def brier_of_logit(height: FloatVector, hits: FloatVector, misses: FloatVector) -> Parts:
    """Return the Brier score of ``expit(v)`` and its derivatives."""
    prob = expit(height)
    value, slope, curvature = brier_of_probability(prob, hits, misses)
    change = prob * (1 - prob)
    return value, slope * change, curvature * change**2


LOSSES: dict[tuple[str, str], Loss] = {
    ("probability", "log-loss"): log_loss_of_probability,
    ("probability", "brier"): brier_of_probability,
    ("logit", "log-loss"): log_loss_of_logit,
    ("logit", "brier"): brier_of_logit,
}
