"""The diagram of the smooth calibration error (Błasiok and Nakkiran 2023). Lesson 08."""

import numpy as np
from matplotlib.axes import Axes

from calibkit.errors import SmoothECE
from calibkit.plot import frames, look

_WIDEST = 5.0  # points, where the predictions lie closest


def smooth(
    error: SmoothECE,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the smoothed reliability diagram, broad where predictions are many.

    Parameters
    ----------
    error : SmoothECE
        From `calibkit.smooth_ece`, with one view.
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
        If the error is class-wise.

    Notes
    -----
    At each point the means of prediction and event near it, by the kernel, so that a calibrated
    model lies on the diagonal but for chance. The distance to it, times the density below, adds
    up to the error. Taught in lesson 08.

    Examples
    --------
    >>> from calibkit import plot, smooth_ece
    >>> ax = plot.smooth(smooth_ece([0, 1, 0, 1], [.2, .3, .4, .9]))
    >>> ax.get_ylabel()
    'observed frequency'
    """
    if len(error.per_view) > 1:
        raise ValueError("The error is class-wise; draw one class, e.g. with view=0.")
    density = error.density[0] / error.density[0].max()
    with look.drawing(ax, (4.6, 4.6), title=title, legend=legend) as ax:
        frames.frame(ax, frames.axis_words(error.view), "linear")
        low, high = frames.strip_below(ax)
        top, words = low + (high - low) * density, "density of\nthe predictions"
        code = look.area("#9A9A9A", "#9A9A9A", 0)
        ax.fill_between(error.prob, low, top, zorder=1.2, label=words, gid="density", **code)
        across, up = error.mean_prob[0], error.frequency[0]
        code = look.stroke(look.UNDER, 1.0)
        ax.plot(across, up, zorder=3, label="smoothed frequency", gid="curve", **code)
        ends = (across[:-1], up[:-1]), (across[1:], up[1:])
        shown = ~np.isnan(ends).any(axis=(0, 1))
        widths = _WIDEST * np.sqrt((density[:-1] + density[1:]) / 2)[shown]
        parts = (tuple(values[shown] for values in end) for end in ends)
        look.lines(ax, *parts, colors=look.UNDER, linewidths=widths, zorder=3.1, gid="mass")
    look.remember(ax, ["Smoothed reliability diagram.", error.describe()])
    return ax
