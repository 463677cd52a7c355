"""The figures of source 003: errors by number of bins, calibrators, and estimators. Lesson 11."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from calibkit.plot import _style as look

if TYPE_CHECKING:
    from calibkit.study.verified import BinnedErrors, CalibratorComparison, EstimatorComparison

_SIZE = (5.2, 3.6)
_LINES: dict[str, dict[str, Any]] = {
    "plain": {
        "color": look.OVER,
        "marker": "o",
        "markersize": 4,
        "linewidth": 1.8,
        "linestyle": "solid",
    },
    "debiased": {
        "color": look.UNDER,
        "marker": "s",
        "markersize": 4,
        "linewidth": 1.8,
        "linestyle": (0, (5, 2)),
    },
    "truth": {"color": look.TRUTH, "linewidth": 1.6, "linestyle": (0, (7, 1.5, 1.2, 1.5))},
}
# Colour, line and marker: each calibrator can be told by any of them.
_CODES: tuple[dict[str, Any], ...] = (
    {"color": look.OVER, "marker": "o", "linestyle": "solid"},
    {"color": look.UNDER, "marker": "s", "linestyle": (0, (5, 2))},
    {"color": look.INK, "marker": "^", "linestyle": (0, (1.2, 1.2))},
    {"color": "#A0527A", "marker": "D", "linestyle": (0, (7, 1.5, 1.2, 1.5))},
)


def binned_errors(
    result: "BinnedErrors",
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the error of a continuous map against the number of bins.

    Parameters
    ----------
    result : BinnedErrors
        From `calibkit.study.verified.binned_errors`.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    title : str, optional
        Title of the figure.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Norm 2. The strip holds 90 % of the splits of the plain error. Where the truth is known, a
    line shows the error of the same bins without chance. Taught in lesson 11.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.fakes import vgg16_lookalike
    >>> from calibkit.study import verified
    >>> rows = verified.Population.of_fake(vgg16_lookalike(), n=1000, rng=0)
    >>> study = verified.binned_errors(
    ...     rows, n_bins=(2, 8, 32), sizes=(300, 300, 400), n_splits=3, rng=0
    ... )
    >>> ax = plot.binned_errors(study)
    >>> ax.get_xlabel()
    'number of bins (log scale)'
    >>> plt.close(ax.figure)
    """
    with look.style():
        ax, fresh = _start(ax, legend)
        _count_axis(ax, result.n_bins)
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
        ax.plot(result.n_bins, result.plain_2, label="plain", gid="plain", **_LINES["plain"])
        ax.plot(
            result.n_bins, result.debiased_2, label="debiased", gid="debiased", **_LINES["debiased"]
        )
        if not np.isnan(result.true_2).any():
            label = "truth of these bins"
            ax.plot(result.n_bins, result.true_2, label=label, gid="truth", **_LINES["truth"])
        _finish(ax, ("number of bins (log scale)", "error, norm 2"), title, legend or fresh, legend)
    look.remember(ax, [f"Error against the number of bins. {result.describe()}"])
    return ax


def calibrator_errors(
    result: "CalibratorComparison",
    ax: Axes | None = None,
    *,
    against: str = "bins",
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the calibration error of calibrators against the number of bins, or the Brier score.

    Parameters
    ----------
    result : CalibratorComparison
        From `calibkit.study.verified.compare_calibrators`.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    against : {"bins", "brier"}
        What is on the horizontal axis. With ``"bins"`` strips hold 90 % of the trials.
    title : str, optional
        Title of the figure.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If `against` is not known.

    Notes
    -----
    Squared errors, times 10 000. Taught in lesson 11.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.fakes import vgg16_lookalike
    >>> from calibkit.study import verified
    >>> rows = verified.Population.of_fake(vgg16_lookalike(), n=1000, rng=0)
    >>> study = verified.compare_calibrators(rows, n_calibration=300, n_trials=3, rng=0)
    >>> ax = plot.calibrator_errors(study, against="brier")
    >>> ax.get_ylabel()
    'squared error × 10⁴'
    >>> plt.close(ax.figure)
    """
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
            style: dict[str, Any] = {"linewidth": 1.8, "markersize": 4, **code}
            ax.plot(x, 1e4 * result.squared[m], label=label, gid=f"method-{m}", **style)
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
    """Draw how far the plain and the debiased estimate are from the truth, by sample size.

    Parameters
    ----------
    result : EstimatorComparison
        From `calibkit.study.verified.compare_estimators`.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    title : str, optional
        Title of the figure.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Root mean squared distance of the estimated squared error from the true one, times 10 000.
    Taught in lesson 11.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.fakes import vgg16_lookalike
    >>> from calibkit.study import verified
    >>> rows = verified.Population.of_fake(vgg16_lookalike(), n=1000, rng=0)
    >>> study = verified.compare_estimators(
    ...     rows, n_bins=20, sizes=(200, 400), n_calibration=300, n_samples=9, rng=0
    ... )
    >>> ax = plot.estimator_errors(study)
    >>> ax.get_xlabel()
    'rows'
    >>> plt.close(ax.figure)
    """
    with look.style():
        ax, fresh = _start(ax, legend)
        for name, squares in (("plain", result.plain_mse), ("debiased", result.cut_mse)):
            distance = 1e4 * np.sqrt(squares)
            ax.plot(result.sizes, distance, label=name, gid=name, **_LINES[name])
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
    """Draw how often each estimate is how far from the truth, at the smallest sample size.

    Parameters
    ----------
    result : EstimatorComparison
        From `calibkit.study.verified.compare_estimators`.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    title : str, optional
        Title of the figure.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Histograms of the distance between estimated and true squared error, times 10 000; estimates
    are cut at 0. Upright lines are medians. Taught in lesson 11.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.fakes import vgg16_lookalike
    >>> from calibkit.study import verified
    >>> rows = verified.Population.of_fake(vgg16_lookalike(), n=1000, rng=0)
    >>> study = verified.compare_estimators(
    ...     rows, n_bins=20, sizes=(200,), n_calibration=300, n_samples=20, rng=0
    ... )
    >>> ax = plot.estimator_deviations(study)
    >>> ax.get_ylabel()
    'samples'
    >>> plt.close(ax.figure)
    """
    plain = 1e4 * np.abs(result.plain_draws - result.truth)
    debiased = 1e4 * np.abs(np.maximum(result.debiased_draws, 0) - result.truth)
    edges = np.linspace(0, max(plain.max(), debiased.max()), 41)
    medians = dict(zip(("plain", "debiased"), result.median_deviations, strict=True))
    with look.style():
        ax, fresh = _start(ax, legend)
        for name, deviations in (("plain", plain), ("debiased", debiased)):
            _draw_histogram(ax, name, deviations, edges)
            style = {key: _LINES[name][key] for key in ("color", "linestyle")}
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
        edgecolor=_LINES[name]["color"],
        hatch={"plain": "////", "debiased": "...."}[name],
        label=name,
        gid=name,
    )


def _start(ax: Axes | None, legend: bool | None) -> tuple[Axes, bool]:
    width, height = _SIZE
    ax, fresh = look.axes_or_new(ax, (width + (0 if legend is False else 1.9), height))
    look.dress(ax)
    return ax, fresh


def _count_axis(ax: Axes, counts: NDArray[Any]) -> None:
    ax.set_xscale("log", base=2)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(counts.tolist(), [str(count) for count in counts])


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
