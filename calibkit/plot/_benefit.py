"""Net benefit over all thresholds, beside treating all and none. Lesson 13."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from calibkit.decisions import DecisionCurve
from calibkit.plot import look
from calibkit.plot._decisions import CODES, named_curves, over_thresholds


def decision_curve(
    curves: DecisionCurve | Mapping[str, DecisionCurve],
    ax: Axes | None = None,
    *,
    band: bool = False,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the net benefit of models, of treating all, and of treating none.

    Parameters
    ----------
    curves : DecisionCurve, or mapping from name to DecisionCurve
        At most five models on the same labels.
    band : bool
        Whether to shade the interval of each threshold.
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
    far.

    Examples
    --------
    >>> from calibkit import plot
    >>> from calibkit.decisions import decision_curve
    >>> ax = plot.decision_curve(decision_curve([0, 0, 1, 1], [.1, .4, .3, .8]))
    >>> ax.get_ylabel()
    'net benefit (right treatments per prediction)'
    """
    named = named_curves(curves, "model", "prevalence")
    words = "net benefit (right treatments per prediction)"
    with over_thresholds(ax, words, (), title, legend) as ax:
        look.label(ax, "threshold t from which on to treat", "")
        first = next(iter(named.values()))
        dots = look.stroke(look.GREY, 1.6, (0, (1, 2)))
        ax.plot(first.threshold, first.treat_all, label="treat all", gid="all", **dots)
        ax.axhline(0, label="treat none", gid="none", **look.stroke(look.GREY, 1.2))
        for (name, curve), (color, dashes) in zip(named.items(), CODES, strict=False):
            code = look.stroke(color, 2.0, dashes)
            ax.plot(curve.threshold, curve.net_benefit, label=name, gid="curve", zorder=3, **code)
            if band:
                ends = (curve.low, curve.high)
                ax.fill_between(curve.threshold, *ends, gid="band", **look.area(color), alpha=0.2)
        top = max(float(np.max(curve.net_benefit)) for curve in named.values())
        ax.set_ylim(-first.prevalence / 4, 1.08 * max(top, first.prevalence))
    said = [f"{name}: {curve.describe()}" for name, curve in named.items()]
    look.remember(ax, ["Net benefit over thresholds, beside treating all and none.", *said])
    return ax
