"""The forecaster's bench: when would you dare to call "70 %" wrong? Lesson 01."""

from typing import Any

from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Explorer, Slider
from calibkit_course.lesson01 import figures
from calibkit_course.lesson01.view import ForecastRecord, forecaster_view

_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 20))
_DAYS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)


def _draw(record: ForecastRecord, figure: AnyFigure, compact: bool) -> None:
    figures.forecaster(record, figure.subplots(), legend=False)


_CONTROLS = (
    Slider("days", "Length", _DAYS, default=50, book=_DAYS[2:], unit="days"),
    Slider("stated", "Stated probability", _SHARES, default=0.7, form="{:g}"),
    Slider("truth", "True probability", _SHARES, default=0.6, book=(0.6, 0.7), form="{:g}"),
    Slider("attempt", "Attempt", tuple(range(1, 21)), default=1, book=(1, 9), unit="of 20"),
)


def forecaster(**defaults: Any) -> Explorer[ForecastRecord]:
    """Return the forecaster's bench."""
    return Explorer(
        name="forecaster",
        title="Forecaster's bench",
        controls=_CONTROLS,
        view=forecaster_view,
        draw=_draw,
        play="days",
        presets=(
            ("10 days", {"days": 10}),
            ("50 days", {"days": 50}),
            ("200 days", {"days": 200}),
            ("1,000 days", {"days": 1000}),
        ),
        size=(4.15, 4.4),
    ).starting_at(**defaults)
