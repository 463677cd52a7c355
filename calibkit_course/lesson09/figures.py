"""Rare events: diagrams on stretched axes, and measures beside their null levels. Lesson 09.

Near zero a plain diagram shows one clump of points. On logarithmic axes equal distances are equal
factors, on logit axes equal factors of the odds.
"""

import numpy as np
from matplotlib.axes import Axes

from calibkit.chance import ConsistencyBand
from calibkit.inputs import FloatVector
from calibkit.plot import frames, look
from calibkit.plot.look import Truth
from calibkit.reliability import BinTable
from calibkit_course.lesson09.view import PrevalenceView
from calibkit_course.logit_axes import set_ticks

Ends = tuple[float, float]

_FACTOR = 2.0  # the guides left and right of the diagonal
_PERCENT_ENDS = (0.005, 1000.0)
_PERCENT_TICKS = (0.01, 0.1, 1, 10, 100)

# --- diagrams ------------------------------------------------------------------------------------


def rare_events(
    table: BinTable,
    ax: Axes | None = None,
    *,
    ends: Ends | None = None,
    band: ConsistencyBand | None = None,
    truth: Truth | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a reliability diagram on axes on which equal distances are equal factors."""
    if band is not None and not np.array_equal(band.table.edges, table.edges):
        raise ValueError("The band belongs to other bins; pass the band of the same table.")
    if ends is not None and not 0 < ends[0] < ends[1] <= 1:
        raise ValueError(f"ends must satisfy 0 < low < high <= 1, got {ends!r}.")
    ends = ends or _log_ends(table, band)
    words = "predicted probability", "observed frequency"
    with look.drawing(ax, (5.0, 4.4), title=title, legend=legend) as ax:
        _log_frame(ax, words, ends)
        _draw_guides(ax, ends)
        if band is not None:
            _draw_band(ax, band, ends)
        if truth is not None:
            across = _along(ends)
            up = np.asarray(truth(across), dtype=np.float64)
            look.draw_truth(ax, across, np.where((up >= ends[0]) & (up <= ends[1]), up, np.nan))
        _draw_points(ax, table, ends)
    look.remember(ax, _sentences(table, band, truth))
    return ax


def _sentences(table: BinTable, band: ConsistencyBand | None, truth: Truth | None) -> list[str]:
    extra = [name for name, given in (("the true map", truth), ("a band", band)) if given]
    drawn = f" and {' and '.join(extra)}" if extra else ""
    empty = int(np.sum(table.frequency[table.occupied] == 0))
    none = f"{empty} of them without an event, drawn on the lower frame. " if empty else ""
    words = band.describe() if band is not None else table.describe()
    return [f"Reliability diagram on log axes with bin means{drawn}. {none}{words}"]


def _log_ends(table: BinTable, band: ConsistencyBand | None) -> Ends:
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


def _log_frame(ax: Axes, words: tuple[str, str], ends: Ends) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set(xlim=ends, ylim=ends)
    ax.set_aspect("equal", adjustable="box")
    ax.set_anchor("NW")
    ticks = [tick for tick in _log_ticks(ends) if ends[0] <= tick <= ends[1]]
    set_ticks(ticks, ax.xaxis, ax.yaxis)
    look.label(ax, f"{words[0]} (log)", f"{words[1]} (log)")
    frames.diagonal(ax, ends)


def _log_ticks(ends: Ends) -> list[float]:
    low, high = (int(np.floor(np.log10(end))) for end in ends)
    digits = (1, 2, 5) if ends[1] < 100 * ends[0] else (1,)
    return [float(f"{d}e{power}") for power in range(low, high + 1) for d in digits]


def _draw_guides(ax: Axes, ends: Ends) -> None:
    across, label = _along(ends), "twice and half as many"
    for factor in (_FACTOR, 1 / _FACTOR):
        ax.plot(
            across,
            factor * across,
            color=look.GREY,
            linewidth=1.0,
            linestyle=(0, (1, 2)),
            zorder=2.1,
            label=label,
            gid="guide",
        )
        label = "_"  # one entry in the legend


def _along(ends: Ends) -> FloatVector:
    return np.geomspace(*ends, 201)


def _draw_band(ax: Axes, band: ConsistencyBand, ends: Ends) -> None:
    used = band.table.occupied
    across = np.clip(band.table.mean_prob[used], *ends)
    low, high = (np.clip(end[used], *ends) for end in (band.lower, band.upper))
    label = f"{100 * band.level:g} % consistency band"
    code = {"colors": look.BAND, "linewidths": 5.0, "alpha": 0.55, "zorder": 2.5}
    look.lines(ax, (across, low), (across, high), label=label, gid="band", **code)


def _draw_points(ax: Axes, table: BinTable, ends: Ends) -> None:
    used = table.occupied
    x, y = table.mean_prob[used], table.frequency[used]
    across, up = np.clip(x, *ends), np.clip(y, *ends)
    for rows, marker, colours, label, gid in (
        (y > 0, "o", (look.INK, "white"), "bin mean", "means"),
        (y == 0, "v", ("white", look.INK), "bin without events", "none"),
    ):
        if rows.any():
            at = across[rows], up[rows]
            look.points(ax, *at, *colours, marker=marker, markersize=6.0, label=label, gid=gid)


# --- measures ------------------------------------------------------------------------------------


def measures(
    found: PrevalenceView,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw several measures of one model in per cent, each beside its null level."""
    value, low, high = (
        100 * np.asarray(v) for v in (found.values, found.null_low, found.null_high)
    )
    words = "per cent (log scale)", ""
    with look.drawing(ax, (4.4, 2.8), words=words, title=title, legend=legend, grid="x") as ax:
        _percent_frame(ax, found.names)
        _draw_null(ax, low, high)
        _draw_marks(ax, value, high)
        _write_numbers(ax, value)
    pairs = zip(found.names, value, low, high, strict=True)
    told = "; ".join(f"{n} {v:.4g} % (by chance {a:.2g} to {b:.2g} %)" for n, v, a, b in pairs)
    look.remember(ax, [f"Measures in per cent on a log axis, beside their null levels: {told}."])
    return ax


def _percent_frame(ax: Axes, names: tuple[str, ...]) -> None:
    ax.set_xscale("log")
    ax.set(xlim=_PERCENT_ENDS, ylim=(len(names) - 0.4, -0.6))
    ax.set_yticks(range(len(names)), names, fontsize=look.FONT_SIZE)
    set_ticks(_PERCENT_TICKS, ax.xaxis)


def _draw_null(ax: Axes, low: FloatVector, high: FloatVector) -> None:
    ax.hlines(
        np.arange(len(low)),
        np.clip(low, *_PERCENT_ENDS),
        np.clip(high, *_PERCENT_ENDS),
        color=look.BAND,
        alpha=0.55,
        linewidth=9,
        zorder=2.5,
        label="90 % of calibrated models",
        gid="null",
    )


def _draw_marks(ax: Axes, value: FloatVector, high: FloatVector) -> None:
    places = np.arange(len(value))
    for rows, face, marker, label in (
        (value > high, look.OVER, "D", "measured, above chance"),
        (value <= high, "white", "o", "measured, within chance"),
    ):
        if rows.any():
            at = np.clip(value[rows], *_PERCENT_ENDS), places[rows]
            code = {"marker": marker, "markersize": 8, "label": label, "gid": label}
            look.points(ax, *at, face, look.INK, markeredgewidth=1.0, **code)


def _write_numbers(ax: Axes, value: FloatVector) -> None:
    """Write each number above its mark, inside the frame."""
    for place, number in enumerate(value):
        at = min(max(float(number), 4.5 * _PERCENT_ENDS[0]), _PERCENT_ENDS[1] / 2.2)
        ax.annotate(
            f"{number:,.0f} %" if number >= 1000 else f"{number:.3g} %",
            (at, place),
            xytext=(0, 6.5),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=look.FONT_SIZE,
            color=look.INK,
            zorder=5,
        )
