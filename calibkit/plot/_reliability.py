"""The reliability diagram: one function, with one small function per element.

Each artist carries the name of its element as gid, so that a test (or a curious reader) finds
it. Consistency bars after Bröcker and Smith (2007), diagonal filling after Kängsepp, Valk and
Kull (2022), section 4.5.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.bins import Bins
from calibkit.chance import ConsistencyBand, consistency_band, null_level
from calibkit.errors import expected_calibration_error
from calibkit.hypothesis_tests import wilson_interval
from calibkit.inputs import View
from calibkit.plot import frames, look
from calibkit.reliability import BinTable

_LEVEL = 0.9  # of an interval, as of the band
_WORDS = {
    "filling": "diagonal filling",
    "bars": "bars up to the observed frequency",
    "band": "consistency band",
    "intervals": "intervals of the frequency",
    "truth": "true map",
    "gaps": "gaps to the diagonal",
    "means": "points at the mean prediction",
    "counts": "counts per bin below",
}


def reliability(
    table: BinTable,
    ax: Axes | None = None,
    *,
    band: ConsistencyBand | None = None,
    truth: look.Truth | None = None,
    show: Iterable[str] | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the reliability diagram of a table of bins.

    Parameters
    ----------
    table : BinTable
        From `calibkit.reliability_table`, or one of the `tables` of a calibration error.
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    band : ConsistencyBand, optional
        Where the points of a calibrated model would lie, from `calibkit.consistency_band`.
    truth : callable, optional
        The true map, from predictions to true probabilities (known for fake classifiers).
    show : iterable of str, optional
        Elements to draw, out of ``"bars"``, ``"means"``, ``"gaps"``, ``"counts"``,
        ``"filling"``, ``"intervals"``, ``"band"``, ``"truth"``. The default is all but the filling
        and intervals, band and true map where they are known.
    title : str, optional
        What stands above the diagram.
    legend : bool, optional
        Whether with a legend to the right; left out, on a fresh figure only. `plot.legend` draws
        one legend for many diagrams.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Raises
    ------
    ValueError
        If `table` is none, if `show` names something else, or an element whose data are not
        given, or if the band has other bins than the table.

    See Also
    --------
    reliability_diagram : The same from labels and probabilities.

    Notes
    -----
    An empty bin stays empty, and no line runs across it. Lesson 04.

    Two questions, two bars: the band, around the diagonal, says where the point of a *calibrated*
    model would lie; the interval (Wilson's, 90 %), around the point, where the bin's *true*
    frequency may lie, whatever the model is.

    Examples
    --------
    >>> from calibkit import plot, reliability_table
    >>> from calibkit.fakes import LogitDistortion
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> table = reliability_table(sample.y_true, sample.y_prob, bins=10)
    >>> ax = plot.reliability(table)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted probability', 'observed frequency')
    """
    if not isinstance(table, BinTable):
        raise ValueError(
            "plot.reliability draws a BinTable, from reliability_table; for labels and "
            "probabilities there is plot.reliability_diagram(y_true, y_prob)."
        )
    if band is not None and not np.array_equal(band.table.edges, table.edges):
        raise ValueError(
            f"the band was made for {band.table.bins}, the table for {table.bins}; "
            "use the same predictions and bins for both."
        )
    known = {"band": band, "truth": truth}
    missing = {name: f"pass {name}=" for name, value in known.items() if value is None}
    if table.mass is not None:
        missing["intervals"] = "rows with weights have no Wilson interval"
    names = look.select(show, _WORDS, _WORDS.keys() - {"filling", "intervals"}, missing)
    size = (4.6, 5.0 if "counts" in names else 4.2)
    with look.drawing(ax, size, title=title, legend=legend) as ax:
        frames.frame(ax, frames.axis_words(table.view))
        if "filling" in names:
            _fill_bins(ax, table)
        if "bars" in names:
            draw_bars(ax, table, "none" if "filling" in names else look.PALE)
        if band is not None and "band" in names:
            _draw_band(ax, band)
        if "intervals" in names:
            _draw_intervals(ax, table)
        if "truth" in names:
            look.draw_truth(ax, np.linspace(0, 1, 201), truth)
        if "gaps" in names:
            _draw_gaps(ax, table)
        if "counts" in names:
            frames.add_counts(ax, table.edges, table.count)
        if "means" in names:
            draw_means(ax, table)
    words = [look.heading("Reliability diagram", _WORDS, names), table.describe()]
    if band is not None and "band" in names:
        words.append(band.describe())
    look.remember(ax, words)
    return ax


def reliability_diagram(
    y_true: Any,
    y_prob: Any,
    ax: Axes | None = None,
    *,
    view: View = None,
    bins: Bins = 15,
    positive: Any = None,
    rng: int | np.random.Generator | None = 0,
    show: Iterable[str] | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a reliability diagram with what chance allows, in one line from labels and predictions.

    Beside the bins it shows the 90 % consistency band, and as its title the expected calibration
    error with that of calibrated models.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    ax, show, title, legend
        As in `reliability`.
    view : "top-label" or int, optional
        Which binary problem to draw where there are K classes: the predicted class, or one class.
    bins : int or Bins, optional
        So many bins of equal width, or a partition from `calibkit.bins`.
    positive : object, optional
        The label of the event, where labels are not 0 and 1.
    rng : int, numpy.random.Generator or None
        Seed or generator of the draws behind band and null level.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Raises
    ------
    ValueError
        If the data are not valid, or if bins look at the labels: they have no band.

    See Also
    --------
    reliability : The same from a table, e.g. of weighted rows.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.fakes import LogitDistortion
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> ax = plot.reliability_diagram(sample.y_true, sample.y_prob, bins=10)
    >>> ax.get_title().startswith("ECE 0.0947; by chance")
    True
    """
    how: dict[str, Any] = {"view": view, "bins": bins, "positive": positive, "rng": rng}
    band = consistency_band(y_true, y_prob, **how)
    null = null_level(expected_calibration_error, y_true, y_prob, **how)
    if title is None:
        title = f"ECE {null.value:.4f}; by chance {null.mean:.4f} (95 % below {null.high:.4f})"
    ax = reliability(band.table, ax, band=band, show=show, title=title, legend=legend)
    look.remember(ax, [look.alt_text(ax), null.describe()])
    return ax


def _fill_bins(ax: Axes, table: BinTable) -> None:
    """Draw the slope-1 pieces: each bin's top runs parallel to the diagonal.

    The piece is the least-squares fit of slope 1, so its distance from the diagonal is the
    bin's gap: the area between the two is what the expected calibration error adds up.
    """
    seen = table.occupied
    a, b, lift = table.edges[:-1][seen], table.edges[1:][seen], -table.gap[seen]
    ground, code = np.zeros_like(a), look.area(look.FILLED, "#A8935A")
    corners = (a, ground), (a, a + lift), (b, b + lift), (b, ground)
    look.polygons(ax, *corners, zorder=1.2, label="piece of slope 1", gid="filling", **code)
    for sign, rows in look.signs(lift):
        corners = (a, a), (b, b), (b, b + lift), (a, a + lift)
        some = [(x[rows], y[rows]) for x, y in corners]
        look.polygons(ax, *some, linewidths=0.8, **shading(sign))


def shading(sign: str) -> dict[str, Any]:
    """Return the code of the area between a map and the diagonal."""
    words = {"label": f"{sign}-estimate (area)", "gid": f"filling-{sign}"}
    return {**look.AREAS[sign], **words, "zorder": 1.6}


def draw_bars(ax: Axes, table: BinTable, face: str = "none", zorder: float = 1.5) -> None:
    """Draw bars up to the observed frequency."""
    seen, code = table.occupied, look.area(face, "#5B7083", 0.9)
    across, up = (table.edges[:-1][seen], table.edges[1:][seen]), (0, table.frequency[seen])
    look.boxes(ax, across, up, zorder=zorder, label="observed frequency", gid="bars", **code)


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
        code = {**look.SIGNS[sign], "label": f"{sign}-estimate", "gid": f"gaps-{sign}"}
        look.lines(ax, (across, across), (across, up), linewidths=width, zorder=3, **code)


def _draw_intervals(ax: Axes, table: BinTable) -> None:
    seen = table.occupied
    across, count, share = table.mean_prob[seen], table.count[seen], table.frequency[seen]
    ends = wilson_interval(np.rint(share * count), count, level=_LEVEL)
    label = f"{100 * _LEVEL:g} % interval of the\nfrequency (Wilson)"
    code = look.stroke(look.INK, 1.2, zorder=3.5, label=label, gid="intervals")
    look.lines(ax, (across, ends[0]), (across, ends[1]), **code)


def _draw_band(ax: Axes, band: ConsistencyBand) -> None:
    table, seen, outside = band.table, band.table.occupied, np.asarray(band.outside, dtype=bool)
    across = table.mean_prob[seen]
    kind = "simultaneous" if band.simultaneous else "pointwise"
    label = f"{100 * band.level:g} % consistency band\n({kind})"
    width = float(np.clip(0.42 * look.width_in_points(ax) / table.n_bins, 2.0, 9.0))
    ends = (across, band.lower[seen]), (across, band.upper[seen])
    look.lines(ax, *ends, zorder=2.0, label=label, gid="band", **look.stroke(look.BAND, width))
    if outside.any():
        at = table.mean_prob[outside], table.frequency[outside]
        code = look.marker("s", 11, 1.4, label="outside the band", gid="outside", zorder=4.2)
        look.points(ax, *at, "none", look.INK, **code)
