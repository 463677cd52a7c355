"""Checks of the dials of fake classifiers: every message states the feasible range."""

from typing import Any

import numpy as np

from calibkit.validation import as_number, as_weights

DIRECTIONS = ("over", "under", "pivot")
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


def as_shares(values: Any, size: int, name: str, units: str = "classes") -> tuple[float, ...]:
    """Check shares of classes or components, which sum to 1."""
    shares = as_weights(values, size, name, units).tolist()
    if any(isinstance(value, bool | np.bool_) for value in values):
        raise ValueError(f"{name} must be {size} numbers from 0 to 1, got {values!r}.")
    total = sum(shares)
    if abs(total - 1) > WEIGHT_SUM_TOLERANCE:
        raise ValueError(
            f"{name} must sum to 1, but their sum is {total:.6g}; divide each by the sum."
        )
    return tuple(share / total for share in shares)
