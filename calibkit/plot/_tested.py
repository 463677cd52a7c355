"""The test-based reliability diagram: which predictions the events of their bin reject.

Test-based calibration error, section 3.2 and figure 1. Lesson 08.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from calibkit.plot import look
from calibkit.plot._counts import LeaveRoom, print_above
from calibkit.plot._violins import Place, draw_violins

if TYPE_CHECKING:  # a result is only looked at, so that importing `plot` stays light
    from calibkit.significance import TestBasedError, ViewVerdict

AXES = ("probability", "bin")
_STRIP, _SIDE, _GAP = 0.24, 0.16, 0.035  # shares of the cell: counts, histogram, space between
_COLUMNS = 30  # of the histogram of all predictions
_ROOM = 0.03
_MOST_TICKS = 16  # more bins than that are not numbered one by one
_DIGIT = 5.9  # width of a digit in points, for printed shares


def test_based(
    error: "TestBasedError",
    ax: Axes | None = None,
    *,
    axis: str = "probability",
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw a test-based reliability diagram.

    Parameters
    ----------
    error : TestBasedError
        Of a single view, from `calibkit.significance.test_based_calibration_error`.
    axis : {"probability", "bin"}
        ``"probability"``: each bin stands where its predictions are. ``"bin"``: bins stand side
        by side, equally wide, as in the source; narrow bins can be read there.
    legend : bool, optional
        As in all figures; it stands below.

    Raises
    ------
    ValueError
        If `axis` is something else, or the error has one table per class.

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
    >>> from calibkit import plot, significance
    >>> p = np.linspace(0.01, 0.99, 200)
    >>> y = np.random.default_rng(0).random(200) < p**2
    >>> ax = plot.test_based(significance.test_based_calibration_error(y, p, rng=0))
    >>> ax.get_ylabel()
    'predicted probability'
    """
    if axis not in AXES:
        raise ValueError(f'axis must be "probability" or "bin", got {axis!r}.')
    if len(error.verdicts) > 1:
        raise ValueError(
            f"this error has {len(error.verdicts)} tables, one per class; measure one class at a "
            "time (view=0, 1, …) and draw each."
        )
    verdict = error.verdicts[0]
    place = _place(verdict, axis)
    low, high = error.acceptance()
    legend, words = (ax is None if legend is None else legend), ("", "predicted probability")
    with look.drawing(ax, (6.6, 5.4), words=words, title=title, legend=False) as ax:
        LeaveRoom(ax, _STRIP + _GAP, _SIDE + _GAP)
        _frame(ax, place, axis, error)
        _draw_acceptance(ax, verdict, place, (low, high))
        draw_violins(ax, verdict, place, (low, high))
        _draw_frequencies(ax, verdict, place)
        _add_counts(ax, verdict, place, axis)
        _add_histogram(ax, verdict)
        if legend:
            look.legend(ax.figure)
    look.remember(ax, _sentences(error, verdict))
    return ax


# pytest would take a function of this name for a test wherever it is imported.
vars(test_based)["__test__"] = False


def _place(verdict: "ViewVerdict", axis: str) -> Place:
    if axis == "probability":
        edges = verdict.table.edges
        return Place(edges[:-1], edges[1:])
    number = np.arange(verdict.table.n_bins, dtype=np.float64)
    return Place(number + 0.5, number + 1.5)


def _frame(ax: Axes, place: Place, axis: str, error: "TestBasedError") -> None:
    ends = float(place.left[0]), float(place.right[-1])
    margin = _ROOM * (ends[1] - ends[0])
    ax.set_xlim(ends[0] - margin, ends[1] + margin)
    top = _top(error)
    ax.set_ylim(-_ROOM * top, (1 + _ROOM) * top)
    ax.tick_params(labelbottom=False)
    if axis == "probability":
        ax.plot(
            [0, 1],
            [0, 1],
            color=look.GREY,
            linewidth=0.9,
            linestyle=(0, (5, 3)),
            zorder=1.1,
            label="perfect calibration",
            gid="diagonal",
        )


def _top(error: "TestBasedError") -> float:
    """Return how far up the diagram must reach; rare events would else be a line at the floor."""
    verdict = error.verdicts[0]
    highest = max(float(np.nanmax(verdict.table.frequency)), float(verdict.prob.max()))
    return 1.0 if highest > 0.7 else 1.25 * max(highest, 1e-6)


def _draw_acceptance(ax: Axes, verdict: "ViewVerdict", place: Place, ends: look.Points) -> None:
    seen = verdict.table.occupied
    look.boxes(
        ax,
        (place.left[seen], place.right[seen]),
        (ends[0][seen], ends[1][seen]),
        facecolors=look.PALE,
        edgecolors="#8FA9BF",
        linewidths=0.8,
        zorder=1.3,
        label="accepted by the test",
        gid="acceptance",
    )


def _draw_frequencies(ax: Axes, verdict: "ViewVerdict", place: Place) -> None:
    seen = verdict.table.occupied
    height = verdict.table.frequency[seen]
    look.lines(
        ax,
        (place.left[seen], height),
        (place.right[seen], height),
        colors=look.INK,
        linewidths=2.0,
        zorder=3,
        label="frequency of the events",
        gid="frequency",
    )


def _add_counts(ax: Axes, verdict: "ViewVerdict", place: Place, axis: str) -> None:
    # Shares of the diagram's height: the locator gave it what the strip leaves of the cell.
    inner = 1 - _STRIP - _GAP
    strip = ax.inset_axes((0, -(_STRIP + _GAP) / inner, 1, _STRIP / inner), sharex=ax)
    look.dress(strip, grid=None)
    strip.set_label("counts")
    count, rejected = verdict.table.count, verdict.rejected_count
    across, floor = (place.left, place.right), np.zeros(len(count))
    bars: dict[str, Any] = {"zorder": 2, "linewidths": 0.8}
    code: dict[str, Any] = {"facecolors": "#B8B8B8", "edgecolors": "white", **bars}
    look.boxes(strip, across, (floor, count), gid="count", **code)
    code = {"facecolors": "#F6D3BD", "edgecolors": look.OVER, "hatch": "/////", **bars}
    look.boxes(strip, across, (floor, rejected), gid="rejected-count", **code)
    top = float(count.max())
    strip.set_ylim(0, top * 1.5)
    strip.set_yticks([0, top], ["0", f"{top:,.0f}"])
    if look.is_first_column(ax):
        strip.set_ylabel("count", fontsize=look.FONT_SIZE)
    strip.tick_params(labelbottom=True)
    if axis == "bin":
        step = -(-verdict.table.n_bins // _MOST_TICKS)
        strip.set_xticks(range(1, verdict.table.n_bins + 1, step))
    printed = _print_shares(ax, strip, verdict, place)
    if look.is_last_row(ax):
        words = "predicted probability" if axis == "probability" else "bin"
        words += " (above each bar: % rejected)" if printed else ""
        strip.set_xlabel(words, fontsize=look.FONT_SIZE)


def _print_shares(ax: Axes, strip: Axes, verdict: "ViewVerdict", place: Place) -> int:
    """Print the rejected share of each bin that has room for it; return how many."""
    printed = 0
    span = ax.get_xlim()[1] - ax.get_xlim()[0]
    points = look.width_in_points(ax) * (1 - _SIDE - _GAP) * 0.85
    for b in np.flatnonzero(verdict.table.occupied):
        text = f"{100 * verdict.share[b]:.0f}"
        if len(text) * _DIGIT <= place.width[b] / span * points:
            print_above(strip, (place.centre[b], verdict.table.count[b]), text, gid="share")
            printed += 1
    return printed


def _add_histogram(ax: Axes, verdict: "ViewVerdict") -> None:
    inner = 1 - _SIDE - _GAP
    side = ax.inset_axes((1 + _GAP / inner, 0, _SIDE / inner, 1), sharey=ax)
    look.dress(side, grid=None)
    side.set_label("predictions")
    top = ax.get_ylim()[1]
    count, edges = np.histogram(verdict.prob, bins=_COLUMNS, range=(0, top))
    look.boxes(
        side,
        (np.zeros(_COLUMNS), count),
        (edges[:-1], edges[1:]),
        facecolors="#B8B8B8",
        edgecolors="white",
        linewidths=0.5,
        zorder=2,
        gid="marginal",
    )
    most = int(count.max())
    side.set_xlim(0, 1.08 * most)
    side.set_xticks([most], [f"{most:,}"])
    side.tick_params(labelleft=False)
    side.set_xlabel("count", fontsize=look.FONT_SIZE)


def _sentences(error: "TestBasedError", verdict: "ViewVerdict") -> list[str]:
    table = verdict.table
    shares = ", ".join(f"{100 * share:.0f}" for share in verdict.share[table.occupied])
    words = ["Test-based reliability diagram.", error.describe()]
    if table.n_bins <= _MOST_TICKS:
        words.append(f"Rejected in the bins from left to right, in per cent: {shares}.")
    empty = int((~table.occupied).sum())
    if empty:
        words.append(f"{empty} of {table.n_bins} bins {'is' if empty == 1 else 'are'} empty.")
    return words
