"""Loss, gradient and curvature of a batch of piecewise-linear maps, from sums per piece.

On piece j, with knots ``B_j < B_{j+1}`` and heights ``H_j, H_{j+1}``, put
``b = (x - B_j) / w`` and ``a = 1 - b``. The map is ``g = a H_j + b H_{j+1}``, and moving a knot
is like moving its height against the slope ``s = (H_{j+1} - H_j) / w``:

    dg/dH_j = a,   dg/dH_{j+1} = b,   dg/dB_j = -s a,   dg/dB_{j+1} = -s b.

So five sums per piece (slope of the loss times a and b; its curvature times a², ab and b²) give
the gradient and the Gauss-Newton matrix in heights and knots together.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.piecewise._grid import FloatTable, FloatVector, Grid, IntVector
from calibkit.piecewise._losses import Loss


class Maps(NamedTuple):
    """P maps with K pieces: knots and heights of shape (P, K + 1), and the problem of each."""

    knots: FloatTable
    heights: FloatTable
    problem: IntVector

    def only(self, rows: NDArray[Any]) -> "Maps":
        """Return some of the maps."""
        return Maps(self.knots[rows], self.heights[rows], self.problem[rows])


class Moments(NamedTuple):
    """Mean loss (P,) of each map, and the sums per piece (P, K), all divided by n."""

    loss: FloatVector
    slope_a: FloatTable
    slope_b: FloatTable
    curve_aa: FloatTable
    curve_ab: FloatTable
    curve_bb: FloatTable
    steepness: FloatTable  # s of each piece

    def only(self, rows: NDArray[Any]) -> "Moments":
        """Return those of some maps."""
        return Moments(*(part[rows] for part in self))


def moments(grid: Grid, maps: Maps, loss: Loss) -> Moments:
    """Evaluate a batch of maps."""
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

    def per_piece(values: FloatVector) -> FloatTable:
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


def gradient_and_curvature(parts: Moments) -> tuple[FloatTable, NDArray[np.float64]]:
    """Return the gradient (P, 2K) and the Gauss-Newton matrix (P, 2K, 2K).

    The order is the K + 1 heights, then the K - 1 inner knots.
    """
    n_maps, k = parts.slope_a.shape
    left = np.arange(k)
    at_height, at_knot = (left, left + 1), (left + k + 1, left + k + 2)
    s = parts.steepness
    slopes = (parts.slope_a, parts.slope_b)
    curves = ((parts.curve_aa, parts.curve_ab), (parts.curve_ab, parts.curve_bb))
    gradient = np.zeros((n_maps, 2 * k + 2))
    matrix = np.zeros((n_maps, 2 * k + 2, 2 * k + 2))
    for i in (0, 1):
        gradient[:, at_height[i]] += slopes[i]
        gradient[:, at_knot[i]] -= s * slopes[i]
        for j in (0, 1):
            matrix[:, at_height[i], at_height[j]] += curves[i][j]
            matrix[:, at_knot[i], at_knot[j]] += s * s * curves[i][j]
            matrix[:, at_height[i], at_knot[j]] -= s * curves[i][j]
            matrix[:, at_knot[j], at_height[i]] -= s * curves[i][j]
    free = np.r_[: k + 1, k + 2 : 2 * k + 1]  # the outer knots stay
    return gradient[:, free], matrix[:, free[:, np.newaxis], free]
