"""Costs and regret over all cost ratios. Lesson 13.

Review of notions of calibration, section 4; Murphy curves after Ehm, Gneiting, Jordan and
Krüger (2016).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.decisions import MurphyCurve, RegretCurve
from calibkit.decisions.costs import decision_threshold, stakes
from calibkit.plot import look

# Colour and line style of the first, second, ... curve.
CODES: tuple[tuple[str, Any], ...] = (
    (look.TRUTH, "solid"),
    (look.OVER, (0, (6, 1.5))),
    (look.UNDER, (0, (2.5, 1.2))),
    (look.INK, (0, (6, 1.5, 1.2, 1.5))),
    (look.SKY, (0, (1.2, 1.2))),
)
_GRID = np.linspace(0, 1, 201)


def murphy(
    curves: MurphyCurve | Mapping[str, MurphyCurve],
    ax: Axes | None = None,
    *,
    costs: Any = None,
    marks: Any = (),
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the mean cost of trusting models for every ratio of costs.

    Parameters
    ----------
    curves : MurphyCurve, or mapping from name to MurphyCurve
        At most five models on the same labels.
    costs : array-like of shape (2, 2), pair of float, mapping or str, optional
        Prices, as `calibkit.decisions.policy_cost` takes them. The curves are drawn in this unit,
        and their threshold is marked: there stands what a false positive and a false negative at
        these prices cost per prediction. By default both prices sum to 1.
    marks : sequence of float
        Thresholds to mark by upright lines, in [0, 1].
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    title : str, optional
        What stands above the diagram.
    legend : bool, optional
        Whether with a legend to the right; left out, on a fresh figure only.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Raises
    ------
    ValueError
        If there are no or more than five curves, or their base rates differ.

    Notes
    -----
    Acting in vain costs t and missing 1 - t, times the sum of the prices. The dotted tent is the
    cost of ignoring the model: acting always, or never. Taught in lessons 13 and 14.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.decisions import murphy_curve
    >>> ax = plot.murphy(murphy_curve([0, 0, 1, 1], [.1, .4, .3, .8]))
    >>> ax.get_ylabel()
    'mean cost (prices sum to 1)'
    """
    named = named_curves(curves, "model", "base_rate")
    first = next(iter(named.values()))
    total = 1.0
    if costs is not None:
        total, marks = sum(stakes(costs)), [*marks, decision_threshold(costs)]
    label = f"mean cost (prices sum to {total:g})"
    with over_thresholds(ax, label, marks, title, legend) as ax:
        tent, dots = total * first.ignoring(_GRID), look.stroke(look.GREY, 1.6, (0, (1, 2)))
        ax.plot(_GRID, tent, zorder=2.2, label="ignoring the model", gid="ignoring", **dots)
        for (name, curve), (color, dashes) in zip(named.items(), CODES, strict=False):
            (x, y), code = curve.line(), look.stroke(color, 2.0, dashes)
            ax.plot(x, total * y, label=name, gid="curve", zorder=3, **code)
        ax.set_ylim(bottom=0)
    words = [f"{name}: {curve.describe()}" for name, curve in named.items()]
    unit = f"Mean cost of trusting a model, for every ratio of costs that sum to {total:g}."
    look.remember(ax, [unit, *words])
    return ax


def regret(
    curves: RegretCurve | Mapping[str, RegretCurve],
    ax: Axes | None = None,
    *,
    marks: Any = (),
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw what trusting models loses against the truth, for every ratio of costs.

    Parameters
    ----------
    curves : RegretCurve, or mapping from name to RegretCurve
        At most five models.
    marks : sequence of float
        Thresholds to mark by upright lines, in [0, 1].
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    title : str, optional
        What stands above the diagram.
    legend : bool, optional
        Whether with a legend to the right; left out, on a fresh figure only.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Raises
    ------
    ValueError
        If there are no or more than five curves.

    Notes
    -----
    Gains and harms are scaled to B + H = 1. Taught in lesson 13.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.decisions import regret_curve
    >>> ax = plot.regret(regret_curve([.8, .6], [.5, .6]), marks=[.75])
    >>> ax.get_ylabel()
    'regret per prediction'
    """
    named = named_curves(curves, "trusting")
    with over_thresholds(ax, "regret per prediction", marks, title, legend) as ax:
        for (name, curve), (color, dashes) in zip(named.items(), CODES, strict=False):
            code = look.stroke(color, 2.0, dashes)
            ax.plot(curve.threshold, curve.regret, label=name, gid="curve", zorder=3, **code)
        ax.set_ylim(0, max(ax.get_ylim()[1], 0.01))
    words = [f"{name}: {curve.describe()}" for name, curve in named.items()]
    look.remember(ax, ["What trusting loses, for every ratio of costs.", *words])
    return ax


def named_curves(curves: Any, single: str, rate: str = "") -> dict[str, Any]:
    """Return the curves by name; the name of a single one is `single`, and all share their `rate`.

    Raises
    ------
    ValueError
        If there are no curves, too many to tell apart, or they are not of the same labels.
    """
    named = dict(curves) if isinstance(curves, Mapping) else {single: curves}
    if not 1 <= len(named) <= len(CODES):
        raise ValueError(f"{len(named)} curves; draw 1 to {len(CODES)} in one figure.")
    rates = [getattr(curve, rate, 0.0) for curve in named.values()]
    if max(rates) - min(rates) > 1e-12:
        raise ValueError(
            f"the curves have {rate.replace('_', ' ')}s from {min(rates):.4g} to "
            f"{max(rates):.4g}, so they are not of the same labels; draw them in two figures."
        )
    return named


@contextmanager
def over_thresholds(
    ax: Axes | None, label: str, marks: Any, title: str | None, legend: bool | None
) -> Iterator[Axes]:
    """Hold a figure over all thresholds, some of them marked."""
    words, ticks = ("best threshold t for the costs", label), np.linspace(0, 1, 6)
    with look.drawing(ax, (4.8, 4.0), words=words, title=title, legend=legend, room=2.2) as ax:
        ax.set_xlim(0, 1)
        ax.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
        yield ax
        for mark in marks:
            ax.axvline(mark, gid="mark", **look.stroke(look.INK, 1.0, (0, (4, 3))))
