"""Diagrams side by side, and one stated probability against the days that follow. Lesson 01."""

from collections.abc import Iterable, Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibkit import plot
from calibkit.plot import look
from calibkit.reliability import BinTable
from calibkit_course.lesson01.view import ForecastRecord

PARTS = ("means", "gaps", "counts")


def diagrams(
    tables: Mapping[str, BinTable], size: tuple[float, float], show: Iterable[str] = PARTS
) -> Figure:
    """Draw reliability diagrams side by side, with one legend."""
    with look.style():
        figure, axes = plt.subplots(1, len(tables), figsize=size, layout="constrained")
        for ax, (title, table) in zip(axes, tables.items(), strict=True):
            plot.reliability(table, ax=ax, show=show, title=title)
        look.legend(figure)
    return figure


def forecaster(
    record: ForecastRecord, ax: Axes | None = None, *, legend: bool | None = None
) -> Axes:
    """Draw the days one by one, with the running share and its interval."""
    words = ("days", "share of rainy days")
    with look.drawing(ax, (4.8, 3.6), words=words, legend=legend, grid="y") as ax:
        n_days, ticks = len(record.outcome), np.linspace(0, 1, 6)
        ax.set(xlim=(0, n_days + 0.02 * n_days + 0.5), ylim=(-0.09, 1.09))
        ax.set_yticks(ticks, [f"{tick:.1g}" for tick in ticks])
        _draw_interval(ax, record)
        _draw_days(ax, record)
        _draw_levels(ax, record)
    dots = "One dot per day, and the share of rainy days so far with its interval."
    look.remember(ax, [dots, record.describe()])
    return ax


def _draw_interval(ax: Axes, record: ForecastRecord) -> None:
    days = np.arange(1, len(record.outcome) + 1)
    ax.fill_between(
        days,
        record.low,
        record.high,
        facecolor="#D5DCE2",
        edgecolor="#7F8B96",
        linewidth=0.8,
        label=f"what still fits ({100 * record.level:g} %)",
        gid="interval",
        zorder=1,
    )
    ax.plot(
        days,
        record.share,
        color=look.INK,
        linewidth=1.6,
        label="share so far",
        gid="share",
        zorder=3,
    )
    share = record.share[-1]
    ax.errorbar(
        days[-1],
        share,
        # Rounding may put an end of the interval 1e-18 beyond a share of 0 or 1.
        yerr=[[abs(share - record.low[-1])], [abs(record.high[-1] - share)]],
        fmt="o",
        markersize=5,
        color=look.INK,
        elinewidth=1.8,
        capsize=4,
        zorder=5,
        gid="last",
    )


def _draw_days(ax: Axes, record: ForecastRecord) -> None:
    days = np.arange(1, len(record.outcome) + 1)
    rained = np.asarray(record.outcome, dtype=bool)
    room = look.width_in_points(ax) / len(days)
    size = float(np.clip(0.8 * room, 1.5, 6.0))
    codes = [
        (rained, 1.05, look.UNDER, look.UNDER, "a rainy day"),
        (~rained, -0.05, "white", look.OVER, "a dry day"),
    ]
    for rows, height, face, edge, label in codes:
        shape, wide = ("o", size) if size > 2 else ("|", 6.0)
        code = look.marker(shape, wide, min(1.0, size / 3), label=label, zorder=2)
        up = np.full(rows.sum(), height)
        look.points(ax, days[rows], up, face, edge, gid=label.replace(" ", "-"), **code)


def _draw_levels(ax: Axes, record: ForecastRecord) -> None:
    levels = [
        ("stated", record.stated, look.OVER, (5, 2), 2.5),
        ("true", record.truth, look.TRUTH, (1.2, 1.2), 2.4),
    ]
    for name, level, color, dashes, zorder in levels:
        ax.axhline(
            level,
            color=color,
            linestyle=(0, dashes),
            linewidth=1.8,
            label=f"{name} {level:g}",
            gid="truth" if name == "true" else name,
            zorder=zorder,
        )
