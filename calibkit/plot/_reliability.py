"""The reliability diagram: one function, with one small function per element. Lesson 04.

Each artist carries the name of its element as gid, so that a test (or a curious reader) finds
it. Consistency bars after Bröcker and Smith (2007); for the diagonal filling see `_filling`.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import _scale, look
from calibkit.plot._counts import add_counts
from calibkit.plot._filling import fill_bins
from calibkit.reliability import BinTable
from calibkit.significance import ConsistencyBand

DEFAULT = ("bars", "means", "gaps", "counts")
_WORDS = {
    "filling": "diagonal filling",
    "bars": "bars up to the observed frequency",
    "band": "consistency band",
    "truth": "true map",
    "gaps": "gaps to the diagonal",
    "means": "points at the mean prediction",
    "counts": "counts per bin below",
}


def reliability(
    table: BinTable,
    *,
    ax: Axes | None = None,
    band: ConsistencyBand | None = None,
    truth: look.Truth | None = None,
    show: Iterable[str] | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a reliability diagram.

    Parameters
    ----------
    table : BinTable
        From `reliability_table`.
    band : ConsistencyBand, optional
        Where the points of a calibrated model would lie, from `consistency_band`.
    truth : callable, optional
        The true map, from predictions to true probabilities (known for fake classifiers).
    show : iterable of str, optional
        Elements to draw, out of ``"bars"``, ``"means"``, ``"gaps"``, ``"counts"``,
        ``"filling"``, ``"band"``, ``"truth"``. The default is bars, means, gaps and counts,
        and band and true map where they are given.
    ax, title, legend : optional
        Where to draw, its title, and whether with a legend; the default is a fresh figure with
        one. `plot.legend` draws one legend for many diagrams.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If `show` names something else, or an element whose data are not given, or if the band
        has other bins than the table.

    Notes
    -----
    An empty bin stays empty, and no line runs across it. Taught in lesson 04.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot, reliability_table
    >>> table = reliability_table([0, 1, 1, 1], [.2, .3, .8, .9], bins=2)
    >>> ax = plot.reliability(table, show={"bars", "means"})
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted probability', 'observed frequency')
    >>> plt.close(ax.figure)
    """
    if band is not None and not np.array_equal(band.table.edges, table.edges):
        raise ValueError(
            f"the band was made for {band.table.bins}, the table for {table.bins}; "
            "use the same predictions and bins for both."
        )
    given = {"band": band is not None, "truth": truth is not None}
    names = look.chosen(show, _WORDS, DEFAULT, given)
    size = (4.6, 5.0 if "counts" in names else 4.2)
    with look.drawing(ax, size, title=title, legend=legend) as ax:
        _scale.frame(ax, _scale.axis_words(table.view), "linear")
        if "filling" in names:
            fill_bins(ax, table)
        if "bars" in names:
            draw_bars(ax, table, "none" if "filling" in names else look.PALE)
        if band is not None and "band" in names:
            _draw_band(ax, band)
        if "truth" in names:
            look.draw_truth(ax, _scale.grid("linear", 201), truth)
        if "gaps" in names:
            _draw_gaps(ax, table)
        if "means" in names:
            draw_means(ax, table)
        if "counts" in names:
            add_counts(ax, table.edges, table.count)
    drawn = [words for name, words in _WORDS.items() if name in names]
    shown = f"Reliability diagram{' with ' if drawn else ''}{', '.join(drawn)}."
    said = band.describe() if band is not None and "band" in names else ""
    look.remember(ax, [shown, table.describe(), said])
    return ax


def draw_bars(ax: Axes, table: BinTable, face: str = "none", zorder: float = 1.5) -> None:
    """Draw bars up to the observed frequency."""
    seen = table.occupied
    top = table.frequency[seen]
    look.boxes(
        ax,
        (table.edges[:-1][seen], table.edges[1:][seen]),
        (np.zeros_like(top), top),
        facecolors=face,
        edgecolors="#5B7083",
        linewidths=0.9,
        zorder=zorder,
        label="observed frequency",
        gid="bars",
    )


def draw_means(ax: Axes, table: BinTable) -> None:
    """Draw points at mean prediction and observed frequency."""
    size = 6.0 if look.width_in_points(ax) > look.SMALL else 4.5
    size, seen = size if table.n_bins <= look.MANY_BINS else 3.0, table.occupied
    across, up = table.mean_prob[seen], table.frequency[seen]
    look.points(ax, across, up, markersize=size, label="bin mean", gid="means")


def _draw_gaps(ax: Axes, table: BinTable) -> None:
    width = 3.0 if table.n_bins <= look.MANY_BINS else 1.5
    for sign, rows in look.signs(-table.gap):
        across, up = table.mean_prob[rows], table.frequency[rows]
        code: dict[str, Any] = {
            **look.SIGNS[sign],
            "label": f"{sign}-estimate",
            "gid": f"gaps-{sign}",
        }
        look.lines(ax, (across, across), (across, up), linewidths=width, zorder=3, **code)


def _draw_band(ax: Axes, band: ConsistencyBand) -> None:
    table, seen, outside = band.table, band.table.occupied, np.asarray(band.outside, dtype=bool)
    across = table.mean_prob[seen]
    kind = "simultaneous" if band.simultaneous else "pointwise"
    look.lines(
        ax,
        (across, band.lower[seen]),
        (across, band.upper[seen]),
        colors=look.BAND,
        linewidths=float(np.clip(0.42 * look.width_in_points(ax) / table.n_bins, 2.0, 9.0)),
        zorder=2.0,
        label=f"{100 * band.level:g} % consistency band\n({kind})",
        gid="band",
    )
    if outside.any():
        code: dict[str, Any] = {
            "marker": "s",
            "markersize": 11,
            "markeredgewidth": 1.4,
            "zorder": 4.2,
        }
        code |= {"label": "outside the band", "gid": "outside"}
        at = table.mean_prob[outside], table.frequency[outside]
        look.points(ax, *at, "none", look.INK, **code)
