"""The test-based reliability diagram: which predictions the events of their bin reject.

Test-based calibration error, section 3.2 and figure 1.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from scipy import special

from calibkit.hypothesis_tests.p_values import p_values_of
from calibkit.hypothesis_tests.tce import TestBasedError, ViewVerdict
from calibkit.inputs import FloatMatrix, FloatVector
from calibkit.plot import frames, look

STRIP, SIDE, _GAP = 0.24, 0.16, 0.035  # shares of the cell: counts, histogram, space between
_COLUMNS = 30  # of the histogram of all predictions
_ROOM = 0.03
_MOST_SHARES = 16  # of more bins the words do not list them
_GREY = look.area("#B8B8B8", "white", zorder=2)
_REJECTED = look.area("#F6D3BD", look.OVER, hatch="/////")
_DIGIT = 5.9  # width of a digit in points, for printed shares
_MOST_CELLS = 20  # a violin is a smoothed histogram of at most so many cells
_SMOOTH = (0.06, 0.12, 0.2, 0.24, 0.2, 0.12, 0.06)
_WIDEST = 0.44  # half width of a violin, as a share of its bin


def draw_test_based(
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
    ``"counts"`` and ``"predictions"``, are the strip below and the histogram to the right.

    Examples
    --------
    >>> import numpy as np
    >>> from calibkit.hypothesis_tests import test_based_calibration_error
    >>> p = np.linspace(0.01, 0.99, 200)
    >>> y = np.random.default_rng(0).random(200) < p**2
    >>> ax = draw_test_based(test_based_calibration_error(y, p, rng=0))
    >>> ax.get_ylabel()
    'probability'
    """
    if len(error.verdicts) > 1:
        raise ValueError(
            f"this error has {len(error.verdicts)} tables, one per class; measure one class at a "
            "time (view=0, 1, …) and draw each."
        )
    (verdict,), ends = error.verdicts, acceptance_region(error)
    legend, words = (ax is None if legend is None else legend), ("", "probability")
    with look.drawing(ax, (6.6, 5.4), words=words, title=title, legend=False) as ax:
        _frame(ax, verdict)
        _draw_bins(ax, verdict, ends)
        _draw_violins(ax, verdict, ends)
        _add_counts(ax, verdict)
        _add_histogram(ax, verdict.prob)
        if legend:
            look.legend(ax.figure)
    look.remember(ax, _sentences(error, verdict))
    return ax


def acceptance_region(error: TestBasedError) -> tuple[FloatVector, FloatVector]:
    """Return the ends of the probabilities that each bin accepts, in [0, 1]; NaN if empty.

    Between them the exact test may have small gaps.
    """
    verdict, alpha = error.verdicts[0], error.alpha
    ends = np.full((2, verdict.table.n_bins), np.nan)
    for b in np.flatnonzero(verdict.table.occupied):
        k, n = int(verdict.hits[b]), int(verdict.table.count[b])
        # Beyond these ends the tail that holds k is so improbable that nothing is accepted.
        low = special.betaincinv(k, n - k + 1, alpha * 1e-6) if k else 0.0
        high = special.betainccinv(k + 1, n - k, alpha * 1e-6) if k < n else 1.0
        ends[:, b] = [_last_accepted(k, n, float(end), alpha) for end in (low, high)]
    return ends[0], ends[1]


def _last_accepted(k: int, n: int, end: float, alpha: float) -> float:
    """Return the accepted probability nearest to `end`, on the way from k / n, to 1e-8."""
    inside = k / n
    for _ in range(4):
        grid = np.linspace(inside, end, 129)
        last = np.flatnonzero(p_values_of(k, n, grid) > alpha)[-1]
        inside, end = float(grid[last]), float(grid[min(last + 1, 128)])
    return inside


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


def _draw_bins(ax: Axes, verdict: ViewVerdict, ends: look.Points) -> None:
    """Draw the frequency of each bin, in the box of what the test accepts."""
    table, seen = verdict.table, verdict.table.occupied
    left, right, height = table.edges[:-1][seen], table.edges[1:][seen], table.frequency[seen]
    code = look.area(look.PALE, "#8FA9BF", label="accepted by the test", gid="acceptance")
    look.boxes(ax, (left, right), [end[seen] for end in ends], zorder=1.3, **code)
    code = look.stroke(look.INK, 2.0, label="frequency of the events", gid="frequency")
    look.lines(ax, (left, height), (right, height), zorder=3, **code)


def _outline(values: FloatVector) -> look.Line:
    """Return heights and half widths (largest is 1) of a violin of these predictions."""
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9:
        return np.array([low, high]), np.ones(2)
    cells = int(np.clip(np.sqrt(len(values)), 4, _MOST_CELLS))
    count, edges = np.histogram(values, bins=cells, range=(low, high))
    smooth = np.convolve(np.pad(count, len(_SMOOTH) // 2, mode="symmetric"), _SMOOTH, mode="valid")
    middle = (edges[:-1] + edges[1:]) / 2
    level = np.concatenate(([low], middle, [high]))
    half = np.concatenate((smooth[:1], smooth, smooth[-1:]))
    return level, half / half.max()


def _draw_violins(ax: Axes, verdict: ViewVerdict, ends: look.Points) -> None:
    """Draw the predictions of each bin, in two codes: inside and outside of `ends`."""
    shapes: dict[str, list[FloatMatrix]] = {"accepted": [], "rejected": []}
    left, right = verdict.table.edges[:-1], verdict.table.edges[1:]
    for b in np.flatnonzero(verdict.table.occupied):
        level, half = _outline(verdict.prob[verdict.bin == b])
        cuts = (-np.inf, ends[0][b], ends[1][b], np.inf)
        for k, kind in enumerate(("rejected", "accepted", "rejected")):
            # Clipped levels meet at the cut; a part of one level has no area, but for equal values.
            part = np.unique(np.clip(level, cuts[k], cuts[k + 1]))
            if len(part) > 1 or level[0] == part[0] == level[-1]:
                width = _WIDEST * (right[b] - left[b]) * np.interp(part, level, half)
                across = (left[b] + right[b]) / 2 + np.concatenate([width, -width[::-1]])
                up = np.concatenate([part, part[::-1]])
                shapes[kind].append(np.column_stack([across, up]))
    accepted = look.area(look.SKY, look.UNDER)
    for kind, code in (("accepted", accepted), ("rejected", _REJECTED)):
        parts = PolyCollection(shapes[kind], zorder=2.2, **code)
        parts.set(label=f"predictions, {kind}", gid=kind)
        ax.add_collection(parts, autolim=False)


def _add_counts(ax: Axes, verdict: ViewVerdict) -> None:
    # Shares of the diagram's height, which is what the strip leaves of the cell.
    inner, table = 1 - STRIP - _GAP, verdict.table
    strip = frames.counts_strip(ax, STRIP / inner, _GAP / inner, SIDE + _GAP)
    across, top = (table.edges[:-1], table.edges[1:]), float(table.count.max())
    look.boxes(strip, across, (0, table.count), gid="count", **_GREY)
    up = (0, verdict.rejected_count)
    look.boxes(strip, across, up, zorder=2, gid="rejected-count", **_REJECTED)
    strip.set_ylim(0, top * 1.5)
    strip.set_yticks([0, top], ["0", f"{top:,.0f}"])
    strip.tick_params(labelbottom=True)
    printed = _print_shares(ax, strip, verdict)
    words = "predicted probability" + " (above each bar: % rejected)" * printed
    look.label(ax, words, "count", strip)


def _print_shares(ax: Axes, strip: Axes, verdict: ViewVerdict) -> bool:
    """Print the rejected share of each bin that has room for it; return whether one has."""
    table, span = verdict.table, np.ptp(ax.get_xlim())
    points = look.width_in_points(ax) * (1 - SIDE - _GAP) * 0.85
    texts = np.array([f"{100 * share:.0f}" for share in verdict.share])
    wide = np.diff(table.edges) / span * points >= _DIGIT * np.char.str_len(texts)
    fits = table.occupied & wide
    tops = ((table.edges[:-1] + table.edges[1:]) / 2)[fits], table.count[fits]
    frames.print_above(strip, tops, texts[fits].tolist(), gid="share")
    return bool(fits.any())


def _add_histogram(ax: Axes, prob: FloatVector) -> None:
    inner = 1 - SIDE - _GAP
    side = ax.inset_axes((1 + _GAP / inner, 0, SIDE / inner, 1), sharey=ax)
    look.set_frame(side, grid=None)
    side.set_label("predictions")
    count, edges = np.histogram(prob, bins=_COLUMNS, range=(0, ax.get_ylim()[1]))
    code = {**_GREY, "linewidth": 0.5, "gid": "marginal"}
    look.boxes(side, (0, count), (edges[:-1], edges[1:]), **code)
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
