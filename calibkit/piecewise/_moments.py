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

    The order is the K + 1 heights, then the K - 1 inner knots. Each of the blocks (heights with
    heights, heights with knots, knots with knots) is tridiagonal.
    """
    n_maps, k = parts.slope_a.shape
    s = -parts.steepness
    matrix = np.zeros((n_maps, 2 * k, 2 * k))
    middle, beside = _at_nodes(parts.curve_aa, parts.curve_bb), parts.curve_ab
    _fill(matrix[:, : k + 1, : k + 1], middle)
    _fill(matrix[:, :k, 1 : k + 1], beside)
    _fill(matrix[:, 1 : k + 1, :k], beside)
    gradient = np.empty((n_maps, 2 * k))
    gradient[:, : k + 1] = _at_nodes(parts.slope_a, parts.slope_b)
    if k == 1:
        return gradient, matrix
    gradient[:, k + 1 :] = _at_nodes(s * parts.slope_a, s * parts.slope_b)[:, 1:-1]
    middle, beside = _at_nodes(s * parts.curve_aa, s * parts.curve_bb), s * parts.curve_ab
    mixed = matrix[:, : k + 1, k + 1 :]
    _fill(mixed[:, 1:-1], middle[:, 1:-1])
    _fill(mixed[:, :-2], beside[:, :-1])
    _fill(mixed[:, 2:], beside[:, 1:])
    matrix[:, k + 1 :, : k + 1] = mixed.transpose(0, 2, 1)
    square = s * s
    middle, beside = (
        _at_nodes(square * parts.curve_aa, square * parts.curve_bb),
        square * parts.curve_ab,
    )
    knots = matrix[:, k + 1 :, k + 1 :]
    _fill(knots, middle[:, 1:-1])
    _fill(knots[:, :-1, 1:], beside[:, 1:-1])
    _fill(knots[:, 1:, :-1], beside[:, 1:-1])
    return gradient, matrix


def _at_nodes(from_right: FloatTable, from_left: FloatTable) -> FloatTable:
    """Add at each knot what the piece on its right and the piece on its left contribute."""
    total = np.zeros((len(from_right), from_right.shape[1] + 1))
    total[:, :-1] = from_right
    total[:, 1:] += from_left
    return total


def _fill(block: NDArray[np.float64], diagonal: FloatTable) -> None:
    """Write the diagonal of each matrix of a stack of square blocks."""
    np.einsum("pii->pi", block)[:] = diagonal
