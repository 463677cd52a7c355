"""The CORP diagram: the reliability curve without bins.

Source: Dimitriadis, Gneiting and Jordan (2021).
"""

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import frames, look
from calibkit.scores import CorpDecomposition

_FEW = 40  # distinct predictions: drawn one by one; of more, a histogram
_LOW, _HIGH = -0.20, -0.05  # of the strip below the diagram


def corp(
    parts: CorpDecomposition,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the CORP reliability diagram over the distribution of the predictions.

    Parameters
    ----------
    parts : CorpDecomposition
        From `calibkit.scores.corp_decomposition`.
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
    Thick: blocks, in which all predictions get the same frequency. Thin: from one block to the
    next. Lesson 02.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.fakes import LogitDistortion
    >>> from calibkit.scores import corp_decomposition
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> ax = plot.corp(corp_decomposition(sample.y_true, sample.y_prob))
    >>> ax.get_ylabel()
    'observed frequency'
    """
    with look.drawing(ax, (4.6, 4.2), title=title, legend=legend) as ax:
        frames.frame(ax, frames.axis_words(parts.view))
        ax.set_ylim(bottom=_LOW)
        ax.spines["left"].set_bounds(0, 1)
        _draw_counts(ax, parts)
        _draw_curve(ax, parts)
    heading = "CORP reliability diagram: isotonic curve over the distribution of the predictions."
    look.remember(ax, [heading, parts.describe()])
    return ax


def _draw_counts(ax: Axes, parts: CorpDecomposition) -> None:
    """Draw one stick per distinct prediction, or a histogram if they are many."""
    value, count = parts.prediction, parts.prediction_count
    left, right, height = value - 0.009, value + 0.009, count
    if len(value) > _FEW:
        edges = np.linspace(0, 1, _FEW + 1)
        left, right, height = edges[:-1], edges[1:], np.histogram(value, edges, weights=count)[0]
    up, code = _LOW + (_HIGH - _LOW) * height / height.max(), look.area("#9A9A9A", "white", 0.4)
    label = "distribution of\nthe predictions"
    look.boxes(ax, (left, right), (_LOW, up), zorder=1.2, label=label, gid="counts", **code)


def _draw_curve(ax: Axes, parts: CorpDecomposition) -> None:
    across, up = np.column_stack([parts.low, parts.high]).ravel(), parts.recalibrated
    ax.plot(across, up.repeat(2), color=look.UNDER, linewidth=1.0, zorder=3, gid="curve")
    code = look.stroke(look.UNDER, 3.2, capstyle="round", label="isotonic curve", gid="blocks")
    look.lines(ax, (parts.low, up), (parts.high, up), zorder=3.2, **code)
    if len(parts.prediction) <= _FEW:
        at = parts.prediction, parts.recalibrate(parts.prediction)
        code = look.marker("o", 5.5, label="distinct prediction", gid="predictions")
        look.points(ax, *at, look.UNDER, zorder=3.3, **code)
