"""The simplex of three classes: probability vectors as points of a triangle. Lessons 03, 12.

The nearer a point is to a corner, the more probable is the class of that corner. Distances
from the three sides are the three probabilities.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import NDArray

from calibkit._result import spell
from calibkit.fakes import FakeSample
from calibkit.finite import FiniteClassifier
from calibkit.plot import look

ELEMENTS = ("grid", "regions", "points", "arrows")
_MOST_ARROWS = 150  # by default; more of them hide each other
_MANY_POINTS = 200
_HEIGHT = np.sqrt(3) / 2
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _HEIGHT]])
# Each class has a colour and, as second code, a marker.
_CLASSES = (("#0072B2", "o"), ("#E69F00", "s"), ("#007A5A", "^"))
_LETTERS = ("#0072B2", "#8A5F00", "#007A5A")  # the same, dark enough for text
_LEVELS = (0.2, 0.4, 0.6, 0.8)
_WORDS = {
    "grid": "grid lines every 0.2",
    "regions": "borders between the regions of the predicted class",
    "points": "points with colour and marker by predicted class",
    "arrows": "arrows from the stated to the true probabilities",
}

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Cloud:
    """What is drawn: stated vectors, perhaps true ones, predicted classes, sizes, words."""

    stated: Table
    true: Table | None
    predicted: NDArray[np.intp]
    weight: Table
    words: str


def simplex(
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
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    show : iterable of str, optional
        Elements to draw, out of ``"points"``, ``"arrows"``, ``"regions"``, ``"grid"``. The
        default is all; arrows only where the truth is known and up to 150 of them.
    classes : sequence of 3 str
        Names of the classes.
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
        If there are not three classes, `show` names something else, or arrows are asked for
        without a truth.

    Notes
    -----
    An arrow is what post-processing can mend: a strongly calibrated classifier has none.
    Taught in lessons 03 and 12.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import finite, plot
    >>> ax = plot.simplex(finite.example("three atoms"), title="Three atoms")
    >>> plot.alt_text(ax).startswith("Simplex of three classes with grid lines")
    True
    >>> plt.close(ax.figure)
    """
    cloud = _cloud(source, truth)
    names = _chosen(show, cloud)
    if len(classes) != 3:
        raise ValueError(f"classes must name 3 classes, got {len(classes)}.")
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.4 if legend is not False else 4.6, 4.3))
        _frame(ax, classes)
        for name in ELEMENTS:
            if name in names:
                _DRAW[name](ax, cloud, classes)
        if title is not None:
            ax.set_title(title, pad=18)
        wanted = fresh if legend is None else legend
        if wanted and ax.get_legend_handles_labels()[0]:
            look.outside_legend(ax)
    drawn = ", ".join(_WORDS[name] for name in ELEMENTS if name in names)
    look.remember(
        ax, [f"Simplex of three classes{f' with {drawn}' if drawn else ''}.", cloud.words]
    )
    return ax


def _cloud(source: Any, truth: Any) -> _Cloud:
    """Read a classifier, a sample or an array."""
    if isinstance(source, FiniteClassifier):
        weight, predicted = np.array(source.mass, dtype=np.float64), np.array(source.predicted)
        stated = _table(source.confidence)
        return _Cloud(stated, _table(source.truth), predicted, weight, source.describe())
    if isinstance(source, FakeSample):
        source, truth = source.y_prob, source.true_prob
    stated = _table(source)
    true = None if truth is None else _table(truth)
    if true is not None and true.shape != stated.shape:
        raise ValueError(f"truth has shape {true.shape}, but the predictions {stated.shape}.")
    predicted = stated.argmax(axis=1)
    counts = np.bincount(predicted, minlength=3).tolist()
    words = (
        f"{spell(len(stated), 'prediction')}: {counts[0]:,} of the first, {counts[1]:,} of the "
        f"second, {counts[2]:,} of the third class."
    )
    return _Cloud(stated, true, predicted, np.full(len(stated), np.nan), words)


def _table(values: Any) -> Table:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 3:
        raise ValueError(f"The simplex needs three classes, shape (n, 3); got shape {table.shape}.")
    return table


def _chosen(show: Iterable[str] | None, cloud: _Cloud) -> frozenset[str]:
    if show is None:
        hidden = cloud.true is None or len(cloud.stated) > _MOST_ARROWS
        return frozenset(ELEMENTS) - ({"arrows"} if hidden else set())
    names = frozenset([show] if isinstance(show, str) else show)
    unknown = sorted(map(str, names.difference(ELEMENTS)))
    if unknown:
        options = ", ".join(sorted(ELEMENTS))
        raise ValueError(f"show has no element {', '.join(map(repr, unknown))}; choose: {options}.")
    if "arrows" in names and cloud.true is None:
        raise ValueError('show asks for "arrows", but the truth is not known; pass truth=….')
    return names


def _place(vectors: Table) -> Table:
    """Return the points of the triangle, shape (n, 2), for probability vectors."""
    return np.asarray(vectors @ _CORNERS)


def _frame(ax: Axes, classes: Sequence[str]) -> None:
    ax.set_axis_off()
    ax.set(xlim=(-0.09, 1.09), ylim=(-0.11, _HEIGHT + 0.09), aspect="equal")
    ax.set_anchor("NW")
    ring = np.vstack([_CORNERS, _CORNERS[:1]])
    ax.plot(*ring.T, color=look.GREY, linewidth=1.2, zorder=2, gid="triangle")
    for corner, name, colour, side in zip(
        _CORNERS, classes, _LETTERS, ("top", "top", "bottom"), strict=True
    ):
        lift = -0.035 if side == "top" else 0.03
        ax.text(
            corner[0],
            corner[1] + lift,
            name,
            ha="center",
            va=side,
            color=colour,
            fontsize=look.FONT_SIZE + 0.5,
            fontweight="bold",
            gid="corner",
        )


def _draw_grid(ax: Axes, cloud: _Cloud, classes: Sequence[str]) -> None:
    """Draw the lines on which one probability is .2, .4, .6 or .8."""
    segments = []
    for k in range(3):
        for level in _LEVELS:
            ends = np.zeros((2, 3))
            ends[:, k] = level
            ends[0, (k + 1) % 3] = ends[1, (k + 2) % 3] = 1 - level
            segments.append(_place(ends))
    ax.add_collection(
        LineCollection(
            segments, colors="#DADADA", linewidths=0.8, zorder=1, label="steps of 0.2", gid="grid"
        ),
        autolim=False,
    )


def _draw_regions(ax: Axes, cloud: _Cloud, classes: Sequence[str]) -> None:
    """Draw from the centre to the middle of each side: there two classes are tied."""
    middles = _place(0.5 * (1 - np.eye(3)))
    centre = _place(np.full((1, 3), 1 / 3))[0]
    ax.add_collection(
        LineCollection(
            [np.stack([centre, middle]) for middle in middles],
            colors=look.GREY,
            linewidths=1.1,
            linestyles=[(0, (4, 3))],
            zorder=1.5,
            label="two classes tied",
            gid="regions",
        ),
        autolim=False,
    )


def _draw_points(ax: Axes, cloud: _Cloud, classes: Sequence[str]) -> None:
    many = len(cloud.stated) > _MANY_POINTS
    plain = 9.0 if many else 36.0 if look.width_in_points(ax) > 170 else 18.0
    size = np.where(np.isnan(cloud.weight), plain, 30 + 150 * cloud.weight)
    across, up = _place(cloud.stated).T
    for k, (colour, marker) in enumerate(_CLASSES):
        rows = cloud.predicted == k
        if not rows.any():
            continue
        ax.scatter(
            across[rows],
            up[rows],
            s=size[rows],
            marker=marker,
            facecolor=colour,
            edgecolor="none" if many else "white",
            linewidth=0.7,
            alpha=0.45 if many else 1.0,
            clip_on=False,
            zorder=4,
            gid=f"points-{k}",
        )
        label = f"predicts {classes[k]}"
        ax.plot([], [], linestyle="none", marker=marker, markersize=7, color=colour, label=label)


def _draw_arrows(ax: Axes, cloud: _Cloud, classes: Sequence[str]) -> None:
    assert cloud.true is not None  # `_chosen` has refused arrows without a truth
    start, end = _place(cloud.stated), _place(cloud.true)
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
        units="dots",
        width=1.7 if len(start) <= 20 else 1.1,
        headwidth=5,
        headlength=6,
        headaxislength=5.2,
        minlength=0,
        minshaft=1.2,
        color=look.INK,
        clip_on=False,
        zorder=3.5,
        gid="arrows",
    )
    arrows.set_in_layout(False)  # its extent is not known before it is drawn
    ax.plot(
        [],
        [],
        linestyle="none",
        marker=r"$\rightarrow$",
        markersize=15,
        color=look.INK,
        label="to the true\nprobabilities",
    )


_DRAW = {
    "grid": _draw_grid,
    "regions": _draw_regions,
    "points": _draw_points,
    "arrows": _draw_arrows,
}
