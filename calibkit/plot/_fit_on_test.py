"""Diagrams of maps that were fitted to the test set.

Kängsepp, Valk and Kull (2022), section 4.5: figures 1 and 3 (lines to the diagonal), 4 (diagonal
filling) and 5 (filling under any map). Each artist carries its element as gid.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from calibkit.inputs import FloatVector, IntVector
from calibkit.plot import frames, look
from calibkit.plot._reliability import draw_bars, draw_means, shading
from calibkit.reliability import BinTable

if TYPE_CHECKING:
    from calibkit.fit_on_test import FitOnTest

MOST_LINES = 120  # of more predictions, so many are picked, evenly by rank
_COLUMNS = 20  # of the strip below a map without bins
_FEW = 40  # predictions that are drawn one by one with thick lines
_WORDS = {
    "filling": "the area between map and diagonal",
    "bars": "flat bars up to the observed frequency",
    "truth": "true map",
    "violations": "lines from the diagonal to the true map",
    "distances": "lines from the diagonal to the map",
    "map": "the fitted map",
    "labels": "the labels at 0 and 1",
    "means": "points at the mean prediction",
    "counts": "counts below",
}
_OF_TRUTH = ("truth", "violations")


def fit_on_test(
    result: "FitOnTest",
    ax: Axes | None = None,
    *,
    truth: look.Truth | None = None,
    show: Iterable[str] | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a map that was fitted to the test set, and its distance from the diagonal.

    Parameters
    ----------
    result : FitOnTest
        From `calibkit.fit_on_test.fit_on_test`.
    truth : callable, optional
        The true map, from predictions to true probabilities (known for fake classifiers).
    show : iterable of str, optional
        Elements to draw, out of ``"filling"`` (the area below the map, hatched towards the
        diagonal), ``"map"``, ``"distances"`` (the lines whose mean length is the estimate),
        ``"labels"`` (points at 0 and 1), ``"counts"``; with `truth` also ``"truth"`` and
        ``"violations"`` (the lines whose mean length is the true error); for evaluators with
        bins ``"bars"`` (flat tops) and ``"means"``. The default is filling, map
        and counts, and the true map where given.
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    title : str, optional
        What stands above the diagram.
    legend : bool, optional
        Whether with a legend to the right; left out, on a fresh figure only.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Raises
    ------
    ValueError
        If `show` names something else, or an element that needs bins or `truth` where there are
        none.

    Notes
    -----
    For slope-1 bins the filling is the *diagonal filling* of the reliability diagram. Lines are
    drawn for at most 120 predictions, evenly picked by rank. Where a map leaves [0, 1] at a
    prediction, the axes grow with it. Lesson 05.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.calibrators import SlopeOneBinning
    >>> from calibkit.fakes import LogitDistortion
    >>> from calibkit.fit_on_test import fit_on_test
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> slopes = SlopeOneBinning(8)
    >>> result = fit_on_test(sample.y_true, sample.y_prob, evaluator=slopes)
    >>> ax = plot.fit_on_test(result, show={"filling", "distances"})
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted probability', 'observed frequency')
    """
    table: BinTable | None = getattr(result.evaluator, "table_", None)
    missing = {} if truth is not None else dict.fromkeys(_OF_TRUTH, "pass truth=")
    if table is None:
        remedy = (
            f'the family "{result.family}" has no bins, as SlopeOneBinning and HistogramBinning do'
        )
        missing |= dict.fromkeys(("bars", "means"), remedy)
    names = look.select(show, _WORDS, ("filling", "map", "counts", "truth"), missing)
    size, line = (4.6, 5.0 if "counts" in names else 4.2), (result.line_x, result.line_y)
    with look.drawing(ax, size, title=title, legend=legend, room=2.2) as ax:
        frames.frame(ax, frames.axis_words(result.view))
        if "filling" in names:
            _fill_map(ax, *line)
        if table is not None and "bars" in names:
            draw_bars(ax, table, zorder=2.0)
        if "truth" in names:
            look.draw_truth(ax, np.linspace(0, 1, 401), truth)
        if truth is not None and "violations" in names:
            true = np.asarray(truth(result.prob), dtype=np.float64)
            _draw_lines(ax, result, true, "violations")
        if "distances" in names:
            _draw_lines(ax, result, result.fitted, "distances")
        if "map" in names:
            ax.plot(*line, color=look.INK, linewidth=1.9, zorder=3.5, label="fitted map", gid="map")
        if "labels" in names:
            _draw_labels(ax, result)
        if table is not None and "means" in names:
            draw_means(ax, table)
        if "counts" in names:
            count, edges = np.histogram(result.prob, bins=_COLUMNS, range=(0, 1))
            if table is not None:
                count, edges = table.count, table.edges
            frames.add_counts(ax, edges, count)
        if names & {"map", "distances"}:
            frames.make_room(ax, result.fitted)
    look.remember(ax, _sentences(result, names))
    return ax


def _sentences(result: "FitOnTest", names: frozenset[str]) -> list[str]:
    sentences = [look.heading("Fit-on-test diagram", _WORDS, names)]
    if names & {"distances", "violations"} and result.n > MOST_LINES:
        sentences.append(f"Lines stand at {MOST_LINES} of {result.n:,} predictions.")
    if names & {"filling", "map", "distances"}:
        return [*sentences, result.describe()]
    return [*sentences, f"{result.n:,} predictions."]


def _fill_map(ax: Axes, x: FloatVector, y: FloatVector) -> None:
    """Fill below any map, hatched towards the diagonal."""
    code = look.area(look.FILLED, width=0, zorder=1.1, label="below the map", gid="filling")
    ax.fill_between(x, 0, y, **code)
    for sign, rows in look.signs(y - x):
        code = {**shading(sign), "where": rows.tolist(), "interpolate": True, "linewidth": 0}
        ax.fill_between(x, x, y, **code)


def _some(result: "FitOnTest") -> IntVector:
    """Return which predictions get a line: all, or some that are evenly spaced by rank."""
    return np.linspace(0, result.n - 1, min(result.n, MOST_LINES)).round().astype(np.int64)


def _draw_lines(ax: Axes, result: "FitOnTest", end: FloatVector, gid: str) -> None:
    """Draw lines from the diagonal, in two codes for the two signs."""
    some = _some(result)
    prob, end = result.prob[some], end[some]
    width = 2.6 if len(prob) <= _FEW else 1.1
    for sign, rows in look.signs(end - prob):
        ends = (prob[rows], prob[rows]), (prob[rows], end[rows])
        code = {**look.SIGNS[sign], "label": f"{sign}-estimate", "gid": f"{gid}-{sign}"}
        look.lines(ax, *ends, linewidths=width, zorder=3, **code)


def _draw_labels(ax: Axes, result: "FitOnTest") -> None:
    some = _some(result)
    code = look.marker("D", 6.5, 1.3) if len(some) <= _FEW else look.marker("|", 7)
    code |= {"zorder": 3.8, "label": "label", "gid": "labels"}
    look.points(ax, result.prob[some], result.label[some], "white", look.INK, **code)
