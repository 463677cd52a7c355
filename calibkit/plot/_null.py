"""What a measure shows for a calibrated model, beside what was observed. Lessons 04 and 08."""

import numpy as np
from matplotlib.axes import Axes

from calibkit.chance import NullLevel
from calibkit.plot import look

_N_COLUMNS = 30


def null_level(
    null: NullLevel, ax: Axes | None = None, *, title: str | None = None, legend: bool | None = None
) -> Axes:
    """Draw the values that a calibrated model would show, and the observed one. Lesson 04.

    Parameters
    ----------
    null : NullLevel
        From `calibkit.null_level`.
    title : str, optional
        By default the p-value in words.
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
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
    >>> null = ck.null_level(ck.expected_calibration_error, [0, 1, 1], [.2, .7, .6],
    ...                      n_draws=50, rng=1)
    >>> ax = plot.null_level(null)
    >>> ax.get_ylabel()
    'draws of a calibrated model'
    """
    words, size = ("", "draws of a calibrated model"), (6.6, 3.4)
    with look.drawing(ax, size, words=words, legend=legend, grid="y", room=0) as ax:
        _draw_columns(ax, null)
        _draw_lines(ax, null)
        ax.set_xlabel(null.name, fontsize=look.FONT_SIZE)
        ax.locator_params(axis="x", nbins=6)
        ax.set_title(_p_value_in_words(null) if title is None else title, loc="left")
    look.remember(ax, ["Histogram of the values of a calibrated model.", null.describe()])
    return ax


def _p_value_in_words(null: NullLevel) -> str:
    """Say how often a calibrated model does at least as badly."""
    percent = 100 * null.p_value
    often = f"{percent:.0f} %" if percent >= 1 else "fewer than 1 %"
    return f"p = {null.p_value:.3f}: a calibrated model is as bad or worse in {often} of draws"


def _draw_columns(ax: Axes, null: NullLevel) -> None:
    draws = np.asarray(null.draws)
    width = float(np.ptp(draws)) / _N_COLUMNS or max(abs(null.value), 1e-3) / _N_COLUMNS
    # The observed value is an edge, so no column mixes draws from both sides of it.
    first = np.floor((draws.min() - null.value) / width)
    last = np.floor((draws.max() - null.value) / width) + 1
    edges = null.value + width * np.arange(first, last + 1)
    height, _ = np.histogram(draws, edges)
    beyond = np.arange(first, last) >= 0
    grey = look.area("#C9CED3", look.GREY)
    for rows, label, gid, code in (
        (~beyond, "below the observed value", "null", grey),
        (beyond, "at least the observed value", "null-beyond", look.AREAS["over"]),
    ):
        if rows.any():
            code = {**code, "linewidth": 0.6, "align": "edge", "label": label, "gid": gid}
            ax.bar(edges[:-1][rows], height[rows], np.diff(edges)[rows], **code)


def _draw_lines(ax: Axes, null: NullLevel) -> None:
    level, value = look.stroke(look.UNDER, 1.8, (0, (4, 2))), look.stroke(look.INK, 2.2)
    ax.axvline(null.mean, label=f"null level {null.mean:.3f}", gid="null-mean", **level)
    ax.axvline(null.value, label=f"observed {null.value:.3f}", gid="value", **value)
