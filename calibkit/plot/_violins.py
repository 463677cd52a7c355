"""Violins: the predictions of each bin, cut where a test stops to accept them. Lesson 08."""

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


def draw_violins(ax: Axes, verdict: "ViewVerdict", ends: look.Points) -> None:
    """Draw the predictions of each bin, in two codes: inside and outside of `ends`."""
    shapes: dict[str, list[FloatMatrix]] = {"accepted": [], "rejected": []}
    left, right = verdict.table.edges[:-1], verdict.table.edges[1:]
    centre, reach = (left + right) / 2, _WIDEST * (right - left)
    for b in np.flatnonzero(verdict.table.occupied):
        level, half = _outline(verdict.prob[verdict.bin == b])
        low, high = ends[0][b], ends[1][b]
        for said, bottom, top in (
            ("rejected", -np.inf, low),
            ("accepted", low, high),
            ("rejected", high, np.inf),
        ):
            # Clipped levels meet at the cut; a part of one level has no area, but for equal values.
            cut = np.unique(np.clip(level, bottom, top))
            if len(cut) > 1 or level[0] == cut[0] == level[-1]:
                width = np.interp(cut, level, half)
                right_side = np.stack([centre[b] + reach[b] * width, cut], axis=1)
                left_side = np.stack([centre[b] - reach[b] * width, cut], axis=1)
                shapes[said].append(np.concatenate([right_side, left_side[::-1]]))
    for said, face, edge, hatch in (
        ("accepted", look.SKY, look.UNDER, None),
        ("rejected", "#F6D3BD", look.OVER, "/////"),
    ):
        parts = PolyCollection(shapes[said], hatch=hatch, zorder=2.2, **look.fill(face, edge))
        parts.set(label=f"predictions, {said}", gid=said)
        ax.add_collection(parts, autolim=False)
