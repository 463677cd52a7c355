"""The strip of raw counts below a reliability diagram."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.gridspec import SubplotSpec
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from calibkit.plot import look
from calibkit.reliability import BinTable

_STRIP = 0.17  # height of the strip, as a share of the diagram's height
_GAP = 0.06  # space between the two
_LOG_RATIO = 100  # largest over smallest count, from where a linear strip hides the small bins
_DIGIT = 5.75  # width and height of a digit in points, at the size of the printed counts
_LINE = 10.5
_SHRINK = 0.85  # a layout engine may still narrow the Axes when the figure is drawn
_MOST_LOST = 0.62  # share of the strip's height that printed counts may take from the bars


class _LeaveRoom:
    """Place an Axes in the upper part of its own cell, so that the strip fits below it.

    The strip is a child of the Axes: constrained and tight layout, equal aspect and small
    multiples then work without further care, and ``figure.axes`` lists diagrams only.
    """

    def __init__(self, ax: Axes) -> None:
        self.ax = ax

    def get_subplotspec(self) -> SubplotSpec | None:
        """Return the cell; tight layout asks the locator for it, not the Axes."""
        return self.ax.get_subplotspec()

    def __call__(self, ax: Axes, renderer: object) -> Bbox:
        box = ax.get_position(original=True)
        lost = box.height * (_STRIP + _GAP) / (1 + _STRIP + _GAP)
        return Bbox.from_extents(box.x0, box.y0 + lost, box.x1, box.y1)


def add_counts(ax: Axes, table: BinTable) -> Axes:
    """Draw the strip and return it; the diagram's axis label moves down to it."""
    ax.set_axes_locator(_LeaveRoom(ax))  # type: ignore[arg-type]
    strip = ax.inset_axes((0, -_STRIP - _GAP, 1, _STRIP), sharex=ax)
    look.dress(strip, grid=None)
    strip.set_label("counts")
    printed = _form_of_numbers(ax, table)
    log = printed is None and _needs_log(table.count)
    base, top = (0.5, float(table.count.max())) if log else (0.0, float(table.count.max()))
    _draw_bars(strip, table, base)
    _move_label(ax, strip)
    strip.set_yscale("log" if log else "linear")
    room = 0.08 if printed is None else printed.room
    strip.set_ylim(base, base * (top / base) ** (1 + room) if log else top * (1 + room))
    if printed is None:
        ticks = [1.0, top] if log else [0.0, top]
        strip.set_yticks(ticks, [f"{tick:.0f}" for tick in ticks])
    else:
        strip.set_yticks([])
        _print_counts(strip, table, printed.rotation)
    strip.set_yticks([], minor=True)
    # Strips side by side may differ in scale, so each logarithmic one says so.
    lines = ["count"] * look.is_first_column(ax) + ["(log)"] * log
    strip.set_ylabel("\n".join(lines), fontsize=look.FONT_SIZE)
    return strip


@dataclass(frozen=True, slots=True)
class _Printed:
    """How counts are printed: rotation in degrees, and room for them as a share of the bars."""

    rotation: int
    room: float


def _form_of_numbers(ax: Axes, table: BinTable) -> _Printed | None:
    """Return how the counts fit over their bars, upright rather than turned, or None."""
    points = look.width_in_points(ax) * _SHRINK
    narrowest = float(table.width[table.occupied].min()) * points * 0.95
    length = len(str(table.count.max())) * _DIGIT
    for rotation, across, up in ((0, length + 2, _LINE), (90, _LINE, length)):
        lost = (up + 4) / (_STRIP * points)
        if across <= narrowest and lost <= _MOST_LOST:
            return _Printed(rotation, lost / (1 - lost))
    return None


def _needs_log(count: NDArray[np.intp]) -> bool:
    seen = count[count > 0]
    return bool(seen.max() > _LOG_RATIO * seen.min())


def _draw_bars(strip: Axes, table: BinTable, base: float) -> None:
    seen = table.occupied
    left, right, top = table.edges[:-1][seen], table.edges[1:][seen], table.count[seen]
    floor = np.full(len(top), base)
    corners = [(left, floor), (left, top), (right, top), (right, floor)]
    strip.add_collection(
        PolyCollection(
            look.paths(*corners),
            facecolors="#8C8C8C",
            edgecolors="white",
            linewidths=0.8 if table.n_bins <= 40 else 0.0,
            zorder=2,
            gid="counts",
        ),
        autolim=False,
    )


def _move_label(ax: Axes, strip: Axes) -> None:
    strip.set_xlabel(ax.get_xlabel(), fontsize=look.FONT_SIZE)
    ax.xaxis.label.set_visible(False)
    ax.tick_params(labelbottom=False)
    strip.tick_params(labelbottom=True)


def _print_counts(strip: Axes, table: BinTable, rotation: int) -> None:
    for centre, count in zip(table.centre, table.count.tolist(), strict=True):
        if count > 0:
            strip.annotate(
                str(count),
                (centre, count),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                rotation=rotation,
                fontsize=9,
                color=look.INK,
                gid="count",
            )
