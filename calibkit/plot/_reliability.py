"""The reliability diagram: one function, with one small function per element. Lesson 04.

Each artist carries the name of its element as gid, so that a test (or a curious reader) finds
it. Consistency bars after Bröcker and Smith (2007); for the diagonal filling see `_filling`.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.bins import Bins
from calibkit.chance import ConsistencyBand, NullLevel, consistency_band, null_level
from calibkit.errors import expected_calibration_error
from calibkit.inputs import Rows, View, refuse_other_order
from calibkit.plot import frames, look
from calibkit.plot._decisions import CODES
from calibkit.plot._filling import fill_bins
from calibkit.plot.strips import add_counts
from calibkit.reliability import BinTable, reliability_table

_MARKERS = ("o", "s", "^", "D", "v")  # of several models
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
    *data: Any,
    view: View = None,
    bins: Bins | None = None,
    rng: int | np.random.Generator | None = 0,
    ax: Axes | None = None,
    band: ConsistencyBand | None = None,
    truth: look.Truth | None = None,
    show: Iterable[str] | None = None,
    title: str | None = None,
    legend: bool | None = None,
    label: str = "bin mean",
    color: str = look.INK,
    **rows: Any,
) -> Axes:
    """Draw a reliability diagram.

    Parameters
    ----------
    *data : (y_true, y_prob), (y_true, {name: y_prob}), (classifier, X, y) or (BinTable,)
        Labels and probabilities: ``y_true`` of shape (n,), ``y_prob`` of shape (n,) for the event,
        or (n, K) for K classes; a fitted classifier, and what to try it on (of two classes, the
        second is the event); or a table from `reliability_table`. Without a table the figure also
        says what chance allows: the 90 % consistency band, and the calibration error beside that
        of calibrated models, as its title. Up to five models by name are drawn over each other, as
        by `plot.overlay`, without elements of their own.
    view : "top-label" or int, optional
        Which binary problem to draw where there are K classes: the predicted class, or one class.
    bins : int or Bins, optional
        How predictions are binned: so many bins of equal width, or a partition from
        `calibkit.bins`. The default is 15; a table has its bins already.
    positive : object, optional
        The label of the event, where labels are not 0 and 1.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row, whose confidence `y_prob` is: see `binary_problem`.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows. With weights, or with bins that look at the labels, chance is left out.
    rng : int, numpy.random.Generator or None
        Seed or generator of the draws behind band and null level.
    band : ConsistencyBand, optional
        Where the points of a calibrated model would lie, from `consistency_band`.
    truth : callable, optional
        The true map, from predictions to true probabilities (known for fake classifiers).
    show : iterable of str, optional
        Elements to draw, out of ``"bars"``, ``"means"``, ``"gaps"``, ``"counts"``,
        ``"filling"``, ``"band"``, ``"truth"``. The default is bars, means, gaps and counts,
        and band and true map where they are known.
    legend : bool, optional
        Whether with a legend to the right; left out, on a fresh figure only. `plot.legend` draws
        one legend for many diagrams.
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    title : str, optional
        What stands above the diagram.
    label, color : str
        What the legend calls the points of the bins, and their colour.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Raises
    ------
    ValueError
        If `show` names something else, or an element whose data are not given, if the band has
        other bins than the table, or if the data are not valid.

    Notes
    -----
    An empty bin stays empty, and no line runs across it. Taught in lesson 04.

    Examples
    --------
    >>> from calibkit import plot
    >>> ax = plot.reliability([0, 1, 1, 1], [.2, .3, .8, .9], bins=2)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted probability', 'observed frequency')
    """
    if len(data) == 2 and isinstance(data[1], Mapping):
        tables = _of_models(*data, (band, truth, show), view, bins, rows)
        return overlay(tables, ax, title=title, legend=legend)
    table, found, null = _measured(data, view, bins, rng, rows)
    band = found if band is None else band
    _check_bins(band, table)
    if null is not None and title is None:
        title = f"ECE {null.value:.4f}; by chance {null.mean:.4f} (95 % below {null.high:.4f})"
    given = {"band": band is not None, "truth": truth is not None}
    names = look.select(show, _WORDS, DEFAULT, given)
    size = (4.6, 5.0 if "counts" in names else 4.2)
    with look.drawing(ax, size, title=title, legend=legend) as ax:
        frames.frame(ax, frames.axis_words(table.view), "linear")
        _draw_elements(ax, table, names, band, truth)
        if "means" in names:
            draw_means(ax, table, color, label)
    shown = look.heading("Reliability diagram", _WORDS, names)
    said = band.describe() if band is not None and "band" in names else ""
    chance = null.describe() if null is not None else ""
    look.remember(ax, [shown, table.describe(), said, chance])
    return ax


def overlay(
    tables: Mapping[str, BinTable],
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the reliability diagrams of several models over each other.

    Parameters
    ----------
    tables : mapping from str to BinTable
        One to five models by name, from `reliability_table`, with the same view.
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
        If there are no or more than five models, or their views differ.

    Notes
    -----
    A line joins the means of neighbouring bins that are filled.

    Examples
    --------
    >>> from calibkit import plot, reliability_table
    >>> y = [0, 1, 1, 1]
    >>> tables = {"a": reliability_table(y, [.2, .3, .8, .9], bins=2)}
    >>> plot.overlay(tables).get_ylabel()
    'observed frequency'
    """
    if not 1 <= len(tables) <= len(_MARKERS):
        raise ValueError(f"{len(tables)} models; draw 1 to {len(_MARKERS)} in one figure.")
    views = {table.view for table in tables.values()}
    if len(views) > 1:
        raise ValueError(f"the tables have the views {', '.join(sorted(views))}; draw one view.")
    with look.drawing(ax, (4.6, 4.2), title=title, legend=legend) as ax:
        frames.frame(ax, frames.axis_words(views.pop()), "linear")
        codes = zip(tables.items(), CODES, _MARKERS, strict=False)
        for (name, table), (color, dashes), marker in codes:
            # NaN breaks the line at an empty bin.
            up = np.where(table.occupied, table.frequency, np.nan)
            code = look.stroke(color, 1.6, dashes, marker=marker, markersize=4.5)
            ax.plot(table.mean_prob, up, label=name, gid="model", **code)
    words = [f"{name}: {table.describe()}" for name, table in tables.items()]
    look.remember(ax, ["Reliability diagrams of several models.", *words])
    return ax


def _check_bins(band: ConsistencyBand | None, table: BinTable) -> None:
    if band is not None and not np.array_equal(band.table.edges, table.edges):
        raise ValueError(
            f"the band was made for {band.table.bins}, the table for {table.bins}; "
            "use the same predictions and bins for both."
        )


def _draw_elements(
    ax: Axes, table: BinTable, names: Collection[str], band: ConsistencyBand | None, truth: Any
) -> None:
    if "filling" in names:
        fill_bins(ax, table)
    if "bars" in names:
        draw_bars(ax, table, "none" if "filling" in names else look.PALE)
    if band is not None and "band" in names:
        _draw_band(ax, band)
    if "truth" in names:
        look.draw_truth(ax, frames.grid("linear", 201), truth)
    if "gaps" in names:
        _draw_gaps(ax, table)
    if "counts" in names:
        add_counts(ax, table.edges, table.count)


def _measured(
    data: tuple[Any, ...], view: View, bins: Bins | None, rng: Any, rows: Rows
) -> tuple[BinTable, ConsistencyBand | None, NullLevel | None]:
    """Return the table of labels and probabilities, and what chance allows where it is known."""
    if len(data) == 1 and isinstance(data[0], BinTable):
        if rows or view is not None or bins is not None:
            raise ValueError("A table has its view, bins and weights already; pass it alone.")
        return data[0], None, None
    bins = 15 if bins is None else bins
    if len(data) == 3 and hasattr(data[0], "fit"):
        data, rows = _of_classifier(*data, rows)
    if len(data) != 2:
        raise ValueError("pass y_true and y_prob, a fitted classifier with X and y, or a BinTable.")
    table = reliability_table(*data, view=view, bins=bins, **rows)
    if table.mass is not None or getattr(table.binning, "uses_labels", False):
        return table, None, None
    positive = rows.get("positive")
    band = consistency_band(*data, view=view, bins=bins, positive=positive, rng=rng)
    null = null_level(
        expected_calibration_error, *data, view=view, bins=bins, positive=positive, rng=rng
    )
    return table, band, null


def _of_models(
    y_true: Any, models: Mapping[str, Any], own: Any, view: View, bins: Bins | None, rows: Rows
) -> dict[str, BinTable]:
    """Return the table of each model; what a diagram of one model shows is refused."""
    if any(one is not None for one in own):
        raise ValueError("of several models only points are drawn; leave out band, truth and show.")
    bins = 15 if bins is None else bins
    return {
        n: reliability_table(y_true, p, view=view, bins=bins, **rows) for n, p in models.items()
    }


def _of_classifier(model: Any, X: Any, y: Any, rows: Rows) -> tuple[tuple[Any, Any], Rows]:
    """Return labels and probabilities of a fitted classifier."""
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{type(model).__name__} has no predict_proba: wrap it in CalibratedClassifierCV."
        )
    refuse_other_order(X=X, y=y)
    prob, classes = model.predict_proba(X), list(model.classes_)
    if len(classes) == 2:
        positive = rows.get("positive", classes[1])
        column = classes.index(positive) if positive in classes else 1
        return (y, np.asarray(prob)[:, column]), {**rows, "positive": positive}
    if unknown := set(y) - set(classes):
        raise ValueError(f"y holds {unknown.pop()!r}, a class the classifier was not fitted to.")
    return ([classes.index(label) for label in y], prob), rows


def draw_bars(ax: Axes, table: BinTable, face: str = "none", zorder: float = 1.5) -> None:
    """Draw bars up to the observed frequency."""
    seen = table.occupied
    top = table.frequency[seen]
    across, up = (table.edges[:-1][seen], table.edges[1:][seen]), (np.zeros_like(top), top)
    code = look.area(face, "#5B7083", 0.9)
    look.boxes(ax, across, up, zorder=zorder, label="observed frequency", gid="bars", **code)


def draw_means(ax: Axes, table: BinTable, face: str = look.INK, label: str = "bin mean") -> None:
    """Draw points at mean prediction and observed frequency."""
    size = 6.0 if look.width_in_points(ax) > look.SMALL else 4.5
    size, seen = size if table.n_bins <= look.MANY_BINS else 3.0, table.occupied
    across, up = table.mean_prob[seen], table.frequency[seen]
    look.points(ax, across, up, face, markersize=size, label=label, gid="means")


def _draw_gaps(ax: Axes, table: BinTable) -> None:
    width = 3.0 if table.n_bins <= look.MANY_BINS else 1.5
    for sign, rows in look.signs(-table.gap):
        across, up = table.mean_prob[rows], table.frequency[rows]
        code = {**look.SIGNS[sign], "label": f"{sign}-estimate", "gid": f"gaps-{sign}"}
        look.lines(ax, (across, across), (across, up), linewidths=width, zorder=3, **code)


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
