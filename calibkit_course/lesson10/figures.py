"""What a temperature does: probabilities of a few examples, and two curves. Lesson 10.

Sources: Guo, Pleiss, Sun and Weinberger (2017); tutorial slides, Galdran and Riera, section 3.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from calibkit.inputs import FloatVector, IntVector, as_choice
from calibkit.plot import look
from calibkit_course.lesson10.view import Thermostat
from calibkit_course.logit_axes import set_ticks

_STEP = 1.3  # from one example to the next; a full bar has the height 1
_TICKS = (0.25, 0.5, 1, 2, 4, 8)
_LABELS = {"log loss": "log loss", "calibration error": "ECE"}


def class_chances(
    chances: Any,
    ax: Axes | None = None,
    *,
    labels: Sequence[int] | IntVector,
    names: Sequence[str] | None = None,
) -> Axes:
    """Draw the probabilities that a few examples get: one row each, one bar per class."""
    rows = np.asarray(chances, dtype=np.float64)
    called = [str(k) for k in range(1, len(rows) + 1)] if names is None else list(names)
    size = (4.0, 0.9 + 0.9 * len(rows))
    with look.drawing(ax, size, words=("class", ""), legend=False, grid=None) as ax:
        for place, (row, label) in enumerate(zip(rows, labels, strict=True)):
            _draw_chances(ax, row, int(label), -_STEP * place)
        k = rows.shape[1]
        ax.set(xlim=(-0.6, k - 0.4), ylim=(-_STEP * (len(rows) - 1) - 0.05, 1.15))
        ax.set_xticks(range(0, k, max(1, k // 5)))
        ax.set_yticks([0.5 - _STEP * place for place in range(len(rows))], called)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
    look.remember(ax, _words_of_examples(rows, labels, called))
    return ax


def _words_of_examples(rows: FloatVector, labels: Any, names: list[str]) -> list[str]:
    said = [f"Chances of {rows.shape[1]} classes."]
    for row, label, name in zip(rows, labels, names, strict=True):
        first = int(row.argmax())
        rest = "the true one" if first == label else f"the true class {label} has {row[label]:.2f}"
        plain = name.replace("\n", " ")
        said.append(f"Example {plain}: class {first} leads with {row[first]:.2f}, {rest}.")
    return said


def _draw_chances(ax: Axes, heights: FloatVector, label: int, foot: float) -> None:
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


def temperature_curve(
    curve: Thermostat, ax: Axes | None = None, *, quantity: str = "log loss"
) -> Axes:
    """Draw log loss or calibration error against the temperature, on a logarithmic axis."""
    as_choice(quantity, "quantity", _LABELS)
    across = curve.temperatures
    up = curve.log_losses if quantity == "log loss" else curve.errors
    with look.drawing(ax, (4.6, 3.2)) as ax:
        _draw_curve(ax, across, up, quantity)
        _draw_marks(ax, curve, float(np.interp(np.log(curve.temperature), np.log(across), up)))
        ax.set_xlabel("temperature T (log scale)", fontsize=look.FONT_SIZE)
        ax.set_ylabel(_LABELS[quantity], fontsize=look.FONT_SIZE)
    name = quantity[0].upper() + quantity[1:]
    least = int(up.argmin())
    words = (
        f"{name} against the temperature, lowest near T = {across[least]:.2g} with "
        f"{up[least]:.2f}.",
        f"Set: T = {curve.temperature:g}. Lowest log loss at T = {curve.best_temperature:.2f}.",
    )
    look.remember(ax, words)
    return ax


def _draw_curve(ax: Axes, across: FloatVector, up: FloatVector, quantity: str) -> None:
    ax.set_xscale("log")
    set_ticks(_TICKS, ax.xaxis)
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
    top = min(float(up.max()), 2.2 * float(up.min())) if smooth else float(up.max())
    room = 0.08 * (top - float(up.min()))
    ax.set_ylim(float(up.min()) - room if smooth else 0.0, top + room)


def _draw_marks(ax: Axes, curve: Thermostat, height: float) -> None:
    ax.axvline(
        curve.best_temperature,
        color=look.TRUTH,
        linestyle="--",
        linewidth=1.6,
        label="lowest log loss",
        gid="best",
        zorder=2,
    )
    up = min(height, ax.get_ylim()[1])
    code = {"marker": "D", "markersize": 8, "label": "T as set", "gid": "set"}
    look.points(ax, curve.temperature, up, look.SKY, look.INK, markeredgewidth=1.0, **code)
