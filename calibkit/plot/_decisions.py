"""Costs and net benefit over all thresholds.

Murphy curves after Ehm, Gneiting, Jordan and Krüger (2016), decision curves after Vickers and
Elkin (2006).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.decisions import DecisionCurve, MurphyCurve, decision_threshold
from calibkit.decisions.costs import stakes
from calibkit.plot import look

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
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    costs : array-like of shape (2, 2), pair of float, mapping or str, optional
        Prices, as `calibkit.decisions.policy_cost` takes them. The curves are drawn in this unit,
        and their threshold is marked: there stands what a false positive and a false negative at
        these prices cost per prediction. By default both prices sum to 1.
    marks : sequence of float
        Thresholds to mark by upright lines, in [0, 1].
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
    cost of ignoring the model: acting always, or never. Lesson 13.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.decisions import murphy_curve
    >>> from calibkit.fakes import LogitDistortion
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> ax = plot.murphy(murphy_curve(sample.y_true, sample.y_prob))
    >>> ax.get_ylabel()
    'mean cost (prices sum to 1)'
    """
    named, total = _named(curves, "base_rate"), 1.0
    if costs is not None:
        total, marks = sum(stakes(costs)), [*marks, decision_threshold(costs)]
    words = ("best threshold t for the costs", f"mean cost (prices sum to {total:g})")
    with _over_thresholds(ax, words, title, legend) as ax:
        tent, dots = next(iter(named.values())).ignoring(_GRID), _dots(2.2)
        ax.plot(_GRID, total * tent, label="ignoring the model", gid="ignoring", **dots)
        for (name, curve), code in zip(named.items(), look.CODES, strict=False):
            x, y = curve.line()
            ax.plot(x, total * y, label=name, gid="curve", linewidth=2.0, zorder=3, **code)
        for mark in marks:
            ax.axvline(mark, gid="mark", **look.stroke(look.INK, 1.0, (0, (4, 3))))
        ax.set_ylim(bottom=0)
    unit = f"Mean cost of trusting a model, for every ratio of costs that sum to {total:g}."
    look.remember(ax, [unit, *_sentences(named)])
    return ax


def decision_curve(
    curves: DecisionCurve | Mapping[str, DecisionCurve],
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the net benefit of models, of treating all, and of treating none.

    Parameters
    ----------
    curves : DecisionCurve, or mapping from name to DecisionCurve
        At most five models on the same labels.
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
        If there are no or more than five curves, or their prevalences differ.

    Notes
    -----
    Below a quarter of the prevalence under 0 the figure ends: there, treating none is better by
    far. Lesson 13.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.decisions import decision_curve
    >>> from calibkit.fakes import LogitDistortion
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> ax = plot.decision_curve(decision_curve(sample.y_true, sample.y_prob))
    >>> ax.get_ylabel()
    'net benefit (right treatments per prediction)'
    """
    named = _named(curves, "prevalence")
    first, top = next(iter(named.values())), max(c.net_benefit.max() for c in named.values())
    words = ("threshold t from which on to treat", "net benefit (right treatments per prediction)")
    with _over_thresholds(ax, words, title, legend) as ax:
        ax.plot(first.threshold, first.treat_all, label="treat all", gid="all", **_dots())
        ax.axhline(0, label="treat none", gid="none", **look.stroke(look.GREY, 1.2))
        for (name, curve), code in zip(named.items(), look.CODES, strict=False):
            line = curve.threshold, curve.net_benefit
            ax.plot(*line, label=name, gid="curve", linewidth=2.0, zorder=3, **code)
        ax.set_ylim(-first.prevalence / 4, 1.08 * max(top, first.prevalence))
    heading = "Net benefit over thresholds, beside treating all and none."
    look.remember(ax, [heading, *_sentences(named)])
    return ax


def _named(curves: Any, rate: str) -> dict[str, Any]:
    """Return the curves by name; all must have the same rate of events."""
    named = dict(curves) if isinstance(curves, Mapping) else {"model": curves}
    if not 1 <= len(named) <= len(look.CODES):
        raise ValueError(f"{len(named)} curves; draw 1 to {len(look.CODES)} in one figure.")
    rates = [getattr(curve, rate) for curve in named.values()]
    if max(rates) - min(rates) > 1e-12:
        raise ValueError(
            f"the curves have {rate.replace('_', ' ')}s from {min(rates):.4g} to "
            f"{max(rates):.4g}, so they are not of the same labels; draw them in two figures."
        )
    return named


def _sentences(named: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {curve.describe()}" for name, curve in named.items()]


def _dots(zorder: float = 2.0) -> dict[str, Any]:
    return look.stroke(look.GREY, 1.6, (0, (1, 2)), zorder=zorder)


@contextmanager
def _over_thresholds(
    ax: Axes | None, words: tuple[str, str], title: str | None, legend: bool | None
) -> Iterator[Axes]:
    """Hold a figure over all thresholds from 0 to 1."""
    ticks = np.linspace(0, 1, 6)
    with look.drawing(ax, (4.8, 4.0), words=words, title=title, legend=legend, room=2.2) as ax:
        ax.set_xlim(0, 1)
        ax.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
        yield ax
