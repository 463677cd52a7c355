"""Violins: the predictions of each bin, cut where a test stops to accept them. Lesson 08."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from calibkit.plot import look
from calibkit.types import FloatMatrix, FloatVector

if TYPE_CHECKING:
    from calibkit.significance import ViewVerdict

_MOST_CELLS = 20  # a violin is a smoothed histogram of at most so many cells
_SMOOTH = (0.06, 0.12, 0.2, 0.24, 0.2, 0.12, 0.06)
_WIDEST = 0.44  # half width of a violin, as a share of its bin


@dataclass(frozen=True, slots=True)
class Place:
    """Where the bins stand across."""

    left: FloatVector
    right: FloatVector

    @property
    def centre(self) -> FloatVector:
        """Middle of each bin."""
        return (self.left + self.right) / 2

    @property
    def width(self) -> FloatVector:
        """Width of each bin."""
        return self.right - self.left


def _outline(values: FloatVector) -> look.Line:
    """Return heights and half widths (largest is 1) of a violin of these predictions."""
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9:
        return np.array([low, high]), np.ones(2)
    cells = int(np.clip(np.sqrt(len(values)), 4, _MOST_CELLS))
    count, edges = np.histogram(values, bins=cells, range=(low, high))
    padded = np.pad(count.astype(np.float64), len(_SMOOTH) // 2, mode="symmetric")
    smooth = np.convolve(padded, _SMOOTH, mode="valid")
    middle = (edges[:-1] + edges[1:]) / 2
    level = np.concatenate(([low], middle, [high]))
    half = np.concatenate((smooth[:1], smooth, smooth[-1:]))
    return level, half / half.max()


def draw_violins(ax: Axes, verdict: "ViewVerdict", place: Place, ends: look.Points) -> None:
    """Draw the predictions of each bin, in two codes: inside and outside of `ends`."""
    shapes: dict[str, list[FloatMatrix]] = {"accepted": [], "rejected": []}
    for b in np.flatnonzero(verdict.table.occupied):
        level, half = _outline(verdict.prob[verdict.bin == b])
        reach = place.centre[b], _WIDEST * place.width[b]
        low, high = ends[0][b], ends[1][b]
        for said, bottom, top in (
            ("rejected", -np.inf, low),
            ("accepted", low, high),
            ("rejected", high, np.inf),
        ):
            part = _between(level, half, bottom, top)
            if part is not None:
                shapes[said].append(_mirrored(*part, *reach))
    for said, face, edge, hatch in (
        ("accepted", look.SKY, look.UNDER, None),
        ("rejected", "#F6D3BD", look.OVER, "/////"),
    ):
        parts = PolyCollection(shapes[said], hatch=hatch, zorder=2.2, **look.fill(face, edge))
        parts.set(label=f"predictions, {said}", gid=said)
        ax.add_collection(parts, autolim=False)


def _between(level: FloatVector, half: FloatVector, low: float, high: float) -> look.Line | None:
    """Return the part of an outline between two heights, cut exactly there."""
    low, high = max(low, float(level[0])), min(high, float(level[-1]))
    flat = level[0] == level[-1]
    if low > high or (low == high and not flat):
        return None
    inside = (level > low) & (level < high)
    cut = np.concatenate(([low], level[inside], [high]))
    return cut, np.ones(len(cut)) if flat else np.interp(cut, level, half)


def _mirrored(level: FloatVector, half: FloatVector, centre: float, reach: float) -> FloatMatrix:
    right = np.stack([centre + reach * half, level], axis=1)
    left = np.stack([centre - reach * half, level], axis=1)
    return np.concatenate([right, left[::-1]])
