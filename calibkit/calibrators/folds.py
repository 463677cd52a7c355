"""Folds that do not depend on row order, and the number of bins that they choose."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import EqualMass, EqualWidth, bounds_of_bins
from calibkit.calibrators.binning import ChosenBinning
from calibkit.inputs import (
    FloatVector,
    IntVector,
    Rng,
    as_count,
    as_generator,
    as_number,
    binary_problem,
)
from calibkit.reliability import slack_of


def assign_folds(
    x: NDArray[np.float64], label: NDArray[np.float64], cv: Any, rng: Rng
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


class CrossValidatedBinning(ChosenBinning):
    """Slope-1 bins whose number is chosen by the Brier score on held-out folds.

    Parameters
    ----------
    kind, rule : {"equal-mass", "equal-width"}, {"midpoint", "first"}
        Kind of bins, and where the edges of equal-mass bins are: see `calibkit.EqualMass`.
    max_bins : int, the largest number tried; all from 1 on are
    cv, rng : int or scikit-learn splitter, int, numpy.random.Generator or None
        Folds over the sorted predictions, so row order plays no part; what draws a number of them.
    tolerance : float
        The smallest number whose score exceeds the best one by no more than this part wins.

    Attributes
    ----------
    n_bins_, best_n_bins_ : int
        Chosen number of bins (ties can make fewer of it), and the one with the best score.
    candidates_, scores_ : ndarray of shape (max_bins,)
        Numbers tried, and their mean held-out Brier scores. Others as in `SlopeOneBinning`.

    Notes
    -----
    For each fold, bins and shifts come from the other folds; the score of B bins is the plain mean
    of ``(1/m) sum_i (p_i + s_b(i) - y_i)^2`` over folds. With the best score s, the smallest B with
    score at most ``1.001 s`` is chosen (Kängsepp, Valk and Kull, 2022, sections 4.6 and C.2), and
    fitted to all data. Why it works: a drop of an expected proper score *is* the drop of the
    distance to the true map (their Theorem 1). Like `SlopeOneBinning` it may say exactly 0 or 1.
    Taught in lesson 06.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 1000))
    >>> CrossValidatedBinning().fit(p, u < p**2).n_bins_
    5
    """

    family: ClassVar[str] = "slope-1 bins, number by cross-validation"

    def __init__(
        self,
        kind: str = "equal-mass",
        max_bins: int = 40,
        cv: Any = 10,
        tolerance: float = 0.001,
        rng: Rng = 0,
        rule: str = "midpoint",
    ):
        self.kind = kind
        self.max_bins = max_bins
        self.cv = cv
        self.tolerance = tolerance
        self.rng = rng
        self.rule = rule

    def _choose(self, prob: FloatVector, label: FloatVector) -> int:
        self.candidates_ = np.arange(1, as_count(self.max_bins, "max_bins") + 1)
        check_tolerance(self.tolerance)  # before the work
        folds = assign_folds(prob, label, self.cv, self.rng)
        binnings = [self._binning(int(number)) for number in self.candidates_]
        self.scores_ = held_out_scores(prob, label - prob, folds, binnings)
        self.best_n_bins_ = int(self.candidates_[self.scores_.argmin()])
        return int(self.candidates_[parsimonious(self.scores_, self.tolerance)])


def held_out_scores(
    prob: FloatVector,
    residual: FloatVector,
    folds: tuple[IntVector, int],
    binnings: Sequence[EqualMass | EqualWidth],
) -> FloatVector:
    """Return the mean held-out Brier score of slope-1 bins, for each binning.

    Predictions are sorted; `residual` is label minus prediction; `folds` as from `assign_folds`.
    """
    fold, n_folds = folds
    scores = np.zeros((n_folds, len(binnings)))
    precision = binary_problem(np.zeros(len(prob)), prob).precision
    for part in range(n_folds):
        held = fold == part
        if held.all():
            raise ValueError(
                "One fold holds out all predictions, so nothing is left to fit to. Use at least "
                "two folds."
            )
        fitted, tested = prob[~held], prob[held]
        sums = np.concatenate(([0.0], np.cumsum(residual[~held])))
        for place, binning in enumerate(binnings):
            cut = binning.edges(fitted), slack_of(binning, precision)
            at = bounds_of_bins(fitted, *cut)
            shift = np.diff(sums[at]) / np.maximum(np.diff(at), 1)
            left = residual[held] - np.repeat(shift, np.diff(bounds_of_bins(tested, *cut)))
            scores[part, place] = np.square(left).mean()
    return np.asarray(scores.mean(axis=0))
