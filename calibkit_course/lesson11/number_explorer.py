"""The explorer *which number chooses*: a dial of bins, and what three numbers say. Lesson 11."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from calibkit.inputs import FloatVector
from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Explorer, Slider
from calibkit_course.lesson11.number import BINS, Numbers, which_number_view

_LOSSES = (0.57, 0.72)  # the panel of the log loss; what is infinite stands at its upper edge


def _map(view: Numbers, ax: Axes) -> None:
    """Draw the histogram with most bins, and the truth."""
    with look.drawing(ax, (3.6, 3.4), words=("prediction", "repaired")) as ax:
        look.draw_truth(ax, view.prob, view.truth)
        ax.plot(view.prob, view.fitted, gid="map", label="histogram", **look.stroke(look.OVER, 1.8))
        ax.set(xlim=(0, 1), ylim=(0, 1))


def _curve(view: Numbers, values: FloatVector, ax: Axes, label: str, pen: dict[str, Any]) -> None:
    """Draw a number against the bins tried so far, with a star where it is lowest."""
    finite = np.isfinite(values)
    ax.plot(view.n_bins[finite], values[finite], gid=f"curve-{label}", label=label, **pen)
    star: dict[str, Any] = {"marker": "*", "linestyle": "", "zorder": 1.9}  # behind its mark
    star |= {"markersize": 17, "markerfacecolor": "white", "markeredgecolor": pen["color"]}
    said = "lowest so far" if label == "log loss" else None
    ax.plot(view.chosen(values), values.min(), gid=f"star-{label}", label=said, **star)
    for count in view.n_bins[~finite]:
        ax.text(count, ax.get_ylim()[1], "∞", ha="center", va="top", fontsize=13, gid="infinite")


def _by_bins(ax: Axes, what: str, ylim: tuple[float, float]) -> None:
    """Set the scales that all states share."""
    ax.set(xscale="log", xlim=(0.8, 125), ylim=ylim, ylabel=what)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(BINS[::3], [str(count) for count in BINS[::3]])


def _draw(view: Numbers, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 3)
    _map(view, axes[0])
    words = ("number of bins (log scale)", "")
    with look.drawing(axes[1], (3.6, 3.4), words=words) as ax:
        _by_bins(ax, "ECE, and distance", (0, 0.2))
        _curve(view, view.ece, ax, "ECE", look.stroke(look.UNDER, 1.8, marker="s", markersize=4))
        truth = look.stroke(look.TRUTH, 1.6, (0, (7, 1.5, 1.2, 1.5)), marker="o", markersize=4)
        _curve(view, view.far, ax, "distance from the truth", truth)
    with look.drawing(axes[2], (3.6, 3.4), words=words) as ax:
        _by_bins(ax, "log loss", _LOSSES)
        code = look.stroke(look.INK, 1.6, (0, (5, 2)), marker="^", markersize=4)
        _curve(view, view.loss, ax, "log loss", code)
    look.remember(axes[0], [view.describe()])


_BINS = (Slider("n_bins", "Bins", BINS, default=1, book=BINS, unit="bins"),)


def which_number(**defaults: Any) -> Explorer[Numbers]:
    """Return the explorer: histograms with more and more bins, and what each number says."""
    return Explorer(
        name="which-number",
        title="Which number chooses?",
        controls=_BINS,
        view=which_number_view,
        draw=_draw,
        play="n_bins",
        presets=(
            ("1 bin", {}),
            ("5 bins", {"n_bins": 5}),
            ("20 bins", {"n_bins": 20}),
            ("100 bins", {"n_bins": 100}),
        ),
        size=(9.6, 3.6),
        cell=(9.0, 2.9),
    ).starting_at(**defaults)
