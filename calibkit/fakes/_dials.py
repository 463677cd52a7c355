"""Checks of the dials of fake classifiers: every message states the feasible range."""

from typing import Any

import numpy as np

from calibkit.validation import as_number

DIRECTIONS = ("over", "under", "pivot")
SPREADS = ("equal", "random")
# Weights computed in single precision still count as summing to one.
WEIGHT_SUM_TOLERANCE = 1e-6


def as_accuracy(value: Any, n_classes: int) -> float:
    """Check an accuracy: better than guessing, and below 1."""
    low = 1 / n_classes
    feasible = (
        f"strictly between 1/K = {low:.6g} (guessing) and 1 (never wrong) for {n_classes} classes"
    )
    # The beta distribution needs both sides, also after rounding.
    return as_number(value, "accuracy", feasible, lambda a: (a - low) / (1 - low) > 0 and a < 1)


def as_pivot(value: Any, direction: str, n_classes: int) -> float | None:
    """Check the fixed point of a pivot: a confidence, and only given with its direction."""
    if value is None:
        return None
    if direction != "pivot":
        raise ValueError(
            f'pivot={value!r} was given, but direction="{direction}" has its own fixed point; '
            'leave pivot out or set direction="pivot".'
        )
    low = 1 / n_classes
    feasible = f"between 1/K = {low:.6g} and 1, the range of confidences"
    return as_number(value, "pivot", feasible, lambda pivot: low <= pivot <= 1)


def as_weights(values: Any, size: int, name: str, of: str = "class") -> tuple[float, ...]:
    """Check shares of classes or components, which sum to 1."""
    try:
        if any(isinstance(value, bool | np.bool_) for value in values):
            raise TypeError
        weights = tuple(float(value + 0.0) for value in values)  # refuses text
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {size} numbers from 0 to 1, got {values!r}.") from None
    if len(weights) != size:
        raise ValueError(f"{name} must be {size} numbers, one per {of}, got {len(weights)}.")
    for place, weight in enumerate(weights):
        if not 0 <= weight <= 1:
            raise ValueError(f"{name}[{place}] = {weight!r} must lie between 0 and 1.")
    total = sum(weights)
    if abs(total - 1) > WEIGHT_SUM_TOLERANCE:
        raise ValueError(
            f"{name} must sum to 1, but their sum is {total:.6g}; divide each by the sum."
        )
    return tuple(weight / total for weight in weights)
