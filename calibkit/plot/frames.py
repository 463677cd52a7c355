"""The frame of a diagram, and the strip of counts below it."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.gridspec import SubplotSpec
from matplotlib.transforms import Bbox

from calibkit.inputs import FloatVector, IntVector
from calibkit.plot import look

MARGIN = 0.025
_DIAGONAL = look.stroke(look.INK, 1.0, (0, (5, 3)))
_STRIP = 0.17  # height of the strip, as a share of the diagram's height
_GAP = 0.06  # space between the two
_LOG_RATIO = 100  # largest over smallest count, from where a linear strip hides the small bins
_DIGIT = 5.75  # width and height of a digit in points, at the size of the printed counts
_LINE = 10.5
_SHRINK = 0.85  # a layout engine may still narrow the Axes when the figure is drawn
_MOST_LOST = 0.62  # share of the strip's height that printed counts may take from the bars


def frame(ax: Axes, words: tuple[str, str]) -> None:
    """Set limits, ticks, labels and aspect, and draw the diagonal."""
    ax.set(xlim=(-MARGIN, 1 + MARGIN), ylim=(-MARGIN, 1 + MARGIN), aspect="equal", anchor="NW")
    ticks = np.linspace(0, 1, 6 if look.width_in_points(ax) > look.SMALL else 3)
    texts = [f"{tick:.2g}" for tick in ticks]
    ax.set_xticks(ticks, texts)
    ax.set_yticks(ticks, texts)
    look.label(ax, *words)
    diagonal(ax, (0, 1))


def diagonal(
    ax: Axes, ends: tuple[float, float], code: Any = _DIAGONAL, zorder: float = 2.2
) -> None:
    """Draw where predictions and frequencies are equal."""
    ax.plot(ends, ends, zorder=zorder, label="perfect calibration", gid="diagonal", **code)


def axis_words(view: str) -> tuple[str, str]:
    """Return what the two axes of a diagram are called, for a view."""
    view = view.removesuffix(", weighted")
    if view == "top-label":
        return "confidence", "accuracy"
    if view.startswith("class "):
        return f"predicted probability of {view}", f"observed frequency of {view}"
    return "predicted probability", "observed frequency"


def make_room(ax: Axes, values: Any) -> None:
    """Let plain axes grow upwards and downwards to a map that leaves [0, 1]."""
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, np.min(values) - MARGIN), max(high, np.max(values) + MARGIN))


class LeaveRoom:
    """Place an Axes in a part of its own cell: shares of it stay free below and to the right.

    What is drawn there is a child of the Axes: constrained and tight layout, equal aspect and
    small multiples then work without further care, and ``figure.axes`` lists diagrams only.
    """

    def __init__(self, ax: Axes, below: float, right: float = 0.0) -> None:
        self.ax, self.below, self.right = ax, below, right
        ax.set_axes_locator(self)  # type: ignore[arg-type]

    def get_subplotspec(self) -> SubplotSpec | None:
        """Return the cell; tight layout asks the locator for it, not the Axes."""
        return self.ax.get_subplotspec()

    def __call__(self, ax: Axes, renderer: object) -> Bbox:
        """Return where the Axes stands in its cell; matplotlib asks for it at every drawing."""
        box = ax.get_position(original=True)
        right, bottom = box.x1 - box.width * self.right, box.y0 + box.height * self.below
        return Bbox.from_extents(box.x0, bottom, right, box.y1)


def add_counts(ax: Axes, edges: FloatVector, count: IntVector) -> None:
    """Draw the counts of the bins in a strip; the diagram's axis label moves down to it."""
    strip = counts_strip(ax, _STRIP, _GAP)
    seen, top = count > 0, float(count.max())
    left, right, height = edges[:-1][seen], edges[1:][seen], count[seen]
    rotation, room = _form_of_numbers(ax, right - left, len(str(count.max())))
    log = rotation is None and bool(top > _LOG_RATIO * height.min())
    base = 0.5 if log else 0.0
    rim = 0.8 if len(count) <= look.MANY_BINS else 0.0
    code = look.area("#8C8C8C", "white", rim, zorder=2, gid="counts")
    look.boxes(strip, (left, right), (base, height), **code)
    move_label(ax, strip)
    strip.set_yscale("log" if log else "linear")
    if rotation is None:
        ticks = [1.0 if log else 0.0, top]
        strip.set_yticks(ticks, [f"{tick:.0f}" for tick in ticks])
    else:
        strip.set_yticks([])
        tops, texts = ((left + right) / 2, height), map(str, height.tolist())
        print_above(strip, tops, texts, gid="count", rotation=rotation)
    strip.set_ylim(base, base * (top / base) ** (1 + room) if log else top * (1 + room))
    strip.set_yticks([], minor=True)
    # Strips side by side may differ in scale, so each logarithmic one says so.
    lines = ["count"] * (log or look.is_first_column(ax)) + ["(log)"] * log
    strip.set_ylabel("\n".join(lines), fontsize=look.FONT_SIZE)


def _form_of_numbers(ax: Axes, width: FloatVector, digits: int) -> tuple[int | None, float]:
    """Return how the counts fit over their bars, upright rather than turned, or None.

    Rotation in degrees, and the room above the bars as a share of them.
    """
    points = look.width_in_points(ax) * _SHRINK
    narrowest, length = float(width.min()) * points * 0.95, digits * _DIGIT
    for rotation, across, up in ((0, length + 2, _LINE), (90, _LINE, length)):
        lost = (up + 4) / (_STRIP * points)
        if across <= narrowest and lost <= _MOST_LOST:
            return rotation, lost / (1 - lost)
    return None, 0.08


def move_label(ax: Axes, strip: Axes) -> None:
    """Let a strip carry the ticks and the label of the diagram above it."""
    strip.set_xlabel(ax.get_xlabel(), fontsize=look.FONT_SIZE)
    ax.xaxis.label.set_visible(False)
    ax.tick_params(labelbottom=False)
    strip.tick_params(labelbottom=True)


def counts_strip(ax: Axes, height: float, gap: float, right: float = 0.0) -> Axes:
    """Return an empty strip for counts below a diagram, which leaves room for it.

    Height and gap are shares of the diagram's height, `right` one of its cell's width.
    """
    LeaveRoom(ax, (height + gap) / (1 + height + gap), right)
    strip = ax.inset_axes((0, -height - gap, 1, height), sharex=ax)
    look.set_frame(strip, grid=None)
    strip.set_label("counts")
    return strip


def print_above(
    ax: Axes, tops: look.Points, texts: Iterable[str], *, gid: str, rotation: int = 0
) -> None:
    """Print numbers above the tops of their bars."""
    for x, y, text in zip(*tops, texts, strict=True):
        ax.annotate(
            text,
            (x, y),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            rotation=rotation,
            fontsize=9,
            color=look.INK,
            gid=gid,
        )
