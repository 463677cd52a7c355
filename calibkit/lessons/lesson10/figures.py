"""What a temperature does: probabilities of one example, and two curves. Lesson 10.

Source: Guo, Pleiss, Sun and Weinberger (2017); tutorial slides, source 004 section 3.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import NDArray

from calibkit.plot import look

QUANTITIES = ("log loss", "calibration error")
_STEP = 1.3  # from one example to the next; a full bar has the height 1
_TICKS = (0.25, 0.5, 1, 2, 4, 8)


class Cooling(Protocol):
    """What `cooling` draws; `calibkit.explore.thermostat_view` returns one."""

    @property
    def temperatures(self) -> NDArray[np.float64]:
        """Temperatures, rising."""

    @property
    def log_losses(self) -> NDArray[np.float64]:
        """Log loss at each of them."""

    @property
    def errors(self) -> NDArray[np.float64]:
        """Calibration error at each of them."""

    @property
    def temperature(self) -> float:
        """The temperature that is set."""

    @property
    def best_temperature(self) -> float:
        """Where the log loss is lowest."""


def class_chances(
    chances: Any,
    ax: Axes | None = None,
    *,
    labels: Sequence[int] | NDArray[np.intp],
    names: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the probabilities that a few examples get: one row each, one bar per class."""
    rows = np.asarray(chances, dtype=np.float64)
    called = [str(k) for k in range(1, len(rows) + 1)] if names is None else list(names)
    _check_examples(rows, labels, called)
    with look.style():
        ax, _ = look.axes_or_new(ax, (4.0, 0.9 + 0.9 * len(rows)))
        look.dress(ax, grid=None)
        for place, (row, label) in enumerate(zip(rows, labels, strict=True)):
            _draw_chances(ax, row, int(label), -_STEP * place)
        k = rows.shape[1]
        ax.set(xlim=(-0.6, k - 0.4), ylim=(-_STEP * (len(rows) - 1) - 0.05, 1.15))
        ax.set_xticks(range(0, k, max(1, k // 5)))
        ax.set_yticks([0.5 - _STEP * place for place in range(len(rows))], called)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel("class", fontsize=look.FONT_SIZE)
        if title is not None:
            ax.set_title(title)
    look.remember(ax, _words_of_examples(rows, labels, called))
    return ax


def _check_examples(rows: NDArray[np.float64], labels: Any, names: list[str]) -> None:
    if rows.ndim != 2 or not len(rows) == len(labels) == len(names):
        raise ValueError(
            f"chances have shape {rows.shape}, with {len(labels)} labels and {len(names)} names; "
            "give one row, one label and one name per example."
        )
    for place, label in enumerate(labels):
        if label not in range(rows.shape[1]):
            raise ValueError(
                f"labels[{place}]={label!r} is no class; there are 0 to {rows.shape[1] - 1}."
            )


def _words_of_examples(rows: NDArray[np.float64], labels: Any, names: list[str]) -> list[str]:
    said = [f"Chances of {rows.shape[1]} classes."]
    for row, label, name in zip(rows, labels, names, strict=True):
        first = int(row.argmax())
        rest = "the true one" if first == label else f"the true class {label} has {row[label]:.2f}"
        plain = name.replace("\n", " ")
        said.append(f"Example {plain}: class {first} leads with {row[first]:.2f}, {rest}.")
    return said


def _draw_chances(ax: Axes, heights: NDArray[np.float64], label: int, foot: float) -> None:
    """Draw one row: all bars as one shape, and a strip behind the class that was true."""
    strip = Rectangle(
        (label - 0.5, foot),
        1.0,
        1.0,
        facecolor=look.PALE,
        edgecolor=look.UNDER,
        hatch="//",
        linewidth=0.8,
        label="true class",
        gid="true-class",
    )
    ax.add_patch(strip)
    places = np.arange(len(heights))
    ax.stairs(
        foot + np.column_stack([heights, np.zeros_like(heights)]).ravel()[:-1],
        np.column_stack([places - 0.35, places + 0.35]).ravel(),
        baseline=foot,
        fill=True,
        facecolor=look.INK,
        label="chance of a class",
        gid="chances",
        zorder=3,
    )
    ax.axhline(foot, color=look.GREY, linewidth=0.8, gid="foot")


def cooling(
    curve: Cooling,
    ax: Axes | None = None,
    *,
    quantity: str = "log loss",
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw log loss or calibration error against the temperature, on a logarithmic axis."""
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity={quantity!r} does not exist; choose one of {QUANTITIES}.")
    across = np.asarray(curve.temperatures, dtype=np.float64)
    up = np.asarray(curve.log_losses if quantity == "log loss" else curve.errors, dtype=np.float64)
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.6 if legend is not False else 4.6, 3.2))
        look.dress(ax)
        _draw_curve(ax, across, up, quantity)
        _draw_marks(ax, curve, float(np.interp(np.log(curve.temperature), np.log(across), up)))
        ax.set_xlabel("temperature T (log scale)", fontsize=look.FONT_SIZE)
        ax.set_ylabel("log loss" if quantity == "log loss" else "ECE", fontsize=look.FONT_SIZE)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    name = quantity[0].upper() + quantity[1:]
    least = int(up.argmin())
    words = (
        f"{name} against the temperature, lowest near T = {across[least]:.2g} with "
        f"{up[least]:.2f}.",
        f"Set: T = {curve.temperature:g}. Lowest log loss at T = {curve.best_temperature:.2f}.",
    )
    look.remember(ax, words)
    return ax


def _draw_curve(
    ax: Axes, across: NDArray[np.float64], up: NDArray[np.float64], quantity: str
) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(_TICKS))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in _TICKS]))
    ax.xaxis.set_minor_locator(NullLocator())
    smooth = quantity == "log loss"
    ax.plot(
        across,
        up,
        color=look.INK if smooth else look.OVER,
        linewidth=2.0 if smooth else 1.4,
        label=quantity,
        gid="curve",
        zorder=3,
    )
    ax.set_xlim(across[0] / 1.05, across[-1] * 1.05)
    # Far from the best temperature the log loss is huge; the valley is what matters.
    top = min(float(up.max()), 3.0 * float(up.min())) if smooth else float(up.max())
    room = 0.08 * (top - float(up.min()))
    ax.set_ylim(float(up.min()) - room if smooth else 0.0, top + room)


def _draw_marks(ax: Axes, curve: Cooling, height: float) -> None:
    ax.axvline(
        curve.best_temperature,
        color=look.TRUTH,
        linestyle="--",
        linewidth=1.6,
        label="lowest log loss",
        gid="best",
        zorder=2,
    )
    ax.plot(
        curve.temperature,
        min(height, ax.get_ylim()[1]),
        linestyle="none",
        marker="D",
        markersize=8,
        markerfacecolor=look.SKY,
        markeredgecolor=look.INK,
        clip_on=False,
        label="T as set",
        gid="set",
        zorder=4,
    )
