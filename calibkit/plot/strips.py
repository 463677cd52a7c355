"""Strips beside a diagram: the room they need, and the raw counts below a diagram of bins."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.gridspec import SubplotSpec
from matplotlib.transforms import Bbox

from calibkit.inputs import FloatVector, IntVector
from calibkit.plot import look

_STRIP = 0.17  # height of the strip, as a share of the diagram's height
_GAP = 0.06  # space between the two
_LOG_RATIO = 100  # largest over smallest count, from where a linear strip hides the small bins
_DIGIT = 5.75  # width and height of a digit in points, at the size of the printed counts
_LINE = 10.5
_SHRINK = 0.85  # a layout engine may still narrow the Axes when the figure is drawn
_MOST_LOST = 0.62  # share of the strip's height that printed counts may take from the bars


class LeaveRoom:
    """Place an Axes in a part of its own cell: shares of it stay free below and to the right.

    What is drawn there is a child of the Axes: constrained and tight layout, equal aspect and
    small multiples then work without further care, and ``figure.axes`` lists diagrams only.
    """

    def __init__(self, ax: Axes, below: float, right: float = 0.0) -> None:
        self.ax, self.below, self.right = ax, below, right
        ax.set_axes_locator(self)  # type: ignore[arg-type]

    @classmethod
    def of(cls, ax: Axes) -> "LeaveRoom":
        """Return the room that an Axes leaves, to change it."""
        locator: Any = ax.get_axes_locator()
        assert isinstance(locator, cls)  # something beside the Axes was drawn
        return locator

    def get_subplotspec(self) -> SubplotSpec | None:
        """Return the cell; tight layout asks the locator for it, not the Axes."""
        return self.ax.get_subplotspec()

    def __call__(self, ax: Axes, renderer: object) -> Bbox:
        """Return where the Axes stands in its cell; matplotlib asks for it at every drawing."""
        box = ax.get_position(original=True)
        right, bottom = box.x1 - box.width * self.right, box.y0 + box.height * self.below
        return Bbox.from_extents(box.x0, bottom, right, box.y1)


def add_counts(ax: Axes, edges: FloatVector, count: IntVector) -> Axes:
    """Draw the strip and return it; the diagram's axis label moves down to it."""
    LeaveRoom(ax, (_STRIP + _GAP) / (1 + _STRIP + _GAP))
    strip = counts_strip(ax, _STRIP, _GAP)
    seen, top = count > 0, float(count.max())
    printed = _form_of_numbers(ax, np.diff(edges)[seen], len(str(count.max())))
    log = printed is None and bool(top > _LOG_RATIO * count[seen].min())
    base = 0.5 if log else 0.0
    look.boxes(
        strip,
        (edges[:-1][seen], edges[1:][seen]),
        (np.full(seen.sum(), base), count[seen]),
        zorder=2,
        gid="counts",
        **look.area("#8C8C8C", "white", 0.8 if len(count) <= look.MANY_BINS else 0.0),
    )
    move_label(ax, strip)
    strip.set_yscale("log" if log else "linear")
    if printed is None:
        room, ticks = 0.08, [1.0, top] if log else [0.0, top]
        strip.set_yticks(ticks, [f"{tick:.0f}" for tick in ticks])
    else:
        rotation, room = printed
        strip.set_yticks([])
        middle, texts = ((edges[:-1] + edges[1:]) / 2)[seen], map(str, count[seen].tolist())
        print_above(strip, (middle, count[seen]), texts, gid="count", rotation=rotation)
    strip.set_ylim(base, base * (top / base) ** (1 + room) if log else top * (1 + room))
    strip.set_yticks([], minor=True)
    # Strips side by side may differ in scale, so each logarithmic one says so.
    lines = ["count"] * look.is_first_column(ax) + ["(log)"] * log
    strip.set_ylabel("\n".join(lines), fontsize=look.FONT_SIZE)
    return strip


def _form_of_numbers(ax: Axes, width: FloatVector, digits: int) -> tuple[int, float] | None:
    """Return how the counts fit over their bars, upright rather than turned, or None.

    Rotation in degrees, and the room that they take as a share of the bars.
    """
    points = look.width_in_points(ax) * _SHRINK
    narrowest, length = float(width.min()) * points * 0.95, digits * _DIGIT
    for rotation, across, up in ((0, length + 2, _LINE), (90, _LINE, length)):
        lost = (up + 4) / (_STRIP * points)
        if across <= narrowest and lost <= _MOST_LOST:
            return rotation, lost / (1 - lost)
    return None


def move_label(ax: Axes, strip: Axes) -> None:
    """Let a strip carry the ticks and the label of the diagram above it."""
    strip.set_xlabel(ax.get_xlabel(), fontsize=look.FONT_SIZE)
    ax.xaxis.label.set_visible(False)
    ax.tick_params(labelbottom=False)
    strip.tick_params(labelbottom=True)


def counts_strip(ax: Axes, height: float, gap: float) -> Axes:
    """Return an empty strip for counts; height and gap are shares of the diagram's height."""
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
