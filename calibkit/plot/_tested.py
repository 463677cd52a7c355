"""The test-based reliability diagram: which predictions the events of their bin reject.

Test-based calibration error, section 3.2 and figure 1. Lesson 08.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from calibkit.hypothesis_tests.tce import TestBasedError, ViewVerdict
from calibkit.inputs import FloatMatrix, FloatVector
from calibkit.plot import frames, look
from calibkit.plot.strips import LeaveRoom, counts_strip, print_above

_STRIP, _SIDE, _GAP = 0.24, 0.16, 0.035  # shares of the cell: counts, histogram, space between
_COLUMNS = 30  # of the histogram of all predictions
_ROOM = 0.03
_MOST_SHARES = 16  # of more bins the words do not list them
_GREY_BARS = look.area("#B8B8B8", "white")
_DIGIT = 5.9  # width of a digit in points, for printed shares
_MOST_CELLS = 20  # a violin is a smoothed histogram of at most so many cells
_SMOOTH = (0.06, 0.12, 0.2, 0.24, 0.2, 0.12, 0.06)
_WIDEST = 0.44  # half width of a violin, as a share of its bin


def test_based(
    error: TestBasedError,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a test-based reliability diagram.

    Parameters
    ----------
    error : TestBasedError
        Of a single view, from `calibkit.hypothesis_tests.test_based_calibration_error`.
    legend : bool, optional
        Whether with a legend below; left out, on a fresh figure only.
    ax : matplotlib Axes, optional
        Where to draw; left out, on a fresh figure.
    title : str, optional
        What stands above the diagram.

    Returns
    -------
    matplotlib Axes
        What was drawn on; `plot.alt_text` says in words what it shows.

    Raises
    ------
    ValueError
        If the error has one table per class.

    Notes
    -----
    A violin shows the predictions of a bin, upwards. The line across it is the frequency of the
    events, the box around the line holds the probabilities that the test accepts. What lies
    outside of the box is rejected: hatched, and counted in the strip below, with its share in
    per cent. The exact test may also reject in small gaps inside the box: they count in the
    strip and are not drawn. Empty bins stay empty. Children of the Axes that is returned, labelled
    ``"counts"`` and ``"predictions"``, are the strip below and the histogram to the right. Taught
    in lesson 08.

    Examples
    --------
    >>> import numpy as np
    >>> from calibkit import hypothesis_tests, plot
    >>> p = np.linspace(0.01, 0.99, 200)
    >>> y = np.random.default_rng(0).random(200) < p**2
    >>> ax = plot.test_based(hypothesis_tests.test_based_calibration_error(y, p, rng=0))
    >>> ax.get_ylabel()
    'probability'
    """
    if len(error.verdicts) > 1:
        raise ValueError(
            f"this error has {len(error.verdicts)} tables, one per class; measure one class at a "
            "time (view=0, 1, …) and draw each."
        )
    verdict = error.verdicts[0]
    ends = error.acceptance()
    legend, words = (ax is None if legend is None else legend), ("", "probability")
    with look.drawing(ax, (6.6, 5.4), words=words, title=title, legend=False) as ax:
        LeaveRoom(ax, _STRIP + _GAP, _SIDE + _GAP)
        _frame(ax, verdict)
        _draw_acceptance(ax, verdict, ends)
        _draw_violins(ax, verdict, ends)
        _draw_frequencies(ax, verdict)
        _add_counts(ax, verdict)
        _add_histogram(ax, verdict)
        if legend:
            look.legend(ax.figure)
    look.remember(ax, _sentences(error, verdict))
    return ax


# pytest would take a function of this name for a test wherever it is imported.
vars(test_based)["__test__"] = False


def _frame(ax: Axes, verdict: ViewVerdict) -> None:
    low, high = verdict.table.edges[[0, -1]]
    margin = _ROOM * (high - low)
    ax.set_xlim(low - margin, high + margin)
    # Rare events would be a line at the floor if the diagram reached up to 1.
    highest = max(float(np.nanmax(verdict.table.frequency)), float(verdict.prob.max()))
    top = 1.0 if highest > 0.7 else 1.25 * max(highest, 1e-6)
    ax.set_ylim(-_ROOM * top, (1 + _ROOM) * top)
    ax.tick_params(labelbottom=False)
    frames.diagonal(ax, (0, 1), look.stroke(look.GREY, 0.9, (0, (5, 3))), zorder=1.1)


def _draw_acceptance(ax: Axes, verdict: ViewVerdict, ends: look.Points) -> None:
    table, seen = verdict.table, verdict.table.occupied
    across, up = (table.edges[:-1][seen], table.edges[1:][seen]), (ends[0][seen], ends[1][seen])
    code = look.area(look.PALE, "#8FA9BF")
    label = "accepted by the test"
    look.boxes(ax, across, up, zorder=1.3, label=label, gid="acceptance", **code)


def _outline(values: FloatVector) -> look.Line:
    """Return heights and half widths (largest is 1) of a violin of these predictions."""
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9:
        return np.array([low, high]), np.ones(2)
    cells = int(np.clip(np.sqrt(len(values)), 4, _MOST_CELLS))
    count, edges = np.histogram(values, bins=cells, range=(low, high))
    padded = np.pad(count.astype(np.float64), len(_SMOOTH) // 2, mode="symmetric")
    smooth = np.convolve(padded, _SMOOTH, mode="valid")
    middle = (edges[:-1] + edges[1:]) / 2
    level = np.concatenate(([low], middle, [high]))
    half = np.concatenate((smooth[:1], smooth, smooth[-1:]))
    return level, half / half.max()


def _draw_violins(ax: Axes, verdict: ViewVerdict, ends: look.Points) -> None:
    """Draw the predictions of each bin, in two codes: inside and outside of `ends`."""
    shapes: dict[str, list[FloatMatrix]] = {"accepted": [], "rejected": []}
    left, right = verdict.table.edges[:-1], verdict.table.edges[1:]
    centre, reach = (left + right) / 2, _WIDEST * (right - left)
    for b in np.flatnonzero(verdict.table.occupied):
        level, half = _outline(verdict.prob[verdict.bin == b])
        low, high = ends[0][b], ends[1][b]
        for said, bottom, top in (
            ("rejected", -np.inf, low),
            ("accepted", low, high),
            ("rejected", high, np.inf),
        ):
            # Clipped levels meet at the cut; a part of one level has no area, but for equal values.
            cut = np.unique(np.clip(level, bottom, top))
            if len(cut) > 1 or level[0] == cut[0] == level[-1]:
                width = np.interp(cut, level, half)
                right_side = np.stack([centre[b] + reach[b] * width, cut], axis=1)
                left_side = np.stack([centre[b] - reach[b] * width, cut], axis=1)
                shapes[said].append(np.concatenate([right_side, left_side[::-1]]))
    for said, face, edge, hatch in (
        ("accepted", look.SKY, look.UNDER, None),
        ("rejected", "#F6D3BD", look.OVER, "/////"),
    ):
        parts = PolyCollection(shapes[said], hatch=hatch, zorder=2.2, **look.area(face, edge))
        parts.set(label=f"predictions, {said}", gid=said)
        ax.add_collection(parts, autolim=False)


def _draw_frequencies(ax: Axes, verdict: ViewVerdict) -> None:
    table, seen = verdict.table, verdict.table.occupied
    height = table.frequency[seen]
    ends = (table.edges[:-1][seen], height), (table.edges[1:][seen], height)
    label = "frequency of the events"
    look.lines(ax, *ends, zorder=3, label=label, gid="frequency", **look.stroke(look.INK, 2.0))


def _add_counts(ax: Axes, verdict: ViewVerdict) -> None:
    # Shares of the diagram's height: the locator gave it what the strip leaves of the cell.
    inner = 1 - _STRIP - _GAP
    strip = counts_strip(ax, _STRIP / inner, _GAP / inner)
    table = verdict.table
    across, floor = (table.edges[:-1], table.edges[1:]), np.zeros(table.n_bins)
    look.boxes(strip, across, (floor, table.count), zorder=2, gid="count", **_GREY_BARS)
    code = look.area("#F6D3BD", look.OVER)
    up = (floor, verdict.rejected_count)
    look.boxes(strip, across, up, zorder=2, hatch="/////", gid="rejected-count", **code)
    top = float(table.count.max())
    strip.set_ylim(0, top * 1.5)
    strip.set_yticks([0, top], ["0", f"{top:,.0f}"])
    if look.is_first_column(ax):
        strip.set_ylabel("count", fontsize=look.FONT_SIZE)
    strip.tick_params(labelbottom=True)
    printed = _print_shares(ax, strip, verdict)
    if look.is_last_row(ax):
        words = "predicted probability" + " (above each bar: % rejected)" * printed
        strip.set_xlabel(words, fontsize=look.FONT_SIZE)


def _print_shares(ax: Axes, strip: Axes, verdict: ViewVerdict) -> bool:
    """Print the rejected share of each bin that has room for it; return whether one has."""
    table, span = verdict.table, ax.get_xlim()[1] - ax.get_xlim()[0]
    points = look.width_in_points(ax) * (1 - _SIDE - _GAP) * 0.85
    texts = [f"{100 * share:.0f}" for share in verdict.share]
    needed = _DIGIT * np.array([len(text) for text in texts])
    fits = np.flatnonzero(table.occupied & (np.diff(table.edges) / span * points >= needed))
    tops = ((table.edges[:-1] + table.edges[1:]) / 2)[fits], table.count[fits]
    print_above(strip, tops, [texts[b] for b in fits], gid="share")
    return len(fits) > 0


def _add_histogram(ax: Axes, verdict: ViewVerdict) -> None:
    inner = 1 - _SIDE - _GAP
    side = ax.inset_axes((1 + _GAP / inner, 0, _SIDE / inner, 1), sharey=ax)
    look.set_frame(side, grid=None)
    side.set_label("predictions")
    top = ax.get_ylim()[1]
    count, edges = np.histogram(verdict.prob, bins=_COLUMNS, range=(0, top))
    code = _GREY_BARS | {"linewidth": 0.5}
    up = (edges[:-1], edges[1:])
    look.boxes(side, (np.zeros(_COLUMNS), count), up, zorder=2, gid="marginal", **code)
    most = int(count.max())
    side.set_xlim(0, 1.08 * most)
    side.set_xticks([most], [f"{most:,}"])
    side.tick_params(labelleft=False)
    side.set_xlabel("count", fontsize=look.FONT_SIZE)


def _sentences(error: TestBasedError, verdict: ViewVerdict) -> list[str]:
    table = verdict.table
    shares = ", ".join(f"{100 * share:.0f}" for share in verdict.share[table.occupied])
    words = ["Test-based reliability diagram.", error.describe()]
    if table.n_bins <= _MOST_SHARES:
        words.append(f"Rejected in the bins from left to right, in per cent: {shares}.")
    empty = int((~table.occupied).sum())
    if empty:
        words.append(f"{empty} of {table.n_bins} bins {'is' if empty == 1 else 'are'} empty.")
    return words
