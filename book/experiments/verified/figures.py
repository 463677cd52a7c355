"""The figures of Li's report: errors by number of bins, calibrators, and estimators. Lesson 11."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit.plot import look
from calibkit_course.lesson11.figures import ESTIMATE_CODES

if TYPE_CHECKING:
    from book.experiments.verified import CalibratorComparison, EstimatorComparison

_SIZE = (5.2, 3.6)
# Colour, line and marker: each calibrator can be told by any of them.
_CODES: tuple[dict[str, Any], ...] = (
    {"color": look.OVER, "marker": "o", "linestyle": "solid"},
    {"color": look.UNDER, "marker": "s", "linestyle": (0, (5, 2))},
    {"color": look.INK, "marker": "^", "linestyle": (0, (1.2, 1.2))},
    {"color": "#A0527A", "marker": "D", "linestyle": (0, (7, 1.5, 1.2, 1.5))},
)


def calibrator_errors(
    result: "CalibratorComparison",
    ax: Axes | None = None,
    *,
    against: str = "bins",
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the calibration error of calibrators against the number of bins, or the Brier score."""
    if against not in ("bins", "brier"):
        raise ValueError(f'against must be "bins" or "brier", got {against!r}.')
    with look.style():
        ax, fresh = _start(ax, legend)
        for m, method in enumerate(result.methods):
            code = _CODES[m % len(_CODES)]
            x = result.n_bins if against == "bins" else result.brier[m]
            if against == "bins":
                strip = (1e4 * result.low[m], 1e4 * result.high[m])
                ax.fill_between(x, *strip, color=code["color"], alpha=0.12, linewidth=0)
            label = method if method == "histogram" else f"{method}, binned"
            draw = partial(ax.plot, linewidth=1.8, markersize=4, gid=f"method-{m}")
            draw(x, 1e4 * result.squared[m], label=label, **code)
        across = "number of bins" if against == "bins" else "Brier score"
        _finish(ax, (across, "squared error × 10⁴"), title, legend or fresh, legend)
    look.remember(ax, [f"Squared calibration error against {across}. {result.describe()}"])
    return ax


def estimator_errors(
    result: "EstimatorComparison",
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw how far the plain and the debiased estimate are from the truth, by sample size."""
    with look.style():
        ax, fresh = _start(ax, legend)
        for name, squares in (("plain", result.plain_mse), ("debiased", result.cut_mse)):
            distance = 1e4 * np.sqrt(squares)
            ax.plot(result.sizes, distance, label=name, gid=name, **ESTIMATE_CODES[name])
        _finish(ax, ("rows", "distance from truth × 10⁴"), title, legend or fresh, legend)
    look.remember(ax, [f"Distance from the truth by number of rows. {result.describe()}"])
    return ax


def estimator_deviations(
    result: "EstimatorComparison",
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw how often each estimate is how far from the truth, at the smallest sample size."""
    plain = 1e4 * np.abs(result.plain_draws - result.truth)
    debiased = 1e4 * np.abs(np.maximum(result.debiased_draws, 0) - result.truth)
    edges = np.linspace(0, max(plain.max(), debiased.max()), 41)
    medians = dict(zip(("plain", "debiased"), result.median_deviations, strict=True))
    with look.style():
        ax, fresh = _start(ax, legend)
        for name, deviations in (("plain", plain), ("debiased", debiased)):
            _draw_histogram(ax, name, deviations, edges)
            style = {key: ESTIMATE_CODES[name][key] for key in ("color", "linestyle")}
            ax.axvline(1e4 * medians[name], linewidth=1.6, gid=f"median-{name}", **style)
        _finish(ax, ("distance from truth × 10⁴", "samples"), title, legend or fresh, legend)
    words = ", ".join(f"{name} {1e4 * value:.1f}" for name, value in medians.items())
    look.remember(
        ax,
        [
            f"Distances from the truth in samples of {result.sizes[0]:,} rows.",
            f"Medians, times 10,000: {words}. {result.describe()}",
        ],
    )
    return ax


def _draw_histogram(
    ax: Axes, name: str, deviations: NDArray[np.float64], edges: NDArray[np.float64]
) -> None:
    ax.hist(
        deviations,
        bins=edges.tolist(),
        histtype="stepfilled",
        facecolor="none",
        edgecolor=ESTIMATE_CODES[name]["color"],
        hatch={"plain": "////", "debiased": "...."}[name],
        label=name,
        gid=name,
    )


def _start(ax: Axes | None, legend: bool | None) -> tuple[Axes, bool]:
    width, height = _SIZE
    ax, fresh = look.axes_or_new(ax, (width + (0 if legend is False else 1.9), height))
    look.set_frame(ax)
    return ax, fresh


def _finish(
    ax: Axes, labels: tuple[str, str], title: str | None, with_legend: bool, legend: bool | None
) -> None:
    ax.set_ylim(bottom=0)
    if look.is_last_row(ax):
        ax.set_xlabel(labels[0], fontsize=look.FONT_SIZE)
    if look.is_first_column(ax):
        ax.set_ylabel(labels[1], fontsize=look.FONT_SIZE)
    if title is not None:
        ax.set_title(title)
    if with_legend and legend is not False:
        look.outside_legend(ax)
