"""What bins hide: the error of a continuous map against the number of bins. Lesson 11."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

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
