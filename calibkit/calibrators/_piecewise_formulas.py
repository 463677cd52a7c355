"""Loss, gradient and curvature of a batch of piecewise-linear maps, from sums per piece.

On piece j, with knots ``B_j < B_{j+1}`` and heights ``H_j, H_{j+1}``, put
``b = (x - B_j) / w`` and ``a = 1 - b``. The map is ``g = a H_j + b H_{j+1}``, and moving a knot
is like moving its height against the slope ``s = (H_{j+1} - H_j) / w``:

    dg/dH_j = a,   dg/dH_{j+1} = b,   dg/dB_j = -s a,   dg/dB_{j+1} = -s b.

So five sums per piece (slope of the loss times a and b; its curvature times a², ab and b²) give
the gradient and the Gauss-Newton matrix in heights and knots together. A fit of ten folds is ten
problems on the same predictions, of which only the counts differ: one NumPy call serves all.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from calibkit.inputs import FloatMatrix, FloatVector, IntVector

Parts = tuple[FloatVector, FloatVector, FloatVector]
Loss = Callable[[FloatVector, FloatVector, FloatVector], Parts]

# Heights in probability space keep this distance from 0 and 1, so that log loss stays finite.
MARGIN = 1e-12

# --- the losses: value, slope and curvature at heights, for counts of both outcomes. The curvature
# is never negative: the Brier score of a logit is not convex, and has that of Gauss and Newton.


def log_loss_of_probability(height: FloatVector, hits: FloatVector, misses: FloatVector) -> Parts:
    g = np.clip(height, MARGIN, 1 - MARGIN)
    value = -(hits * np.log(g) + misses * np.log1p(-g))
    up, down = hits / g, misses / (1 - g)
    return value, down - up, up / g + down / (1 - g)


def brier_of_probability(height: FloatVector, hits: FloatVector, misses: FloatVector) -> Parts:
    n = hits + misses
    return n * height**2 - 2 * hits * height + hits, 2 * (n * height - hits), 2 * n


def log_loss_of_logit(height: FloatVector, hits: FloatVector, misses: FloatVector) -> Parts:
    n, prob = hits + misses, expit(height)
    value = n * np.logaddexp(0, height) - hits * height
    return value, n * prob - hits, n * prob * (1 - prob)


def brier_of_logit(height: FloatVector, hits: FloatVector, misses: FloatVector) -> Parts:
    prob = expit(height)
    value, slope, curvature = brier_of_probability(prob, hits, misses)
    change = prob * (1 - prob)
    return value, slope * change, curvature * change**2


LOSSES: dict[tuple[str, str], Loss] = {
    ("probability", "log-loss"): log_loss_of_probability,
    ("probability", "brier"): brier_of_probability,
    ("logit", "log-loss"): log_loss_of_logit,
    ("logit", "brier"): brier_of_logit,
}

# --- predictions and labels as counts ------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Counts (F, m) of both outcomes in F problems, at m increasing predictions or logits.

    `n`: predictions of each problem; `rank`: share of all predictions up to each place.
    """

    x: FloatVector
    hits: FloatMatrix
    misses: FloatMatrix
    n: FloatVector = field(init=False)
    rank: FloatVector = field(init=False)

    def __post_init__(self) -> None:
        mass = self.hits + self.misses
        total = np.cumsum(mass.sum(axis=0))
        object.__setattr__(self, "n", mass.sum(axis=1))
        object.__setattr__(self, "rank", (total - mass.sum(axis=0) / 2) / total[-1])

    @property
    def n_problems(self) -> int:
        return len(self.hits)


def training_grids(
    x: FloatVector, label: FloatVector, fold: IntVector, n_folds: int, most: int | None = None
) -> Grid:
    """Return one problem per fold: everything but that fold."""
    out = grid_of(x, label, most, fold, n_folds)
    return Grid(out.x, out.hits.sum(axis=0) - out.hits, out.misses.sum(axis=0) - out.misses)


def grid_of(
    x: FloatVector,
    label: FloatVector,
    most: int | None = None,
    problem: IntVector | int = 0,
    n_problems: int = 1,
) -> Grid:
    """Return the grid of sorted `x`; beyond `most` places neighbours are joined at their mean."""
    place = _places(x, most)
    m = int(place[-1]) + 1
    at = problem * m + place
    count = np.bincount(place, minlength=m)
    first = x[np.searchsorted(place, np.arange(m))]
    # Deviations from the first value keep ties exact: their mean is the value itself.
    centre = first + np.bincount(place, x - first[place], m) / count
    hits, misses = (
        np.bincount(at, outcome, n_problems * m).reshape(n_problems, m)
        for outcome in (label, 1 - label)
    )
    return Grid(centre, hits.astype(np.float64), misses.astype(np.float64))


def _places(x: FloatVector, most: int | None) -> IntVector:
    """Return a number for each value of sorted `x`; more than `most` share runs of equal mass."""
    new = np.concatenate(([False], np.diff(x) > 0))
    if most is not None and new.sum() >= most:
        run = np.arange(len(x)) * most // len(x)
        # A tie goes where its first member went.
        run = run[np.maximum.accumulate(np.where(new, np.arange(len(x)), 0))]
        new = np.concatenate(([False], np.diff(run) > 0))
    return np.cumsum(new)


# --- the sums, and what follows from them --------------------------------------------------------


class Maps(NamedTuple):
    """P maps with K pieces: knots and heights of shape (P, K + 1), and the problem of each."""

    knots: FloatMatrix
    heights: FloatMatrix
    problem: IntVector

    def only(self, rows: NDArray[Any]) -> "Maps":
        return Maps(*(part[rows] for part in self))


class Moments(NamedTuple):
    """Mean loss (P,) of each map, and the sums per piece (P, K), all divided by n."""

    loss: FloatVector
    slope_a: FloatMatrix
    slope_b: FloatMatrix
    curve_aa: FloatMatrix
    curve_ab: FloatMatrix
    curve_bb: FloatMatrix
    steepness: FloatMatrix  # s of each piece


def moments(grid: Grid, maps: Maps, loss: Loss) -> Moments:
    knots, heights, problem = maps
    m, (n_maps, n_nodes) = len(grid.x), knots.shape
    inner = np.searchsorted(grid.x, knots[:, 1:-1])
    start = np.concatenate([np.zeros((n_maps, 1), dtype=np.intp), inner], axis=1)
    count = np.diff(start, axis=1, append=m).ravel()
    width, rise = np.diff(knots, axis=1), np.diff(heights, axis=1)

    # `x` is sorted, so the places of a piece are neighbours: spread each piece's numbers.
    b = np.repeat((1 / width).ravel(), count)
    b *= np.broadcast_to(grid.x, (n_maps, m)).ravel()
    b -= np.repeat((knots[:, :-1] / width).ravel(), count)
    height = np.repeat(rise.ravel(), count)
    height *= b
    height += np.repeat(heights[:, :-1].ravel(), count)
    value, slope, curve = loss(height, grid.hits[problem].ravel(), grid.misses[problem].ravel())

    n = grid.n[problem][:, np.newaxis]
    first = np.minimum((start + m * np.arange(n_maps)[:, np.newaxis]).ravel(), n_maps * m - 1)

    def per_piece(values: FloatVector) -> FloatMatrix:
        # `reduceat` returns the next element for an empty piece, where the sum is 0.
        sums = np.where(count > 0, np.add.reduceat(values, first), 0.0)
        return sums.reshape(n_maps, n_nodes - 1) / n

    curve_b = curve * b
    slope_1, slope_b = per_piece(slope), per_piece(slope * b)
    curve_1, curve_1b, curve_bb = per_piece(curve), per_piece(curve_b), per_piece(curve_b * b)
    return Moments(
        loss=value.reshape(n_maps, m).sum(axis=1) / n[:, 0],
        slope_a=slope_1 - slope_b,
        slope_b=slope_b,
        curve_aa=curve_1 - 2 * curve_1b + curve_bb,
        curve_ab=curve_1b - curve_bb,
        curve_bb=curve_bb,
        steepness=rise / width,
    )


def gradient_and_curvature(parts: Moments) -> tuple[FloatMatrix, NDArray[np.float64]]:
    """Return gradient (P, 2K) and Gauss-Newton matrix (P, 2K, 2K), in blocks that are tridiagonal.

    The order is the K + 1 heights, then the K - 1 inner knots.
    """
    s, n_nodes = -parts.steepness, parts.slope_a.shape[1] + 1
    by_knots = _at_nodes(s * parts.slope_a, s * parts.slope_b)[:, 1:-1]
    gradient = np.concatenate([_at_nodes(parts.slope_a, parts.slope_b), by_knots], axis=1)
    matrix = np.empty((*gradient.shape, gradient.shape[1]))
    matrix[:, :n_nodes, :n_nodes] = _tridiagonal(parts, 1.0)
    mixed = _tridiagonal(parts, s)[:, :, 1:-1]
    matrix[:, :n_nodes, n_nodes:], matrix[:, n_nodes:, :n_nodes] = mixed, mixed.transpose(0, 2, 1)
    matrix[:, n_nodes:, n_nodes:] = _tridiagonal(parts, s * s)[:, 1:-1, 1:-1]
    return gradient, matrix


def _at_nodes(from_right: FloatMatrix, from_left: FloatMatrix) -> FloatMatrix:
    total = np.zeros((len(from_right), from_right.shape[1] + 1))
    total[:, :-1] = from_right
    total[:, 1:] += from_left
    return total


def _tridiagonal(parts: Moments, factor: FloatMatrix | float) -> NDArray[np.float64]:
    """Return the curvature at all knots, each piece multiplied by its factor: (P, K + 1, K + 1)."""
    middle = _at_nodes(factor * parts.curve_aa, factor * parts.curve_bb)
    node = np.arange(middle.shape[1])
    matrix = np.zeros((*middle.shape, len(node)))
    matrix[:, node, node] = middle
    matrix[:, node[:-1], node[1:]] = matrix[:, node[1:], node[:-1]] = factor * parts.curve_ab
    return matrix
