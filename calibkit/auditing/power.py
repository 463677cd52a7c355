"""Smallest error that so many rows can show, and how many rows a given error takes."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from calibkit.auditing.redraws import ViewTest
from calibkit.auditing.settings import AuditSettings

POWER = 0.9
FEWEST_SURPRISES = 10  # expected, sum of p (1 - p), below which limit laws are empty words
_PRECISION = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What these rows can show."""

    enough: bool  # whether `smallest` is small enough
    surprises: float  # outcomes that should go against the predictions, sum of p (1 - p)
    smallest: float  # average error that would be found with probability 90 %
    half_width: float  # half the interval of the average error
    needed: int  # rows needed to find the error that the settings name
    needed_precise: int  # rows needed to know the average error to 0.01 on either side


def reach(alpha: float) -> float:
    """Return the error in standard deviations that a test of this level finds in 90 of 100."""
    return float(special.ndtri(1 - alpha / 2) + special.ndtri(POWER))


def power_of(view: ViewTest, settings: AuditSettings) -> Power:
    """Return what so many predictions of this variance can show in a view."""
    most = reach(settings.alpha)
    half = float(special.ndtri((1 + settings.level) / 2))
    # Predictions of 0 and 1 promise no variance; a bound keeps the numbers finite. Rows of a
    # cluster agree: the average of so many varies like that of `design` times fewer.
    variance = max(view.variance, 1e-4)
    sd = float(np.sqrt(view.variance * view.design / view.n))
    least = (most / settings.detectable) ** 2 * variance, FEWEST_SURPRISES / variance
    needed = max(least) * view.design
    return Power(
        enough=view.n >= needed,
        surprises=view.n * view.variance,
        smallest=most * sd,
        half_width=half * sd,
        needed=int(np.ceil(needed)),
        needed_precise=int(np.ceil((half / _PRECISION) ** 2 * variance * view.design)),
    )
