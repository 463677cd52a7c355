"""Fitted maps of straight pieces, with their knots.

Kängsepp, Valk and Kull (2022), figure 5: trapezoids between knots, dotted verticals.
"""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes

from calibkit.calibrators import Calibrator
from calibkit.inputs import FloatVector, expit, logit
from calibkit.plot import look
from calibkit_course import logit_axes

ELEMENTS = ("filling", "knots", "members", "truth")
_MEMBER_POINTS = 201


def draw_map(
    model: Calibrator,
    ax: Axes | None = None,
    *,
    truth: look.Truth | None = None,
    show: Iterable[str] = ("knots", "truth"),
    scale: str = "linear",
    title: str | None = None,
) -> Axes:
    """Draw a fitted map: its line, its knots with dotted verticals, and the diagonal.

    `show` names what to draw besides map and diagonal, out of `ELEMENTS`: ``"filling"`` is the
    area below the line, ``"members"`` are the maps of the folds. On axes of scale ``"logit"`` the
    pieces of PL3 are straight. Other calibrators are drawn too, without knots.
    """
    names = look.select(show, ELEMENTS, ())
    logit_axes.check_scale(scale)
    x, y = logit_axes.fitted_line(*model.polyline(), model.curve, scale)
    knots = getattr(model, "knots_", None)
    with look.drawing(ax, (4.4, 4.2), title=title) as ax:
        logit_axes.frame(ax, ("predicted probability", "observed frequency"), scale)
        if "filling" in names:
            floor = logit_axes.ends(scale)[0]
            code = look.area(look.FILLED, width=0)
            ax.fill_between(x, floor, y, zorder=1, gid="filling", **code)
        if "members" in names:
            _draw_members(ax, model, scale)
        if truth is not None and "truth" in names:
            logit_axes.draw_truth(ax, truth, scale)
        ax.plot(x, y, color=look.INK, linewidth=1.9, zorder=3.5, label="fitted map", gid="map")
        if knots is not None and "knots" in names:
            _draw_knots(ax, knots, np.asarray(model.curve(knots)), scale)
    look.remember(ax, [_words(knots, scale)])
    return ax


def _draw_knots(ax: Axes, knots: FloatVector, heights: FloatVector, scale: str) -> None:
    low, high = logit_axes.ends(scale)
    # A knot beyond the stretched axes would be drawn where it is not.
    seen = (knots >= low) & (knots <= high) & (heights >= low) & (heights <= high)
    inner = seen.copy()
    inner[[0, -1]] = False
    if inner.any():
        code = look.stroke(look.GREY, 1.2, ":", zorder=2, gid="verticals")
        ax.vlines(knots[inner], low, heights[inner], **code)
    if not seen.any():  # a line without points would spoil the layout
        return
    code = {"markersize": 6, "markeredgewidth": 1.6, "label": "knot", "gid": "knots"}
    look.points(ax, knots[seen], heights[seen], "white", look.INK, **code)


def _draw_members(ax: Axes, model: Calibrator, scale: str) -> None:
    in_logits = getattr(model, "space", "probability") == "logit"
    for number, (knots, heights) in enumerate(getattr(model, "members_", [])):
        x, y = knots, heights
        if in_logits:  # straight between logits, so bent on plain axes
            z = np.linspace(logit(knots[0]), logit(knots[-1]), _MEMBER_POINTS)
            z = np.union1d(z, logit(knots))
            x, y = expit(z), expit(np.interp(z, logit(knots), logit(heights)))
        label = None if number else "maps of the folds"
        code = look.stroke(look.SKY, 0.9, zorder=3, gid="members")
        ax.plot(*logit_axes.polyline(x, y, scale), label=label, **code)


def _words(knots: FloatVector | None, scale: str) -> str:
    where = "" if scale == "linear" else " on logit axes"
    frame = "predicted probability across, observed frequency up"
    if knots is None:
        return f"Fitted map{where}, {frame}."
    n_pieces = len(knots) - 1
    inner = ", ".join(f"{knot:.3f}" for knot in knots[1:-1])
    return (
        f"Fitted map of {n_pieces} piece{'' if n_pieces == 1 else 's'}{where}, {frame}"
        f"{f'; inner knots at {inner}' if inner else ''}."
    )
