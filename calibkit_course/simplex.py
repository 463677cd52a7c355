"""The simplex of three classes: probability vectors as points of a triangle. Lessons 03, 12.

The nearer a point is to a corner, the more probable is the class of that corner. Distances
from the three sides are the three probabilities.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.fakes import FakeSample
from calibkit.inputs import FloatMatrix, FloatVector, IntVector
from calibkit.plot import look
from calibkit.results import spell
from calibkit_course.finite import FiniteClassifier

# Each class has a colour and, as second code, a marker.
CODES = (("#0072B2", "o"), ("#E69F00", "s"), ("#007A5A", "^"))
_MOST_ARROWS = 150  # by default; more of them hide each other
_MANY_POINTS = 200
_FAR = 0.03
_HEIGHT = np.sqrt(3) / 2
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _HEIGHT]])
_LETTERS = ("#0072B2", "#8A5F00", "#007A5A")  # the colours of the classes, dark enough for text
_LEVELS = (0.2, 0.4, 0.6, 0.8)
_WORDS = {
    "grid": "grid lines every 0.2",
    "regions": "borders between the regions of the predicted class",
    "points": "points with colour and marker by predicted class",
    "arrows": "arrows from the stated to the true probabilities",
}


@dataclass(frozen=True, slots=True)
class Cloud:
    """What is drawn: stated vectors, perhaps true ones, predicted classes, masses, words."""

    stated: FloatMatrix
    true: FloatMatrix | None
    predicted: IntVector
    mass: FloatVector | None  # of the atoms of a finite classifier
    words: str


def read_cloud(source: Any, truth: Any = None) -> Cloud:
    """Read a finite classifier, a fake sample, or an array with its true vectors.

    Examples
    --------
    >>> read_cloud([[0.2, 0.5, 0.3]]).words
    '1 prediction: 0 of the first, 1 of the second, 0 of the third class.'
    """
    if isinstance(source, FiniteClassifier):
        mass, predicted = np.array(source.mass, dtype=np.float64), np.array(source.predicted)
        tables = _table(source.confidence), _table(source.truth)
        return Cloud(*tables, predicted, mass, source.describe())
    if isinstance(source, FakeSample):
        source, truth = source.y_prob, source.true_prob
    stated, true = _table(source), None if truth is None else _table(truth)
    if true is not None and true.shape != stated.shape:
        raise ValueError(f"truth has shape {true.shape}, but the predictions {stated.shape}.")
    predicted = stated.argmax(axis=1)
    first, second, third = np.bincount(predicted, minlength=3).tolist()
    words = (
        f"{spell(len(stated), 'prediction')}: {first:,} of the first, {second:,} of the "
        f"second, {third:,} of the third class."
    )
    return Cloud(stated, true, predicted, None, words)


def _table(values: Any) -> FloatMatrix:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 3:
        raise ValueError(f"The simplex needs three classes, shape (n, 3); got shape {table.shape}.")
    return table


def draw(
    source: Any,
    *,
    truth: Any = None,
    ax: Axes | None = None,
    show: Iterable[str] | None = None,
    classes: Sequence[str] = ("class 0", "class 1", "class 2"),
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw probability vectors of three classes on the simplex.

    Parameters
    ----------
    source : FiniteClassifier, FakeSample or array-like of shape (n, 3)
        The stated probabilities; the first two know the true ones too. The atoms of a
        `FiniteClassifier` are drawn with an area in proportion to their mass.
    truth : array-like of shape (n, 3), optional
        The true probabilities, for a plain array.
    show : iterable of str, optional
        Elements to draw, out of ``"points"``, ``"arrows"``, ``"regions"``, ``"grid"``. The
        default is all; arrows only where the truth is known and up to 150 of them.
    classes : sequence of 3 str
        Names of the classes.
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
        If there are not three classes, `show` names something else, or arrows are asked for
        without a truth.

    Notes
    -----
    An arrow is what post-processing can mend: a strongly calibrated classifier has none.
    Taught in lessons 03 and 12.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit_course import finite, simplex
    >>> ax = simplex.draw(finite.example("three atoms"), title="Three atoms")
    >>> plot.alt_text(ax).startswith("Simplex of three classes with grid lines")
    True
    """
    cloud = read_cloud(source, truth)
    hidden = cloud.true is None or len(cloud.stated) > _MOST_ARROWS
    names = look.select(show, _WORDS, set(_WORDS) - ({"arrows"} if hidden else set()))
    if "arrows" in names and cloud.true is None:
        raise ValueError('show asks for "arrows", but the truth is not known; pass truth=….')
    if len(classes) != 3:
        raise ValueError(f"classes must name 3 classes, got {len(classes)}.")
    with look.drawing(ax, (4.6, 4.3), legend=legend, room=1.8) as ax:
        _frame(ax, classes)
        if title is not None:
            ax.set_title(title, pad=18)
        if "grid" in names:
            _draw_grid(ax)
        if "regions" in names:
            _draw_regions(ax)
        if "points" in names:
            _draw_points(ax, cloud, classes, "arrows" in names)
        if "arrows" in names and cloud.true is not None:
            _draw_arrows(ax, _place(cloud.stated), _place(cloud.true))
    look.remember(ax, [look.heading("Simplex of three classes", _WORDS, names), cloud.words])
    return ax


def _place(vectors: FloatMatrix) -> FloatMatrix:
    """Return the points of the triangle, shape (n, 2), for probability vectors."""
    return np.asarray(vectors @ _CORNERS)


def _frame(ax: Axes, classes: Sequence[str]) -> None:
    ax.set_axis_off()
    ax.set(xlim=(-0.09, 1.09), ylim=(-0.11, _HEIGHT + 0.09), aspect="equal")
    ax.set_anchor("NW")
    ring = np.vstack([_CORNERS, _CORNERS[:1]])
    ax.plot(*ring.T, color=look.GREY, linewidth=1.2, zorder=2, gid="triangle")
    sides = ("top", -0.035), ("top", -0.035), ("bottom", 0.03)
    text = partial(ax.text, fontsize=look.FONT_SIZE + 0.5, fontweight="bold", ha="center")
    for (x, y), name, colour, (side, lift) in zip(_CORNERS, classes, _LETTERS, sides, strict=True):
        text(x, y + lift, name, va=side, color=colour, gid="corner")


def _draw_grid(ax: Axes) -> None:
    """Draw the lines on which one probability is .2, .4, .6 or .8."""
    level = np.tile(_LEVELS, 3)[:, None]
    here, left, right = (np.repeat(np.roll(_CORNERS, k, axis=0), 4, axis=0) for k in range(3))
    start, end = (level * here + (1 - level) * other for other in (left, right))
    code = look.stroke("#DADADA", 0.8, label="steps of 0.2", gid="grid")
    look.lines(ax, tuple(start.T), tuple(end.T), zorder=1, **code)


def _draw_regions(ax: Axes) -> None:
    """Draw from the centre to the middle of each side: there two classes are tied."""
    start, end = _place(np.full((3, 3), 1 / 3)), _place(0.5 * (1 - np.eye(3)))
    code = look.stroke(look.GREY, 1.1, (0, (4, 3)), label="two classes tied", gid="regions")
    look.lines(ax, tuple(start.T), tuple(end.T), zorder=1.5, **code)


def _draw_points(ax: Axes, cloud: Cloud, classes: Sequence[str], arrows: bool) -> None:
    many = len(cloud.stated) > _MANY_POINTS
    plain = 9.0 if many else 36.0 if look.width_in_points(ax) > look.SMALL else 18.0
    size = np.full(len(cloud.stated), plain)
    if cloud.mass is not None:
        size = 30 + 150 * cloud.mass
    elif arrows and cloud.true is not None:  # a point must not hide or thicken its arrow
        size[np.abs(cloud.true - cloud.stated).max(axis=1) > _FAR] /= 3
    at = _place(cloud.stated)
    rim, alpha = ("none", 0.45) if many else ("white", None)
    for k, (colour, marker) in enumerate(CODES):
        rows = cloud.predicted == k
        if not rows.any():
            continue
        code = look.area(colour, rim, 0.7, marker=marker, alpha=alpha, gid=f"points-{k}")
        ax.scatter(at[rows, 0], at[rows, 1], s=size[rows], clip_on=False, zorder=4, **code)
        label = f"predicts {classes[k]}"
        ax.plot([], [], linestyle="none", marker=marker, markersize=7, color=colour, label=label)


def _draw_arrows(ax: Axes, start: FloatMatrix, end: FloatMatrix) -> None:
    step = end - start
    moved = np.abs(step).max(axis=1) > 1e-9
    if not moved.any():
        return
    arrows = ax.quiver(
        *start[moved].T,
        *step[moved].T,
        angles="xy",
        scale_units="xy",
        scale=1,
        units="inches",
        width=0.017 if len(start) <= 20 else 0.011,
        headwidth=5,
        headlength=6,
        headaxislength=5.2,
        minlength=0,
        minshaft=1.2,
        color=look.INK,
        clip_on=False,
        zorder=4.5,
        gid="arrows",
    )
    arrows.set_in_layout(False)  # its extent is not known before it is drawn
    code = look.stroke(look.INK, 1.5, "none", marker=r"$\rightarrow$", markersize=15)
    ax.plot([], [], label="to the true\nprobabilities", **code)
