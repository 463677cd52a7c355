"""Measures of different kinds beside their null levels, on one logarithmic axis. Lesson 09."""

from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import NDArray

from calibkit.plot import look

FloatVector = NDArray[np.float64]

_PERCENT_ENDS = (0.005, 1000.0)
_PERCENT_TICKS = (0.01, 0.1, 1, 10, 100)


class Measures(Protocol):
    """What `measures` draws; `calibkit.explore.prevalence_dial_view` returns one."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the numbers are called."""

    @property
    def values(self) -> FloatVector:
        """The numbers, 0 or larger."""

    @property
    def null_low(self) -> FloatVector:
        """5 % quantiles of what a calibrated model would show."""

    @property
    def null_high(self) -> FloatVector:
        """95 % quantiles of what a calibrated model would show."""


def measures(
    found: Measures,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw several measures of one model in per cent, each beside its null level."""
    value, low, high = (
        100 * np.asarray(v) for v in (found.values, found.null_low, found.null_high)
    )
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.4 if legend is not False else 4.4, 2.8))
        _percent_frame(ax, found.names)
        _draw_null(ax, low, high)
        _draw_marks(ax, value, high)
        _write_numbers(ax, value)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    pairs = zip(found.names, value, low, high, strict=True)
    words = "; ".join(f"{n} {v:.4g} % (by chance {a:.2g} to {b:.2g} %)" for n, v, a, b in pairs)
    look.remember(ax, [f"Measures in per cent on a log axis, beside their null levels: {words}."])
    return ax


def _percent_frame(ax: Axes, names: tuple[str, ...]) -> None:
    look.dress(ax, grid="x")
    ax.set_xscale("log")
    ax.set(xlim=_PERCENT_ENDS, ylim=(len(names) - 0.4, -0.6))
    ax.set_yticks(range(len(names)), names, fontsize=look.FONT_SIZE)
    ax.xaxis.set_major_locator(FixedLocator(_PERCENT_TICKS))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in _PERCENT_TICKS]))
    ax.xaxis.set_minor_locator(NullLocator())
    if look.is_last_row(ax):
        ax.set_xlabel("per cent (log scale)", fontsize=look.FONT_SIZE)


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
    for rows, face, label in (
        (value > high, look.OVER, "measured, above chance"),
        (value <= high, "white", "measured, within chance"),
    ):
        if rows.any():
            ax.plot(
                np.clip(value[rows], *_PERCENT_ENDS),
                places[rows],
                linestyle="none",
                marker="D" if face != "white" else "o",
                markersize=8,
                markerfacecolor=face,
                markeredgecolor=look.INK,
                clip_on=False,
                zorder=4,
                label=label,
                gid=label,
            )


def _write_numbers(ax: Axes, value: FloatVector) -> None:
    """Write each number above its mark, inside the frame."""
    for place, number in enumerate(value):
        at = min(max(float(number), 2.2 * _PERCENT_ENDS[0]), _PERCENT_ENDS[1] / 2.2)
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
