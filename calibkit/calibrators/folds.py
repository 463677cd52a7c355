"""Folds that do not depend on row order, and the rule that prefers the simpler model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.types import FloatVector, IntVector
from calibkit.validation import as_count, as_generator, as_number


def assign_folds(
    x: NDArray[np.float64],
    label: NDArray[np.float64],
    cv: Any,
    rng: int | np.random.Generator | None,
) -> tuple[IntVector, int]:
    """Return the fold of each row, and the number of folds.

    `x` and `label` are sorted by both, so positions carry no row order.
    """
    n = len(x)
    n_folds = check_folds(cv)
    if n_folds is not None:
        if n < n_folds:
            raise ValueError(
                f"cv={n_folds} folds need at least {n_folds} predictions, got {n}. "
                "Use fewer folds, or give the number to be chosen."
            )
        fold = np.empty(n, dtype=np.intp)
        fold[as_generator(rng).permutation(n)] = np.arange(n) % n_folds
        return fold, n_folds
    fold = np.full(n, -1, dtype=np.intp)
    parts = list(cv.split(x[:, np.newaxis], label))
    for number, (_, held_out) in enumerate(parts):
        fold[held_out] = number
    if (fold < 0).any():
        row = int(np.flatnonzero(fold < 0)[0])
        raise ValueError(
            f"cv={cv!r} never holds out row {row} of the sorted data; every row must be held "
            "out once. Use a number of folds, or a splitter such as KFold."
        )
    return fold, len(parts)


def parsimonious(scores: FloatVector, tolerance: float) -> int:
    """Return the first place whose score is at most ``(1 + tolerance)`` times the lowest.

    Candidates go from simple to complex (Kängsepp, Valk and Kull, 2022, appendix C.2: 0.1 %).
    """
    check_tolerance(tolerance)
    return int(np.flatnonzero(scores <= scores.min() * (1 + tolerance))[0])


def check_folds(cv: Any) -> int | None:
    if hasattr(cv, "split") and not isinstance(cv, str):  # text has a `split` of its own
        return None
    return as_count(cv, "cv", minimum=2)


def check_tolerance(tolerance: float) -> None:
    as_number(tolerance, "tolerance", "a number from 0 on", lambda part: 0 <= part < np.inf)
