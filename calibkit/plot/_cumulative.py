"""Cumulative differences: calibration without bins. Lesson 08."""

import numpy as np
from matplotlib.axes import Axes

from calibkit.hypothesis_tests.cumulative import CumulativeDifferences
from calibkit.plot import look

# 5 % of Brownian motions on [0, 1] leave this strip; tests/calibkit/plot/test_tested.py checks it.
_CRITICAL = 2.2414
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def cumulative_differences(
    curve: CumulativeDifferences,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the running sum of events minus predictions, with the strip that chance allows.

    Parameters
    ----------
    curve : CumulativeDifferences
        From `calibkit.hypothesis_tests.cumulative_differences`.
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

    Notes
    -----
    Read slopes, not heights: where the line falls, the predictions are too high. Below each tick
    stands the prediction up to which has been summed. A calibrated model's line leaves the strip
    in 5 % of all cases (limit law). Taught in lesson 08.

    Examples
    --------
    >>> import numpy as np
    >>> from calibkit import hypothesis_tests, plot
    >>> p = np.linspace(0.01, 0.99, 200)
    >>> y = np.random.default_rng(0).random(200) < p
    >>> ax = plot.cumulative_differences(hypothesis_tests.cumulative_differences(y, p))
    >>> ax.get_ylabel()
    'cumulative difference'
    """
    words = ("share of the predictions, in rising order", "cumulative difference")
    strip = _CRITICAL * curve.scale
    with look.drawing(ax, (5.0, 3.6), words=words, title=title, legend=legend) as ax:
        look.strip(ax, -strip, strip, label="strip for 95 % of\ncalibrated models")
        ax.axhline(0, zorder=1.5, **look.stroke(look.GREY, 1.0, (0, (5, 3))))
        _draw_line(ax, curve)
        _draw_ticks(ax, curve)
        reach = 1.15 * max(strip, float(np.abs(curve.difference).max()))
        ax.set_ylim(-reach, reach)
    look.remember(ax, [curve.describe()])
    return ax


def _draw_line(ax: Axes, curve: CumulativeDifferences) -> None:
    code, label = (
        look.stroke(look.UNDER, 1.5),
        "events minus predictions,\nsummed from the lowest",
    )
    ax.plot(curve.share, curve.difference, zorder=3, label=label, gid="differences", **code)
    ends = sorted((int(curve.difference.argmin()), int(curve.difference.argmax())))
    at = curve.share[ends], curve.difference[ends]
    code = look.marker("o", 6, 1.8, label="lowest and highest point", gid="extremes")
    look.points(ax, *at, "white", look.OVER, **code)


def _draw_ticks(ax: Axes, curve: CumulativeDifferences) -> None:
    at = np.searchsorted(curve.share, _TICKS)
    texts = [
        f"{100 * tick:.0f} %\np ≤ {prob:.2g}" if tick else "0 %"
        for tick, prob in zip(_TICKS, curve.prob[at], strict=True)
    ]
    step = 2 if look.width_in_points(ax) < look.SMALL else 1
    ax.set_xticks(_TICKS[::step], texts[::step])
    ax.set_xlim(0, 1)
