"""The explorer *best by what*: a target, an evaluator, a network, and who is picked. Lesson 11."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson11.best import ALL, TARGETS, Picks, best_by_view, networks, table

_WIDTH = 0.36


def _shares(view: Picks, ax: Axes) -> None:
    """Draw how often each calibrator is best, and how often it is picked."""
    place = np.arange(len(view.calibrators))
    kinds = (("is best", view.best, "under"), ("is picked", view.picked, "over"))
    with look.drawing(ax, (4, 3), words=("share of draws", ""), grid="x") as ax:
        for (label, share, sign), up in zip(kinds, (0, _WIDTH), strict=True):
            box = (np.zeros_like(share), share), (place + up - _WIDTH, place + up)
            look.boxes(ax, *box, **look.AREAS[sign], label=label, gid=f"{sign}-share")
        ax.set_yticks(place, view.calibrators)
        ax.set(xlim=(0, 1), ylim=(len(place) - 0.5, -0.6))
    look.remember(ax, [view.describe()])


def _rightly(view: Picks, ax: Axes) -> None:
    """Draw the share of right picks of all evaluators; whiskers are two standard errors."""
    with look.drawing(ax, (4, 3), words=("share of right picks", ""), grid="x") as ax:
        for place, name in enumerate(view.evaluators):
            mine = name == view.evaluator
            reach = 2 * np.nan_to_num(view.error[place])
            code: dict[str, Any] = {
                "color": look.OVER if mine else look.INK,
                "marker": "D" if mine else "o",
            }
            ax.errorbar(view.right[place], place, xerr=reach, gid="evaluator", **code)
        chance = 1 / len(view.calibrators)
        ax.axvline(chance, color=look.GREY, linestyle=":", label="blind guess", gid="chance")
        ax.set_yticks(range(len(view.evaluators)), view.evaluators)
        ax.set(xlim=(0, 1), ylim=(len(view.evaluators) - 0.5, -0.6))
    look.remember(ax, [view.describe()])


def _draw(view: Picks, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2)
    _shares(view, axes[0])
    _rightly(view, axes[1])


def _controls() -> tuple[Choice | Slider, ...]:
    """Return the controls; what they offer stands in the stored table."""
    targets, asked, sizes = tuple(TARGETS), tuple(table()["evaluators"]), tuple(table()["sizes"])
    return (
        Choice("target", "Best means", targets, default="left", book=targets, texts=TARGETS),
        Choice("evaluator", "Asked", asked, default=asked[0], book=asked),
        Choice("network", "Network", (ALL, *networks()), default=ALL, texts={ALL: "all networks"}),
        Slider("n", "Test set", sizes, default=sizes[-1], book=sizes, unit="rows"),
    )


def best_by(**defaults: Any) -> Explorer[Picks]:
    """Return the explorer: what "best" means, who is asked, and which network is cloned."""
    return Explorer(
        name="best-by",
        title="Best by what?",
        controls=_controls(),
        view=best_by_view,
        draw=_draw,
        presets=(
            ("error left, log loss is asked", {}),
            ("error left, PL3 is asked", {"evaluator": "PL3"}),
            ("expected log loss, log loss is asked", {"target": "log_loss"}),
            ("expected log loss, PL3 is asked", {"target": "log_loss", "evaluator": "PL3"}),
        ),
        size=(8.3, 3.9),
        cell=(6.8, 3.1),
    ).starting_at(**defaults)
