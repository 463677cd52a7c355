"""Checks of the dials of fake classifiers and games: every message states the feasible range."""

from typing import Any

import numpy as np

from calibkit.validation import as_number

DIRECTIONS = ("over", "under", "pivot")
SPREADS = ("equal", "random")
# Weights computed in single precision still count as summing to one.
WEIGHT_SUM_TOLERANCE = 1e-6
LARGEST_SEED = 2**32 - 1


def as_finite(
    value: Any, name: str, low: float = -np.inf, high: float = np.inf, said: str = "a finite number"
) -> float:
    if low > -np.inf:
        said += f" from {low:g} to {high:g}" if high < np.inf else f" of at least {low:g}"
    return as_number(value, name, said, lambda v: np.isfinite(v) and low <= v <= high)


def as_positive(value: Any, name: str) -> float:
    return as_number(value, name, "a positive finite number", lambda number: 0 < number < np.inf)


def as_pair(values: Any, name: str) -> tuple[float, ...]:
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise ValueError(f"{name} must be two positive numbers, got {values!r}.")
    return tuple(as_positive(value, f"{name}[{i}]") for i, value in enumerate(values))


def as_norm(value: Any) -> float:
    return as_number(value, "norm", "a finite number from 1 on", lambda norm: 1 <= norm < np.inf)


def as_accuracy(value: Any, n_classes: int) -> float:
    low = 1 / n_classes
    feasible = (
        f"strictly between 1/K = {low:.6g} (guessing) and 1 (never wrong) for {n_classes} classes"
    )
    # The beta distribution needs both sides, also after rounding.
    return as_number(value, "accuracy", feasible, lambda a: (a - low) / (1 - low) > 0 and a < 1)


def legacy_generator(seed: int) -> np.random.RandomState:
    """Return NumPy's legacy generator, which published data were drawn with; not the global one."""
    if seed > LARGEST_SEED:
        raise ValueError(f"the seed must be at most {LARGEST_SEED}, got {seed}.")
    return np.random.RandomState(seed)


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


def as_weights(
    values: Any, size: int, name: str, of: str = "class", tolerance: float = WEIGHT_SUM_TOLERANCE
) -> tuple[float, ...]:
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
    if abs(total - 1) > tolerance:
        raise ValueError(
            f"{name} must sum to 1, but their sum is {total:.6g}; divide each by the sum."
        )
    return tuple(weight / total for weight in weights)
