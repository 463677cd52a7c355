"""Rare events: reliability diagrams on stretched axes. Lesson 09.

Near zero a plain diagram shows one clump of points. On logarithmic axes equal distances are equal
factors, on logit axes equal factors of the odds.
"""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import NDArray

from calibkit._links import expit, logit
from calibkit.plot import _scale, look
from calibkit.plot.look import Truth
from calibkit.reliability import BinTable

if TYPE_CHECKING:
    from calibkit.significance import ConsistencyBand

FloatVector = NDArray[np.float64]

SCALES = ("log", "logit")
_FACTOR = 2.0  # the guides left and right of the diagonal


def rare_events(
    table: BinTable,
    ax: Axes | None = None,
    *,
    scale: str = "log",
    ends: tuple[float, float] | None = None,
    band: "ConsistencyBand | None" = None,
    truth: Truth | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a reliability diagram on axes on which equal distances are equal factors."""
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r} does not exist; choose one of {SCALES}.")
    if band is not None and not np.array_equal(band.table.edges, table.edges):
        raise ValueError("The band belongs to other bins; pass the band of the same table.")
    ends = _checked(scale, ends) or _log_ends(table, band)
    with look.style():
        ax, fresh = look.axes_or_new(ax, (7.0 if legend is not False else 4.4, 4.4))
        words = "predicted probability", "observed frequency"
        if scale == "logit":
            _scale.frame(ax, words, scale)
        else:
            _log_frame(ax, words, ends)
        _draw_guides(ax, scale, ends)
        if band is not None:
            _draw_band(ax, band, ends)
        if truth is not None:
            _draw_truth(ax, truth, scale, ends)
        _draw_points(ax, table, ends)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    look.remember(ax, _sentences(table, scale, band, truth))
    return ax


def _checked(scale: str, ends: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the ends that are not up to the data."""
    if scale == "logit":
        if ends is not None:
            raise ValueError(f'ends={ends!r} need scale="log"; logit axes have fixed ends.')
        return _scale.ends("logit")
    if ends is not None and not 0 < ends[0] < ends[1] <= 1:
        raise ValueError(f"ends must satisfy 0 < low < high <= 1, got {ends!r}.")
    return ends


def _sentences(
    table: BinTable, scale: str, band: "ConsistencyBand | None", truth: Truth | None
) -> list[str]:
    extra = [name for name, given in (("the true map", truth), ("a band", band)) if given]
    drawn = f" and {' and '.join(extra)}" if extra else ""
    empty = int(np.sum(table.frequency[table.occupied] == 0))
    none = f"{empty} of them without an event, drawn on the lower frame. " if empty else ""
    words = band.describe() if band is not None else table.describe()
    return [f"Reliability diagram on {scale} axes with bin means{drawn}. {none}{words}"]


def _log_ends(table: BinTable, band: "ConsistencyBand | None") -> tuple[float, float]:
    """Return ends that leave room around all positive values."""
    used = table.occupied
    values = [table.mean_prob[used], table.frequency[used]]
    if band is not None:
        values.append(band.upper[used])
    shown = np.concatenate(values)
    shown = shown[shown > 0]
    if not len(shown):
        return 1e-3, 1.0
    return float(shown.min()) / 1.8, min(float(shown.max()) * 1.8, 1.0)


def _log_frame(ax: Axes, words: tuple[str, str], ends: tuple[float, float]) -> None:
    look.dress(ax)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set(xlim=ends, ylim=ends)
    ax.set_aspect("equal", adjustable="box")
    ax.set_anchor("NW")
    ticks = [tick for tick in _log_ticks(ends) if ends[0] <= tick <= ends[1]]
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
        axis.set_minor_locator(NullLocator())
    if look.is_last_row(ax):
        ax.set_xlabel(f"{words[0]} (log)", fontsize=look.FONT_SIZE)
    if look.is_first_column(ax):
        ax.set_ylabel(f"{words[1]} (log)", fontsize=look.FONT_SIZE)
    _scale.diagonal(ax, ends)


def _log_ticks(ends: tuple[float, float]) -> list[float]:
    low, high = (int(np.floor(np.log10(end))) for end in ends)
    digits = (1, 2, 5) if high - low <= 2 else (1,)
    return [float(f"{d}e{power}") for power in range(low, high + 1) for d in digits]


def _draw_guides(ax: Axes, scale: str, ends: tuple[float, float]) -> None:
    across = _along(scale, ends)
    label = "twice and half the odds" if scale == "logit" else "twice and half as many"
    for factor in (_FACTOR, 1 / _FACTOR):
        moved = expit(logit(across) + np.log(factor)) if scale == "logit" else factor * across
        ax.plot(
            across,
            moved,
            color=look.GREY,
            linewidth=1.0,
            linestyle=(0, (1, 2)),
            zorder=2.1,
            label=label,
            gid="guide",
        )
        label = "_"  # one entry in the legend


def _along(scale: str, ends: tuple[float, float]) -> FloatVector:
    return _scale.grid("logit") if scale == "logit" else np.geomspace(*ends, 201)


def _draw_band(ax: Axes, band: "ConsistencyBand", ends: tuple[float, float]) -> None:
    used = band.table.occupied
    across = np.clip(band.table.mean_prob[used], *ends)
    low, high = (np.clip(end[used], *ends) for end in (band.lower, band.upper))
    ax.add_collection(
        LineCollection(
            look.paths((across, low), (across, high)),
            colors=look.BAND,
            linewidths=5.0,
            alpha=0.55,
            zorder=2.5,
            label=f"{100 * band.level:g} % consistency band",
            gid="band",
        ),
        autolim=False,
    )


def _draw_truth(ax: Axes, truth: Truth, scale: str, ends: tuple[float, float]) -> None:
    across = _along(scale, ends)
    up = np.asarray(truth(across), dtype=np.float64)
    ax.plot(
        across,
        np.where((up >= ends[0]) & (up <= ends[1]), up, np.nan),
        color=look.TRUTH,
        linewidth=2.0,
        linestyle=(0, (6, 1.5, 1.2, 1.5)),
        zorder=3.0,
        label="true map",
        gid="truth",
    )


def _draw_points(ax: Axes, table: BinTable, ends: tuple[float, float]) -> None:
    used = table.occupied
    x, y = table.mean_prob[used], table.frequency[used]
    across, up = np.clip(x, *ends), np.clip(y, *ends)
    for rows, marker, label in (
        (y > 0, "o", "bin mean"),
        (y == 0, "v", "bin without events"),
    ):
        if rows.any():
            ax.plot(
                across[rows],
                up[rows],
                linestyle="none",
                marker=marker,
                markersize=6.0,
                markerfacecolor=look.INK if marker == "o" else "white",
                markeredgecolor="white" if marker == "o" else look.INK,
                markeredgewidth=0.8,
                clip_on=False,
                zorder=4,
                label=label,
                gid="means" if marker == "o" else "none",
            )
