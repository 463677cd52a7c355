"""The forecaster's bench: when would you dare to call "70 %" wrong? Lesson 01."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit.results import Result, read_only, spell
from calibkit.significance import wilson_interval
from calibkit.validation import as_count
from calibkit_course.explore import Explorer, Preset, Slider
from calibkit_course.lesson01 import figures

_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 20))
_DAYS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ForecastRecord(Result):
    """The days after a forecaster has stated the same probability each morning.

    The outcome is 1 for each rainy day; `share`, `low` and `high` are the share of rainy days up to
    each day and its interval.
    """

    stated: float
    truth: float  # the probability with which it rains
    outcome: NDArray[np.uint8]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
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

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "day": np.arange(1, len(self.outcome) + 1),
            "outcome": self.outcome,
            "share": self.share,
            "low": self.low,
            "high": self.high,
        }


def forecaster_view(
    *, stated: float = 0.7, days: int = 50, truth: float = 0.6, attempt: int = 1
) -> ForecastRecord:
    """Let it rain with probability `truth` on each of `days` days."""
    for name, value in (("stated", stated), ("truth", truth)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must be a probability from 0 to 1, got {value!r}.")
    luck = np.random.default_rng(attempt).random(as_count(days, "days"))
    outcome = (luck < truth).astype(np.uint8)
    n = np.arange(1, days + 1)
    hits = np.cumsum(outcome)
    low, high = wilson_interval(hits, n, level=0.95)
    return ForecastRecord(
        stated=float(stated),
        truth=float(truth),
        outcome=read_only(outcome),
        share=read_only(hits / n),
        low=read_only(low),
        high=read_only(high),
        level=0.95,
        method="Wilson",
    )


def _draw(record: ForecastRecord, figure: AnyFigure, compact: bool) -> None:
    figures.forecaster(record, figure.subplots(), legend=False)
    if not compact:
        plot.legend(figure)


_CONTROLS = (
    Slider(
        name="stated",
        label="Stated probability",
        values=_SHARES,
        default=0.7,
        book=(0.6, 0.7, 0.8),
        form="{:g}",
    ),
    Slider(
        name="days",
        label="Length",
        values=_DAYS,
        default=50,
        book=(5, 20, 50, 100, 300),
        unit="days",
    ),
    Slider(
        name="truth",
        label="True probability",
        values=_SHARES,
        default=0.6,
        book=(0.6, 0.7),
        form="{:g}",
    ),
    Slider(
        name="attempt",
        label="Attempt",
        values=tuple(range(1, 21)),
        default=1,
        book=(1, 2),
        unit="of 20",
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("10 days", {"days": 10}),
    ("50 days", {}),
    ("200 days", {"days": 200}),
    ("1,000 days", {"days": 1000}),
)


def forecaster(**defaults: Any) -> Explorer[ForecastRecord]:
    """Return the forecaster's bench."""
    return Explorer(
        name="forecaster",
        title="Forecaster's bench",
        controls=_CONTROLS,
        view=forecaster_view,
        draw=_draw,
        presets=_PRESETS,
        size=(5.8, 4.2),
    ).starting_at(**defaults)
