"""The calibrator race: learning curves, and the maps of one calibration set. Lesson 11."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

from calibkit.plot import look
from calibkit_course.lesson11.binned import BinnedErrors
from calibkit_course.lesson11.view import RaceView

_MOST_BANDS = 3
# Colour, line and marker: each calibrator can be told by any of them.
CODES: dict[str, dict[str, Any]] = {
    "Platt": {"color": look.OVER, "marker": "o", "linestyle": "solid"},
    "isotonic": {"color": look.UNDER, "marker": "s", "linestyle": (0, (5, 2))},
    "histogram": {"color": look.INK, "marker": "^", "linestyle": (0, (1.2, 1.2))},
    "scaling-binning": {"color": "#A0527A", "marker": "D", "linestyle": (0, (7, 1.5, 1.2, 1.5))},
    "Venn-Abers": {"color": "#4B3F99", "marker": "P", "linestyle": (0, (3, 1))},
    "beta": {"color": "#8A6100", "marker": "v", "linestyle": (0, (9, 2))},
}


def learning_curves(
    race: RaceView, ax: Axes | None = None, *, title: str | None = None, legend: bool | None = None
) -> Axes:
    """Draw what calibrators achieve, up to the number of rows that is looked at."""
    words = ("rows of the calibration set (log scale)", race.measure)
    with look.drawing(ax, (5.4, 3.8), words=words, title=title, legend=legend) as ax:
        ax.set(xscale="log", yscale="log")
        ax.minorticks_off()
        # Plain numbers, not powers of ten: easier to read, and much faster to draw.
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
        ax.yaxis.set_major_formatter(FuncFormatter(_plain))
        ax.set_xticks(race.sizes.tolist(), [_short(int(size)) for size in race.sizes])
        ax.set_xlim(0.85 * race.sizes[0], 1.18 * race.sizes[-1])
        ax.axvline(race.n, color=look.BAND, linewidth=6, alpha=0.3, zorder=1, gid="chosen")
        if 0 < race.untouched < np.inf:  # a logarithmic axis has no zero
            line = ax.axhline(race.untouched, color=look.GREY, linestyle="dashed", linewidth=1.2)
            line.set(label="left as it is", gid="untouched")
        for m, method in enumerate(race.methods):
            _draw_curve(ax, race, m, CODES[method])
        infinite = np.flatnonzero((~np.isfinite(race.middle) & _seen(race)).any(axis=1))
        for line_of_text, m in enumerate(infinite.tolist()):
            _draw_infinite(ax, race, m, line_of_text)
    look.remember(ax, [f"Learning curves from {race.sizes[0]:,} rows on.", race.describe()])
    return ax


def _seen(race: RaceView) -> NDArray[np.bool_]:
    """Tell which sizes the race has reached."""
    reached: NDArray[np.bool_] = race.sizes <= race.n
    return reached


def _short(size: int) -> str:
    return f"{size // 1000}k" if size >= 1000 and size % 1000 == 0 else str(size)


def _plain(value: float, _: int = 0) -> str:
    """Write a number without an exponent."""
    return np.format_float_positional(value, precision=1, fractional=False, trim="-")


def _draw_curve(ax: Axes, race: RaceView, m: int, code: dict[str, Any]) -> None:
    if len(race.methods) <= _MOST_BANDS:
        ax.fill_between(
            race.sizes,
            race.low[m],
            race.high[m],
            where=(
                np.isfinite(race.high[m]) & _seen(race)
            ).tolist(),  # then the median is finite, too
            color=code["color"],
            alpha=0.15,
            linewidth=0,
            gid=f"strip-{m}",
        )
    line = {"label": race.methods[m], "linewidth": 1.8, "markersize": 5, "zorder": 3, **code}
    middle = np.where(np.isfinite(race.middle[m]) & _seen(race), race.middle[m], np.nan)
    ax.plot(race.sizes, middle, gid=f"curve-{m}", **line)


def _draw_infinite(ax: Axes, race: RaceView, m: int, line: int) -> None:
    """Write ∞ where a median is infinite, in a line of its own."""
    for size in race.sizes[~np.isfinite(race.middle[m]) & _seen(race)]:
        ax.text(
            size,
            0.97 - 0.07 * line,
            "∞",
            transform=ax.get_xaxis_transform(),
            color=CODES[race.methods[m]]["color"],
            fontsize=look.FONT_SIZE + 3,
            ha="center",
            va="center",
            gid=f"infinite-{m}",
        )


def race_maps(
    race: RaceView, ax: Axes | None = None, *, title: str | None = None, legend: bool | None = None
) -> Axes:
    """Draw the maps that were fitted to one calibration set, and the true map."""
    words = ("prediction", "")
    with look.drawing(ax, (4.2, 3.8), words=words, title=title, legend=legend) as ax:
        look.draw_truth(ax, race.prob, race.truth)
        # Wide and pale, below the maps: Platt's may be the very same.
        ax.lines[-1].set(linewidth=5, alpha=0.45, linestyle="solid", zorder=2)
        for m, method in enumerate(race.methods):
            code = CODES[method] | {"marker": None, "linewidth": 1.6, "zorder": 3}
            ax.plot(race.prob, race.maps[m], label=method, gid=f"map-{m}", **code)
        ax.set(xlim=(0, 1), ylim=(-0.02, 1.02))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        ax.set_ylabel("calibrated", fontsize=look.FONT_SIZE)  # beside another panel, too
    far = np.abs(race.maps - race.truth).mean(axis=1)
    listed = ", ".join(f"{name} {d:.3f}" for name, d in zip(race.methods, far, strict=True))
    look.remember(ax, [f"Maps fitted to {race.n:,} rows. Distance from the true map: {listed}."])
    return ax


# Plain, debiased and true errors look alike here and on the page of the rerun.
ESTIMATE_CODES = {
    "plain": look.pen(look.OVER, 1.8, marker="o", markersize=4),
    "debiased": look.pen(look.UNDER, 1.8, (0, (5, 2)), marker="s", markersize=4),
    "truth": look.pen(look.TRUTH, 1.6, (0, (7, 1.5, 1.2, 1.5))),
}


def draw_binned_errors(
    result: BinnedErrors,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the error of a continuous map against the number of bins, and 90 % of the splits."""
    words = ("number of bins (log scale)", "error, norm 2")
    with look.drawing(ax, (5.2, 3.6), words=words, title=title, legend=legend) as ax:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(result.n_bins.tolist(), [str(count) for count in result.n_bins])
        ax.fill_between(
            result.n_bins,
            result.low_2,
            result.high_2,
            facecolor=look.PALE,
            edgecolor=look.SKY,
            linewidth=0.8,
            label="plain, 90 % of splits",
            gid="splits",
        )
        curves = [("plain", "plain", result.plain_2), ("debiased", "debiased", result.debiased_2)]
        if not np.isnan(result.true_2).any():
            curves.append(("truth", "truth of these bins", result.true_2))
        for gid, label, values in curves:
            ax.plot(result.n_bins, values, label=label, gid=gid, **ESTIMATE_CODES[gid])
        ax.set_ylim(bottom=0)
    look.remember(ax, [f"Error against the number of bins. {result.describe()}"])
    return ax
