"""The elements of a reliability diagram: one small function per name in `show`.

Each artist carries the name of its element as gid, so that a test (or a curious reader) finds
it. Sources: source 000 section 4.5 for the diagonal filling; Bröcker and Smith (2007) for the
consistency bars. Lesson 04.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from numpy.typing import ArrayLike, NDArray

from calibkit.plot import look
from calibkit.plot._counts import add_counts
from calibkit.reliability import BinTable
from calibkit.significance import ConsistencyBand

_ROUNDING = 1e-12  # a smaller gap is rounding, not an over- or under-estimate
_MANY_BINS = 40  # from here on, lines and points get thinner

Truth = Callable[[NDArray[np.float64]], ArrayLike]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the element functions may look at."""

    table: BinTable
    band: ConsistencyBand | None
    truth: Truth | None
    names: frozenset[str]


def _draw_bars(ax: Axes, parts: Parts) -> None:
    table, seen = parts.table, parts.table.occupied
    left, right, top = table.edges[:-1][seen], table.edges[1:][seen], table.frequency[seen]
    floor = np.zeros_like(top)
    corners = [(left, floor), (left, top), (right, top), (right, floor)]
    filled = "filling" not in parts.names
    ax.add_collection(
        PolyCollection(
            look.paths(*corners),
            facecolors=look.PALE if filled else "none",
            edgecolors="#5B7083",
            linewidths=0.9,
            zorder=1.5,
            label="observed frequency",
            gid="bars",
        ),
        autolim=False,
    )


def _draw_means(ax: Axes, parts: Parts) -> None:
    table, seen = parts.table, parts.table.occupied
    size = 6.0 if look.width_in_points(ax) > 170 else 4.5
    ax.plot(
        table.mean_prob[seen],
        table.frequency[seen],
        linestyle="none",
        marker="o",
        markersize=size if table.n_bins <= _MANY_BINS else 3.0,
        markerfacecolor=look.INK,
        markeredgecolor="white",
        markeredgewidth=0.8,
        clip_on=False,
        zorder=4,
        label="bin mean",
        gid="means",
    )


def _signs(table: BinTable) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return over- and under-estimating bins; NaN (empty) belongs to neither."""
    return [("over", table.gap > _ROUNDING), ("under", table.gap < -_ROUNDING)]


def _draw_gaps(ax: Axes, parts: Parts) -> None:
    table = parts.table
    codes: dict[str, dict[str, Any]] = {
        "over": {"colors": look.OVER, "linestyles": "solid", "label": "over-estimate"},
        "under": {"colors": look.UNDER, "linestyles": [(0, (1.6, 0.7))], "label": "under-estimate"},
    }
    width = 3.0 if table.n_bins <= _MANY_BINS else 1.5
    for sign, rows in _signs(table):
        if not rows.any():
            continue
        across = table.mean_prob[rows]
        segments = look.paths((across, across), (across, table.frequency[rows]))
        ax.add_collection(
            LineCollection(segments, linewidths=width, zorder=3, gid=f"gaps-{sign}", **codes[sign]),
            autolim=False,
        )


def _draw_filling(ax: Axes, parts: Parts) -> None:
    """Draw the slope-1 pieces: each bin's top runs parallel to the diagonal.

    The piece is the least-squares fit of slope 1, so its distance from the diagonal is the
    bin's gap: the area between the two is what the expected calibration error adds up.
    """
    table, seen = parts.table, parts.table.occupied
    left, right, gap = table.edges[:-1][seen], table.edges[1:][seen], table.gap[seen]
    floor = np.zeros_like(left)
    corners = [(left, floor), (left, left - gap), (right, right - gap), (right, floor)]
    ax.add_collection(
        PolyCollection(
            look.paths(*corners),
            facecolors="#F7EFD5",
            edgecolors="#A8935A",
            linewidths=0.8,
            zorder=1.2,
            label="piece of slope 1",
            gid="filling",
        ),
        autolim=False,
    )
    for sign, rows in _signs(table):
        if rows.any():
            _shade_between(ax, table, rows, sign)


def _shade_between(ax: Axes, table: BinTable, rows: NDArray[np.bool_], sign: str) -> None:
    left, right, gap = table.edges[:-1][rows], table.edges[1:][rows], table.gap[rows]
    corners = [(left, left), (right, right), (right, right - gap), (left, left - gap)]
    is_over = sign == "over"
    ax.add_collection(
        PolyCollection(
            look.paths(*corners),
            facecolors="#F6D3BD" if is_over else "#C4DDEE",
            edgecolors=look.OVER if is_over else look.UNDER,
            hatch="////" if is_over else "....",
            linewidths=0.8,
            zorder=1.6,
            label=f"{sign}-estimate (area)",
            gid=f"filling-{sign}",
        ),
        autolim=False,
    )


def _draw_band(ax: Axes, parts: Parts) -> None:
    table, band = parts.table, parts.band
    assert band is not None  # `_chosen` has refused a band that was not given
    seen = table.occupied
    across, low, high = table.mean_prob[seen], band.lower[seen], band.upper[seen]
    kind = "simultaneous" if band.simultaneous else "pointwise"
    width = float(np.clip(0.42 * look.width_in_points(ax) / table.n_bins, 2.0, 9.0))
    ax.add_collection(
        LineCollection(
            look.paths((across, low), (across, high)),
            colors=look.BAND,
            linewidths=width,
            zorder=2.0,
            label=f"{100 * band.level:g} % consistency band\n({kind})",
            gid="band",
        ),
        autolim=False,
    )
    _mark_outside(ax, band)


def _mark_outside(ax: Axes, band: ConsistencyBand) -> None:
    table, outside = band.table, np.asarray(band.outside, dtype=bool)
    if not outside.any():
        return
    ax.plot(
        table.mean_prob[outside],
        table.frequency[outside],
        linestyle="none",
        marker="s",
        markersize=11,
        markerfacecolor="none",
        markeredgecolor=look.INK,
        markeredgewidth=1.4,
        clip_on=False,
        zorder=4.2,
        label="outside the band",
        gid="outside",
    )


def _draw_truth(ax: Axes, parts: Parts) -> None:
    assert parts.truth is not None  # `_chosen` has refused a map that was not given
    across = np.linspace(0, 1, 201)
    ax.plot(
        across,
        np.asarray(parts.truth(across), dtype=float),
        color=look.TRUTH,
        linewidth=2.0,
        linestyle=(0, (6, 1.5, 1.2, 1.5)),
        zorder=3.4,
        label="true map",
        gid="truth",
    )


def _draw_counts(ax: Axes, parts: Parts) -> None:
    add_counts(ax, parts.table)


DRAW: dict[str, Callable[[Axes, Parts], None]] = {
    "bars": _draw_bars,
    "means": _draw_means,
    "gaps": _draw_gaps,
    "filling": _draw_filling,
    "band": _draw_band,
    "truth": _draw_truth,
    "counts": _draw_counts,
}
