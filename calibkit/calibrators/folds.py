"""Folds that do not depend on row order, and the rule that prefers the simpler model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatVector, IntVector, Rng, as_count, as_generator, as_number


def assign_folds(
    x: NDArray[np.float64],
    label: NDArray[np.float64],
    cv: Any,
    rng: Rng,
    cluster: IntVector | None = None,
) -> tuple[IntVector, int]:
    """Divide rows into folds.

    Parameters
    ----------
    x, label : ndarray of shape (n,)
        Predictions (or any numbers) and labels, sorted by both: positions carry no row order.
    cv : int or scikit-learn splitter
        How many folds to draw, or what makes them.
    rng : int, numpy.random.Generator or None
        What draws them.
    cluster : ndarray of shape (n,), optional
        The number of each row's cluster, from 0 on; a cluster is held out as a whole, and the
        folds have nearly equal numbers of rows. Fewer clusters than folds make fewer folds.

    Returns
    -------
    fold, n_folds : ndarray of shape (n,), int
        The fold that holds out each row, from 0 on, and the number of folds.

    Raises
    ------
    ValueError
        If there are fewer rows than folds, or a splitter never holds out some row.
    """
    n = len(x)
    n_folds = check_folds(cv)
    if n_folds is not None and cluster is not None:
        return _whole_clusters(np.bincount(cluster), n_folds, as_generator(rng))[cluster], min(
            n_folds, int(cluster.max()) + 1
        )
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


def _whole_clusters(size: IntVector, n_folds: int, rng: np.random.Generator) -> IntVector:
    """Return the fold of each cluster: the largest first, each to the fold with fewest rows."""
    shuffled = rng.permutation(len(size))
    fold, rows = np.empty(len(size), dtype=np.intp), np.zeros(min(n_folds, len(size)))
    for one in shuffled[np.argsort(-size[shuffled], kind="stable")].tolist():
        fold[one] = rows.argmin()
        rows[fold[one]] += size[one]
    return fold


def parsimonious(scores: FloatVector, tolerance: float) -> int:
    """Return the first place whose score is at most ``(1 + tolerance)`` times the lowest.

    Candidates go from simple to complex (Kängsepp, Valk and Kull, 2022, appendix C.2: 0.1 %).

    >>> parsimonious(np.array([0.3, 0.2002, 0.2]), tolerance=0.001)
    1
    """
    check_tolerance(tolerance)
    return int(np.flatnonzero(scores <= scores.min() * (1 + tolerance))[0])


def check_folds(cv: Any) -> int | None:
    """Check what says how to divide rows; return a number of folds, or None for a splitter."""
    if hasattr(cv, "split") and not isinstance(cv, str):  # text has a `split` of its own
        return None
    return as_count(cv, "cv", minimum=2)


def check_tolerance(tolerance: float) -> None:
    """Check the part by which the score of a simpler candidate may exceed the best one."""
    as_number(tolerance, "tolerance", "a number from 0 on", lambda part: 0 <= part < np.inf)
