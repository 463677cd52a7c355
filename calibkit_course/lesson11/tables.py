"""Tables of lesson 11: calibrators as a race has measured them, and scores side by side."""

from collections.abc import Callable, Mapping
from typing import Any

from calibkit.errors import expected_calibration_error
from calibkit.scores import brier_score, log_loss
from calibkit_course.lesson11.view import RaceView

_SCORES: dict[str, Callable[..., Any]] = {
    "ECE": expected_calibration_error,
    "Brier score": brier_score,
    "log loss": log_loss,
}


def standings(race: RaceView) -> str:
    """Return the median of each calibrator for each size of the calibration set."""
    lines = ["rows            " + "".join(f"{size:>8,}" for size in race.sizes)]
    for name in race.methods:
        values = (race.at(name, size) for size in race.sizes)
        lines.append(f"{name:16}" + "".join(f"{value:8.4f}" for value in values))
    lines.append(f"{'left as it is':16}" + f"{race.untouched:8.4f}" * len(race.sizes))
    return "\n".join(lines)


def scores(y_true: Any, said: Mapping[str, Any], names: tuple[str, ...] = tuple(_SCORES)) -> str:
    """Return a table: a row for each set of predictions, a column for each score."""
    lines = [" " * 22 + "".join(f"{name:>12}" for name in names)]
    for name, prob in said.items():
        values = ((one, float(_SCORES[one](y_true, prob))) for one in names)
        # The fourth digit of a log loss above 1 is the processor's.
        cells = (f"{value:12.{3 if one == 'log loss' else 4}f}" for one, value in values)
        lines.append(f"{name:22}" + "".join(cells))
    return "\n".join(lines)
