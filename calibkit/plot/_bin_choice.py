"""How many bins: held-out scores, and the drift of an estimate with the bins. Lesson 06.

Source: the fit-on-test view, source 000 sections 4.6 and C.2 (choice of bins, the 0.1 % rule).
"""

from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from calibkit.plot import _style as look
from calibkit.plot._replicates import draw_truth

_TICKS = (1, 2, 5, 10, 20, 50, 100)


class Choice(Protocol):
    """What `bin_choice` draws: a fitted `calibkit.calibrators.CrossValidatedBinning`."""

    @property
    def candidates_(self) -> Any:
        """Numbers of bins that were tried."""

    @property
    def scores_(self) -> Any:
        """Mean held-out Brier score of each."""

    @property
    def best_n_bins_(self) -> int:
        """The number with the lowest score."""

    @property
    def n_bins_(self) -> int:
        """The number that was chosen."""

    @property
    def tolerance(self) -> float:
        """Share by which the chosen score may exceed the lowest."""


class Drift(Protocol):
    """What `bin_drift` draws; `calibkit.explore.bin_tuner_view` returns one."""

    @property
    def grid(self) -> NDArray[np.intp]:
        """Numbers of bins, rising."""

    @property
    def plain_mean(self) -> NDArray[np.float64]:
        """Mean plain estimate for each of them."""

    @property
    def limit(self) -> NDArray[np.float64]:
        """What endless data would show for each of them."""

    @property
    def truth(self) -> float:
        """The true error."""


def bin_choice(
    choice: Choice,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw held-out scores against the number of bins, with the lowest and the chosen one.

    Parameters
    ----------
    choice : CrossValidatedBinning
        Fitted; from `calibkit.calibrators`.
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
    The strip holds the scores that count as good as the lowest; the smallest number of bins in
    it is chosen. Taught in lesson 06.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from calibkit import plot
    >>> from calibkit.calibrators import CrossValidatedBinning
    >>> p = np.linspace(0.01, 0.99, 300)
    >>> y = np.random.default_rng(0).random(300) < p**2
    >>> ax = plot.bin_choice(CrossValidatedBinning(max_bins=20).fit(p, y))
    >>> ax.get_xlabel()
    'number of bins'
    >>> plt.close(ax.figure)
    """
    candidates = np.asarray(choice.candidates_)
    scores = np.asarray(choice.scores_, dtype=np.float64)
    at_best = float(scores[candidates == choice.best_n_bins_][0])
    at_chosen = float(scores[candidates == choice.n_bins_][0])
    with look.style():
        ax, fresh = look.axes_or_new(ax, (7.0 if legend is not False else 5.0, 3.6))
        look.dress(ax)
        _draw_scores(ax, candidates, scores, (at_best, choice.tolerance))
        _mark(ax, choice.best_n_bins_, at_best, f"lowest: {choice.best_n_bins_}", "best")
        _mark(ax, choice.n_bins_, at_chosen, f"chosen: {choice.n_bins_}", "chosen")
        if look.is_last_row(ax):
            ax.set_xlabel("number of bins", fontsize=look.FONT_SIZE)
        if look.is_first_column(ax):
            ax.set_ylabel("mean held-out Brier score", fontsize=look.FONT_SIZE)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    words = (
        f"Mean held-out Brier score for {candidates.min()} to {candidates.max()} bins.",
        f"The lowest is {at_best:.5f} at {_bins(choice.best_n_bins_)}; chosen: "
        f"{_bins(choice.n_bins_)} with {at_chosen:.5f}.",
    )
    look.remember(ax, words)
    return ax


def _draw_scores(
    ax: Axes, candidates: NDArray[Any], scores: NDArray[np.float64], strip: tuple[float, float]
) -> None:
    lowest, tolerance = strip
    ax.axhspan(
        lowest,
        lowest * (1 + tolerance),
        facecolor=look.PALE,
        edgecolor=look.SKY,
        linewidth=0.8,
        zorder=1,
        label=f"within {100 * tolerance:g} % of the lowest",
        gid="tolerance",
    )
    ax.plot(
        candidates,
        scores,
        color=look.GREY,
        marker=".",
        markersize=4,
        linewidth=1.2,
        label="held-out score",
        gid="scores",
    )


def _mark(ax: Axes, number: int, score: float, label: str, gid: str) -> None:
    code = {
        "best": {"marker": "o", "markersize": 10, "markerfacecolor": "none"},
        "chosen": {"marker": "D", "markersize": 6, "markerfacecolor": look.OVER},
    }[gid]
    color = look.UNDER if gid == "best" else look.OVER
    ax.plot(
        number,
        score,
        linestyle="none",
        markeredgecolor=color,
        markeredgewidth=1.6,
        zorder=4,
        label=label,
        gid=gid,
        **code,  # type: ignore[arg-type]
    )


def bin_drift(
    drift: Drift,
    ax: Axes | None = None,
    *,
    points: tuple[Any, Any] | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw how the plain estimate drifts with the number of bins: hidden below, inflated above.

    Parameters
    ----------
    drift : BinTuner
        From `calibkit.explore.bin_tuner_view`.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    points : pair of arrays, optional
        Number of bins and estimate of single data sets.
    title : str, optional
        Title of the figure.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Endless data give a lower bound that rises with finer bins; the distance up to the mean
    estimate is the price of sampling. Taught in lesson 06.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import explore, plot
    >>> ax = plot.bin_drift(explore.bin_tuner_view(n=250))
    >>> ax.get_xscale()
    'log'
    >>> plt.close(ax.figure)
    """
    with look.style():
        ax, fresh = look.axes_or_new(ax, (7.0 if legend is not False else 5.0, 3.8))
        look.dress(ax)
        _draw_drift(ax, drift, points)
        if look.is_last_row(ax):
            ax.set_xlabel("number of bins (log scale)", fontsize=look.FONT_SIZE)
        ax.set_ylabel("estimate", fontsize=look.FONT_SIZE)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    few, many = 0, len(drift.grid) - 1
    look.remember(
        ax,
        [
            f"Mean plain estimate against the number of bins, truth {drift.truth:.4f}.",
            *(
                f"With {_bins(int(drift.grid[k]))}: mean {drift.plain_mean[k]:.4f}, endless "
                f"data {drift.limit[k]:.4f}."
                for k in (few, many)
            ),
        ],
    )
    return ax


def _bins(number: int) -> str:
    return f"{number} bin{'' if number == 1 else 's'}"


def _draw_drift(ax: Axes, drift: Drift, points: tuple[Any, Any] | None) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    highest = max(drift.grid[-1], 1 if points is None else np.max(points[0]))
    ticks = [tick for tick in _TICKS if tick <= highest]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    if points is not None:
        code: dict[str, Any] = {"marker": ".", "markersize": 5, "markeredgewidth": 0}
        code |= {"linestyle": "none", "color": look.SKY, "alpha": 0.6, "zorder": 2}
        ax.plot(*points, label="one data set", gid="points", **code)
    ax.plot(
        drift.grid,
        drift.plain_mean,
        color=look.OVER,
        linewidth=2.0,
        zorder=3,
        label="plain ECE, mean",
        gid="plain-mean",
    )
    ax.plot(
        drift.grid,
        drift.limit,
        color=look.UNDER,
        linestyle=(0, (1.2, 1.2)),
        linewidth=2.2,
        zorder=3,
        label="endless data",
        gid="limit",
    )
    draw_truth(ax, drift.truth, upright=False)
    ax.set_xlim(0.9, highest * 1.1)
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
