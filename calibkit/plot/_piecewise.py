"""Fitted maps of straight pieces, with their knots. Lesson 07.

Source 000, figure 5: trapezoids between knots, dotted verticals.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit._links import expit, logit
from calibkit.plot import _scale, look
from calibkit.plot._elements import Truth

FloatVector = NDArray[np.float64]

ELEMENTS = ("filling", "knots", "members", "truth")
_FILLING = "#F7EFD5"
_MEMBER_POINTS = 201


class FittedMap(Protocol):
    """What `piecewise` draws: a fitted calibrator, best a `PiecewiseLinear`."""

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the map as points to draw, with NaN between separate pieces."""

    def curve(self, p: Any) -> FloatVector:
        """Return the map at `p`."""


def piecewise(
    model: FittedMap,
    ax: Axes | None = None,
    *,
    truth: Truth | None = None,
    show: Iterable[str] = ("knots", "truth"),
    scale: str = "linear",
    title: str | None = None,
) -> Axes:
    """Draw a fitted map: its line, its knots with dotted verticals, and the diagonal.

    Parameters
    ----------
    model : PiecewiseLinear
        Fitted; from `calibkit.piecewise`. Other calibrators are drawn too, without knots.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure with a legend when left out.
    truth : callable, optional
        The true map, from predictions to true probabilities (known for fake classifiers).
    show : iterable of {"filling", "knots", "members", "truth"}
        What to draw besides map and diagonal. ``"filling"``: the area below the line, as in
        figure 5 of source 000. ``"members"``: the maps of the folds.
    scale : {"linear", "logit"}
        Axes in probabilities, or stretched so that logits have equal distances: there the
        pieces of PL3 are straight. Stretched axes end at .00075 and .99925.
    title : str, optional
        Title of the figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If an element or scale does not exist.

    See Also
    --------
    compare_maps : several fitted maps on one Axes.
    piece_choice : how the number of pieces was chosen.

    Notes
    -----
    Taught in lesson 07.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.fakes import LogitDistortion
    >>> from calibkit.piecewise import PiecewiseLinear
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> model = PiecewiseLinear(n_pieces=2).fit(sample.y_prob, sample.y_true)
    >>> ax = plot.piecewise(model)
    >>> ax.get_xlabel()
    'predicted probability'
    >>> plt.close(ax.figure)
    """
    names = frozenset(show)
    for name in sorted(names - set(ELEMENTS)):
        raise ValueError(f"show={name!r} does not exist; choose from {ELEMENTS}.")
    _scale.check_scale(scale)
    x, y = _line(model, scale)
    knots = getattr(model, "knots_", None)
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.4, 4.2))
        _scale.frame(ax, ("predicted probability", "observed frequency"), scale)
        if "filling" in names:
            floor = _scale.ends(scale)[0]
            ax.fill_between(x, floor, y, facecolor=_FILLING, linewidth=0, zorder=1, gid="filling")
        if "members" in names:
            _draw_members(ax, model, scale)
        if truth is not None and "truth" in names:
            _draw_truth(ax, truth, scale)
        ax.plot(x, y, color=look.INK, linewidth=1.9, zorder=3.5, label="fitted map", gid="map")
        if knots is not None and "knots" in names:
            _draw_knots(ax, knots, np.asarray(model.curve(knots)), scale)
        if title is not None:
            ax.set_title(title)
        if fresh:
            look.outside_legend(ax)
    look.remember(ax, [_words(knots, scale)])
    return ax


def _line(model: FittedMap, scale: str) -> tuple[FloatVector, FloatVector]:
    x, y = model.polyline()
    if scale == "linear":
        return x, y
    if np.isnan(y).any():
        return _scale.bent(x, y, scale)
    low, high = _scale.ends(scale)
    x = np.union1d(_scale.grid(scale), x[(x > low) & (x < high)])
    return x, _scale.inside(model.curve(x), scale)


def _draw_knots(ax: Axes, knots: FloatVector, heights: FloatVector, scale: str) -> None:
    low, high = _scale.ends(scale)
    # A knot beyond the stretched axes would be drawn where it is not.
    seen = (knots >= low) & (knots <= high) & (heights >= low) & (heights <= high)
    inner = seen.copy()
    inner[[0, -1]] = False
    if inner.any():
        ax.vlines(
            knots[inner],
            low,
            heights[inner],
            color=look.GREY,
            linestyle=":",
            linewidth=1.2,
            zorder=2,
            gid="verticals",
        )
    if not seen.any():  # a line without points would spoil the layout
        return
    ax.plot(
        knots[seen],
        heights[seen],
        linestyle="none",
        marker="o",
        markersize=6,
        markerfacecolor="white",
        markeredgecolor=look.INK,
        markeredgewidth=1.6,
        zorder=4,
        clip_on=False,
        label="knot",
        gid="knots",
    )


def _draw_members(ax: Axes, model: FittedMap, scale: str) -> None:
    members: Sequence[tuple[FloatVector, FloatVector]] = getattr(model, "members_", [])
    in_logits = getattr(model, "space", "probability") == "logit"
    for number, (knots, heights) in enumerate(members):
        x, y = knots, heights
        if in_logits:  # straight between logits, so bent on plain axes
            z = np.linspace(logit(knots[0]), logit(knots[-1]), _MEMBER_POINTS)
            z = np.union1d(z, logit(knots))
            x, y = expit(z), expit(np.interp(z, logit(knots), logit(heights)))
        ax.plot(
            *_scale.bent(x, y, scale),
            color=look.SKY,
            linewidth=0.9,
            zorder=3,
            label="maps of the folds" if number == 0 else None,
            gid="members",
        )


def _draw_truth(ax: Axes, truth: Truth, scale: str) -> None:
    x = _scale.grid(scale)
    ax.plot(
        x,
        _scale.inside(truth(x), scale),
        color=look.TRUTH,
        linestyle=(0, (6, 1.5, 1.2, 1.5)),
        linewidth=2.0,
        zorder=3.4,
        label="true map",
        gid="truth",
    )


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
