"""Both probabilities of Venn-Abers. Lesson 11."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.inputs import FloatVector
from calibkit.plot import look


def venn_abers(
    prob: Any,
    interval: tuple[Any, Any],
    ax: Axes | None = None,
    *,
    truth: Any = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the two probabilities that Venn-Abers gives for each prediction. Lesson 11.

    Parameters
    ----------
    prob : array-like of shape (n,)
        Predictions, rising.
    interval : pair of array-like of shape (n,)
        Lower and upper ends, from `calibkit.calibrators.VennAbers`.
    truth : array-like of shape (n,), optional
        True probabilities.
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
        If lengths differ, or the predictions do not rise.

    Examples
    --------
    >>> from calibkit import plot
    >>> ax = plot.venn_abers([.1, .9], ([0, .5], [.5, 1]))
    >>> ax.get_ylabel()
    'probability'
    """
    across = np.asarray(prob, dtype=np.float64)
    lower, upper = (np.asarray(end, dtype=np.float64) for end in interval)
    if not len(across) == len(lower) == len(upper) or not (np.diff(across) >= 0).all():
        raise ValueError("prob must rise, and both ends of the interval must have its length.")
    labels = ("prediction", "probability")
    with look.drawing(ax, (4.2, 3.6), words=labels, title=title, legend=legend) as ax:
        _draw_band(ax, across, lower, upper)
        if truth is not None:
            look.draw_truth(ax, across, truth)
        ax.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    width = upper - lower
    words = f"Two probabilities for each prediction, {width.mean():.3f} apart on average"
    look.remember(ax, [f"{words} and at most {width.max():.3f}."])
    return ax


def _draw_band(ax: Axes, across: FloatVector, lower: FloatVector, upper: FloatVector) -> None:
    ax.fill_between(across, lower, upper, label="between", gid="between", **look.area(look.PALE))
    for end, label, color, dashes in (
        (upper, "if its label were 1", look.OVER, "solid"),
        (lower, "if its label were 0", look.UNDER, "dashed"),
    ):
        ax.plot(across, end, label=label, gid=label[-1], **look.stroke(color, 1.4, dashes))
