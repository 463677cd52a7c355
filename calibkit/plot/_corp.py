"""The CORP diagram: the reliability curve without bins. Lesson 04.

Source: Dimitriadis, Gneiting and Jordan (2021).
"""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import frames, look
from calibkit.scores import CorpDecomposition

_FEW = 40  # distinct predictions: drawn one by one; of more, a histogram
_N_COLUMNS = 40
_WORDS = {
    "counts": "the distribution of the predictions below",
    "truth": "true map",
    "curve": "isotonic curve",
    "parts": "the parts of the score",
}


def corp(
    parts: CorpDecomposition,
    *,
    truth: look.Truth | None = None,
    ax: Axes | None = None,
    show: Iterable[str] | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the CORP reliability diagram.

    Parameters
    ----------
    parts : CorpDecomposition
        From `calibkit.scores.corp_decomposition`.
    truth : callable, optional
        The true map, from predictions to true probabilities (known for fake classifiers).
    show : iterable of str, optional
        Elements to draw, out of ``"curve"``, ``"parts"``, ``"counts"``, ``"truth"``. The default
        is the first three, and the true map where it is given.
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
        If `show` names something else, or an element whose data are not given.

    Notes
    -----
    Thick: blocks, in which all predictions get the same frequency. Thin: from one block to the
    next. A small panel goes without the parts of the score. Taught in lesson 02.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.scores import corp_decomposition
    >>> ax = plot.corp(corp_decomposition([0, 1, 0, 1], [.2, .3, .4, .9]))
    >>> ax.get_ylabel()
    'observed frequency'
    """
    names = look.select(show, _WORDS, _WORDS, {"truth": truth is not None})
    with look.drawing(ax, (4.6, 4.2), title=title, legend=legend) as ax:
        frames.frame(ax, frames.axis_words(parts.view), "linear")
        if "counts" in names:
            _draw_counts(ax, parts)
        if "truth" in names:
            look.draw_truth(ax, frames.grid("linear", 201), truth)
        if "curve" in names:
            _draw_curve(ax, parts)
        if "parts" in names and look.width_in_points(ax) > look.SMALL:
            _print_parts(ax, parts)
    heading = look.heading("CORP reliability diagram", _WORDS, names)
    look.remember(ax, [heading, parts.describe()])
    return ax


def _draw_counts(ax: Axes, parts: CorpDecomposition) -> None:
    """Draw one stick per distinct prediction, or a histogram if they are many."""
    value, count = parts.prediction, parts.prediction_count
    left, right, height = value - 0.009, value + 0.009, count.astype(np.float64)
    if len(value) > _FEW:
        edges = np.arange(_N_COLUMNS + 1) / _N_COLUMNS
        left, right = edges[:-1], edges[1:]
        height = np.histogram(value, edges, weights=count)[0]
    low, high = frames.strip_below(ax)
    up = np.full(len(left), low), low + (high - low) * height / height.max()
    code = look.area("#9A9A9A", "white", 0.4)
    label = "distribution of\nthe predictions"
    look.boxes(ax, (left, right), up, zorder=1.2, label=label, gid="counts", **code)


def _draw_curve(ax: Axes, parts: CorpDecomposition) -> None:
    across, up = np.column_stack([parts.low, parts.high]).ravel(), parts.recalibrated
    ax.plot(across, up.repeat(2), color=look.UNDER, linewidth=1.0, zorder=3, gid="curve")
    code = look.stroke(look.UNDER, 3.2, capstyle="round", label="isotonic curve", gid="blocks")
    look.lines(ax, (parts.low, up), (parts.high, up), zorder=3.2, **code)
    if len(parts.prediction) <= _FEW:
        at = parts.prediction, parts.recalibrate(parts.prediction)
        code = look.marker("o", 5.5, label="distinct prediction", gid="predictions")
        look.points(ax, *at, look.UNDER, zorder=3.3, **code)


def _print_parts(ax: Axes, parts: CorpDecomposition) -> None:
    """Print the parts, right-aligned, into the corner that the curve avoids."""
    score = "Brier score" if parts.scoring.startswith("Brier") else "log loss"
    names = f"{score}\n= miscalibration\n− discrimination\n+ uncertainty"
    values = parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty
    numbers = "\n".join(f"{number:.4f}" for number in values)
    reach = 124  # in points, from the first letter to the last digit
    left = parts.recalibrate(0.5) <= 0.65
    corner = (0.0, 1.0) if left else (1.0, float(ax.transLimits.transform((0, 0))[1]))
    first = 5 if left else -5 - reach
    lift, va = (-4, "top") if left else (4, "bottom")
    for offset, text, ha in ((first, names, "left"), (first + reach, numbers, "right")):
        ax.annotate(
            text,
            corner,
            xycoords="axes fraction",
            xytext=(offset, lift),
            textcoords="offset points",
            ha=ha,
            va=va,
            linespacing=1.25,
            fontsize=look.FONT_SIZE - 0.5,
            zorder=4,
            gid="parts",
        )
