"""Costs and regret over all cost ratios. Lesson 13.

Sources: review of calibration notions, source 001 section 4; Murphy curves after Ehm, Gneiting,
Jordan and Krüger (2016).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit.plot import look

if TYPE_CHECKING:
    from calibkit.decisions import MurphyCurve, RegretCurve

FloatVector = NDArray[np.float64]

# Colour and line style of the first, second, ... curve.
_CODES: tuple[tuple[str, Any], ...] = (
    (look.TRUTH, "solid"),
    (look.OVER, (0, (6, 1.5))),
    (look.UNDER, (0, (2.5, 1.2))),
    (look.INK, (0, (6, 1.5, 1.2, 1.5))),
    (look.SKY, (0, (1.2, 1.2))),
)
_GRID = np.linspace(0, 1, 201)


def murphy(
    curves: "MurphyCurve | Mapping[str, MurphyCurve]",
    ax: Axes | None = None,
    *,
    marks: Any = (),
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the mean cost of trusting models for every ratio of costs.

    Parameters
    ----------
    curves : MurphyCurve, or mapping from name to MurphyCurve
        At most five models on the same labels.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    marks : sequence of float
        Thresholds to mark by upright lines, in [0, 1].
    title : str, optional
        Title of the figure.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are no or more than five curves, or their base rates differ.

    Notes
    -----
    Acting in vain costs t and missing 1 - t. The dotted tent is the cost of ignoring the model:
    acting always, or never. Taught in lesson 13.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.decisions import murphy_curve
    >>> ax = plot.murphy(murphy_curve([0, 0, 1, 1], [.1, .4, .3, .8]))
    >>> ax.get_ylabel()
    'mean cost'
    >>> plt.close(ax.figure)
    """
    named = _named(curves, "model")
    rates = [curve.base_rate for curve in named.values()]
    if max(rates) - min(rates) > 1e-12:
        raise ValueError(
            f"the curves have base rates from {min(rates):.4g} to {max(rates):.4g}, so they are "
            "not of the same labels; draw them in two figures."
        )
    first = next(iter(named.values()))
    with look.style():
        ax, fresh = look.axes_or_new(ax, (7.0 if legend is not False else 4.8, 4.0))
        _threshold_frame(ax, "mean cost")
        ax.plot(
            _GRID,
            first.ignoring(_GRID),
            color=look.GREY,
            linestyle=(0, (1, 2)),
            linewidth=1.6,
            zorder=2.2,
            label="ignoring the model",
            gid="ignoring",
        )
        for (name, curve), code in zip(named.items(), _CODES, strict=False):
            x, y = curve.line()
            _draw_line(ax, x, y, code, name)
        ax.set_ylim(bottom=0)
        _finish(ax, marks, title, legend, fresh)
    words = [f"{name}: {curve.describe()}" for name, curve in named.items()]
    look.remember(ax, ["Mean cost of trusting a model, for every ratio of costs.", *words])
    return ax


def regret(
    curves: "RegretCurve | Mapping[str, RegretCurve]",
    ax: Axes | None = None,
    *,
    marks: Any = (),
    bounds: bool = False,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw what trusting models loses against the truth, for every ratio of costs.

    Parameters
    ----------
    curves : RegretCurve, or mapping from name to RegretCurve
        At most five models.
    ax, marks, title, legend
        As in `murphy`.
    bounds : bool, default False
        Whether to draw the calibration error of each model, the bound on its regret.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are no or more than five curves.

    Notes
    -----
    Gains and harms are scaled to B + H = 1. Taught in lesson 13.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.decisions import regret_curve
    >>> ax = plot.regret(regret_curve([.8, .6], [.5, .6]), marks=[.75])
    >>> ax.get_ylabel()
    'regret per prediction'
    >>> plt.close(ax.figure)
    """
    named = _named(curves, "trusting")
    with look.style():
        ax, fresh = look.axes_or_new(ax, (7.0 if legend is not False else 4.8, 4.0))
        _threshold_frame(ax, "regret per prediction")
        for (name, curve), code in zip(named.items(), _CODES, strict=False):
            _draw_line(ax, curve.threshold, curve.regret, code, name)
            if bounds:
                ax.axhline(
                    curve.error,
                    color=code[0],
                    linestyle=(0, (1, 2)),
                    linewidth=1.4,
                    label=f"{name}: calibration error",
                    gid="bound",
                )
        ax.set_ylim(0, max(ax.get_ylim()[1], 0.01))
        _finish(ax, marks, title, legend, fresh)
    words = [f"{name}: {curve.describe()}" for name, curve in named.items()]
    look.remember(ax, ["What trusting loses, for every ratio of costs.", *words])
    return ax


def _named(curves: Any, single: str) -> dict[str, Any]:
    """Return curves by name, one to as many as there are codes."""
    named = dict(curves) if isinstance(curves, Mapping) else {single: curves}
    if not 1 <= len(named) <= len(_CODES):
        raise ValueError(f"{len(named)} curves; draw 1 to {len(_CODES)} in one figure.")
    return named


def _threshold_frame(ax: Axes, label: str) -> None:
    look.dress(ax)
    ax.set_xlim(0, 1)
    ax.set_xticks(np.linspace(0, 1, 6), [f"{tick:.2g}" for tick in np.linspace(0, 1, 6)])
    if look.is_last_row(ax):
        ax.set_xlabel("best threshold t for the costs", fontsize=look.FONT_SIZE)
    if look.is_first_column(ax):
        ax.set_ylabel(label, fontsize=look.FONT_SIZE)


def _draw_line(ax: Axes, x: FloatVector, y: FloatVector, code: tuple[str, Any], name: str) -> None:
    ax.plot(
        x, y, color=code[0], linestyle=code[1], linewidth=2.0, zorder=3, label=name, gid="curve"
    )


def _finish(ax: Axes, marks: Any, title: str | None, legend: bool | None, fresh: bool) -> None:
    for mark in marks:
        ax.axvline(mark, color=look.INK, linestyle=(0, (4, 3)), linewidth=1.0, gid="mark")
    if title is not None:
        ax.set_title(title)
    if legend or (legend is None and fresh):
        look.outside_legend(ax)
