"""How far a share of events may be from its probability: Wilson's interval."""

from typing import Any

import numpy as np
from scipy import special

from calibkit.significance._binomial import as_trials
from calibkit.types import FloatVector
from calibkit.validation import as_level


def wilson_interval(
    hits: Any, count: Any, *, level: float = 0.95
) -> tuple[FloatVector, FloatVector]:
    """Interval for the probability of an event that happened in some of several trials.

    It holds the probabilities p with ``|k/N - p| <= z sqrt(p (1 - p) / N)``: those that a normal
    test with their own spread does not reject. It stays in [0, 1], has a width also for 0 or N
    events, and is close to its level on average. Wilson (1927). Lesson 01 draws it.

    Parameters
    ----------
    hits, count : array-like of int
        k events of N >= 1 trials; they broadcast.
    level : float
        Probability content, in (0, 1).

    Returns
    -------
    low, high : ndarray
        The ends, in the shape of the input.

    Raises
    ------
    ValueError
        If an entry is no whole number, has no trial, or more events than trials.

    Examples
    --------
    >>> low, high = wilson_interval([31, 0], 50)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.482, 0.0], [0.741, 0.071])
    """
    k, n = as_trials(hits, count)
    z2 = float(special.ndtri((1 + as_level(level)) / 2)) ** 2
    share = k / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    # Without events the lower end is 0, which rounding may miss; the upper end is alike.
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
