"""What all figures share, here and in the lessons: colours, frame, legend, words.

Nothing here changes ``matplotlib.rcParams`` for good. `style` is a context manager, and what an
Axes shows when it is drawn later (ticks, grid, frame) is set on that Axes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

# Okabe and Ito's colour-blind-safe palette. Each colour also has a second code, stated here.
OVER = "#D55E00"  # vermilion, solid, hatched ////: predictions above the frequency
UNDER = "#0072B2"  # blue, dashed, hatched ....: predictions below the frequency
TRUTH = "#007A5A"  # bluish green, darkened for thin lines; dash-dotted
SKY = "#56B4E9"
INK = "#1A1A1A"
GREY = "#595959"
PALE = "#E4EDF5"
BAND = "#999999"

AnyFigure = Figure | SubFigure
Points = tuple[NDArray[np.float64], NDArray[np.float64]]

FONT_SIZE = 9.5
DPI = 100
_LEGEND_ROOM = 2.0  # inches beside a fresh figure

_STYLE: dict[Any, Any] = {
    "figure.facecolor": "white",
    "figure.dpi": DPI,
    "savefig.facecolor": "white",
    "savefig.dpi": "figure",
    "savefig.bbox": None,
    "axes.facecolor": "white",
    "font.family": "sans-serif",
    "font.size": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "axes.titlesize": FONT_SIZE + 1,
    "xtick.labelsize": FONT_SIZE,
    "ytick.labelsize": FONT_SIZE,
    "legend.fontsize": FONT_SIZE,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "hatch.linewidth": 0.8,
    "lines.solid_capstyle": "butt",
    "lines.dash_capstyle": "butt",
}

_words: WeakKeyDictionary[Axes, str] = WeakKeyDictionary()


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of calibkit; the rcParams that it sets are restored afterwards.

    Only those: ``matplotlib.rc_context`` would also undo what a backend sets when it is loaded
    by the first figure, and a notebook would then not show any figure.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> before = mpl.rcParams["font.size"]
    >>> with style():
    ...     inside = mpl.rcParams["font.size"]
    >>> inside, mpl.rcParams["font.size"] == before
    (9.5, True)
    """
    before = {name: mpl.rcParams[name] for name in _STYLE}
    mpl.rcParams.update(_STYLE)
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


def dress(ax: Axes, *, grid: str | None = "both") -> None:
    """Give an Axes the light frame and grid of all figures."""
    ax.tick_params(
        labelsize=FONT_SIZE, color=GREY, labelcolor=INK, length=3, width=0.8, which="major"
    )
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
) -> Iterator[Axes]:
    """Hold the skeleton of a figure: frame first; labels, title and legend when it is drawn.

    `size` is that of a fresh figure without legend, `words` label the axes across and up. A
    fresh figure gets a legend unless `legend` is False, a given `ax` only where it is True.

    Examples
    --------
    >>> with drawing(None, (4, 3), words=("days", "hits"), title="Record") as ax:
    ...     _ = ax.plot([0, 1], label="a")
    >>> ax.get_xlabel(), ax.get_ylabel(), ax.get_title(), len(ax.get_legend().get_texts())
    ('days', 'hits', 'Record', 1)
    >>> plt.close(ax.figure)
    """
    fresh = ax is None
    with style():
        if ax is None:
            room = 0 if legend is False else _LEGEND_ROOM
            _, ax = plt.subplots(figsize=(size[0] + room, size[1]), layout="constrained")
        dress(ax, grid=grid)
        yield ax
        if words[0] and is_last_row(ax):
            ax.set_xlabel(words[0], fontsize=FONT_SIZE)
        if words[1] and is_first_column(ax):
            ax.set_ylabel(words[1], fontsize=FONT_SIZE)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            outside_legend(ax)


def chosen(
    show: Iterable[str] | None,
    elements: Iterable[str],
    default: Iterable[str],
    given: Mapping[str, bool],
) -> frozenset[str]:
    """Return which elements to draw; `given` says which optional data there are, by element.

    Raises
    ------
    ValueError
        If `show` names an unknown element, or one whose data are not given.
    """
    if show is None:
        extra = {name for name, is_given in given.items() if is_given}
        return (frozenset(default) - set(given)) | extra
    names, known = frozenset([show] if isinstance(show, str) else show), frozenset(elements)
    unknown = sorted(map(str, names - known))
    if unknown:
        options = ", ".join(sorted(known))
        raise ValueError(f"show has no element {', '.join(map(repr, unknown))}; choose: {options}.")
    for name, is_given in given.items():
        if name in names and not is_given:
            raise ValueError(f'show asks for "{name}", but {name}= was not given; pass {name}=….')
    return names


def draw_truth(ax: Axes, across: Any, up: Any, *, label: str = "true map") -> None:
    """Draw what is true, in the one code that all figures give it."""
    ax.plot(
        across,
        np.asarray(up, dtype=np.float64),
        color=TRUTH,
        linewidth=2.0,
        linestyle=(0, (6, 1.5, 1.2, 1.5)),
        zorder=3.4,
        label=label,
        gid="truth",
    )


def paths(*points: Points) -> list[NDArray[np.float64]]:
    """Return one path per bin: each argument gives the same corner of all of them."""
    corners = [np.stack(point, axis=-1) for point in points]
    return list(np.stack(corners, axis=1))


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
        Its Axes were drawn by functions of `calibkit.plot`. Use ``layout="constrained"``, so
        that the figure makes room.
    columns : int, optional
        Entries per row; as many as fit when left out.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, axes = plt.subplots(1, 2, layout="constrained")
    >>> _ = axes[0].plot([0, 1], label="a"), axes[1].plot([1, 0], label="a")
    >>> legend(figure)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['a']
    >>> plt.close(figure)
    """
    handles: dict[str, Any] = {}
    for ax in figure.get_axes():
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
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


def _columns_that_fit(figure: AnyFigure, labels: Iterable[str]) -> int:
    """Return the number of legend columns for the figure's width, by the length of the labels."""
    longest = max((max(map(len, label.split("\n"))) for label in labels), default=1)
    column = longest * 0.56 * FONT_SIZE + 4.5 * FONT_SIZE
    width = figure.bbox.width / figure.dpi * 72
    return max(1, int(width // column))


def remember(ax: Axes, sentences: Iterable[str]) -> None:
    """Keep the words that say what an Axes shows, for `alt_text`."""
    _words[ax] = " ".join(sentence.strip() for sentence in sentences if sentence)


def alt_text(drawn: Axes | AnyFigure | Sequence[Axes]) -> str:
    """Say in words what a drawn figure shows: the text for readers who do not see it.

    Parameters
    ----------
    drawn : matplotlib Axes, Figure, SubFigure, or sequence of Axes
        Drawn by functions of `calibkit.plot`.

    Returns
    -------
    str
        One paragraph, built from the ``describe()`` of the results that were drawn.

    Raises
    ------
    ValueError
        If nothing there was drawn by calibkit.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot, reliability_table
    >>> table = reliability_table([0, 1, 1, 1], [.2, .3, .8, .9], bins=2)
    >>> ax = plot.reliability(table)
    >>> plot.alt_text(ax).startswith("Reliability diagram")
    True
    >>> plt.close(ax.figure)
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
