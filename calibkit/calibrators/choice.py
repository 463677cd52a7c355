"""How many bins? By held-out scores, or by the sweep; then slope-1 bins are fitted."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit._validation import as_count
from calibkit.bins import Binning, EqualMass, EqualWidth
from calibkit.calibrators._folds import assign_folds, parsimonious
from calibkit.calibrators._held_out import held_out_scores
from calibkit.calibrators.binning import SlopeOneBinning

FloatVector = NDArray[np.float64]

KINDS = ("equal-mass", "equal-width")
RULES = ("midpoint", "first")


class _ChosenBinning(SlopeOneBinning):
    """Slope-1 bins whose number is found from the data."""

    kind: str
    rule: str
    n_bins_: int

    def _binning(self, n_bins: int) -> Binning:
        return EqualMass(n_bins, self.rule) if self.kind == "equal-mass" else EqualWidth(n_bins)

    def _check_kind(self) -> None:
        for name, options in (("kind", KINDS), ("rule", RULES)):
            value = getattr(self, name)
            if value not in options:
                raise ValueError(f"{name} must be one of {options}, got {value!r}.")

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        self._check_kind()
        # Positions among sorted rows carry no row order.
        order = np.lexsort((label, prob))
        self.n_bins_ = self._choose(prob[order], label[order])
        self._fit_bins(self._binning(self.n_bins_), prob, label)

    def _choose(self, prob: FloatVector, label: FloatVector) -> int:
        raise NotImplementedError


class CrossValidatedBinning(_ChosenBinning):
    """Slope-1 bins whose number is chosen by the Brier score on held-out folds.

    Parameters
    ----------
    kind : {"equal-mass", "equal-width"}
        Kind of bins.
    max_bins : int
        Largest number tried; all from 1 on are.
    cv : int or scikit-learn splitter
        Folds. They are drawn over the sorted predictions, so row order plays no part. A splitter
        gets the sorted data.
    tolerance : float
        The smallest number whose score exceeds the best one by no more than this part wins; 0
        takes the best.
    rng : int, numpy.random.Generator or None
        Draws the folds if `cv` is a number.
    rule : {"midpoint", "first"}
        Where the edges of equal-mass bins are: see `calibkit.EqualMass`.

    Attributes
    ----------
    n_bins_ : int
        Chosen number of bins. Ties can make fewer bins of it.
    candidates_ : ndarray of int, shape (max_bins,)
        Numbers tried.
    scores_ : ndarray of shape (max_bins,)
        Mean over the folds of the held-out Brier score of each.
    best_n_bins_ : int
        The number with the best score, before `tolerance`.
    shift_, table_, edges_, n_parameters_, converged_, n_iter_
        As in `SlopeOneBinning`, of the fit to all data.

    Raises
    ------
    ValueError
        By ``fit``, as in `Calibrator`; if an option does not exist, or there are fewer
        predictions than folds.

    Notes
    -----
    For each fold, bins and shifts come from the other folds; the score of B bins is the plain
    mean of ``(1/m) sum_i (p_i + s_b(i) - y_i)^2`` over folds. Let s be the best score, of B* bins:
    the smallest B with score at most ``1.001 s`` is chosen (source 000 sections 4.6 and C.2), and
    fitted to all data. Why it works: a drop of an expected proper score *is* the drop of the
    distance to the true map (source 000, Theorem 1).

    Running sums over sorted predictions give all candidates of a fold at once. Taught in lesson
    06.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> y = rng.random(1000) < p ** 2
    >>> model = CrossValidatedBinning().fit(p, y)
    >>> model.n_bins_, model.best_n_bins_, len(model.scores_)
    (6, 6, 40)
    """

    family: ClassVar[str] = "slope-1 bins, number by cross-validation"

    candidates_: NDArray[np.intp]
    scores_: FloatVector
    best_n_bins_: int

    def __init__(
        self,
        kind: str = "equal-mass",
        max_bins: int = 40,
        cv: Any = 10,
        tolerance: float = 0.001,
        rng: int | np.random.Generator | None = 0,
        rule: str = "midpoint",
    ):
        self.kind = kind
        self.max_bins = max_bins
        self.cv = cv
        self.tolerance = tolerance
        self.rng = rng
        self.rule = rule

    def _choose(self, prob: FloatVector, label: FloatVector) -> int:
        most = as_count(self.max_bins, "max_bins")
        parsimonious(np.ones(1), self.tolerance)  # a bad tolerance is found before the work
        fold, n_folds = assign_folds(prob, label, self.cv, self.rng)
        self.candidates_ = np.arange(1, most + 1)
        binnings = [self._binning(int(number)) for number in self.candidates_]
        self.scores_ = held_out_scores(prob, label - prob, (fold, n_folds), binnings)
        self.best_n_bins_ = int(self.candidates_[self.scores_.argmin()])
        return int(self.candidates_[parsimonious(self.scores_, self.tolerance)])


class SweepBinning(_ChosenBinning):
    """Slope-1 bins, as many as keep the frequencies in rising order: the monotone sweep.

    Parameters
    ----------
    max_bins : int, optional
        Largest number tried; by default the number of predictions.
    kind : {"equal-mass", "equal-width"}
        Kind of bins.
    rule : {"midpoint", "first"}
        Where the edges of equal-mass bins are: see `calibkit.EqualMass`.

    Attributes
    ----------
    n_bins_ : int
        Chosen number of bins. Ties can make fewer bins of it.
    shift_, table_, edges_, n_parameters_, converged_, n_iter_
        As in `SlopeOneBinning`.

    Raises
    ------
    ValueError
        By ``fit``, as in `Calibrator`; if an option does not exist.

    Notes
    -----
    B = 1, 2, 3, … while no frequency is below that of the bin before it; the last such B is
    chosen, so all smaller numbers are in order, too. Empty bins are passed over. The choice
    depends on labels and ranks only (equal mass): any increasing distortion of the predictions
    has the same number of bins. Roelofs et al. (2022); source 000 section 4.6. Taught in lesson
    06.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> y = rng.random(1000) < p ** 2
    >>> SweepBinning().fit(p, y).n_bins_
    13
    """

    family: ClassVar[str] = "slope-1 bins, number by the sweep"

    def __init__(
        self, max_bins: int | None = None, kind: str = "equal-mass", rule: str = "midpoint"
    ):
        self.max_bins = max_bins
        self.kind = kind
        self.rule = rule

    def _choose(self, prob: FloatVector, label: FloatVector) -> int:
        most = len(prob) if self.max_bins is None else as_count(self.max_bins, "max_bins")
        events = np.concatenate(([0], np.cumsum(label.astype(np.int64))))
        first = np.flatnonzero(np.concatenate(([True], prob[1:] != prob[:-1])))
        # If even single predictions are in order, every number of bins is.
        if _rising(events, first[1:]):
            return most
        for n_bins in range(2, most + 1):
            inner = self._binning(n_bins).edges(prob)[1:-1]
            if not _rising(events, np.searchsorted(prob, inner)):
                return n_bins - 1
        return most


def _rising(events: NDArray[np.int64], cuts: NDArray[np.intp]) -> bool:
    """Tell whether the frequencies between the cuts never fall; empty bins are passed over."""
    bounds = np.concatenate(([0], cuts, [len(events) - 1]))
    count, hits = np.diff(bounds), np.diff(events[bounds])
    used = count > 0
    # A quotient of whole numbers is rounded correctly, so equal frequencies compare equal.
    return bool((np.diff(hits[used] / count[used]) >= 0).all())
