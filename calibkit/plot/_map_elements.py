"""The elements of a fit-on-test diagram: one small function per name in `show`.

Each artist carries the name of its element as gid. Source 000, figures 1 and 3 (lines to the
diagonal), 4 (diagonal filling) and 5 (filling under any map). Lesson 05.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from numpy.typing import NDArray

from calibkit.plot import _scale, look
from calibkit.plot._counts import add_counts
from calibkit.plot._elements import Truth
from calibkit.reliability import BinTable

if TYPE_CHECKING:
    from calibkit.fit_on_test import FitOnTest

FloatVector = NDArray[np.float64]

MOST_LINES = 120  # of more predictions, so many are picked, evenly by rank
_COLUMNS = 20  # of the strip below a map without bins
_MANY_BINS = 40
_FEW = 40  # predictions that are drawn one by one with thick lines
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the element functions may look at."""

    result: "FitOnTest"
    truth: Truth | None
    scale: str

    @property
    def table(self) -> BinTable | None:
        """The bin table of an evaluator that has bins."""
        return getattr(self.result.evaluator, "table_", None)

    def line(self) -> tuple[FloatVector, FloatVector]:
        """Return the fitted map as points to draw."""
        x, y = np.asarray(self.result.line_x), np.asarray(self.result.line_y)
        curve = getattr(self.result.evaluator, "curve", None)
        if self.scale == "linear" or curve is None or np.isnan(y).any():
            return _scale.bent(x, y, self.scale)
        low, high = _scale.ends(self.scale)
        x = np.union1d(_scale.grid(self.scale), x[(x > low) & (x < high)])
        return x, _scale.inside(curve(x), self.scale)


def _draw_filling(ax: Axes, drawn: Drawn) -> None:
    x, y = drawn.line()
    floor = _scale.ends(drawn.scale)[0]
    ax.fill_between(
        x,
        floor,
        y,
        facecolor="#F7EFD5",
        linewidth=0,
        zorder=1.1,
        label="below the map",
        gid="filling",
    )
    codes: dict[str, dict[str, Any]] = {
        "over": {"facecolor": "#F6D3BD", "edgecolor": look.OVER, "hatch": "////"},
        "under": {"facecolor": "#C4DDEE", "edgecolor": look.UNDER, "hatch": "...."},
    }
    for sign, rows in (("over", y < x - _ROUNDING), ("under", y > x + _ROUNDING)):
        if rows.any():
            ax.fill_between(
                x,
                x,
                y,
                where=rows.tolist(),
                interpolate=True,
                linewidth=0.0,
                zorder=1.6,
                label=f"{sign}-estimate (area)",
                gid=f"filling-{sign}",
                **codes[sign],
            )


def _draw_map(ax: Axes, drawn: Drawn) -> None:
    x, y = drawn.line()
    ax.plot(
        x,
        y,
        color=look.INK,
        linewidth=1.9,
        solid_capstyle="butt",
        zorder=3.5,
        label="fitted map",
        gid="map",
    )


def _draw_bars(ax: Axes, drawn: Drawn) -> None:
    """Outline the flat bars, to be compared with the tops of the fitted map."""
    table = cast(BinTable, drawn.table)
    seen = table.occupied
    left, right, top = table.edges[:-1][seen], table.edges[1:][seen], table.frequency[seen]
    floor = np.zeros_like(top)
    ax.add_collection(
        PolyCollection(
            look.paths((left, floor), (left, top), (right, top), (right, floor)),
            facecolors="none",
            edgecolors="#5B7083",
            linewidths=0.9,
            zorder=2.0,
            label="observed frequency",
            gid="bars",
        ),
        autolim=False,
    )


def _draw_means(ax: Axes, drawn: Drawn) -> None:
    table = cast(BinTable, drawn.table)
    seen = table.occupied
    ax.plot(
        table.mean_prob[seen],
        table.frequency[seen],
        linestyle="none",
        marker="o",
        markersize=6.0 if table.n_bins <= _MANY_BINS else 3.0,
        markerfacecolor=look.INK,
        markeredgecolor="white",
        markeredgewidth=0.8,
        clip_on=False,
        zorder=4,
        label="bin mean",
        gid="means",
    )


def _draw_truth(ax: Axes, drawn: Drawn) -> None:
    assert drawn.truth is not None  # `chosen` has refused a map that was not given
    across = _scale.grid(drawn.scale)
    ax.plot(
        across,
        _scale.inside(drawn.truth(across), drawn.scale),
        color=look.TRUTH,
        linewidth=2.0,
        linestyle=(0, (6, 1.5, 1.2, 1.5)),
        zorder=3.4,
        label="true map",
        gid="truth",
    )


def picked(n: int) -> NDArray[np.intp]:
    """Return which predictions get a line: all, or some that are evenly spaced by rank."""
    if n <= MOST_LINES:
        return np.arange(n)
    return np.linspace(0, n - 1, MOST_LINES).round().astype(np.intp)


def _draw_distances(ax: Axes, drawn: Drawn) -> None:
    rows = picked(drawn.result.n)
    fitted = np.asarray(drawn.result.fitted)[rows]
    _lines(ax, drawn, fitted, "distances", "to the fitted map")


def _draw_violations(ax: Axes, drawn: Drawn) -> None:
    assert drawn.truth is not None
    prob = np.asarray(drawn.result.prob)[picked(drawn.result.n)]
    true = np.asarray(drawn.truth(prob), dtype=np.float64)
    _lines(ax, drawn, true, "violations", "to the true map")


def _lines(ax: Axes, drawn: Drawn, end: FloatVector, gid: str, words: str) -> None:
    """Draw lines from the diagonal, in two codes for the two signs."""
    prob = np.asarray(drawn.result.prob)[picked(drawn.result.n)]
    codes: dict[str, dict[str, Any]] = {
        "over": {"colors": look.OVER, "linestyles": "solid"},
        "under": {"colors": look.UNDER, "linestyles": [(0, (1.6, 0.7))]},
    }
    across, up = _scale.inside(prob, drawn.scale), _scale.inside(end, drawn.scale)
    for sign, rows in (("over", end < prob - _ROUNDING), ("under", end > prob + _ROUNDING)):
        if rows.any():
            segments = look.paths((across[rows], across[rows]), (across[rows], up[rows]))
            ax.add_collection(
                LineCollection(
                    segments,
                    linewidths=2.6 if len(prob) <= _FEW else 1.1,
                    zorder=3,
                    label=f"down {words}" if sign == "over" else f"up {words}",
                    gid=f"{gid}-{sign}",
                    **codes[sign],
                ),
                autolim=False,
            )


def _draw_labels(ax: Axes, drawn: Drawn) -> None:
    rows = picked(drawn.result.n)
    few = len(rows) <= _FEW
    ax.plot(
        _scale.inside(np.asarray(drawn.result.prob)[rows], drawn.scale),
        _scale.inside(np.asarray(drawn.result.label)[rows], drawn.scale),
        linestyle="none",
        marker="D" if few else "|",
        markersize=6.5 if few else 7,
        markerfacecolor="white",
        markeredgecolor=look.INK,
        markeredgewidth=1.3 if few else 0.8,
        clip_on=False,
        zorder=3.8,
        label="label",
        gid="labels",
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """What the strip of counts needs to know of a map without bins."""

    edges: FloatVector
    count: NDArray[np.intp]

    @property
    def n_bins(self) -> int:
        return len(self.count)

    @property
    def occupied(self) -> NDArray[np.bool_]:
        return self.count > 0

    @property
    def centre(self) -> FloatVector:
        return (self.edges[1:] + self.edges[:-1]) / 2

    @property
    def width(self) -> FloatVector:
        return np.diff(self.edges)


def _draw_counts(ax: Axes, drawn: Drawn) -> None:
    if drawn.table is not None:
        add_counts(ax, drawn.table)
        return
    count, edges = np.histogram(drawn.result.prob, bins=_COLUMNS, range=(0, 1))
    add_counts(ax, cast(BinTable, _Columns(edges, count)))


DRAW: dict[str, Callable[[Axes, Drawn], None]] = {
    "filling": _draw_filling,
    "bars": _draw_bars,
    "truth": _draw_truth,
    "violations": _draw_violations,
    "distances": _draw_distances,
    "map": _draw_map,
    "labels": _draw_labels,
    "means": _draw_means,
    "counts": _draw_counts,
}
