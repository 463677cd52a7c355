"""Reliability diagrams of several models in one frame. Lesson 13."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import frames, look
from calibkit.plot._decisions import CODES
from calibkit.reliability import BinTable

_MARKERS = ("o", "s", "^", "D", "v")


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
        One to five models by name, from `reliability_table`, with the same view.
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
    >>> from calibkit import plot, reliability_table
    >>> y = [0, 1, 1, 1]
    >>> tables = {"a": reliability_table(y, [.2, .3, .8, .9], bins=2)}
    >>> plot.overlay(tables).get_ylabel()
    'observed frequency'
    """
    if not 1 <= len(tables) <= len(_MARKERS):
        raise ValueError(f"{len(tables)} models; draw 1 to {len(_MARKERS)} in one figure.")
    views = {table.view for table in tables.values()}
    if len(views) > 1:
        raise ValueError(f"the tables have the views {', '.join(sorted(views))}; draw one view.")
    with look.drawing(ax, (4.6, 4.2), title=title, legend=legend) as ax:
        frames.frame(ax, frames.axis_words(views.pop()), "linear")
        codes = zip(tables.items(), CODES, _MARKERS, strict=False)
        for (name, table), (color, dashes), marker in codes:
            # NaN breaks the line at an empty bin.
            up = np.where(table.occupied, table.frequency, np.nan)
            code = look.pen(color, 1.6, dashes, marker=marker, markersize=4.5)
            ax.plot(table.mean_prob, up, label=name, gid="model", **code)
    words = [f"{name}: {table.describe()}" for name, table in tables.items()]
    look.remember(ax, ["Reliability diagrams of several models.", *words])
    return ax
