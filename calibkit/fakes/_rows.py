"""Rows of a knob classifier: shares of the wrong classes, drawn without a loop over rows."""

import numpy as np
from numpy.typing import NDArray

from calibkit.types import FloatVector

# Random shares stay this fraction away from a tie with the predicted class.
SHARE_MARGIN = 1e-9
SMALLEST_EXCESS = 1e-6


def fill(
    rows: FloatVector, predicted: NDArray[np.int64], top: FloatVector, others: FloatVector
) -> None:
    rows[:] = others
    rows[np.arange(len(rows)), predicted] = top


def limit_shares(
    draws: FloatVector, predicted: NDArray[np.int64], confidence: FloatVector
) -> FloatVector:
    """Turn exponential draws, one row per class, into shares of the wrong classes.

    Uniform on the simplex; draws that lift a wrong class above the predicted one are pulled towards
    equal shares until they do not.
    """
    own = predicted, np.arange(len(predicted))
    equal = 1 / (len(draws) - 1)
    draws[own] = 0
    total = draws.sum(axis=0)
    excess = confidence - (1 - confidence) * equal
    room = (1 - confidence) * (draws.max(axis=0) / total - equal)
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = np.minimum(1, (1 - SHARE_MARGIN) * excess / room)
    pull = np.where(room > 0, pull, 1)
    pull = np.where(excess > SMALLEST_EXCESS, pull, 0)
    shares = draws * (pull / total)
    shares += (1 - pull) * equal
    shares[own] = 0
    return np.asarray(shares)


def choose(shares: FloatVector, level: FloatVector) -> NDArray[np.int64]:
    """Return the class at which the running sum of each column reaches `level`, in (0, 1]."""
    running = np.cumsum(shares, axis=0)
    return np.asarray((running < level * running[-1]).sum(axis=0))
