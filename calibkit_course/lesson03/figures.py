"""A program on trial; accuracy against error, and where no classifier can be. Lesson 03.

Source: Panchenko (2021), section 7 (Lemma 1); the sharper bound for under-confidence is our own.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patheffects import withStroke

from calibkit.inputs import as_choice, as_count
from calibkit.plot import look
from calibkit_course.lesson03.view import FactoryView

_BOUND = {
    "over": "over-confident classifiers stay below 1 - accuracy",
    "under": "under-confident ones stay below accuracy - 1/K",
}


def accuracy_error(
    points: Mapping[str, Any] | None = None,
    *,
    n_classes: int,
    direction: str = "over",
    ax: Axes | None = None,
) -> Axes:
    """Draw classifiers in the plane of accuracy and expected calibration error."""
    n_classes = as_count(n_classes, "n_classes", minimum=2)
    as_choice(direction, "direction", _BOUND)
    places = {name: _place(name, point) for name, point in (points or {}).items()}
    words = ("accuracy", "expected calibration error")
    with look.drawing(ax, (4.8, 4.2), words=words) as ax:
        _frame(ax, n_classes)
        _draw_wedge(ax, n_classes, direction)
        _draw_general_bound(ax, n_classes)
        _draw_points(ax, places, n_classes)
    look.remember(ax, _sentences(places, n_classes, direction))
    return ax


def trial(view: FactoryView, ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw what the bank's program reports of a fake, against its true error."""
    true, said = view.truth.expected, view.reported
    words = ("true ECE", "the program reports")
    with look.drawing(ax, (4.2, 4.2), words=words, title=title, legend=False) as ax:
        top = 0.9 if view.fake.direction == "under" else 0.45  # no share leaves it
        ticks = np.arange(3) * top / 2.25
        ax.set(xlim=(-0.02 * top, top), ylim=(-0.02 * top, top), aspect="equal")
        ax.set(xticks=ticks, yticks=ticks)
        ax.set_ylabel(words[1])  # in every column
        ax.plot(
            [0, top], [0, top], label="a true report", **look.stroke(look.GREY, 1.5, (0, (5, 3)))
        )
        look.points(ax, true, said, markersize=9, gid="trial")
    look.remember(ax, [f"Of a true ECE of {true:.3f} the program reports {said:.3f}."])
    return ax


def same_counts(axes: Iterable[Axes]) -> None:
    """Give the strips of counts below several diagrams one linear scale, so that they compare."""
    diagrams = np.ravel(np.asarray(axes))
    strips = [s for ax in diagrams for s in ax.child_axes if s.get_label() == "counts"]
    bars = [(s, b) for s in strips for b in s.collections if b.get_gid() == "counts"]
    top = max(float(path.vertices[:, 1].max()) for _, b in bars for path in b.get_paths())
    for strip in strips:
        strip.set_yscale("linear")
        strip.set_ylim(0, 1.08 * top)
        strip.set_yticks([0, top], ["0", f"{top:,.0f}"])
        if strip.get_ylabel():
            strip.set_ylabel("count" if look.is_first_column(strip) else "")


def _place(name: str, point: Any) -> tuple[float, float]:
    if hasattr(point, "accuracy") and hasattr(point, "expected"):
        point = point.accuracy, point.expected
    try:
        accuracy, error = (float(value) for value in point)
    except (TypeError, ValueError):
        raise ValueError(
            f"Point {name!r} must be a pair (accuracy, error), or a result with the attributes "
            f"accuracy and expected; got {point!r}."
        ) from None
    if not (0 <= accuracy <= 1 and 0 <= error <= 1):
        raise ValueError(f"Point {name!r} = ({accuracy:g}, {error:g}) must lie in [0, 1].")
    return accuracy, error


def _frame(ax: Axes, n_classes: int) -> None:
    ax.set(xlim=(1 / n_classes - 0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_yticks(np.linspace(0, 1, 6), [f"{tick:.2g}" for tick in np.linspace(0, 1, 6)])
    inner = [tick / 10 for tick in range(2, 11, 2) if tick / 10 > 1 / n_classes + 0.07]
    ax.set_xticks([1 / n_classes, *inner], [f"1/{n_classes}", *(f"{t:.2g}" for t in inner)])


def _draw_wedge(ax: Axes, n_classes: int, side: str) -> None:
    low, room, top = 1 / n_classes, 1 - 1 / n_classes, 1.02
    is_over = side == "over"
    left, right = (room, 0.0) if is_over else (0.0, room)
    color = look.OVER if is_over else look.UNDER
    ax.add_collection(
        PolyCollection(
            [np.array([(low, left), (1, right), (1, top), (low, top)])],
            facecolors="#F6D3BD66" if is_over else "#C4DDEE66",
            edgecolors=color,
            hatch="///" if is_over else "...",
            linewidths=0.0,
            zorder=1.0,
            label=f"impossible if always\n{side}-confident",
            gid=f"wedge-{side}",
        ),
        autolim=False,
    )
    ax.plot(
        [low, 1],
        [left, right],
        color=color,
        linestyle="solid" if is_over else (0, (5, 2)),
        linewidth=2.0,
        zorder=3,
        label="1 − accuracy" if is_over else "accuracy − 1/K",
        gid=f"bound-{side}",
    )


def _draw_general_bound(ax: Axes, n_classes: int) -> None:
    low = 1 / n_classes
    ax.plot(
        [low, 1],
        [1 - low / n_classes, 1 - low],
        color=look.GREY,
        linestyle=(0, (1.2, 1.4)),
        linewidth=1.8,
        zorder=3,
        label="1 − accuracy/K\n(any classifier)",
        gid="bound-any",
    )


def _draw_points(ax: Axes, places: Mapping[str, tuple[float, float]], n_classes: int) -> None:
    middle = (1 + 1 / n_classes) / 2
    for name, (accuracy, error) in places.items():
        code = look.marker("o", 7, 1.0, zorder=5, gid="point")
        look.points(ax, accuracy, error, **code)
        to_right = accuracy < middle
        ax.annotate(
            name,
            (accuracy, error),
            xytext=(8 if to_right else -8, 5),
            textcoords="offset points",
            ha="left" if to_right else "right",
            va="bottom",
            fontsize=look.FONT_SIZE,
            color=look.INK,
            path_effects=[withStroke(linewidth=3.5, foreground="white")],
            zorder=4.5,
            gid="name",
        )


def _sentences(places: Mapping[str, tuple[float, float]], n_classes: int, side: str) -> list[str]:
    words = [
        f"Plane of accuracy and expected calibration error for {n_classes} classes, with the "
        f"impossible region hatched: {_BOUND[side]}."
    ]
    words += [
        f"{name}: accuracy {accuracy:.3f}, error {error:.3f}."
        for name, (accuracy, error) in places.items()
    ]
    return words
