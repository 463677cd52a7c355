"""Intervals: of an error on many data sets, and of a probability by Venn-Abers. Lesson 11."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import look
from calibkit.significance import BootstrapInterval
from calibkit.types import FloatVector
from calibkit.validation import as_finite


def intervals(
    found: Sequence[BootstrapInterval],
    truth: float,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the intervals of many data sets beside each other, and whether they hold the truth.

    Thick blue bars hold it, thin red ones miss it. Lesson 11.

    Parameters
    ----------
    found : sequence of BootstrapInterval
        One per data set.
    truth : float
        What each should hold.
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
        If there are no intervals.

    Examples
    --------
    >>> from calibkit import bootstrap_interval, brier_score, plot
    >>> one = bootstrap_interval(brier_score, [0, 1, 1], [.2, .6, .7], n_resamples=20, rng=0)
    >>> ax = plot.intervals([one], 0.1)
    >>> ax.get_xlabel()
    'data set'
    """
    if not found:
        raise ValueError("found holds no interval; pass at least one.")
    truth = as_finite(truth, "truth")
    labels, size = ("data set", "calibration error"), (5.0, 3.2)
    with look.drawing(ax, size, words=labels, title=title, legend=legend, grid="y") as ax:
        hits = _draw_intervals(ax, found, truth)
        ends = (0.4, len(found) + 0.5)
        code = look.pen(look.TRUTH, 2, "dashdot")
        ax.plot(ends, (truth, truth), label="truth", gid="truth", zorder=3.5, **code)
    words = f"{len(found)} intervals, {found[0].method}, nominal {100 * found[0].level:g} %."
    look.remember(ax, [words, f"{hits} of them hold the truth."])
    return ax


def _draw_intervals(ax: Axes, found: Sequence[BootstrapInterval], truth: float) -> int:
    """Draw the intervals and what was measured; return how many hold the truth."""
    low, high, value = (
        np.array([getattr(one, name) for one in found]) for name in ("low", "high", "value")
    )
    hit = (low <= truth) & (truth <= high)
    place = np.arange(1, len(found) + 1)
    for kept, label, color, width in (
        (hit, "holds the truth", look.UNDER, 2.8),
        (~hit, "misses it", look.OVER, 1.4),
    ):
        ends = (place[kept], low[kept], high[kept])
        ax.vlines(*ends, color=color, linewidth=width, label=label, gid=label, zorder=2)
    code = look.dot("o", 2.6, 1.0, color=look.INK, label="measured", gid="measured")
    ax.plot(place, value, linestyle="none", zorder=3, **code)
    return int(hit.sum())


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
        Lower and upper ends, from `calibkit.multiclass.VennAbers`.
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
    ax.fill_between(across, lower, upper, label="between", gid="between", **look.fill(look.PALE))
    for end, label, color, dashes in (
        (upper, "if its label were 1", look.OVER, "solid"),
        (lower, "if its label were 0", look.UNDER, "dashed"),
    ):
        ax.plot(across, end, label=label, gid=label[-1], **look.pen(color, 1.4, dashes))
