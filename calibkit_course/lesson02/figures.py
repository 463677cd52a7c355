"""Two virtues in panels: a ROC curve, what a score is made of, curves and fines. Lesson 02.

Source: hands-on session of Galdran and Riera i Marin, section 2 (proper scores).
"""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from calibkit import plot
from calibkit.plot import look
from calibkit.reliability import reliability_table
from calibkit.scores import BrierDecomposition, CorpDecomposition
from calibkit_course.lesson02.view import Virtues

_MARGIN = 0.025
_WON = {"facecolor": "#C4DDEE", "edgecolor": look.UNDER, "hatch": "...."}
_LOST = {"facecolor": "#F6D3BD", "edgecolor": look.OVER, "hatch": "////"}


def roc(
    view: Virtues, ax: Axes | None = None, *, title: str | None = None, legend: bool | None = None
) -> Axes:
    """Draw a ROC curve: hits against false alarms, one point per threshold."""
    words = ("false alarms", "hits")
    with look.drawing(ax, (4.2, 4.2), words=words, title=title, legend=legend) as ax:
        ax.set(xlim=(-_MARGIN, 1 + _MARGIN), ylim=(-_MARGIN, 1 + _MARGIN), aspect="equal")
        ax.set_anchor("NW")
        ticks = np.linspace(0, 1, 3)
        ax.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
        ax.set_yticks(ticks, [f"{tick:.2g}" for tick in ticks])
        ax.plot(
            view.false_alarms,
            view.hits,
            color=look.INK,
            linewidth=2.0,
            label="ROC curve",
            gid="roc",
            zorder=3,
        )
        code = look.marker("D", 8, 1.0, label="threshold 0.5", gid="at-half")
        look.points(ax, *view.at_half, look.SKY, look.INK, **code)
        area = f"area {view.area:.3f}"
        ax.text(0.97, 0.05, area, ha="right", fontsize=look.FONT_SIZE, gid="area")
    false_alarms, hits = view.at_half
    said = (
        f"ROC curve with the area {view.area:.3f}. The threshold 0.5 gives {hits:.2f} hits "
        f"and {false_alarms:.2f} false alarms."
    )
    look.remember(ax, [said])
    return ax


def score_parts(
    parts: CorpDecomposition | BrierDecomposition,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    top: float | None = None,
) -> Axes:
    """Draw how a score comes about: uncertainty, minus discrimination, plus miscalibration."""
    with look.drawing(ax, (4.6, 3.8), title=title, legend=False, grid="y") as ax:
        highest = max(parts.uncertainty, parts.score)
        ax.set(xlim=(-0.6, 3.6), ylim=(0, 1.18 * highest if top is None else top))
        _draw_parts(ax, parts)
    look.remember(ax, ["Bars of the parts.", parts.describe()])
    return ax


def _draw_parts(ax: Axes, parts: CorpDecomposition | BrierDecomposition) -> None:
    refined = parts.uncertainty - parts.discrimination
    bars: list[tuple[str, float, float, str, dict[str, Any]]] = [
        ("UNC", 0.0, parts.uncertainty, "uncertainty", {"facecolor": "#C9CED3"}),
        ("− DSC", refined, parts.uncertainty, "discrimination", _WON),
        ("+ MCB", refined, refined + parts.miscalibration, "miscalibration", _LOST),
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


def repair_curves(splits: Mapping[str, CorpDecomposition]) -> Figure:
    """Draw the best increasing repair of each forecaster, side by side."""
    with look.style():
        figure, axes = plt.subplots(1, len(splits), figsize=(9.6, 4.0), layout="constrained")
        for ax, (name, parts) in zip(axes, splits.items(), strict=True):
            plot.corp(parts, ax, title=name)
        look.legend(figure)
    return figure


def diagrams(models: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]) -> Figure:
    """Draw reliability diagrams without counts, as newspapers do."""
    size = (8.4, 0.5 + 7.4 / len(models))
    with look.style():
        figure, axes = plt.subplots(1, len(models), figsize=size, layout="constrained")
        for ax, (title, (y_true, y_prob)) in zip(axes, models.items(), strict=True):
            table = reliability_table(y_true, y_prob, bins=10)
            plot.reliability(table, ax=ax, show={"means", "gaps"}, title=title)
        look.legend(figure)
    return figure


def expected_fines(stated: NDArray[np.float64], fines: Mapping[str, NDArray[np.float64]]) -> Axes:
    """Draw expected fines against the stated probability, with a dot at each minimum."""
    codes = ((look.UNDER, "-"), (look.OVER, "--"), (look.TRUTH, ":"))
    with look.style():
        ax = plt.subplots(figsize=(6.2, 3.6), layout="constrained")[1]
        for (name, fine), (colour, line) in zip(fines.items(), codes, strict=True):
            ax.plot(stated, fine, line, color=colour, label=name, lw=2)
            ax.plot(stated[fine.argmin()], fine.min(), "ko", ms=6)
        ax.set(xlabel="stated probability", ylabel="expected fine", ylim=(0, 1.5))
        ax.legend(frameon=False)
    return ax
