"""Fit maps with a given number of pieces, and score numbers of pieces by cross-validation."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.calibrators._piecewise_formulas import Grid, Maps, grid_of, training_grids
from calibkit.calibrators._piecewise_optimise import Family, Fits, fit_maps
from calibkit.calibrators._piecewise_starts import Starts
from calibkit.inputs import FloatVector, IntVector, expit

# Fits start on this many runs of predictions and finish on all of them.
_PLACES = 400
# A step that gains less mean loss than this ends a fit.
_SETTLED, _EXACT = 5e-7, 1e-14
_ROUGH_STEPS, _FINE_STEPS = 40, 100


class Problem(NamedTuple):
    """Sorted predictions in the space of the map, labels, outer knots; the family to be fitted."""

    x: FloatVector
    label: FloatVector
    ends: tuple[float, float]
    family: Family
    space: str


def fit_all(problem: Problem, n_pieces: int) -> Fits:
    """Fit one map to all predictions: the best of the starts, then of knots around it."""
    x, label, ends, family, _ = problem
    rough = grid_of(x, label, _PLACES)
    starts = Starts(rough, ends, family, n_pieces)
    best = _best_fit(rough, starts, n_pieces, family)
    if n_pieces > 1:
        more = _fit_roughly(rough, starts.around(best.maps, family), family)
        maps = Maps(*(np.concatenate(pair) for pair in zip(best.maps, more.maps, strict=True)))
        both = (np.concatenate(pair) for pair in zip(best[1:], more[1:], strict=True))
        best = _best_of(Fits(maps, *both), rough.n_problems)
    return _finish(grid_of(x, label), best, family)


def fit_folds(problem: Problem, fold: IntVector, n_folds: int, n_pieces: int) -> Fits:
    """Fit maps to all predictions but those of one fold: one from each start, for each fold.

    The local optima are nearly equally good; their mean is closer to the truth than the best.
    """
    x, label, ends, family, _ = problem
    rough = training_grids(x, label, fold, n_folds, _PLACES)
    starts = Starts(rough, ends, family, n_pieces)
    fits = _fit_roughly(rough, starts.maps(n_pieces), family)
    return _finish(training_grids(x, label, fold, n_folds), fits, family)


def scores_by_pieces(
    problem: Problem, fold: IntVector, n_folds: int, candidates: list[int]
) -> NDArray[np.float64]:
    x, label, ends, family, space = problem
    grid = training_grids(x, label, fold, n_folds, _PLACES)
    starts = Starts(grid, ends, family, max(candidates))
    held_out = [np.flatnonzero(fold == f) for f in range(n_folds)]
    scores = []
    for n_pieces in candidates:
        maps = _best_fit(grid, starts, n_pieces, family).maps
        errors = []
        for rows, knots, heights in zip(held_out, maps.knots, maps.heights, strict=True):
            prob = evaluate(x[rows], knots, heights, space)
            errors.append(np.mean((prob - label[rows]) ** 2))
        scores.append(np.mean(errors))
    return np.array(scores)


def _finish(exact: Grid, rough: Fits, family: Family) -> Fits:
    # One piece has no knots to move, hence no kinks: there Newton's steps go to the end.
    tolerance = _SETTLED if rough.maps.knots.shape[1] > 2 else _EXACT
    fits = fit_maps(exact, rough.maps, family, tolerance=tolerance, most_steps=_FINE_STEPS)
    return fits._replace(n_iter=fits.n_iter + rough.n_iter)


def _best_fit(grid: Grid, starts: Starts, n_pieces: int, family: Family) -> Fits:
    return _best_of(_fit_roughly(grid, starts.maps(n_pieces), family), grid.n_problems)


def _fit_roughly(grid: Grid, start: Maps, family: Family) -> Fits:
    return fit_maps(grid, start, family, tolerance=_SETTLED, most_steps=_ROUGH_STEPS)


def _best_of(fits: Fits, n_problems: int) -> Fits:
    by_start = fits.loss.reshape(-1, n_problems)
    best = by_start.argmin(axis=0) * n_problems + np.arange(n_problems)
    return Fits(fits.maps.only(best), fits.loss[best], fits.n_iter[best], fits.converged[best])


def evaluate(x: Any, knots: FloatVector, heights: FloatVector, space: str) -> FloatVector:
    """Return the map at `x`; in logit space its outer pieces go on beyond the outer knots."""
    value: FloatVector = np.interp(x, knots, heights)
    if space == "probability":
        return value
    slopes = np.diff(heights) / np.diff(knots)
    value = value + slopes[0] * np.minimum(x - knots[0], 0.0)
    value = value + slopes[-1] * np.maximum(x - knots[-1], 0.0)
    return expit(value)
