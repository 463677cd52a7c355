"""What bins hide, and both probabilities of Venn-Abers. Lesson 11."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from calibkit.inputs import FloatVector
from calibkit.plot import look
from calibkit_course.lesson11.binned import BinnedErrors

# Plain, debiased and true errors look alike here and on the page of the rerun.
ESTIMATE_CODES = {
    "plain": look.stroke(look.OVER, 1.8, marker="o", markersize=4),
    "debiased": look.stroke(look.UNDER, 1.8, (0, (5, 2)), marker="s", markersize=4),
    "truth": look.stroke(look.TRUTH, 1.6, (0, (7, 1.5, 1.2, 1.5))),
}


def draw_binned_errors(
    result: BinnedErrors,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the error of a continuous map against the number of bins, and 90 % of the splits."""
    words = ("number of bins (log scale)", "error, norm 2")
    with look.drawing(ax, (5.2, 3.6), words=words, title=title, legend=legend) as ax:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(result.n_bins.tolist(), [str(count) for count in result.n_bins])
        ax.fill_between(
            result.n_bins,
            result.low_2,
            result.high_2,
            facecolor=look.PALE,
            edgecolor=look.SKY,
            linewidth=0.8,
            label="plain, 90 % of splits",
            gid="splits",
        )
        curves = [("plain", "plain", result.plain_2), ("debiased", "debiased", result.debiased_2)]
        if not np.isnan(result.true_2).any():
            curves.append(("truth", "truth of these bins", result.true_2))
        for gid, label, values in curves:
            ax.plot(result.n_bins, values, label=label, gid=gid, **ESTIMATE_CODES[gid])
        ax.set_ylim(bottom=0)
    look.remember(ax, [f"Error against the number of bins. {result.describe()}"])
    return ax


def draw_venn_abers(
    prob: Any,
    interval: tuple[Any, Any],
    ax: Axes | None = None,
    *,
    truth: Any = None,
    title: str | None = None,
) -> Axes:
    """Draw the two probabilities that Venn-Abers gives for each prediction.

    `prob` are rising predictions, `interval` the lower and upper ends from
    `calibkit.calibrators.VennAbers`, `truth` the true probabilities. ValueError if lengths differ,
    or the predictions do not rise.

    Examples
    --------
    >>> ax = draw_venn_abers([.1, .9], ([0, .5], [.5, 1]))
    >>> ax.get_ylabel()
    'probability'
    """
    across = np.asarray(prob, dtype=np.float64)
    lower, upper = (np.asarray(end, dtype=np.float64) for end in interval)
    if not len(across) == len(lower) == len(upper) or not (np.diff(across) >= 0).all():
        raise ValueError("prob must rise, and both ends of the interval must have its length.")
    labels = ("prediction", "probability")
    with look.drawing(ax, (4.2, 3.6), words=labels, title=title) as ax:
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
