"""Checks that the games and costs share."""

from typing import Any

import numpy as np


def as_finite(value: Any, name: str, low: float = -np.inf, high: float = np.inf) -> float:
    """Check a finite number in [low, high]; the message states the range."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if number and not isinstance(value, bool) and np.isfinite(value) and low <= value <= high:
        return float(value)
    allowed = "a finite number"
    if np.isfinite(low):
        allowed += (
            f" of at least {low:g}" if not np.isfinite(high) else f" from {low:g} to {high:g}"
        )
    raise ValueError(f"{name} must be {allowed}, got {value!r}.")


def as_amount(value: Any, name: str) -> float:
    """Check a positive finite number such as a stake."""
    number = as_finite(value, name, 0)
    if number == 0:
        raise ValueError(f"{name} must be above 0, got {value!r}.")
    return number
