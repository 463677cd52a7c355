"""Maps on plain axes, or on axes that are stretched so that logits have equal distances.

In logit-logit space temperature scaling is a straight line (Kängsepp, Valk and Kull, 2022,
appendix E).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from calibkit.inputs import FloatVector, as_choice, expit, logit
from calibkit.plot import frames, look

SCALES = ("linear", "logit")
LOGIT_TICKS = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)
LOGIT_END = 7.2  # logit of .99925, just beyond the outer ticks
_STEPS = 24  # points per straight piece, which is bent on stretched axes


def check_scale(scale: str) -> None:
    """Refuse a scale that does not exist."""
    as_choice(scale, "scale", SCALES)


def set_ticks(ticks: Sequence[float], *axes: Axis) -> None:
    """Put these ticks on stretched axes, and no others."""
    for axis in axes:
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
        axis.set_minor_locator(NullLocator())


def ends(scale: str) -> tuple[float, float]:
    """Return the smallest and the largest probability that the axes show."""
    if scale == "linear":
        return 0.0, 1.0
    low, high = expit([-LOGIT_END, LOGIT_END])
    return float(low), float(high)


def inside(prob: Any, scale: str) -> FloatVector:
    """Return probabilities with those beyond the stretched axes put on their ends.

    A drawing has an end where logits have none. Nothing is changed on plain axes, where a map
    may leave [0, 1].
    """
    values = np.asarray(prob, dtype=np.float64)
    return values if scale == "linear" else np.clip(values, *ends(scale))


def grid(scale: str, n: int = 401) -> FloatVector:
    """Return probabilities that are evenly spaced on the axes."""
    if scale == "linear":
        return np.linspace(0, 1, n)
    return expit(np.linspace(-LOGIT_END, LOGIT_END, n))


def draw_truth(ax: Axes, truth: Any, scale: str) -> None:
    """Draw the true map."""
    across = grid(scale)
    look.draw_truth(ax, across, inside(truth(across), scale))


def fitted_line(x: FloatVector, y: FloatVector, curve: Any, scale: str) -> look.Line:
    """Return a fitted map as points to draw: its polyline, on stretched axes its curve."""
    if scale == "linear" or np.isnan(y).any():
        return polyline(x, y, scale)
    low, high = ends(scale)
    x = np.union1d(grid(scale), x[(x > low) & (x < high)])
    return x, inside(curve(x), scale)


def polyline(x: FloatVector, y: FloatVector, scale: str) -> look.Line:
    """Return a line of straight pieces with the points that stretched axes need to bend it.

    Pieces with an end at NaN stay gaps.
    """
    if scale == "linear":
        return x, y
    low, high = ends(scale)
    shown = ~((x[1:] <= low) | (x[:-1] >= high))
    left, right, start, stop = (at[shown] for at in (x[:-1], x[1:], y[:-1], y[1:]))
    step = np.linspace(0, 1, _STEPS)[:, None]
    first, last = logit(inside([left, right], scale))
    across = inside(expit(first + step * (last - first)), scale)
    share = np.repeat(step, len(left), axis=1)  # of the way; a jump goes it upright
    np.divide(across - left, right - left, out=share, where=right > left)
    return across.T.ravel(), inside(start + share * (stop - start), scale).T.ravel()


def frame(ax: Axes, words: tuple[str, str], scale: str) -> None:
    """Set limits, ticks, labels and aspect, and draw the diagonal."""
    if scale == "linear":
        frames.frame(ax, words)
        return
    low, high = ends(scale)
    ax.set(xscale="logit", yscale="logit", xlim=(low, high), ylim=(low, high))
    ax.set_aspect("equal", adjustable="box", anchor="NW")
    wide = look.width_in_points(ax) > look.SMALL
    set_ticks(LOGIT_TICKS if wide else LOGIT_TICKS[1:-1:2], ax.xaxis, ax.yaxis)
    look.label(ax, f"{words[0]} (logit scale)", f"{words[1]} (logit scale)")
    frames.diagonal(ax, (low, high))
