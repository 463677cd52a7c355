"""Four estimates of one true error on two hundred data sets. Lesson 06.

Sources: Kängsepp, Valk and Kull (2022), sections 4.6, C.2 and C.5 (the fit-on-test view); Li's
report on Kumar, Liang and Ma (2019), sections 2 and 4.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calibkit.bins import run_ends
from calibkit.calibrators.folds import assign_folds
from calibkit.fakes import SyntheticShape
from calibkit.inputs import FloatVector, IntVector, as_choice, as_count
from calibkit.results import Described, read_only, spell
from calibkit_course.lesson06.draws import OutcomeDraws, Replicates

GRID = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50])
SHAPES = {"stairs": "too high here, too low there", "square": "too low everywhere"}
ESTIMATORS = {
    "plain": "plain ECE",
    "debiased": "debiased ECE",
    "cv": "ECE, bins by cross-validation",
    "sweep": "ECE, bins by the sweep",
}
_REPLICATES = 200
_ENDLESS = 60_000  # a multiple of every number in the grid
_CANDIDATES = range(1, 41)
_FOLDS, _TOLERANCE = 10, 0.001


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BinTuner(Described):
    """One state of the bin tuner."""

    replicates: Replicates  # the chosen estimate on every data set
    n_bins: IntVector  # that each of them used
    n: int  # predictions in a data set
    estimator: str
    truth: float  # the true error of the predictions
    grid: IntVector  # numbers of bins for the two columns below
    plain_mean: FloatVector  # mean plain estimate over the data sets
    limit: FloatVector  # the error that endless data would show in these bins

    def describe(self) -> str:
        """Give mean, spread, bias and typical error of the estimate, beside the truth."""
        low, median, high = np.quantile(self.n_bins, [0, 0.5, 1])
        if low == high:
            used = spell(int(low), "equal-mass bin")
        else:
            used = f"{low:g} to {high:g} equal-mass bins (median {median:g})"
        found = self.replicates
        return (
            f"The {ESTIMATORS[self.estimator]} in {used}, {spell(len(found.values), 'data set')} "
            f"of {spell(self.n, 'prediction')}, has the mean {found.mean:.4f} ± {found.sd:.4f}. "
            f"The truth is {self.truth:.4f}, so the bias is {found.bias:+.4f}; the mean error is "
            f"{found.mean_error:.4f}."
        )


def bin_tuner_view(
    *,
    n: int = 1000,
    n_bins: int = 5,
    shape: str = "stairs",
    error: float = 0.05,
    estimator: str = "plain",
    seed: int = 6,
) -> BinTuner:
    """Estimate one true error on 200 data sets."""
    as_choice(shape, "shape", SHAPES)
    as_choice(estimator, "estimator", ESTIMATORS)
    n, n_bins = as_count(n, "n"), as_count(n_bins, "n_bins")
    if max(n_bins, int(GRID[-1])) > n:
        raise ValueError(f"n={n} is too small: take at least {max(n_bins, int(GRID[-1]))}.")
    prob, true_prob = _predictions(shape, error, n)
    draws = OutcomeDraws.draw(prob, true_prob, _REPLICATES, np.random.default_rng(seed))
    used, values = _estimates(draws, estimator, n_bins)
    truth = float(np.abs(prob - true_prob).mean())
    return BinTuner(
        replicates=Replicates(name=ESTIMATORS[estimator], values=values, truth=truth),
        n_bins=used,
        n=n,
        estimator=estimator,
        truth=truth,
        grid=GRID,
        plain_mean=np.array([draws.plain(int(number)).mean() for number in GRID]),
        limit=_limit(shape, error),
    )


def _predictions(shape: str, error: float, n: int) -> tuple[FloatVector, FloatVector]:
    """Return predictions at evenly spaced truths, and these truths."""
    true_prob = (np.arange(n) + 0.5) / n
    return SyntheticShape.with_error(shape, error, exact=True).predict(true_prob), true_prob


def _estimates(draws: OutcomeDraws, estimator: str, n_bins: int) -> tuple[IntVector, FloatVector]:
    """Return the bins that each data set used, and its estimate."""
    if estimator == "cv":
        used = draws.cross_validated(_CANDIDATES, _folds(draws.n), _TOLERANCE)
        return used, draws.at(used)
    if estimator == "sweep":
        used = draws.sweep()
        return used, draws.at(used)
    values = draws.plain(n_bins) if estimator == "plain" else draws.debiased(n_bins)
    return np.full(len(values), n_bins), values


@lru_cache(maxsize=16)
def _folds(n: int) -> tuple[IntVector, ...]:
    """Return the rows of each held-out part, as `CrossValidatedBinning` takes them."""
    fold, n_folds = assign_folds(np.arange(n) / n, np.zeros(n), _FOLDS, 0)
    return tuple(np.flatnonzero(fold == part) for part in range(n_folds))


@lru_cache(maxsize=32)
def _limit(shape: str, error: float) -> FloatVector:
    """Return the error that is left when the true gaps are averaged in each bin."""
    prob, true_prob = _predictions(shape, error, _ENDLESS)
    sums = np.concatenate([[0.0], np.cumsum(prob - true_prob)])
    left = [np.abs(np.diff(sums[run_ends(_ENDLESS, int(b))])).sum() for b in GRID]
    return read_only(np.array(left) / _ENDLESS)
