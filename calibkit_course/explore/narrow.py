"""A figure for a telephone: the same panels below each other, and one legend below them all.

Panels are put into as few columns as the width holds, long words into more lines; nothing is
computed or drawn again, for the artists are those of the figure.
"""

import itertools
import re
import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import GridSpec

WIDTH = 4.0  # inches, 400 pixels of a telephone: letters of 9.5 points are 11 pixels high or more
LETTER = 0.53 * 9.5 / 72  # inches: what a letter takes on average
KEY = 0.5  # inches of a legend's entry beside its words
BESIDE = 0.9  # inches of a panel left and right of its frame, and of what a title needs more
TALLEST = 3.6  # inches of one panel
LONG = 20  # letters of a line beside an upright axis

Panel = Any  # Axes or SubFigure: where they stand is not public


def narrow(figure: Figure) -> None:
    """Put the panels of a figure below each other; its canvas must be that of a PNG."""
    engine: Any = figure.get_layout_engine()
    if engine:  # the last number of an axis reaches beyond it
        engine.set(w_pad=0.07)
    figure.set_dpi(100)
    entries = gathered(figure)
    figure.set_size_inches(WIDTH, stack(figure) + legend_below(figure, entries))
    figure.draw_without_rendering()
    settle(figure)


def stack(part: Panel) -> float:
    """Put panels into as few columns as the width holds; return the inches of height they need."""
    panels: list[Panel] = [panel for panel in part.subfigs or part.axes if spec_of(panel)]
    columns, places = places_of(part, panels)
    shares = [WIDTH * (place[1].stop - place[1].start) / columns for place in places]
    label_all(panels)
    sizes = [size_of(*pair) for pair in zip(panels, shares, strict=True)]
    rows: dict[int, list[tuple[float, float]]] = {}
    for (row, _), size in zip(places, sizes, strict=True):
        rows.setdefault(row, []).append(size)
    inner = [max(inside for inside, _ in row) for row in rows.values()]
    grid = GridSpec(len(rows), columns, figure=part, height_ratios=inner)
    for panel, place in zip(panels, places, strict=True):
        move(panel, grid[place])
    return sum(inner) + sum(max(around for _, around in row) for row in rows.values())


def places_of(part: Panel, panels: list[Panel]) -> tuple[int, list[tuple[int, slice]]]:
    """Return how many columns there are, and row and columns of each panel.

    Inside a state of an explorer panels stand in pairs, but of three or more only square ones.
    """
    fitting = int(1.03 * WIDTH / min(cell_width(part, panel) for panel in panels))
    columns = min(2, len(panels)) if isinstance(part, SubFigure) else max(1, fitting)
    whole = columns if isinstance(part, SubFigure) and len(panels) > columns else 1
    places, row, start = [], 0, 0
    for panel in panels:
        span = whole if isinstance(panel, Axes) and panel.get_aspect() == "auto" else 1
        if start + span > columns:
            row, start = row + 1, 0
        places.append((row, slice(start, start + span)))
        start += span
    return columns, places


def spec_of(panel: Panel) -> Any:
    """Return where a panel stands in its grid; the bar of colours beside it has no such place."""
    return panel.get_subplotspec() if isinstance(panel, Axes) else panel._subplotspec


def move(panel: Panel, spec: Any) -> None:
    """Give a panel another place."""
    if isinstance(panel, Axes):
        panel.set_subplotspec(spec)
    else:
        panel._subplotspec = spec
        panel._redo_transform_rel_fig()


def cell_width(part: Panel, panel: Panel) -> float:
    """Return the inches across that the grid leaves to a panel."""
    spec = spec_of(panel)
    ratios = np.array(spec.get_gridspec().get_width_ratios() or [1] * spec.get_gridspec().ncols)
    share = ratios[spec.colspan.start : spec.colspan.stop].sum() / ratios.sum()
    return float(part.bbox.width / 100 * share)


def label_all(panels: list[Panel]) -> None:
    """Name the axes of each panel: those of small multiples are named at the edges alone."""
    axes: list[Any] = [panel for panel in panels if isinstance(panel, Axes)]
    for ax in axes:
        spec = ax.get_subplotspec()
        for other in axes:
            place = other.get_subplotspec()
            if (
                place.rowspan == spec.rowspan
                and not ax.get_ylabel()
                and alike(ax.yaxis, other.yaxis)
            ):
                ax.set_ylabel(other.get_ylabel())
            if (
                place.colspan == spec.colspan
                and not ax.get_xlabel()
                and alike(ax.xaxis, other.xaxis)
            ):
                ax.set_xlabel(other.get_xlabel())
        if ax.yaxis.get_visible() and any(map(shows_ticks, axes)):
            ax.tick_params(labelleft=True)


def alike(one: Axis, other: Axis) -> bool:
    """Tell whether two axes have the same limits, as small multiples have."""
    return bool(np.allclose(one.get_view_interval(), other.get_view_interval()))


def shows_ticks(ax: Axes) -> bool:
    """Tell whether numbers stand beside the upright axis."""
    return any(tick.label1.get_visible() and tick.label1.get_text() for tick in ax.yaxis.majorTicks)


def size_of(panel: Panel, width: float) -> tuple[float, float]:
    """Return the inches of height that a panel needs inside its frame, and around it."""
    if isinstance(panel, SubFigure):
        return stack(panel), 0.0
    names = panel.yaxis.get_tightbbox()
    room = width - max(BESIDE, names.width / 100 + 0.2 if names else 0)
    break_lines(panel, max(12, int(room / LETTER)))
    box, tight = panel.get_window_extent(), panel.get_tightbbox()
    beside = max(0.5, (tight.width - box.width) / 100)
    inside = box.height / 100
    if panel.get_aspect() != "auto":
        inside *= (width - beside) * 100 / box.width
    lines = panel.get_title().count("\n") + 1.5
    return min(inside, TALLEST), max((tight.height - box.height) / 100, 0.5) + 0.17 * lines


def break_lines(ax: Panel, letters: int) -> None:
    """Break titles, names of axes and long names of ticks into lines."""
    for text in (ax.title, ax._left_title, ax.xaxis.label):
        text.set_text(broken(text.get_text(), letters))
    ax.yaxis.label.set_text(broken(ax.get_ylabel(), 38))
    words = [tick.get_text() for tick in ax.get_yticklabels()]
    if any(len(word) > LONG and "$" not in word for word in words):
        ax.set_yticks(ax.get_yticks(), [broken(word, LONG) for word in words])


def broken(text: str, letters: int) -> str:
    """Return a text in lines of at most so many letters, without those that it had."""
    if "$" in text or max(map(len, text.split("\n"))) <= letters:
        return text
    return textwrap.fill(text, letters, break_long_words=False)


def gathered(figure: Figure) -> dict[str, Any]:
    """Take away the legends that stand beside or below panels; return their entries by name."""
    entries: dict[str, Any] = {}
    legends = list(figure.legends)
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend and legend.get_window_extent().x1 > ax.get_window_extent().x1 + 4:
            legends.append(legend)
    for legend in legends:
        words = [text.get_text() for text in legend.get_texts()]
        entries |= dict(zip(words, legend.legend_handles, strict=True))
        legend.remove()
    return entries


def legend_below(figure: Figure, entries: dict[str, Any]) -> float:
    """Put one legend below all panels; return the inches that it needs."""
    if not entries:
        return 0.0
    words = [broken(word, int((WIDTH - KEY) / LETTER)) for word in entries]
    longest = max(len(line) for word in words for line in word.split("\n"))
    columns = max(1, int(WIDTH / (longest * LETTER + KEY)))
    look: dict[str, Any] = {
        "loc": "outside lower center",
        "frameon": False,
        "handlelength": 1.8,
        "fontsize": 9.5,
    }
    figure.legend(list(entries.values()), words, ncols=columns, **look)
    rows = [words[first : first + columns] for first in range(0, len(words), columns)]
    return 0.3 + sum(0.19 * max(word.count("\n") + 1 for word in row) for row in rows)


def settle(figure: Figure) -> None:
    """Break what runs out of the figure; thin out or turn the words below an axis that meet."""
    for ax in figure.axes:
        for text in ax.texts:
            box = text.get_window_extent()
            if box.x1 > 100 * WIDTH:
                text.set_text(broken(text.get_text(), int((WIDTH - box.x0 / 100) / LETTER)))
        labels = [label for label in ax.get_xticklabels() if label.get_text()]
        boxes = [label.get_window_extent() for label in labels]
        if all(left.x1 + 3 < right.x0 for left, right in itertools.pairwise(boxes)):
            continue
        texts = [label.get_text() for label in ax.get_xticklabels()]
        if all(re.fullmatch(r"[-−+.,/\d %]*", text) for text in texts):
            ax.set_xticks(ax.get_xticks()[::2], texts[::2])
        else:
            ax.tick_params(axis="x", labelrotation=90)
