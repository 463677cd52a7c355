"""The figures of this house: models in one frame, a smooth curve."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import frames, look
from calibkit.reliability import BinTable
from calibkit_audit.clinic import SmoothCurve

_BARS = 40  # of the histogram
_MARKERS = ("o", "s", "^", "D", "v")  # of several models
_STRIP, _GAP = 0.2, 0.04  # height of the histogram and space above it, as shares of the diagram


def overlay(
    tables: Mapping[str, BinTable],
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the reliability diagrams of several models over each other.

    Parameters
    ----------
    tables : mapping from str to BinTable
        One to five models by name, from `calibkit.reliability_table`, with the same view.
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
        If there are no or more than five models, or their views differ.

    Notes
    -----
    A line joins the means of neighbouring bins that are filled.

    Examples
    --------
    >>> from calibkit import reliability_table
    >>> from calibkit.fakes import LogitDistortion
    >>> from calibkit_audit import plot
    >>> draws = {s: LogitDistortion(slope=s).sample(500, rng=0) for s in (0.5, 1)}
    >>> tables = {f"slope {s}": reliability_table(one.y_true, one.y_prob, bins=5)
    ...           for s, one in draws.items()}
    >>> ax = plot.overlay(tables)
    >>> ax.get_ylabel()
    'observed frequency'
    """
    if not 1 <= len(tables) <= len(_MARKERS):
        raise ValueError(f"{len(tables)} models; draw 1 to {len(_MARKERS)} in one figure.")
    views = {table.view for table in tables.values()}
    if len(views) > 1:
        raise ValueError(f"the tables have the views {', '.join(sorted(views))}; draw one view.")
    with look.drawing(ax, (4.6, 4.2), title=title, legend=legend) as ax:
        frames.frame(ax, frames.axis_words(views.pop()))
        codes = zip(tables.items(), look.CODES, _MARKERS, strict=False)
        for (name, table), code, marker in codes:
            # NaN breaks the line at an empty bin.
            up = np.where(table.occupied, table.frequency, np.nan)
            how = {**code, "linewidth": 1.6, "marker": marker, "markersize": 4.5, "gid": "model"}
            ax.plot(table.mean_prob, up, label=name, **how)
    words = [f"{name}: {table.describe()}" for name, table in tables.items()]
    look.remember(ax, ["Reliability diagrams of several models.", *words])
    return ax


def smooth_curve(
    curve: SmoothCurve,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a smooth calibration curve with both bands, over the predictions of each outcome.

    Parameters
    ----------
    curve : SmoothCurve
        From `calibkit_audit.clinic.smooth_curve`.
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

    Notes
    -----
    Below, upwards the predictions of rows with the event and downwards those without. Lesson 08.

    Examples
    --------
    >>> from calibkit.fakes import LogitDistortion
    >>> from calibkit_audit import plot
    >>> from calibkit_audit.clinic import smooth_curve
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> ax = plot.smooth_curve(smooth_curve(sample.y_true, sample.y_prob))
    >>> ax.get_ylabel()
    'observed frequency'
    """
    percent = f"{100 * curve.level:g} %"
    bands = {
        f"{percent} everywhere": (curve.all_low, curve.all_high, 0.16),
        f"{percent} at each point": (curve.low, curve.high, 0.28),
    }
    with look.drawing(ax, (4.6, 5.2), title=title, legend=legend) as ax:
        frames.frame(ax, frames.axis_words(curve.view))
        for label, (low, high, alpha) in bands.items():
            ax.fill_between(
                curve.prob, low, high, label=label, gid="band", color=look.UNDER, alpha=alpha, lw=0
            )
        code = look.stroke(look.UNDER, 1.8, label="smooth curve", gid="curve", zorder=3)
        ax.plot(curve.prob, curve.frequency, **code)
        frames.make_room(ax, curve.frequency)  # a loess may leave [0, 1]
        _outcomes(ax, curve)
    look.remember(ax, ["Smooth calibration curve with bands.", curve.describe()])
    return ax


def _outcomes(ax: Axes, curve: SmoothCurve) -> None:
    """Draw how many rows of each outcome were given what, below the diagram."""
    strip = frames.counts_strip(ax, _STRIP, _GAP)
    frames.move_label(ax, strip)
    edges = np.linspace(0, 1, _BARS + 1)
    up, down = (np.histogram(p, edges)[0] for p in (curve.of_events, curve.of_others))
    for low, high, color in ((0, up, "#8C8C8C"), (-down, 0, "#D0D0D0")):
        code = look.area(color, "white", 0.3, gid="outcomes")
        look.boxes(strip, (edges[:-1], edges[1:]), (low, high), **code)
    top = max(up.max(), down.max())
    strip.set(ylim=(-1.08 * top, 1.08 * top), yticks=[])
    strip.axhline(0, **look.stroke(look.GREY, 0.8))
    strip.set_ylabel("no | yes" * look.is_first_column(ax), fontsize=look.FONT_SIZE)
