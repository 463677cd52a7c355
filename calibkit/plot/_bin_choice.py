"""How many bins: held-out scores. Lesson 06.

Source: the fit-on-test view, source 000 sections 4.6 and C.2 (choice of bins, the 0.1 % rule).
"""

from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit.plot import look


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


def _bins(number: int) -> str:
    return f"{number} bin{'' if number == 1 else 's'}"
