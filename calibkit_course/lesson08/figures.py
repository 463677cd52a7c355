"""Several binnings of the same predictions, tested side by side. Lesson 08."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from calibkit.hypothesis_tests import TestBasedError
from calibkit.plot import look
from calibkit.plot.look import Truth
from calibkit.results import spell
from calibkit_course.lesson08.diagram import acceptance_region

_GRID = 201


def compare_bins(
    errors: Mapping[str, TestBasedError], *, truth: Truth | None = None
) -> tuple[Axes, ...]:
    """Draw what several binnings accept and reject, in panels side by side."""
    size = (3.3 * len(errors), 3.9)
    with look.style():
        figure, axes = plt.subplots(
            1, len(errors), figsize=size, layout="constrained", squeeze=False
        )
        for ax, (name, error) in zip(axes.flat, errors.items(), strict=True):
            _draw_panel(ax, name, error, truth)
        look.legend(figure)
    return tuple(axes.flat)


def _draw_panel(ax: Axes, name: str, error: TestBasedError, truth: Truth | None) -> None:
    labels = "predicted probability", "probability"
    with look.drawing(ax, (0, 0), words=labels, title=name):
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks((0, 0.5, 1), ("0", "0.5", "1"))
        _draw_boxes(ax, error)
        _draw_predictions(ax, error)
        if truth is not None:
            grid = np.linspace(0, 1, _GRID)
            look.draw_truth(ax, grid, truth(grid))
    used = int(error.table.occupied.sum())
    words = f"{spell(used, 'bin')}, {100 * error.value:.1f} % rejected"
    ax.text(0.03, 0.97, words.replace(", ", "\n"), transform=ax.transAxes, va="top", gid="words")
    look.remember(ax, [f"{words}.", error.describe()])


def _draw_boxes(ax: Axes, error: TestBasedError) -> None:
    table, (low, high) = error.table, acceptance_region(error)
    seen = table.occupied
    left, right = table.edges[:-1][seen], table.edges[1:][seen]
    low, high, height = low[seen], high[seen], table.frequency[seen]
    look.boxes(
        ax,
        (left, right),
        (low, high),
        facecolors=look.PALE,
        edgecolors="#8FA9BF",
        linewidths=0.7,
        zorder=1.3,
        label="accepted by the test",
        gid="acceptance",
    )
    look.lines(
        ax,
        (left, height),
        (right, height),
        colors=look.INK,
        linewidths=1.6,
        zorder=2.2,
        label="frequency of the events",
        gid="frequency",
    )


def _draw_predictions(ax: Axes, error: TestBasedError) -> None:
    verdict = error.verdicts[0]
    kinds = (
        (~verdict.rejected, look.UNDER, 3.0, "prediction, accepted", "accepted"),
        (verdict.rejected, look.OVER, 4.4, "prediction, rejected", "rejected"),
    )
    for rows, color, size, label, gid in kinds:
        code = look.marker("o", size, 0, label=label, gid=gid, zorder=2.6, clip_on=True)
        look.points(ax, verdict.prob[rows], verdict.prob[rows], color, **code)
