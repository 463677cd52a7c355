"""Diagonal filling: the area between a fitted map and the diagonal. Lessons 04 and 05.

Kängsepp, Valk and Kull (2022), section 4.5, figures 4 and 5.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.inputs import FloatVector
from calibkit.plot import look
from calibkit.reliability import BinTable


def fill_bins(ax: Axes, table: BinTable) -> None:
    """Draw the slope-1 pieces: each bin's top runs parallel to the diagonal.

    The piece is the least-squares fit of slope 1, so its distance from the diagonal is the
    bin's gap: the area between the two is what the expected calibration error adds up.
    """
    left, right, gap = table.edges[:-1], table.edges[1:], table.gap
    code = look.area(look.FILLED, "#A8935A")
    seen = table.occupied
    a, b, lift = left[seen], right[seen], gap[seen]
    corners = (a, np.zeros_like(a)), (a, a - lift), (b, b - lift), (b, np.zeros_like(b))
    look.polygons(ax, *corners, zorder=1.2, label="piece of slope 1", gid="filling", **code)
    for sign, rows in look.signs(-gap):
        a, b, lift = left[rows], right[rows], gap[rows]
        corners = (a, a), (b, b), (b, b - lift), (a, a - lift)
        look.polygons(ax, *corners, linewidths=0.8, **_area(sign))


def fill_map(ax: Axes, x: FloatVector, y: FloatVector) -> None:
    """Fill below any map, hatched towards the diagonal."""
    code = look.area(look.FILLED, width=0)
    ax.fill_between(x, 0, y, zorder=1.1, label="below the map", gid="filling", **code)
    for sign, rows in look.signs(y - x):
        where = rows.tolist()
        ax.fill_between(x, x, y, where=where, interpolate=True, linewidth=0, **_area(sign))


def _area(sign: str) -> dict[str, Any]:
    words = {"label": f"{sign}-estimate (area)", "gid": f"filling-{sign}"}
    return {**look.AREAS[sign], **words, "zorder": 1.6}
