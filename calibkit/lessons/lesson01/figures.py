"""One stated probability against the days that follow. Lesson 01."""

from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit.plot import look


class Record(Protocol):
    """What `forecaster` draws; `calibkit.explore.forecaster_view` returns one."""

    @property
    def stated(self) -> float:
        """The probability that the forecaster states every day."""

    @property
    def truth(self) -> float:
        """The probability with which it happens."""

    @property
    def outcome(self) -> NDArray[np.uint8]:
        """1 for each day on which it happened, else 0."""

    @property
    def share(self) -> NDArray[np.float64]:
        """Share of such days, up to each day."""

    @property
    def low(self) -> NDArray[np.float64]:
        """Lower end of the interval around `share`."""

    @property
    def high(self) -> NDArray[np.float64]:
        """Upper end of the interval around `share`."""

    @property
    def level(self) -> float:
        """Confidence level of the interval."""

    @property
    def method(self) -> str:
        """Name of the interval."""

    def describe(self) -> str:
        """Say what the days show."""


def forecaster(
    record: Record, ax: Axes | None = None, *, title: str | None = None, legend: bool | None = None
) -> Axes:
    """Draw the days one by one, with the running share and its interval."""
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.8, 3.6))
        look.dress(ax, grid="y")
        _frame(ax, len(record.outcome))
        _draw_interval(ax, record)
        _draw_days(ax, record)
        _draw_levels(ax, record)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    look.remember(
        ax,
        [
            "One dot per day, and the share of rainy days so far with its interval.",
            record.describe(),
        ],
    )
    return ax


def _frame(ax: Axes, n_days: int) -> None:
    ax.set(xlim=(0, n_days + 0.02 * n_days + 0.5), ylim=(-0.09, 1.09))
    ax.set_yticks(np.linspace(0, 1, 6), [f"{tick:.1g}" for tick in np.linspace(0, 1, 6)])
    if look.is_last_row(ax):
        ax.set_xlabel("days", fontsize=look.FONT_SIZE)
    if look.is_first_column(ax):
        ax.set_ylabel("share of rainy days", fontsize=look.FONT_SIZE)


def _draw_interval(ax: Axes, record: Record) -> None:
    days = np.arange(1, len(record.outcome) + 1)
    ax.fill_between(
        days,
        record.low,
        record.high,
        facecolor="#D5DCE2",
        edgecolor="#7F8B96",
        linewidth=0.8,
        label=f"{100 * record.level:g} % interval ({record.method})",
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
    last = slice(-1, None)
    ax.errorbar(
        days[last],
        record.share[last],
        yerr=np.abs(np.stack([record.share - record.low, record.high - record.share])[:, last]),
        fmt="o",
        markersize=5,
        color=look.INK,
        elinewidth=1.8,
        capsize=4,
        zorder=5,
        gid="last",
    )


def _draw_days(ax: Axes, record: Record) -> None:
    days = np.arange(1, len(record.outcome) + 1)
    rained = np.asarray(record.outcome, dtype=bool)
    room = look.width_in_points(ax) / len(days)
    size = float(np.clip(0.8 * room, 1.5, 6.0))
    codes = [
        (rained, 1.05, look.UNDER, look.UNDER, "a rainy day"),
        (~rained, -0.05, "white", look.OVER, "a dry day"),
    ]
    for rows, height, face, edge, label in codes:
        ax.plot(
            days[rows],
            np.full(rows.sum(), height),
            linestyle="none",
            marker="o" if size > 2 else "|",
            markersize=size if size > 2 else 6,
            markerfacecolor=face,
            markeredgecolor=edge,
            markeredgewidth=min(1.0, size / 3),
            clip_on=False,
            label=label,
            gid=label.replace(" ", "-"),
            zorder=2,
        )


def _draw_levels(ax: Axes, record: Record) -> None:
    ax.axhline(
        record.stated,
        color=look.OVER,
        linestyle=(0, (5, 2)),
        linewidth=1.8,
        label=f"stated {record.stated:.2f}",
        gid="stated",
        zorder=2.5,
    )
    ax.axhline(
        record.truth,
        color=look.TRUTH,
        linestyle=(0, (1.2, 1.2)),
        linewidth=1.8,
        label=f"true {record.truth:.2f}",
        gid="truth",
        zorder=2.4,
    )
