"""Two virtues in three panels: a ROC curve, and what a score is made of. Lesson 02.

Source: tutorial slides, source 004 section 2 (proper scores).
"""

from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit.plot import look

_MARGIN = 0.025


class Curve(Protocol):
    """What `roc` draws; `calibkit.explore.distort_me_view` returns one."""

    @property
    def false_alarms(self) -> NDArray[np.float64]:
        """Share of the non-events above each threshold, rising from 0 to 1."""

    @property
    def hits(self) -> NDArray[np.float64]:
        """Share of the events above each threshold, rising from 0 to 1."""

    @property
    def at_half(self) -> tuple[float, float]:
        """False alarms and hits of the threshold 0.5."""

    @property
    def area(self) -> float:
        """Area under the curve."""


class Parts(Protocol):
    """What `score_parts` draws, e.g. a `calibkit.corp.CorpDecomposition`."""

    @property
    def score(self) -> float:
        """The score."""

    @property
    def miscalibration(self) -> float:
        """What honesty would win."""

    @property
    def discrimination(self) -> float:
        """What knowledge has won."""

    @property
    def uncertainty(self) -> float:
        """What the problem brings along."""

    def describe(self) -> str:
        """Say the score as the sum of its parts."""


def roc(
    curve: Curve, ax: Axes | None = None, *, title: str | None = None, legend: bool | None = None
) -> Axes:
    """Draw a ROC curve: hits against false alarms, one point per threshold."""
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.2, 4.2))
        look.dress(ax)
        ax.set(xlim=(-_MARGIN, 1 + _MARGIN), ylim=(-_MARGIN, 1 + _MARGIN), aspect="equal")
        ax.set_anchor("NW")
        ticks = np.linspace(0, 1, 3)
        ax.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
        ax.set_yticks(ticks, [f"{tick:.2g}" for tick in ticks])
        if look.is_last_row(ax):
            ax.set_xlabel("false alarms", fontsize=look.FONT_SIZE)
        ax.set_ylabel("hits", fontsize=look.FONT_SIZE)
        _draw_curve(ax, curve)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    look.remember(ax, [_roc_words(curve)])
    return ax


def _draw_curve(ax: Axes, curve: Curve) -> None:
    ax.plot(
        curve.false_alarms,
        curve.hits,
        color=look.INK,
        linewidth=2.0,
        label="ROC curve",
        gid="roc",
        zorder=3,
    )
    ax.plot(
        *curve.at_half,
        linestyle="none",
        marker="D",
        markersize=8,
        markerfacecolor=look.SKY,
        markeredgecolor=look.INK,
        clip_on=False,
        label="threshold 0.5",
        gid="at-half",
        zorder=4,
    )
    ax.text(0.97, 0.05, f"area {curve.area:.3f}", ha="right", fontsize=look.FONT_SIZE, gid="area")


def _roc_words(curve: Curve) -> str:
    false_alarms, hits = curve.at_half
    return (
        f"ROC curve with the area {curve.area:.3f}. The threshold 0.5 gives {hits:.2f} hits "
        f"and {false_alarms:.2f} false alarms."
    )


def score_parts(
    parts: Parts, ax: Axes | None = None, *, title: str | None = None, top: float | None = None
) -> Axes:
    """Draw how a score comes about: uncertainty, minus discrimination, plus miscalibration."""
    with look.style():
        ax, _ = look.axes_or_new(ax, (4.6, 3.8))
        look.dress(ax, grid="y")
        highest = max(parts.uncertainty, parts.score)
        ax.set(xlim=(-0.6, 3.6), ylim=(0, 1.18 * highest if top is None else top))
        _draw_parts(ax, parts)
        if title is not None:
            ax.set_title(title)
    look.remember(ax, ["Bars of the parts.", parts.describe()])
    return ax


def _draw_parts(ax: Axes, parts: Parts) -> None:
    refined = parts.uncertainty - parts.discrimination
    bars: list[tuple[str, float, float, str, dict[str, Any]]] = [
        ("UNC", 0.0, parts.uncertainty, "uncertainty", {"facecolor": "#C9CED3"}),
        (
            "− DSC",
            refined,
            parts.uncertainty,
            "discrimination",
            {"facecolor": "#C4DDEE", "edgecolor": look.UNDER, "hatch": "...."},
        ),
        (
            "+ MCB",
            refined,
            refined + parts.miscalibration,
            "miscalibration",
            {"facecolor": "#F6D3BD", "edgecolor": look.OVER, "hatch": "////"},
        ),
        ("score", 0.0, parts.score, "score", {"facecolor": look.GREY}),
    ]
    levels = [parts.uncertainty, refined, refined + parts.miscalibration]
    lift = 0.015 * ax.get_ylim()[1]
    for place, (_, low, high, name, code) in enumerate(bars):
        code = {"edgecolor": look.GREY, **code}
        ax.bar(place, high - low, bottom=low, width=0.72, linewidth=0.8, gid=name, **code)
        size = f"{high - low:.4f}"
        ax.text(place, high + lift, size, ha="center", va="bottom", fontsize=look.FONT_SIZE - 0.5)
    for place, level in enumerate(levels):
        ax.plot([place, place + 1], [level, level], color=look.INK, linewidth=0.8, zorder=1.5)
    ax.set_xticks(range(len(bars)), [bar[0] for bar in bars])
