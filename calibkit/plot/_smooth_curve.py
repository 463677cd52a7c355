"""The smooth calibration curve over a histogram by outcome. Lesson 08."""

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import frames, look
from calibkit.plot.strips import LeaveRoom, counts_strip, move_label
from calibkit.significance import SmoothCurve

_BARS = 40  # of the histogram
_STRIP, _GAP = 0.2, 0.04  # height of the histogram and space above it, as shares of the diagram


def smooth_curve(
    curve: SmoothCurve,
    *,
    scale: str = "linear",
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a smooth calibration curve with both bands, over the predictions of each outcome.

    Parameters
    ----------
    curve : SmoothCurve
        From `calibkit.significance.smooth_curve`.
    scale : {"linear", "logit"}
        Plain axes, or such that logits have equal distances, for events that are rare.
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    title : str, optional
        What stands above the diagram.
    legend : bool, optional
        Whether with a legend to the right; left out, on a fresh figure only.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Raises
    ------
    ValueError
        If the scale does not exist.

    Notes
    -----
    Below, upwards the predictions of rows with the event and downwards those without. Taught in
    lesson 08.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.significance import smooth_curve
    >>> p = np.linspace(.05, .95, 40)
    >>> ax = plot.smooth_curve(smooth_curve(np.arange(40) % 3 == 0, p))
    >>> ax.get_ylabel()
    'observed frequency'
    """
    frames.check_scale(scale)
    with look.drawing(ax, (4.6, 5.2), title=title, legend=legend) as ax:
        LeaveRoom(ax, (_STRIP + _GAP) / (1 + _STRIP + _GAP))
        frames.frame(ax, frames.axis_words(curve.view), scale)
        at, up = frames.inside(curve.prob, scale), frames.inside(curve.frequency, scale)
        percent = f"{100 * curve.level:g} %"
        bands = {
            f"{percent} everywhere": (curve.all_low, curve.all_high, 0.16),
            f"{percent} at each point": (curve.low, curve.high, 0.28),
        }
        for label, (low, high, alpha) in bands.items():
            ends = frames.inside(low, scale), frames.inside(high, scale)
            ax.fill_between(at, *ends, color=look.UNDER, alpha=alpha, lw=0, label=label, gid="band")
        ax.plot(at, up, zorder=3, label="smooth curve", gid="curve", **look.stroke(look.UNDER, 1.8))
        if scale == "linear":  # a loess may leave [0, 1]
            frames.make_room(ax, up)
        _outcomes(ax, curve, scale)
    look.remember(ax, ["Smooth calibration curve with bands.", curve.describe()])
    return ax


def _outcomes(ax: Axes, curve: SmoothCurve, scale: str) -> None:
    """Draw how many rows of each outcome were given what, below the diagram."""
    strip = counts_strip(ax, _STRIP, _GAP)
    move_label(ax, strip)
    edges = frames.grid(scale, _BARS + 1)
    up, down = (
        np.histogram(frames.inside(p, scale), edges)[0] for p in (curve.of_events, curve.of_others)
    )
    none = np.zeros(_BARS)
    for low, high, color in ((none, up, "#8C8C8C"), (-down, none, "#D0D0D0")):
        code = look.area(color, "white", 0.3)
        look.boxes(strip, (edges[:-1], edges[1:]), (low, high), gid="outcomes", **code)
    top = max(up.max(), down.max())
    strip.set(ylim=(-1.08 * top, 1.08 * top), yticks=[])
    strip.axhline(0, **look.stroke(look.GREY, 0.8))
    strip.set_ylabel("no | yes" * look.is_first_column(ax), fontsize=look.FONT_SIZE)
