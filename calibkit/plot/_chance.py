"""What chance allows: the null level of a measure, and cumulative differences with their strip."""

import numpy as np
from matplotlib.axes import Axes

from calibkit.chance import NullLevel
from calibkit.hypothesis_tests.cumulative import CumulativeDifferences
from calibkit.plot import look

_N_COLUMNS = 30
CRITICAL = 2.2414  # 5 % of Brownian motions on [0, 1] leave a strip of this half height
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def null_level(
    null: NullLevel, ax: Axes | None = None, *, title: str | None = None, legend: bool | None = None
) -> Axes:
    """Draw the values that a calibrated model would show, and the observed one.

    Parameters
    ----------
    null : NullLevel
        From `calibkit.null_level`.
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    title : str, optional
        By default the p-value in words.
    legend : bool, optional
        Whether with a legend to the right; left out, on a fresh figure only.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Examples
    --------
    >>> import calibkit as ck
    >>> from calibkit import plot
    >>> from calibkit.fakes import LogitDistortion
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> ece = ck.expected_calibration_error
    >>> null = ck.null_level(ece, sample.y_true, sample.y_prob, n_draws=200, rng=1)
    >>> ax = plot.null_level(null)
    >>> ax.get_ylabel()
    'draws of a calibrated model'
    """
    if title is None:
        share = (null.draws >= null.value).mean()
        often = f"{100 * share:.0f} %" if share >= 0.01 else "fewer than 1 %"
        title = f"p = {null.p_value:.3f}: a calibrated model is as bad or worse in {often} of draws"
    words = ("", "draws of a calibrated model")
    with look.drawing(ax, (6.6, 3.4), words=words, legend=legend, grid="y", room=0) as ax:
        _draw_columns(ax, null)
        level, value = look.stroke(look.UNDER, 1.8, (0, (4, 2))), look.stroke(look.INK, 2.2)
        ax.axvline(null.mean, label=f"null level {null.mean:.3f}", gid="null-mean", **level)
        ax.axvline(null.value, label=f"observed {null.value:.3f}", gid="value", **value)
        ax.set_xlabel(null.name, fontsize=look.FONT_SIZE)
        ax.locator_params(axis="x", nbins=6)
        ax.set_title(title, loc="left")
    look.remember(ax, ["Histogram of the values of a calibrated model.", null.describe()])
    return ax


def _draw_columns(ax: Axes, null: NullLevel) -> None:
    width = (np.ptp(null.draws) or max(abs(null.value), 1e-3)) / _N_COLUMNS
    # The observed value is an edge, so no column mixes draws from both sides of it.
    place = np.floor((null.draws - null.value) / width).astype(np.intp)
    column, height = np.arange(place.min(), place.max() + 1), np.bincount(place - place.min())
    for rows, label, gid, code in (
        (column < 0, "below the observed value", "null", look.area("#C9CED3", look.GREY)),
        (column >= 0, "at least the observed value", "null-beyond", look.AREAS["over"]),
    ):
        if rows.any():
            code = {**code, "linewidth": 0.6, "align": "edge", "label": label, "gid": gid}
            ax.bar(null.value + width * column[rows], height[rows], width, **code)


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
    in 5 % of all cases (limit law). Lesson 08.

    Examples
    --------
    >>> from calibkit import cumulative_differences, plot
    >>> from calibkit.fakes import LogitDistortion
    >>> sample = LogitDistortion(slope=0.5).sample(500, rng=0)
    >>> curve = cumulative_differences(sample.y_true, sample.y_prob)
    >>> ax = plot.cumulative_differences(curve)
    >>> ax.get_ylabel()
    'cumulative difference'
    """
    words = ("share of the predictions, in rising order", "cumulative difference")
    difference, strip = curve.difference, CRITICAL * curve.scale
    with look.drawing(ax, (5.0, 3.6), words=words, title=title, legend=legend) as ax:
        look.strip(ax, -strip, strip, label="strip for 95 % of\ncalibrated models")
        ax.axhline(0, zorder=1.5, **look.stroke(look.GREY, 1.0, (0, (5, 3))))
        label = "events minus predictions,\nsummed from the lowest"
        code = look.stroke(look.UNDER, 1.5, zorder=3, label=label, gid="differences")
        ax.plot(curve.share, difference, **code)
        ends = sorted((int(difference.argmin()), int(difference.argmax())))
        code = look.marker("o", 6, 1.8, label="lowest and highest point", gid="extremes")
        look.points(ax, curve.share[ends], difference[ends], "white", look.OVER, **code)
        _set_ticks(ax, curve)
        top = 1.15 * max(strip, float(np.abs(difference).max()))
        ax.set_ylim(-top, top)
    look.remember(ax, [curve.describe()])
    return ax


def _set_ticks(ax: Axes, curve: CumulativeDifferences) -> None:
    prob = curve.prob[np.searchsorted(curve.share, _TICKS)]
    texts = [f"{100 * at:.0f} %\np ≤ {p:.2g}" for at, p in zip(_TICKS, prob, strict=True)]
    texts[0] = "0 %"
    step = 2 if look.width_in_points(ax) < look.SMALL else 1
    ax.set_xticks(_TICKS[::step], texts[::step])
    ax.set_xlim(0, 1)
