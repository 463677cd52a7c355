"""The cells of a count table: adding rows, and what can be read off the sums of one problem."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Binning, EqualMass, EqualWidth, FixedEdges
from calibkit.bins.edges import run_ends
from calibkit.hypothesis_tests import cumulative
from calibkit.hypothesis_tests.results import TestResult, ratio, result_of
from calibkit.inputs import FloatArray, FloatVector, IntArray, as_array, column_names
from calibkit.reliability import BinTable, table_of_sums
from calibkit.results import spell

Counts = NDArray[np.int64]

CELLS = 25_200  # 2^4 * 3^2 * 5^2 * 7: a multiple of every usual number of bins
MOST_CELLS = 1_000_000
# Whole steps of what is left of a prediction within its cell.
STEPS = 2**30
# Adding and taking off this number rounds to whole steps: its last bit is worth 1 / STEPS. It is
# larger than any p G.
_ROUNDER = 2.0**22
_LOOSE = 0.01  # of a cell: what a sum of many single predictions may be off by rounding
# More rows than this, all at the end of one cell, would overflow the sum of their steps.
MOST_ROWS = 2**33
# Work arrays of one block stay inside the processor's cache.
BLOCK = 131_072


class CellSums(NamedTuple):
    """What a table keeps of some rows of one binary problem."""

    counts: Counts  # (G, 2): rows in each cell, without and with the event
    steps: Counts  # (G, 2): sums of what is left of their predictions, in steps of 1 / (2³⁰ G)
    square: float  # sum over all rows of what is left, in cells, squared
    impossible: int  # rows whose prediction was exactly 0 or 1, and wrong


def sums_of_rows(prob: FloatArray, label: IntArray, cells: int) -> CellSums:
    """Add up checked rows of a binary problem."""
    count, steps = np.zeros((2, 2 * cells), dtype=np.int64)
    square = 0.0
    for start in range(0, len(prob), BLOCK):
        part = slice(start, start + BLOCK)
        cell, rest = _locate(prob[part], cells)
        square += float(rest @ rest)
        # Events have every second place: one pass counts both kinds.
        place = 2 * cell + label[part].astype(np.intp)
        count += np.bincount(place, minlength=2 * cells)
        # A block is short enough for these sums of whole steps to be exact in float64.
        sums = np.bincount(place, weights=rest, minlength=2 * cells)
        steps += (sums * STEPS).astype(np.int64)
    wrong = np.count_nonzero(prob == 1 - label.astype(np.int8))
    return CellSums(count.reshape(-1, 2), steps.reshape(-1, 2), square, int(wrong))


def _locate(prob: FloatArray, cells: int) -> tuple[NDArray[np.intp], FloatVector]:
    """Return the cell of each prediction and what is left of it, in cells and whole steps."""
    rest = prob.astype(np.float64) * cells
    cell = np.minimum(rest.astype(np.intp), cells - 1)
    if prob.dtype.itemsize > 4:
        # The product p G of a float64 just below an edge may be rounded up to it, and the reverse;
        # a float32 has too few digits to come that close to an edge without being on it.
        edges = grid_edges(cells)
        cell -= prob < edges[cell]
        # The closed end of the last cell is not an edge to step over.
        cell += (prob >= edges[1:][cell]) & (cell < cells - 1)
    return cell, (rest + _ROUNDER) - _ROUNDER - cell


def _cell_columns(
    frame: Any, cells: int
) -> tuple[FloatVector, FloatVector, FloatVector, FloatVector | None]:
    """Return cell, n, events and (or None) sum_p of rows that were counted elsewhere."""
    names = column_names(frame) or list(frame)
    if missing := [name for name in ("cell", "n", "events") if name not in names]:
        raise ValueError(f"column {missing[0]!r} is not there; the columns are {names!r}.")
    found = {
        name: as_array(frame[name], name).astype(np.float64)
        for name in ("cell", "n", "events", "sum_p")
        if name in names
    }
    cell, n, events = (found[name] for name in ("cell", "n", "events"))
    for name, values, least, most, what in (
        ("cell", cell, 0, cells, f"floor(p * {cells}) of a probability in [0, 1]"),
        ("n", n, 1, MOST_ROWS, f"a number of rows, from 1 to {MOST_ROWS:,}"),
        ("events", events, 0, n, "a number of labels 1, from 0 to n"),
        ("sum_p", found.get("sum_p", 0 * n), 0, n, "a sum of n probabilities"),
    ):
        good = (values >= least) & (values <= most) & ((values % 1 == 0) | (name == "sum_p"))
        if not good.all():
            row = int(np.flatnonzero(~good)[0])
            raise ValueError(
                f"{name}[{row}] = {values[row]:.9g} is not {what}. Drop or repair such rows of the "
                "log; labels are 0 and 1, and none is missing."
            )
    return cell, n, events, found.get("sum_p")


def sums_of_cells(frame: Any, cells: int) -> CellSums:
    """Add up rows that were counted elsewhere, some of a cell at a time; a cell may come again.

    Cell G holds predictions of 1. Without `sum_p` all others are in the middle of their cells.
    """
    cell, n, events, sum_p = _cell_columns(frame, cells)
    at_end, place = cell == cells, np.minimum(cell, cells - 1).astype(np.intp)
    if sum_p is None:
        rest = np.where(at_end, 1.0, 0.5)
    else:
        rest = sum_p * cells / n - place
        if off := np.flatnonzero((rest < -_LOOSE) | (rest > 1 + _LOOSE)).tolist():
            raise ValueError(
                f"row {off[0]}: predictions of cell {cell[off[0]]:.0f} have the mean "
                f"{sum_p[off[0]] / n[off[0]]:.9g}, which lies outside of it. The cell is "
                f"floor(p * {cells}), and sum_p the sum of p."
            )
        rest = rest.clip(0, 1)
    count, steps = np.zeros((2, cells, 2), dtype=np.int64)
    for column, rows in enumerate((n - events, events)):
        np.add.at(count[:, column], place, rows.astype(np.int64))
        np.add.at(steps[:, column], place, np.rint(rest * rows * STEPS).astype(np.int64))
    wrong = (n - events)[at_end].sum()
    if sum_p is not None:
        wrong += events[sum_p == 0].sum()
    return CellSums(count, steps, float(n @ rest**2), int(wrong))


def grid_edges(cells: int) -> FloatVector:
    """Return the ``G + 1`` edges of the cells."""
    return EqualWidth(cells).edges(np.empty(0))


Borders = NDArray[np.intp]


class CellMeans(NamedTuple):
    """Mean prediction, events and rows of each cell that is not empty, in increasing order."""

    prediction: FloatVector
    events: Counts
    rows: Counts


def sum_of_predictions(count: Counts, steps: Counts, first: Counts, cells: int) -> FloatVector:
    """Return sums of predictions, rounded once; `first`: the sum of the numbers of their cells."""
    return np.asarray((first + steps / STEPS) / cells)


def groups_of(sums: CellSums) -> CellMeans:
    """Return mean prediction, events and rows of each cell that is not empty."""
    cells = len(sums.counts)
    count = sums.counts.sum(axis=1)
    used = np.flatnonzero(count)
    total = sum_of_predictions(count[used], sums.steps.sum(axis=1)[used], used * count[used], cells)
    return CellMeans(total / count[used], sums.counts[used, 1], count[used])


def refuse_unknown(binning: Binning, cells: int) -> None:
    """Refuse a binning that needs single predictions, or has more bins than the table cells."""
    if type(binning) not in (EqualWidth, FixedEdges, EqualMass):
        raise ValueError(
            f"A count table cannot use {binning}: it holds no single predictions. Use a number of "
            "equal-width bins, EqualMass or FixedEdges, or bin the rows in memory."
        )
    if isinstance(binning, EqualMass) and binning.rule != "midpoint":
        raise ValueError(
            f"A count table cannot use {binning}: its edges lie on the grid. Use rule='midpoint'."
        )
    if not isinstance(binning, FixedEdges) and binning.n_bins > cells:  # type: ignore[attr-defined]
        raise ValueError(f"{binning} do not fit into the table's {cells:,} cells. Use fewer.")


def borders_of(binning: Binning, cells: int) -> Borders:
    """Return the cells at which bins begin, and G; edges that are not on the grid are refused."""
    edges = binning.edges(np.array([1.0]))
    borders = np.rint(edges * cells).astype(np.intp)
    off = np.flatnonzero(grid_edges(cells)[borders] != edges)
    if len(off):
        raise ValueError(
            f"{binning}: the edge {float(edges[off[0]]):.6g} lies inside a cell of the table. "
            f"Edges must be multiples of 1/{cells}, so a number of bins must divide {cells:,}; "
            f"of the numbers up to 100 these do: "
            f"{', '.join(str(k) for k in range(1, 101) if cells % k == 0)}."
        )
    return borders


def equal_mass_borders(sums: CellSums, n_bins: int) -> Borders:
    """Return the cells at which equal-mass bins begin, and G.

    The rule is that of `EqualMass` with all predictions of a cell tied: no cell is split.
    """
    cumulated = sums.counts.sum(axis=1).cumsum()
    cuts = run_ends(int(cumulated[-1]), n_bins)[1:-1]
    left = np.searchsorted(cumulated, cuts - 1, side="right")
    right = np.searchsorted(cumulated, cuts, side="right")
    apart = left < right
    inner = np.where(apart, (left + right + 1) // 2, left)
    # Where another cut is just below the cell already, the cut inside it is dropped.
    inner = inner[apart | ~np.isin(left, right[apart])]
    lowest = int(np.searchsorted(cumulated, 0, side="right"))
    inner = np.unique(inner[inner > lowest])
    return np.concatenate(([0], inner, [len(cumulated)])).astype(np.intp)


def bin_table(sums: CellSums, binning: Binning, view: str) -> BinTable:
    """Return the bin table of a binning whose edges are on the grid, or of equal-mass bins."""
    cells = len(sums.counts)
    words = str(binning)
    refuse_unknown(binning, cells)
    if isinstance(binning, EqualMass):
        borders = equal_mass_borders(sums, binning.n_bins)
        words = f"{spell(binning.n_bins, 'equal-mass bin')} (edges on a grid of {cells:,} cells)"
        binning = FixedEdges(grid_edges(cells)[borders])
    else:
        borders = borders_of(binning, cells)
    edges = grid_edges(cells)[borders]
    count, steps = sums.counts.sum(axis=1), sums.steps.sum(axis=1)
    number = np.arange(cells) * count

    def per_bin(values: Counts) -> Counts:
        return np.asarray(np.add.reduceat(values, borders[:-1]))

    total = sum_of_predictions(per_bin(count), per_bin(steps), per_bin(number), cells)
    parts = (per_bin(count), total, per_bin(sums.counts[:, 1]))
    return table_of_sums(edges, parts, binning, view=view, bins=words)


def mean_square(sums: CellSums) -> tuple[float, float, float]:
    """Return the means of p, p² and p y; exact up to one rounding each."""
    cells = len(sums.counts)
    number = np.arange(cells)
    count = sums.counts.sum(axis=1)
    n = int(count.sum())
    first = sums.steps / STEPS
    total = (int(number @ count) + first.sum()) / cells
    with_event = (int(number @ sums.counts[:, 1]) + first[:, 1].sum()) / cells
    # (c + r)² = c² + 2 c r + r², in units of cells; c² n can pass what an int64 holds.
    squares = (number.astype(np.float64) ** 2) @ count + 2 * (number @ first.sum(axis=1))
    square = float(squares + sums.square) / cells**2
    return float(total / n), square / n, float(with_event / n)


def cumulative_sums(sums: CellSums, view: str) -> cumulative.CumulativeDifferences:
    """Return the running sum of events minus predictions at the ends of cells, and its tests."""
    groups = groups_of(sums)
    n = int(groups.rows.sum())
    path = np.concatenate(([0.0], np.cumsum(groups.events - groups.prediction * groups.rows) / n))
    mean, square, _ = mean_square(sums)
    # A spread of nothing but rounding is none.
    scale = float(np.sqrt(max(mean - square, 0.0) / n)) if mean - square > 1e-15 else 0.0

    def tested(rule: type[cumulative.SupremumRule], size: float) -> TestResult:
        if sums.impossible:
            return result_of(rule, np.inf, 0.0, view=view, n=n)
        value = ratio(np.array([size]), scale)
        return result_of(rule, float(value[0]), float(rule.tail(value)[0]), view=view, n=n)

    share = np.concatenate(([0.0], np.cumsum(groups.rows) / n))
    return cumulative.CumulativeDifferences(
        share=share,
        prob=np.concatenate(([0.0], groups.prediction)),
        difference=path,
        scale=scale,
        mad_test=tested(cumulative.SupremumRule, float(np.abs(path).max())),
        range_test=tested(cumulative.RangeRule, float(np.ptp(path))),
    )
