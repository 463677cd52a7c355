"""The reliability diagram. Lesson 04.

Sources: review of calibration notions, source 001 section 3; fit-on-test, source 000 section 4.5.
"""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import _scale, look
from calibkit.plot._elements import DRAW, Parts, Truth
from calibkit.reliability import BinTable
from calibkit.significance import ConsistencyBand

ELEMENTS = ("filling", "bars", "band", "truth", "gaps", "means", "counts")
DEFAULT = frozenset({"bars", "means", "gaps", "counts"})
_WORDS = {
    "bars": "bars up to the observed frequency",
    "means": "points at the mean prediction",
    "gaps": "gaps to the diagonal",
    "counts": "counts per bin below",
    "filling": "diagonal filling",
    "band": "consistency band",
    "truth": "true map",
}


def reliability(
    table: BinTable,
    *,
    ax: Axes | None = None,
    band: ConsistencyBand | None = None,
    truth: Truth | None = None,
    show: Iterable[str] | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a reliability diagram.

    Parameters
    ----------
    table : BinTable
        From `reliability_table`.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    band : ConsistencyBand, optional
        Where the points of a calibrated model would lie, from `consistency_band`.
    truth : callable, optional
        The true map, from predictions to true probabilities (known for fake classifiers).
    show : iterable of str, optional
        Elements to draw, out of ``"bars"``, ``"means"``, ``"gaps"``, ``"counts"``,
        ``"filling"``, ``"band"``, ``"truth"``. The default is bars, means, gaps and counts,
        and band and true map where they are given.
    title : str, optional
        Title of the diagram.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure, no for
        a given `ax` (`plot.legend` draws one legend for many diagrams).

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If `show` names something else, or an element whose data are not given, or if the band
        has other bins than the table.

    See Also
    --------
    alt_text : what the figure says, in words.

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
    parts = Parts(table, band, truth, _chosen(show, band=band, truth=truth))
    with look.style():
        ax, fresh = look.axes_or_new(ax, _size(parts.names, legend is not False))
        _scale.frame(ax, _scale.axis_words(table.view), "linear")
        for name in ELEMENTS:
            if name in parts.names:
                DRAW[name](ax, parts)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    look.remember(ax, _sentences(parts))
    return ax


def _chosen(
    show: Iterable[str] | None, *, band: ConsistencyBand | None, truth: Truth | None
) -> frozenset[str]:
    given = {"band": band is not None, "truth": truth is not None}
    if show is None:
        return DEFAULT | {name for name, is_given in given.items() if is_given}
    names = frozenset([show] if isinstance(show, str) else show)
    unknown = sorted(map(str, names.difference(ELEMENTS)))
    if unknown:
        options = ", ".join(sorted(ELEMENTS))
        raise ValueError(f"show has no element {', '.join(map(repr, unknown))}; choose: {options}.")
    for name, is_given in given.items():
        if name in names and not is_given:
            raise ValueError(f'show asks for "{name}", but {name}= was not given; pass {name}=….')
    return names


def _size(names: frozenset[str], legend: bool) -> tuple[float, float]:
    return (6.6 if legend else 4.6, 5.0 if "counts" in names else 4.2)


def _sentences(parts: Parts) -> list[str]:
    drawn = [_WORDS[name] for name in ELEMENTS if name in parts.names]
    shown = f"Reliability diagram with {', '.join(drawn)}." if drawn else "Reliability diagram."
    words = [shown, parts.table.describe()]
    if "band" in parts.names and parts.band is not None:
        words.append(parts.band.describe())
    return words
