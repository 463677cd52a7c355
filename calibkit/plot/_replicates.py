"""The spread of an estimate over many data sets, with the truth marked. Lesson 06."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from calibkit.plot import _style as look

_COLUMNS = 20
_MOST_SETS = 3
_SETS: tuple[dict[str, Any], ...] = (
    {"facecolor": "#C9CED3", "edgecolor": look.GREY},
    {"facecolor": "#C4DDEE99", "edgecolor": look.UNDER, "hatch": "...."},
    {"facecolor": "#F6D3BD99", "edgecolor": look.OVER, "hatch": "////"},
)
_MEANS: tuple[tuple[str, Any], ...] = (
    (look.GREY, (0, (4, 2))),
    (look.UNDER, (0, (1.2, 1.2))),
    (look.OVER, "solid"),
)


class Estimates(Protocol):
    """What `replicates` draws; `calibkit.explore.Replicates` is one."""

    @property
    def name(self) -> str:
        """What estimates."""

    @property
    def values(self) -> NDArray[np.float64]:
        """One estimate per data set."""

    @property
    def truth(self) -> float:
        """What they estimate."""

    @property
    def mean(self) -> float:
        """Mean of the estimates."""

    def describe(self) -> str:
        """Give truth, mean and spread."""


def replicates(
    estimates: Estimates | Sequence[Estimates],
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a histogram of estimates from many data sets, with the truth marked.

    Parameters
    ----------
    estimates : Replicates, or a list of up to three
        From `calibkit.explore`; all with the same truth.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
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
        If there are none or more than three, or their truths differ.

    Notes
    -----
    The distance between a dashed mean and the truth is the bias; the width of the histogram is
    the spread. Taught in lesson 06.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from calibkit import explore, plot
    >>> toy = explore.Replicates(name="toy", values=np.array([.1, .2, .2]), truth=.15)
    >>> ax = plot.replicates(toy)
    >>> ax.get_ylabel()
    'replicates'
    >>> plt.close(ax.figure)
    """
    sets = list(estimates) if isinstance(estimates, Sequence) else [estimates]
    if not 1 <= len(sets) <= _MOST_SETS or len({one.truth for one in sets}) > 1:
        raise ValueError(
            f"replicates takes 1 to {_MOST_SETS} sets of estimates of the same truth, got "
            f"{len(sets)} with the truths {[one.truth for one in sets]}."
        )
    with look.style():
        ax, fresh = look.axes_or_new(ax, (7.0 if legend is not False else 5.0, 3.4))
        look.dress(ax, grid="y")
        _draw_histograms(ax, sets)
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        draw_truth(ax, sets[0].truth, upright=True)
        if look.is_last_row(ax):
            ax.set_xlabel("estimate", fontsize=look.FONT_SIZE)
        if look.is_first_column(ax):
            ax.set_ylabel("replicates", fontsize=look.FONT_SIZE)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    words = "Histogram of estimates." if len(sets) == 1 else f"{len(sets)} histograms of estimates."
    look.remember(ax, [words, *(one.describe() for one in sets)])
    return ax


def _draw_histograms(ax: Axes, sets: Sequence[Estimates]) -> None:
    everything = np.concatenate([one.values for one in sets])
    low, high = float(everything.min()), float(everything.max())
    if high - low < 1e-9:
        low, high = low - 5e-4, high + 5e-4
    edges = np.linspace(low, high, _COLUMNS + 1)
    for place, one in enumerate(sets):
        height, _ = np.histogram(one.values, edges)
        ax.stairs(
            height,
            edges,
            fill=True,
            linewidth=0.9,
            zorder=2 + place / 10,
            label="estimates" if len(sets) == 1 else one.name,
            gid=f"estimates-{place}",
            **_SETS[place],
        )
        color, dashes = _MEANS[place]
        ax.axvline(
            one.mean,
            color=color,
            linestyle=dashes,
            linewidth=2.0,
            zorder=3,
            label="their mean" if len(sets) == 1 else f"mean, {one.name}",
            gid=f"mean-{place}",
        )


def draw_truth(ax: Axes, truth: float, *, upright: bool) -> None:
    """Draw the true value, as a line across or upright."""
    draw = ax.axvline if upright else ax.axhline
    draw(
        truth,
        color=look.TRUTH,
        linestyle="dashdot",
        linewidth=2.4,
        zorder=3.5,
        label="truth",
        gid="truth",
    )
