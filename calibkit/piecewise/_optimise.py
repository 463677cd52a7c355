"""Fit a batch of piecewise-linear maps: damped Gauss-Newton steps in heights and knots together.

Marquardt's rule sets the damping: a step that lowers the loss is taken and the damping falls; a
step that does not is refused and the damping grows. So the loss never rises, and a fit depends
on nothing but its start.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit._links import expit
from calibkit.piecewise._grid import FloatTable, FloatVector, Grid, IntVector
from calibkit.piecewise._losses import MARGIN, Loss
from calibkit.piecewise._moments import Maps, Moments, gradient_and_curvature, moments

# A piece holds at least this share of the predictions. Without a limit, pieces shrink onto single
# predictions, and the maps of neighbouring folds no longer agree.
LEAST_SHARE = 0.01
_LEAST_WIDTH = 1e-9  # of a piece, as a part of the whole range
_LONGEST_STEP = 4.0  # of a height; where a logit saturates, the quadratic model says nothing
_GENTLE, _HARSH = 0.2, 5.0  # factors of the damping after good and after refused steps
_FIRST_DAMPING, _MOST_DAMPING = 1e-2, 1e6


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Which maps are allowed, and by what they are judged.

    Parameters
    ----------
    loss : callable
        One of `calibkit.piecewise._losses.LOSSES`.
    low, high : float
        Limits of the heights.
    monotone : bool
        Whether heights may not fall.
    through_origin : bool
        One piece in logit space without intercept: the heights are multiples of the knots.
    """

    loss: Loss
    low: float
    high: float
    monotone: bool = False
    through_origin: bool = False

    def as_prob(self, heights: FloatVector) -> FloatVector:
        """Return heights as probabilities."""
        if self.high == 1.0:
            return np.clip(heights, MARGIN, 1 - MARGIN)
        return expit(heights)

    def comfortable(self, heights: FloatTable) -> FloatTable:
        """Return heights at which no outcome is a great surprise.

        From a probability of 0 or 1 the log loss of a surprise shows no way back.
        """
        low, high = (0.01, 0.99) if self.high == 1.0 else (-4.6, 4.6)
        if self.through_origin:
            return np.asarray(heights * min(1.0, high / np.abs(heights).max()))
        return np.clip(heights, low, high)

    def directions(self, maps: Maps) -> NDArray[np.float64] | None:
        """Return how free coordinates make heights, shape (P, K + 1, d); None if one to one."""
        n_nodes = maps.knots.shape[1]
        if self.through_origin:
            return maps.knots[:, :, np.newaxis]
        if self.monotone:  # the first height, then what each piece adds
            return np.broadcast_to(np.tri(n_nodes), (len(maps.knots), n_nodes, n_nodes))
        return None

    def allowed(self, heights: FloatTable) -> FloatTable:
        """Return the heights, moved into the limits."""
        if self.monotone:
            heights = np.maximum.accumulate(heights, axis=1)
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

    A fit has converged when a step that is taken lowers the mean loss by less than `tolerance`,
    or promises to, or when even the smallest steps lower it no more.
    """
    batch = _Batch(grid, start, family)
    fits = Fits(
        Maps(batch.maps.knots.copy(), batch.maps.heights.copy(), start.problem),
        batch.parts.loss.copy(),
        np.zeros(len(start.knots), dtype=np.intp),
        np.zeros(len(start.knots), dtype=np.bool_),
    )
    active = np.arange(len(start.knots))
    for _ in range(most_steps):
        done = batch.advance(tolerance)
        fits.maps.knots[active], fits.maps.heights[active] = batch.maps.knots, batch.maps.heights
        fits.loss[active], fits.converged[active] = batch.parts.loss, done
        fits.n_iter[active] += 1
        if done.all():
            break
        if 4 * done.sum() >= len(done):  # to leave finished maps out pays when they are many
            active = active[~done]
            batch.keep(~done)
    return fits


class _Batch:
    """Maps under way: where they are, the loss and its derivatives there, and the damping."""

    def __init__(self, grid: Grid, start: Maps, family: Family) -> None:
        self.grid, self.family = grid, family
        knots = spaced(grid, start.knots)
        self.maps = Maps(knots, family.allowed(start.heights), start.problem)
        self.parts = moments(grid, self.maps, family.loss)
        self.damping = np.full(len(knots), _FIRST_DAMPING)

    def advance(self, tolerance: float) -> NDArray[np.bool_]:
        """Try one step with each map, take those that do not raise the loss; tell who is done."""
        derivatives = gradient_and_curvature(self.parts)
        step, promise = _step(self.maps, derivatives, self.damping, self.family)
        trial = _moved(self.grid, self.maps, step, self.family)
        there = moments(self.grid, trial, self.family.loss)
        gain = self.parts.loss - there.loss
        taken = gain >= 0
        kept_promise = gain > promise / 8
        self.damping *= np.where(taken, np.where(kept_promise, _GENTLE, 1.0), _HARSH)
        self.maps = Maps(
            _chosen(taken, trial.knots, self.maps.knots),
            _chosen(taken, trial.heights, self.maps.heights),
            self.maps.problem,
        )
        parts = zip(there, self.parts, strict=True)
        self.parts = Moments(*(_chosen(taken, new, old) for new, old in parts))
        small = (taken & (gain < tolerance)) | (promise < tolerance)
        return np.asarray(small | (self.damping > _MOST_DAMPING))

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Go on with some of the maps."""
        self.maps, self.parts = self.maps.only(rows), self.parts.only(rows)
        self.damping = self.damping[rows]


def _chosen(taken: NDArray[np.bool_], new: FloatTable, old: FloatTable) -> FloatTable:
    return np.where(taken if new.ndim == 1 else taken[:, np.newaxis], new, old)


def _step(
    maps: Maps,
    derivatives: tuple[FloatTable, NDArray[np.float64]],
    damping: FloatVector,
    family: Family,
) -> tuple[FloatTable, FloatVector]:
    """Return the step in heights and knots, and by how much it should lower the loss."""
    gradient, matrix = derivatives
    n_nodes = maps.heights.shape[1]
    # Heights at a limit that the loss pushes outwards stay where they are.
    stuck = np.zeros(gradient.shape, dtype=bool)
    slope = gradient[:, :n_nodes]
    stuck[:, :n_nodes] = ((maps.heights <= family.low) & (slope > 0)) | (
        (maps.heights >= family.high) & (slope < 0)
    )
    gradient, matrix = _without(gradient, matrix, stuck)
    directions = family.directions(maps)
    if directions is None:
        step = _solve(gradient, matrix, damping)
    else:
        step = _step_along(maps, directions, (gradient, matrix), damping, family)
    longest = np.abs(step[:, :n_nodes]).max(axis=1, keepdims=True)
    step = step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _LONGEST_STEP))
    return step, np.asarray(-(gradient * step).sum(axis=1))


def _step_along(
    maps: Maps,
    directions: NDArray[np.float64],
    derivatives: tuple[FloatTable, NDArray[np.float64]],
    damping: FloatVector,
    family: Family,
) -> FloatTable:
    """Solve in the free coordinates of the heights, and return the step in heights and knots."""
    gradient, matrix = derivatives
    n_maps, n_nodes, n_free = directions.shape
    inner = gradient.shape[1] - n_nodes
    turn = np.zeros((n_maps, n_nodes + inner, n_free + inner))
    turn[:, :n_nodes, :n_free] = directions
    turn[:, n_nodes:, n_free:] = np.eye(inner)
    back = turn.transpose(0, 2, 1)
    slope = (back @ gradient[..., np.newaxis])[..., 0]
    stuck = np.zeros(slope.shape, dtype=bool)
    if family.monotone:  # a piece that is flat and wants to fall stays flat
        stuck[:, 1:n_nodes] = (np.diff(maps.heights, axis=1) <= 0) & (slope[:, 1:n_nodes] > 0)
    slope, matrix = _without(slope, back @ matrix @ turn, stuck)
    return np.asarray((turn @ _solve(slope, matrix, damping)[..., np.newaxis])[..., 0])


def _without(
    gradient: FloatTable, matrix: NDArray[np.float64], stuck: NDArray[np.bool_]
) -> tuple[FloatTable, NDArray[np.float64]]:
    """Take coordinates out of the system: no slope, no ties to the others."""
    if not stuck.any():
        return gradient, matrix
    free = ~stuck
    matrix = matrix * (free[:, :, np.newaxis] & free[:, np.newaxis, :])
    return gradient * free, matrix


def _solve(gradient: FloatTable, matrix: NDArray[np.float64], damping: FloatVector) -> FloatTable:
    """Solve ``(matrix + damping diag) step = -gradient``; what has no curvature does not move."""
    diagonal = np.einsum("pii->pi", matrix)
    floor = 1e-10 * (1e-3 + diagonal.max(axis=1, keepdims=True))
    damped = matrix.copy()
    np.einsum("pii->pi", damped)[:] += damping[:, np.newaxis] * diagonal + floor
    return np.asarray(np.linalg.solve(damped, -gradient[..., np.newaxis])[..., 0])


def _moved(grid: Grid, maps: Maps, step: FloatTable, family: Family) -> Maps:
    n_nodes = maps.knots.shape[1]
    heights = family.allowed(maps.heights + step[:, :n_nodes])
    knots = maps.knots.copy()
    knots[:, 1:-1] += step[:, n_nodes:]
    return Maps(spaced(grid, knots), heights, maps.problem)


def least_share(n_pieces: int) -> float:
    """Return the smallest share of the predictions that a piece may hold."""
    return min(LEAST_SHARE, 0.5 / n_pieces)


def spaced(grid: Grid, knots: FloatTable) -> FloatTable:
    """Return the knots, moved so far apart that each piece holds its least share.

    Places are measured in ranks: knot j of K may not be closer than one least share to the next
    one, nor to the ends. Knots that obey keep their exact place.
    """
    k = knots.shape[1] - 1
    if k == 1:
        return knots
    rank = grid.rank
    share = least_share(k)
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


def _increasing(knots: FloatTable) -> FloatTable:
    """Spread knots that (nearly) coincide, as heavy ties make them."""
    apart = _LEAST_WIDTH * (knots[:, -1:] - knots[:, :1])
    if (np.diff(knots, axis=1) >= apart).all():
        return knots
    j = np.arange(knots.shape[1])
    up = np.maximum.accumulate(knots - j * apart, axis=1) + j * apart
    limit = knots[:, -1:] - (knots.shape[1] - 1 - j) * apart
    out = np.minimum(up, limit)
    out[:, 0], out[:, -1] = knots[:, 0], knots[:, -1]
    return np.asarray(out)
