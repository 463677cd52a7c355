"""Fit a batch of piecewise-linear maps: damped Gauss-Newton steps in heights and knots together.

Marquardt's rule sets the damping: a step that lowers the loss is taken and the damping falls; a
step that does not is refused and the damping grows. So the loss never rises, and a fit depends
on nothing but its start.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.calibrators._piecewise_formulas import (
    MARGIN,
    Grid,
    Loss,
    Maps,
    Moments,
    gradient_and_curvature,
    moments,
)
from calibkit.inputs import FloatMatrix, FloatVector, IntVector, expit

# A piece holds at least this share of the predictions. Without a limit, pieces shrink onto single
# predictions, and the maps of neighbouring folds no longer agree.
LEAST_SHARE = 0.01
_LEAST_WIDTH = 1e-9  # of a piece, as a part of the whole range
_LONGEST_STEP = 4.0  # of a height; where a logit saturates, the quadratic model says nothing
_GENTLE, _HARSH = 0.2, 5.0  # factors of the damping after good and after refused steps
_FIRST_DAMPING, _MOST_DAMPING = 1e-2, 1e6


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Which maps are allowed (limits of the heights), and by what they are judged."""

    loss: Loss
    low: float
    high: float

    def as_prob(self, heights: FloatVector) -> FloatVector:
        return np.clip(heights, MARGIN, 1 - MARGIN) if self.high == 1.0 else expit(heights)

    def comfortable(self, heights: FloatMatrix) -> FloatMatrix:
        """Return heights from which the log loss of a surprise shows a way back: not 0 or 1."""
        low, high = (0.01, 0.99) if self.high == 1.0 else (-4.6, 4.6)
        return np.clip(heights, low, high)

    def allowed(self, heights: FloatMatrix) -> FloatMatrix:
        return np.clip(heights, self.low, self.high)


class Fits(NamedTuple):
    """The fitted maps, their mean loss, the steps taken, and whether they converged."""

    maps: Maps
    loss: FloatVector
    n_iter: IntVector
    converged: NDArray[np.bool_]


def fit_maps(
    grid: Grid, start: Maps, family: Family, *, tolerance: float = 1e-9, most_steps: int = 100
) -> Fits:
    """Fit each map of a batch from its start.

    Converged: a step taken lowers the mean loss by less than `tolerance`, or promises to, or even
    the smallest steps lower it no more.
    """
    maps = Maps(spaced(grid, start.knots), family.allowed(start.heights), start.problem)
    parts = moments(grid, maps, family.loss)
    active, damping = np.arange(len(maps.knots)), np.full(len(maps.knots), _FIRST_DAMPING)
    fits = Fits(
        Maps(maps.knots.copy(), maps.heights.copy(), start.problem),
        parts.loss.copy(),
        np.zeros(len(active), dtype=np.intp),
        np.zeros(len(active), dtype=np.bool_),
    )
    for _ in range(most_steps):
        step, promise = _step(maps, gradient_and_curvature(parts), damping, family)
        trial = _moved(grid, maps, step, family)
        there = moments(grid, trial, family.loss)
        gain = parts.loss - there.loss
        taken = gain >= 0
        damping *= np.where(taken, np.where(gain > promise / 8, _GENTLE, 1.0), _HARSH)
        maps = Maps(*_chosen(taken, trial, maps))
        parts = Moments(*_chosen(taken, there, parts))
        small = (taken & (gain < tolerance)) | (promise < tolerance)
        done = small | (damping > _MOST_DAMPING)
        fits.maps.knots[active], fits.maps.heights[active] = maps.knots, maps.heights
        fits.loss[active], fits.converged[active] = parts.loss, done
        fits.n_iter[active] += 1
        if done.all():
            break
        if 4 * done.sum() >= len(done):  # to leave finished maps out pays when they are many
            active, damping, maps = active[~done], damping[~done], maps.only(~done)
            parts = Moments(*(part[~done] for part in parts))
    return fits


def _chosen(
    taken: NDArray[np.bool_], new: Maps | Moments, old: Maps | Moments
) -> list[NDArray[Any]]:
    """Return the new values of the maps whose step is taken, and the old ones of the others."""
    pairs = zip(new, old, strict=True)
    return [np.where(taken if a.ndim == 1 else taken[:, np.newaxis], a, b) for a, b in pairs]


def _step(
    maps: Maps,
    derivatives: tuple[FloatMatrix, NDArray[np.float64]],
    damping: FloatVector,
    family: Family,
) -> tuple[FloatMatrix, FloatVector]:
    """Return the step in heights and knots, and by how much it should lower the loss."""
    gradient, matrix = derivatives
    n_nodes = maps.heights.shape[1]
    # Heights at a limit that the loss pushes outwards stay where they are.
    stuck = np.zeros(gradient.shape, dtype=bool)
    slope = gradient[:, :n_nodes]
    stuck[:, :n_nodes] = ((maps.heights <= family.low) & (slope > 0)) | (
        (maps.heights >= family.high) & (slope < 0)
    )
    if stuck.any():
        free = ~stuck
        gradient, matrix = gradient * free, matrix * (free[:, :, np.newaxis] & free[:, np.newaxis])
    step = _solve(gradient, matrix, damping)
    longest = np.abs(step[:, :n_nodes]).max(axis=1, keepdims=True)
    step = step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _LONGEST_STEP))
    return step, np.asarray(-(gradient * step).sum(axis=1))


def _solve(gradient: FloatMatrix, matrix: NDArray[np.float64], damping: FloatVector) -> FloatMatrix:
    """Solve ``(matrix + damping diag) step = -gradient``; what has no curvature does not move."""
    diagonal = np.einsum("pii->pi", matrix)
    floor = 1e-10 * (1e-3 + diagonal.max(axis=1, keepdims=True))
    damped = matrix.copy()
    np.einsum("pii->pi", damped)[:] += damping[:, np.newaxis] * diagonal + floor
    return np.asarray(np.linalg.solve(damped, -gradient[..., np.newaxis])[..., 0])


def _moved(grid: Grid, maps: Maps, step: FloatMatrix, family: Family) -> Maps:
    n_nodes = maps.knots.shape[1]
    heights = family.allowed(maps.heights + step[:, :n_nodes])
    knots = maps.knots.copy()
    knots[:, 1:-1] += step[:, n_nodes:]
    return Maps(spaced(grid, knots), heights, maps.problem)


def spaced(grid: Grid, knots: FloatMatrix) -> FloatMatrix:
    """Move knots, where needed, so far apart in ranks that each piece holds its least share."""
    k = knots.shape[1] - 1
    if k == 1:
        return knots
    rank, share = grid.rank, min(LEAST_SHARE, 0.5 / k)
    steps = np.arange(1, k) * share
    wanted = np.interp(knots[:, 1:-1], grid.x, rank)
    # Push up from the left, then down from the right.
    up = np.maximum.accumulate(np.maximum(wanted - steps, 0.0), axis=1) + steps
    last = np.minimum(up, 1 - k * share + steps) - steps
    placed = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1] + steps
    moved = np.abs(placed - wanted) > 1e-12
    moved |= (knots[:, 1:-1] <= grid.x[0]) | (knots[:, 1:-1] >= grid.x[-1])
    out = knots.copy()
    out[:, 1:-1] = np.where(moved, np.interp(placed, rank, grid.x), knots[:, 1:-1])
    return _increasing(out)


def _increasing(knots: FloatMatrix) -> FloatMatrix:
    apart = _LEAST_WIDTH * (knots[:, -1:] - knots[:, :1])
    if (np.diff(knots, axis=1) >= apart).all():
        return knots
    j = np.arange(knots.shape[1])
    up = np.maximum.accumulate(knots - j * apart, axis=1) + j * apart
    out = np.minimum(up, knots[:, -1:] - (knots.shape[1] - 1 - j) * apart)
    out[:, 0], out[:, -1] = knots[:, 0], knots[:, -1]
    return np.asarray(out)
