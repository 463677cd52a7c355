"""What all figures share, here and in the lessons: colours, frame, legend, words.

Nothing here changes ``matplotlib.rcParams`` for good. `style` is a context manager, and what an
Axes shows when it is drawn later (ticks, grid, frame) is set on that Axes.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from calibkit.inputs import FloatMatrix, FloatVector

# Okabe and Ito's colour-blind-safe palette. Each colour also has a second code, stated here.
OVER = "#D55E00"  # vermilion, solid, hatched ////: predictions above the frequency
UNDER = "#0072B2"  # blue, dashed, hatched ....: predictions below the frequency
TRUTH = "#007A5A"  # bluish green, darkened for thin lines; dash-dotted
SKY = "#56B4E9"
INK = "#1A1A1A"
GREY = "#595959"
PALE = "#E4EDF5"
BAND = "#999999"
FILLED = "#F7EFD5"  # below a map

# Over- and under-estimates, as lines and as areas.
SIGNS: dict[str, dict[str, Any]] = {
    "over": {"colors": OVER, "linestyles": "solid"},
    "under": {"colors": UNDER, "linestyles": [(0, (1.6, 0.7))]},
}
AREAS: dict[str, dict[str, Any]] = {
    "over": {"facecolor": "#F6D3BD", "edgecolor": OVER, "hatch": "////"},
    "under": {"facecolor": "#C4DDEE", "edgecolor": UNDER, "hatch": "...."},
}
# Colour and line style of the first, second, ... curve.
CODES: tuple[dict[str, Any], ...] = (
    {"color": TRUTH, "linestyle": "solid"},
    {"color": OVER, "linestyle": (0, (6, 1.5))},
    {"color": UNDER, "linestyle": (0, (2.5, 1.2))},
    {"color": INK, "linestyle": (0, (6, 1.5, 1.2, 1.5))},
    {"color": SKY, "linestyle": (0, (1.2, 1.2))},
)
ROUNDING = 1e-12  # a smaller gap is rounding, not an over- or under-estimate
SMALL = 170  # width in points up to which a panel shows less
MANY_BINS = 40  # from here on, lines and points get thinner

Line = tuple[FloatVector, FloatVector]  # across and up
Points = Sequence[NDArray[Any]]
Truth = Callable[[FloatVector], ArrayLike]
AnyFigure = Figure | SubFigure

FONT_SIZE = 9.5
DPI = 100

_SIZES = ("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize")
_STYLE: dict[Any, Any] = {
    **dict.fromkeys(("figure.facecolor", "savefig.facecolor", "axes.facecolor"), "white"),
    **dict.fromkeys(_SIZES, FONT_SIZE),
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), GREY),
    **dict.fromkeys(("lines.solid_capstyle", "lines.dash_capstyle"), "butt"),
    "figure.dpi": DPI,
    "savefig.dpi": "figure",
    "savefig.bbox": None,
    "font.family": "sans-serif",
    "axes.titlesize": FONT_SIZE + 1,
    "hatch.linewidth": 0.8,
}

# The settings belong to the process: of two threads, the second would restore those of the first.
_ALONE = threading.RLock()


@contextmanager
def style(settings: Any = _STYLE) -> Iterator[None]:
    """Draw in the style of calibkit; the rcParams that it sets are restored afterwards.

    Only those: ``matplotlib.rc_context`` would undo what a notebook's backend sets when it loads.

    Parameters
    ----------
    settings : mapping, the rcParams to set with their values

    Examples
    --------
    >>> with style({"font.size": 7.0}):
    ...     mpl.rcParams["font.size"]
    7.0
    """
    with _ALONE:
        before = {name: mpl.rcParams[name] for name in settings}
        mpl.rcParams.update(settings)
        try:
            yield
        finally:
            mpl.rcParams.update(before)


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> tuple[Axes, bool]:
    """Return an Axes and whether it had to be made (call inside `style`)."""
    if ax is not None:
        return ax, False
    _, fresh = plt.subplots(figsize=size, layout="constrained")
    return fresh, True


def set_frame(ax: Axes, *, grid: str | None = "both") -> None:
    """Give an Axes the light frame and grid of all figures."""
    ax.tick_params(length=3, width=0.8, labelsize=FONT_SIZE, color=GREY, labelcolor=INK)
    ax.tick_params(which="minor", length=0)
    for name, spine in ax.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set_color(GREY)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(visible=True, axis=grid, color="#E3E3E3", linewidth=0.8)  # type: ignore[arg-type]


@contextmanager
def drawing(
    ax: Axes | None,
    size: tuple[float, float],
    *,
    words: tuple[str, str] = ("", ""),
    title: str | None = None,
    legend: bool | None = None,
    grid: str | None = "both",
    room: float = 2.0,
) -> Iterator[Axes]:
    """Hold the skeleton of a figure: frame and labels first; title and legend when it is drawn.

    `size` is that of a fresh figure without legend, `room` the inches that a legend adds, `words`
    label the axes across and up. A fresh figure gets a legend unless `legend` is False, a given
    `ax` only where it is True.

    Examples
    --------
    >>> with drawing(None, (4, 3), words=("days", "hits"), title="Record") as ax:
    ...     _ = ax.plot([0, 1], label="a")
    >>> ax.get_xlabel(), ax.get_ylabel(), ax.get_title(), len(ax.get_legend().get_texts())
    ('days', 'hits', 'Record', 1)
    """
    width = size[0] + (0 if legend is False else room)
    with style():
        ax, fresh = axes_or_new(ax, (width, size[1]))
        set_frame(ax, grid=grid)
        label(ax, *words)
        yield ax
        if title is not None:
            ax.set_title(title)
        wanted = fresh if legend is None else legend
        if wanted and ax.get_legend_handles_labels()[1]:
            outside_legend(ax)


def select(
    show: Iterable[str] | None,
    elements: Collection[str],
    default: Collection[str],
    missing: Mapping[str, str] | None = None,
) -> frozenset[str]:
    """Return which elements to draw; `missing` are those without data, with what to do about it.

    ValueError if `show` names an unknown element, or one that is missing.
    """
    missing = missing or {}
    if show is None:
        return frozenset(default) - frozenset(missing)
    names = frozenset([show] if isinstance(show, str) else show)
    unknown = ", ".join(sorted(repr(name) for name in names if name not in elements))
    if unknown:
        options = ", ".join(sorted(elements))
        raise ValueError(f"show has no element {unknown}; choose: {options}.")
    for name in sorted(names & frozenset(missing)):
        raise ValueError(f'show asks for "{name}", which is not known here; {missing[name]}.')
    return names


def heading(kind: str, elements: Mapping[str, str], names: Collection[str]) -> str:
    """Say what kind of figure it is and which elements it shows, for `remember`."""
    drawn = ", ".join([words for name, words in elements.items() if name in names])
    return f"{kind}{' with ' if drawn else ''}{drawn}."


def stroke(color: str, width: float, dashes: Any = "solid", **more: Any) -> dict[str, Any]:
    """Return the code of a line, as `plot`, `axvline` and their kind take it."""
    return {"color": color, "linewidth": width, "linestyle": dashes, **more}


def area(face: str, edge: str = "none", width: float = 0.8, **more: Any) -> dict[str, Any]:
    """Return the code of an area, as `boxes`, `polygons` and `axhspan` take it."""
    return {"facecolor": face, "edgecolor": edge, "linewidth": width, **more}


def marker(shape: str, size: float, rim: float = 0.8, **more: Any) -> dict[str, Any]:
    """Return the code of a marker, as `points` takes it."""
    return {"marker": shape, "markersize": size, "markeredgewidth": rim, **more}


def points(
    ax: Axes, across: Any, up: Any, face: str = INK, edge: str = "white", **code: Any
) -> None:
    """Draw points that are not cut off at the frame."""
    look = {"linestyle": "none", "marker": "o", "clip_on": False, "zorder": 4}
    colours = {"markerfacecolor": face, "markeredgecolor": edge, "markeredgewidth": 0.8}
    ax.plot(across, up, **{**look, **colours, **code})


def strip(ax: Axes, low: float, high: float, label: str) -> None:
    """Shade what counts as good."""
    ax.axhspan(low, high, zorder=1, label=label, gid="strip", **area(PALE, "#8FA9BF"))


def draw_truth(ax: Axes, across: Any, up: Any, *, label: str = "true map") -> None:
    """Draw what is true (values, or a map of `across`) in the one code that all figures give it."""
    true = np.asarray(up(across) if callable(up) else up, dtype=np.float64)
    code = stroke(TRUTH, 2.0, (0, (6, 1.5, 1.2, 1.5)))
    ax.plot(across, true, zorder=3.4, label=label, gid="truth", **code)


def label(ax: Axes, across: str, up: str, on: Axes | None = None) -> None:
    """Label the axes (or those of a strip `on` them); of small multiples only the outer ones."""
    labelled = on or ax
    if across and is_last_row(ax):
        labelled.set_xlabel(across, fontsize=FONT_SIZE)
    if up and is_first_column(ax):
        labelled.set_ylabel(up, fontsize=FONT_SIZE)


def boxes(ax: Axes, across: Sequence[Any], up: Sequence[Any], **code: Any) -> None:
    """Draw one rectangle per bin, from left to right and from bottom to top."""
    left, right, bottom, top = np.broadcast_arrays(*across, *up)
    polygons(ax, (left, bottom), (left, top), (right, top), (right, bottom), **code)


def polygons(ax: Axes, *corners: Points, **code: Any) -> None:
    """Draw one polygon per bin; limits stay as they are."""
    ax.add_collection(PolyCollection(paths(*corners), **code), autolim=False)


def lines(ax: Axes, start: Points, end: Points, **code: Any) -> None:
    """Draw one line per bin; limits stay as they are."""
    ax.add_collection(LineCollection(paths(start, end), **code), autolim=False)


def signs(distance: FloatVector) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return where a map lies below the diagonal ("over") and above; NaN is neither."""
    rows = {"over": distance < -ROUNDING, "under": distance > ROUNDING}
    return [(sign, found) for sign, found in rows.items() if found.any()]


def paths(*points: Points) -> list[FloatMatrix]:
    """Return one path per bin: each argument gives the same corner of all of them."""
    return list(np.array(points, dtype=np.float64).transpose(2, 0, 1))


def is_first_column(ax: Axes) -> bool:
    """Tell whether nothing stands to the left of this Axes in its grid."""
    spec = ax.get_subplotspec()
    return spec is None or spec.is_first_col()


def is_last_row(ax: Axes) -> bool:
    """Tell whether nothing stands below this Axes in its grid."""
    spec = ax.get_subplotspec()
    return spec is None or spec.is_last_row()


def width_in_points(ax: Axes) -> float:
    """Return the width of an Axes in points (1/72 inch), as laid out now."""
    figure = ax.get_figure()
    assert figure is not None  # an Axes that is drawn on belongs to a figure
    ax.apply_aspect()
    return float(ax.get_window_extent().width / figure.dpi * 72)


def outside_legend(ax: Axes) -> None:
    """Put the legend to the right of an Axes, where no data lie."""
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0,
        frameon=False,
        fontsize=FONT_SIZE,
        labelcolor=INK,
        handlelength=1.8,
    )


def legend(figure: AnyFigure, *, columns: int | None = None) -> None:
    """Draw one legend for all Axes of a figure, below them.

    Parameters
    ----------
    figure : matplotlib Figure or SubFigure
        With ``layout="constrained"``, so that it makes room.
    columns : int, optional
        Entries per row; as many as fit when left out.

    Examples
    --------
    >>> figure, axes = plt.subplots(1, 2, layout="constrained")
    >>> _ = axes[0].plot([0, 1], label="a"), axes[1].plot([1, 0], label="a")
    >>> legend(figure)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['a']
    >>> plt.close(figure)
    """
    handles: dict[str, Any] = {}
    for ax in figure.get_axes():
        for handle, text in zip(*ax.get_legend_handles_labels(), strict=True):
            is_area = isinstance(handle, PolyCollection)
            handles.setdefault(text, _as_patch(handle) if is_area else handle)
    with style():
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=columns or _columns_that_fit(figure, handles),
            frameon=False,
            borderpad=0.9,
            handlelength=1.8,
        )


def _as_patch(handle: Any) -> Patch:
    """Return a handle that matplotlib < 3.10 can put into the legend of a parent figure."""
    face = next(iter(handle.get_facecolor()), "none")
    edge = next(iter(handle.get_edgecolor()), "none")
    width = float(handle.get_linewidth()[0])
    return Patch(hatch=handle.get_hatch(), **area(face, edge, width))


def _columns_that_fit(figure: AnyFigure, labels: Iterable[str]) -> int:
    """Return the number of legend columns for the figure's width, by the length of the labels."""
    longest = max(map(len, "\n".join(labels).split("\n")))
    column = longest * 0.56 * FONT_SIZE + 4.5 * FONT_SIZE
    width = figure.bbox.width / figure.dpi * 72
    return max(1, int(width // column))


_words: WeakKeyDictionary[Axes, str] = WeakKeyDictionary()


def remember(ax: Axes, sentences: Iterable[str]) -> None:
    """Keep the words that say what an Axes shows, for `alt_text`."""
    _words[ax] = " ".join(filter(None, map(str.strip, sentences)))


def alt_text(drawn: Axes | AnyFigure | Sequence[Axes]) -> str:
    """Say in words what a drawn figure shows: the text for readers who do not see it.

    It is one paragraph, built from the ``describe()`` of the results that were drawn.

    Parameters
    ----------
    drawn : matplotlib Axes, Figure, SubFigure, or sequence of Axes
        Drawn by functions of `calibkit.plot`; ValueError if nothing there was.

    Examples
    --------
    >>> from calibkit import plot, reliability_table
    >>> ax = plot.reliability(reliability_table([0, 1, 1, 1], [.2, .3, .8, .9], bins=2))
    >>> plot.alt_text(ax).startswith("Reliability diagram")
    True
    """
    if isinstance(drawn, Axes):
        axes: Sequence[Axes] = [drawn]
    elif isinstance(drawn, Figure | SubFigure):
        axes = drawn.get_axes()
    else:
        axes = list(drawn)
    known = [(ax.get_title().replace("\n", " "), _words[ax]) for ax in axes if ax in _words]
    if not known:
        raise ValueError("nothing here was drawn by calibkit.plot, so there are no words for it.")
    if len(known) == 1:
        return known[0][1]
    return " ".join(
        f"Panel {number}{f' ({title})' if title else ''}: {words}"
        for number, (title, words) in enumerate(known, start=1)
    )
