"""The bin tuner: two hundred data sets, four estimates, one truth. Lesson 06.

Sources: Kängsepp, Valk and Kull (2022), sections 4.6, C.2 and C.5 (the fit-on-test view); Kumar,
Liang and Ma (2019), sections 2 and 4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit import plot
from calibkit.bins import run_ends
from calibkit.calibrators.folds import assign_folds
from calibkit.fakes import SyntheticShape
from calibkit.plot.look import AnyFigure
from calibkit.results import Result, read_only, spell
from calibkit.types import FloatVector, IntVector
from calibkit.validation import as_choice, as_count
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson06 import figures
from calibkit_course.lesson06.draws import OutcomeDraws, Replicates

_REPLICATES = 200
_GRID = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50])
_ENDLESS = 60_000  # a multiple of every number in the grid
_CANDIDATES = range(1, 41)
_FOLDS, _TOLERANCE = 10, 0.001
_SCALE, _TICKS = (-0.05, 0.25), (0.0, 0.1, 0.2)
_SHAPES = {"stairs": "too high here, too low there", "square": "too low everywhere"}
_ESTIMATORS = {
    "plain": "plain ECE",
    "debiased": "debiased ECE",
    "cv": "ECE, bins by cross-validation",
    "sweep": "ECE, bins by the sweep",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BinTuner(Result):
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
            f"The {_ESTIMATORS[self.estimator]} in {used}, {spell(len(found.values), 'data set')} "
            f"of {spell(self.n, 'prediction')}, has the mean {found.mean:.4f} ± {found.sd:.4f}. "
            f"The truth is {self.truth:.4f}, so the bias is {found.bias:+.4f}; the mean error is "
            f"{found.mean_error:.4f}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {"n_bins": self.grid, "plain_mean": self.plain_mean, "endless_data": self.limit}


def bin_tuner_view(
    *,
    n: int = 1000,
    n_bins: int = 15,
    shape: str = "stairs",
    error: float = 0.05,
    estimator: str = "plain",
    seed: int = 6,
) -> BinTuner:
    """Estimate one true error on 200 data sets."""
    as_choice(shape, "shape", _SHAPES)
    as_choice(estimator, "estimator", _ESTIMATORS)
    n, n_bins = as_count(n, "n"), as_count(n_bins, "n_bins")
    if max(n_bins, int(_GRID[-1])) > n:
        raise ValueError(f"n={n} is too small: take at least {max(n_bins, int(_GRID[-1]))}.")
    prob, true_prob = _predictions(shape, error, n)
    draws = OutcomeDraws.draw(prob, true_prob, _REPLICATES, np.random.default_rng(seed))
    used, values = _estimates(draws, estimator, n_bins)
    truth = float(np.abs(prob - true_prob).mean())
    return BinTuner(
        replicates=Replicates(name=_ESTIMATORS[estimator], values=values, truth=truth),
        n_bins=used,
        n=n,
        estimator=estimator,
        truth=truth,
        grid=read_only(_GRID),
        plain_mean=np.array([draws.plain(int(number)).mean() for number in _GRID]),
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
    left = [np.abs(np.diff(sums[run_ends(_ENDLESS, int(b))])).sum() for b in _GRID]
    return read_only(np.array(left) / _ENDLESS)


def _draw(view: BinTuner, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2)
    titles = f"Estimates of {len(view.n_bins)} data sets", "The same against the bins"
    first, second = (None, None) if compact else titles
    points = view.n_bins, view.replicates.values
    figures.replicates(view.replicates, ax=axes[0], title=first, legend=False)
    figures.bin_drift(view, ax=axes[1], points=points, title=second, legend=False)
    # The same scale in all states, so that a dial moves the picture and not the axis.
    axes[0].set_xlim(_SCALE)
    axes[0].set_xticks(_TICKS)
    axes[1].set_ylim(_SCALE)
    axes[1].set_yticks(_TICKS)
    if not compact:
        plot.legend(figure)


_CONTROLS = (
    Slider(
        name="n",
        label="Sample size",
        values=(250, 500, 1000, 2000, 5000),
        default=1000,
        book=(250, 1000, 5000),
        unit="predictions",
    ),
    Slider(
        name="n_bins",
        label="Bins",
        values=tuple(_GRID.tolist()),
        default=15,
        book=(2, 5, 15, 50),
        unit="bins",
    ),
    Choice(
        name="shape", label="Predictions", values=tuple(_SHAPES), default="stairs", texts=_SHAPES
    ),
    Slider(
        name="error",
        label="True error",
        values=(0.0, 0.01, 0.02, 0.05, 0.1),
        default=0.05,
        book=(0.0, 0.05),
        form="{:g}",
    ),
    Choice(
        name="estimator",
        label="Estimate",
        values=tuple(_ESTIMATORS),
        default="plain",
        book=("plain", "debiased"),
        texts=_ESTIMATORS,
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("plain, 15 bins", {}),
    ("plain, 50 bins", {"n_bins": 50}),
    ("debiased, 50 bins", {"n_bins": 50, "estimator": "debiased"}),
    ("bins by cross-validation", {"estimator": "cv"}),
)


def bin_tuner(**defaults: Any) -> Explorer[BinTuner]:
    """Return the explorer *bin tuner*: turn the bins until the estimate meets the truth."""
    return Explorer(
        name="bin-tuner",
        title="Bin tuner",
        controls=_CONTROLS,
        view=bin_tuner_view,
        draw=_draw,
        presets=_PRESETS,
        size=(7.4, 4.4),
        cell=(6.6, 2.5),
    ).starting_at(**defaults)
