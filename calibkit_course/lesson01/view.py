"""A forecaster's record: the days after one stated probability. Lesson 01."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.hypothesis_tests import wilson_interval
from calibkit.inputs import FloatVector, as_count, as_number
from calibkit.results import Described, spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ForecastRecord(Described):
    """The days after a forecaster has stated the same probability each morning.

    The outcome is 1 for each rainy day; `share`, `low` and `high` are the share of rainy days up to
    each day and its interval.
    """

    stated: float
    truth: float  # the probability with which it rains
    outcome: NDArray[np.uint8]
    share: FloatVector
    low: FloatVector
    high: FloatVector
    level: float
    method: str  # name of the interval

    @property
    def contains_stated(self) -> bool:
        """Whether the interval after the last day contains the stated probability."""
        return bool(self.low[-1] <= self.stated <= self.high[-1])

    def describe(self) -> str:
        """Say what the days allow to conclude about the stated probability."""
        hits, days = int(self.outcome.sum()), len(self.outcome)
        percent = f"{100 * self.level:g} %"
        verb = "contains" if self.contains_stated else "does not contain"
        return (
            f"After {spell(days, 'day')}, {hits:,} of {days:,} came true, which is "
            f"{self.share[-1]:.2f}; "
            f"the {percent} interval ({self.method}), {self.low[-1]:.2f}–{self.high[-1]:.2f}, "
            f"{verb} the stated {self.stated:g}."
        )


def forecaster_view(
    *, stated: float = 0.7, days: int = 50, truth: float = 0.6, attempt: int = 1
) -> ForecastRecord:
    """Let it rain with probability `truth` on each of `days` days."""
    stated, truth = _as_chance(stated, "stated"), _as_chance(truth, "truth")
    luck = np.random.default_rng(attempt).random(as_count(days, "days"))
    outcome = (luck < truth).astype(np.uint8)
    n = np.arange(1, days + 1)
    hits = np.cumsum(outcome)
    low, high = wilson_interval(hits, n, level=0.95)
    return ForecastRecord(
        stated=stated,
        truth=truth,
        outcome=outcome,
        share=hits / n,
        low=low,
        high=high,
        level=0.95,
        method="Wilson",
    )


def _as_chance(value: Any, name: str) -> float:
    return as_number(value, name, "a probability from 0 to 1", lambda chance: 0 <= chance <= 1)
