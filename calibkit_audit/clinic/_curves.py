"""A smoother of labels over predictions: loess as R fits it.

It is ``curve(p) = B(p) theta``: `basis` gives the rows of B (`rows` those of the data), and
`operator`, (q, n), theta for labels: how it moves with each of them.
"""

from typing import Any

import numpy as np
from scipy import sparse

from calibkit.inputs import FloatMatrix, FloatVector

_CELL = 0.2  # a cell of the loess holds at most this share of a window
_MARGIN = 0.005  # how far its outermost knots lie outside, as a share of the range


class Loess:
    """Local regression of labels on sorted predictions (Cleveland and Devlin 1988).

    At each knot a polynomial is fitted to the nearest share `span` of rows with tricube weights;
    a cubic with the heights and slopes of two knots lies between them. The range is halved at
    medians until a cell holds a fifth of a window, as in Cleveland's program, which R calls.
    """

    def __init__(self, prob: FloatVector, span: float, degree: int) -> None:
        self.words, self.prob = f"loess, span {span:.4g}, degree {degree}", prob
        near = min(len(prob), int(len(prob) * span + 1e-5))
        margin = _MARGIN * (prob[-1] - prob[0])
        ends = [float(prob[0] - margin), float(prob[-1] + margin)]
        self.knot = np.array(ends + _cuts(prob, int(len(prob) * span * _CELL)))
        self.knot.sort()
        operator = np.zeros((2, len(self.knot), len(prob)))
        for place, knot in enumerate(self.knot):
            first, local = _local(prob, float(knot), near, max(1.0, span), degree)
            operator[:, place, first : first + local.shape[1]] = local
        self.operator: FloatMatrix = operator.reshape(2 * len(self.knot), len(prob))
        self.rows = self.basis(prob)

    def basis(self, at: FloatVector) -> FloatMatrix:
        """Return Hermite's cubics: what heights and slopes at the knots contribute."""
        cell = np.clip(np.searchsorted(self.knot, at) - 1, 0, len(self.knot) - 2)
        width = np.diff(self.knot)[cell]
        h = (at - self.knot[cell]) / width
        heights = [(1 - h) ** 2 * (1 + 2 * h), h**2 * (3 - 2 * h)]
        slopes = [h * (1 - h) ** 2 * width, h**2 * (h - 1) * width]
        columns = np.stack([cell, cell + 1, cell + len(self.knot), cell + len(self.knot) + 1])
        place = (np.tile(np.arange(len(at)), 4), columns.ravel())
        shape = (len(at), 2 * len(self.knot))
        matrix: Any = sparse.csr_array((np.concatenate(heights + slopes), place), shape=shape)
        return matrix  # type: ignore[no-any-return]

    def fit(self, label: FloatVector) -> FloatVector:
        """Return heights and slopes at the knots."""
        return np.asarray(self.operator @ label)


def _cuts(prob: FloatVector, most: int) -> list[float]:
    """Return where cells of sorted rows are halved until they hold at most so many."""
    n = len(prob)
    if n <= max(most, 1) or prob[0] == prob[-1]:
        return []
    half = (n - 1) // 2
    gaps = np.flatnonzero(prob[1:] > prob[:-1])  # a cut lies between different predictions
    # The nearest gap; of two as near the upper one.
    cut = int(gaps[np.argmin(2 * np.abs(gaps - half) + (gaps < half))])
    return [float(prob[cut]), *_cuts(prob[: cut + 1], most), *_cuts(prob[cut + 1 :], most)]


def _local(
    prob: FloatVector, knot: float, near: int, widen: float, degree: int
) -> tuple[int, FloatMatrix]:
    """Return the first row of a window, and what its labels add to height and slope, (2, rows)."""
    reach = float(np.partition(np.abs(prob - knot), near - 1)[near - 1]) * np.sqrt(widen)
    if reach <= 0:
        raise ValueError(
            f"so many predictions equal {knot:.6g} that a window of the loess holds nothing else; "
            "make span larger."
        )
    first, last = np.searchsorted(prob, knot - reach), np.searchsorted(prob, knot + reach, "right")
    away = prob[first:last] - knot
    root = np.sqrt(np.maximum(1 - np.abs(away / reach) ** 3, 0) ** 3)
    design = root[:, np.newaxis] * away[:, np.newaxis] ** np.arange(degree + 1)
    size = np.sqrt((design**2).sum(axis=0))
    size[size == 0] = 1
    solve = np.linalg.pinv(design / size, rcond=100 * np.finfo(np.float64).eps)
    return int(first), solve[:2] / size[:2, np.newaxis] * root
