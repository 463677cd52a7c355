"""The spread of an estimate over many data sets, with the truth marked. Lesson 06."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator

from calibkit.plot import look
from calibkit.results import spell
from calibkit_course.lesson06.draws import Replicates
from calibkit_course.lesson06.view import BinTuner

_COLUMNS = 20
_TICKS = (1, 2, 5, 10, 20, 50, 100)
_MOST_SETS = 3
_SETS: tuple[dict[str, Any], ...] = (
    {"facecolor": "#C9CED3", "edgecolor": look.GREY},
    {"facecolor": "#C4DDEE99", "edgecolor": look.UNDER, "hatch": "...."},
    {"facecolor": "#F6D3BD99", "edgecolor": look.OVER, "hatch": "////"},
)
_MEANS: tuple[tuple[str, Any], ...] = (
    (look.GREY, (0, (4, 2))),
    (look.UNDER, (0, (1.2, 1.2))),
    (look.OVER, "solid"),
)
_TRUTH = look.stroke(look.TRUTH, 2.4, "dashdot", zorder=3.5, label="truth", gid="truth")


def replicates(
    sets: Sequence[Replicates],
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a histogram of estimates from many data sets, with the truth marked."""
    if not 1 <= len(sets) <= _MOST_SETS or len({one.truth for one in sets}) > 1:
        raise ValueError(
            f"replicates takes 1 to {_MOST_SETS} sets of estimates of the same truth, got "
            f"{len(sets)} with the truths {[one.truth for one in sets]}."
        )
    words = "estimate", "replicates"
    with look.drawing(ax, (5.0, 3.4), words=words, title=title, legend=legend, grid="y") as ax:
        _draw_histograms(ax, sets)
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.axvline(sets[0].truth, **_TRUTH)
    said = "Histogram of estimates." if len(sets) == 1 else f"{len(sets)} histograms of estimates."
    look.remember(ax, [said, *(one.describe() for one in sets)])
    return ax


def _draw_histograms(ax: Axes, sets: Sequence[Replicates]) -> None:
    everything = np.concatenate([one.values for one in sets])
    low, high = float(everything.min()), float(everything.max())
    if high - low < 1e-9:
        low, high = low - 5e-4, high + 5e-4
    edges = np.linspace(low, high, _COLUMNS + 1)
    for place, one in enumerate(sets):
        height, _ = np.histogram(one.values, edges)
        ax.stairs(
            height,
            edges,
            fill=True,
            linewidth=0.9,
            zorder=2 + place / 10,
            label="estimates" if len(sets) == 1 else one.name,
            gid=f"estimates-{place}",
            **_SETS[place],
        )
        color, dashes = _MEANS[place]
        ax.axvline(
            one.mean,
            color=color,
            linestyle=dashes,
            linewidth=2.0,
            zorder=3,
            label="their mean" if len(sets) == 1 else f"mean, {one.name}",
            gid=f"mean-{place}",
        )


def bin_drift(
    drift: BinTuner,
    ax: Axes | None = None,
    *,
    points: tuple[Any, Any] | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw how the plain estimate drifts with the number of bins: hidden below, inflated above."""
    words = "number of bins (log scale)", ""
    with look.drawing(ax, (5.0, 3.8), words=words, title=title, legend=legend) as ax:
        _draw_drift(ax, drift, points)
        ax.set_ylabel("estimate", fontsize=look.FONT_SIZE)  # of its own beside other panels, too
    ends = (
        f"With {spell(int(drift.grid[k]), 'bin')}: mean {drift.plain_mean[k]:.4f}, endless data "
        f"{drift.limit[k]:.4f}."
        for k in (0, -1)
    )
    first = f"Mean plain estimate against the number of bins, truth {drift.truth:.4f}."
    look.remember(ax, [first, *ends])
    return ax


def _draw_drift(ax: Axes, drift: BinTuner, points: tuple[Any, Any] | None) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    highest = max(drift.grid[-1], 1 if points is None else np.max(points[0]))
    ticks = [tick for tick in _TICKS if tick <= highest]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    if points is not None:
        code = look.marker(".", 5, 0, linestyle="none", color=look.SKY, alpha=0.6, zorder=2)
        ax.plot(*points, label="one data set", gid="points", **code)
    ax.plot(
        drift.grid,
        drift.plain_mean,
        color=look.OVER,
        linewidth=2.0,
        zorder=3,
        label="plain ECE, mean",
        gid="plain-mean",
    )
    ax.plot(
        drift.grid,
        drift.limit,
        color=look.UNDER,
        linestyle=(0, (1.2, 1.2)),
        linewidth=2.2,
        zorder=3,
        label="endless data",
        gid="limit",
    )
    ax.axhline(drift.truth, **_TRUTH)
    ax.set_xlim(0.9, highest * 1.1)
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
