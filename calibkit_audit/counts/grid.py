"""The cells of a count table: adding rows, and what can be read off the sums of one problem."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Binning, EqualMass, EqualWidth, FixedEdges, run_ends
from calibkit.hypothesis_tests import cumulative
from calibkit.hypothesis_tests.p_values import Statistic, TestResult, ratio
from calibkit.inputs import FloatArray, FloatMatrix, FloatVector, IntArray, as_array
from calibkit.reliability import BinTable
from calibkit.results import spell
from calibkit_audit.incoming import column_names

Counts = NDArray[np.int64]

CELLS = 25_200  # 2^4 * 3^2 * 5^2 * 7: a multiple of every usual number of bins
MOST_CELLS = 1_000_000
_BLOCK = 131_072  # rows whose work arrays stay inside the processor's cache
_LOOSE = 1e-6  # what the mean of many predictions may be off by rounding


class CellSums(NamedTuple):
    """What a table keeps of some rows of one binary problem."""

    counts: Counts  # (G, 2): rows in each cell, without and with the event
    sums: FloatMatrix  # (G, 2): sums of their predictions
    square: float  # sum of the squares of all predictions
    impossible: int  # rows whose prediction was exactly 0 or 1, and wrong


class CellMeans(NamedTuple):
    """Mean prediction, events and rows of each cell that is not empty, in increasing order."""

    prediction: FloatVector
    events: Counts
    rows: Counts


def sums_of_rows(prob: FloatArray, label: IntArray, cells: int) -> CellSums:
    """Add up checked rows of a binary problem."""
    count, total, square = np.zeros(2 * cells, dtype=np.int64), np.zeros(2 * cells), 0.0
    for start in range(0, len(prob), _BLOCK):
        part = prob[start : start + _BLOCK].astype(np.float64)
        # Events have every second place: one pass counts both kinds.
        place = 2 * cell_of(part, cells) + label[start : start + _BLOCK].astype(np.int32)
        count += np.bincount(place, minlength=2 * cells)
        total += np.bincount(place, weights=part, minlength=2 * cells)
        square += float((part**2).sum())  # BLAS would start threads for this
    wrong = np.count_nonzero(prob == 1 - label.astype(np.int8))
    return CellSums(count.reshape(-1, 2), total.reshape(-1, 2), square, int(wrong))


def cell_of(prob: FloatVector, cells: int) -> NDArray[np.int32]:
    """Return the cell of each prediction, as `EqualWidth` says."""
    cell = np.minimum((prob * cells).astype(np.int32), cells - 1)  # int64 takes 19 times as long
    # The product p G just below an edge may be rounded up to it, and the reverse.
    edges = grid_edges(cells)
    cell -= prob < edges[cell]
    return np.asarray(cell + ((prob >= edges[1:][cell]) & (cell < cells - 1)))


def grid_edges(cells: int) -> FloatVector:
    """Return the ``G + 1`` edges of the cells."""
    return EqualWidth(cells).edges(np.empty(0))


def sums_of_counts(frame: Any, cells: int) -> CellSums:
    """Add up rows that were counted elsewhere, some of a cell at a time; a cell may come again.

    Cell G holds predictions of 1. Without `sum_p` all others are in the middle of their cells.
    """
    cell, n, events, sum_p = _count_columns(frame, cells)
    place = np.minimum(cell, cells - 1).astype(np.intp)
    mean = np.minimum((cell + 0.5) / cells, 1.0) if sum_p is None else sum_p / n
    if off := np.flatnonzero(np.abs(mean * cells - place - 0.5) > 0.5 + _LOOSE * cells).tolist():
        raise ValueError(
            f"row {off[0]}: the predictions of cell {cell[off[0]]:.0f} have the mean "
            f"{mean[off[0]]:.9g}, which lies outside of it. The cell is floor(p * {cells}), and "
            "sum_p the sum of p."
        )
    count, total = np.zeros((cells, 2), dtype=np.int64), np.zeros((cells, 2))
    for kind, rows in enumerate((n - events, events)):
        np.add.at(count[:, kind], place, rows.astype(np.int64))
        np.add.at(total[:, kind], place, mean * rows)
    wrong = (n - events)[mean == 1].sum() + events[mean == 0].sum()
    return CellSums(count, total, float(n @ mean**2), int(wrong))


def _count_columns(
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
        ("n", n, 1, np.inf, "a number of rows"),
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


def means_of(sums: CellSums) -> CellMeans:
    """Return mean prediction, events and rows of each cell that is not empty."""
    count = sums.counts.sum(axis=1)
    used = np.flatnonzero(count)
    mean = sums.sums.sum(axis=1)[used] / count[used]
    return CellMeans(mean, sums.counts[used, 1], count[used])


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


def borders_of(binning: Binning, cells: int) -> NDArray[np.intp]:
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


def equal_mass_borders(sums: CellSums, n_bins: int) -> NDArray[np.intp]:
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
    parts = (sums.counts.sum(axis=1), sums.sums.sum(axis=1), sums.counts[:, 1])
    count, total, events = (np.add.reduceat(values, borders[:-1]) for values in parts)
    edges = grid_edges(cells)[borders]
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: the mark of an empty bin
        mean_prob, frequency = total / count, events / count
    return BinTable(
        edges=edges,
        count=count,
        mean_prob=mean_prob,
        frequency=frequency,
        view=view,
        bins=words,
        binning=binning,
    )


def cumulative_sums(sums: CellSums, view: str) -> cumulative.CumulativeDifferences:
    """Return the running sum of events minus predictions at the ends of cells, and its tests."""
    means = means_of(sums)
    n = int(means.rows.sum())
    path = np.concatenate(([0.0], np.cumsum(means.events - means.prediction * means.rows) / n))
    variance = (float(sums.sums.sum()) - sums.square) / n
    # A spread of nothing but rounding is none.
    scale = float(np.sqrt(variance / n)) if variance > 1e-15 else 0.0

    def tested(one: Statistic, size: float) -> TestResult:
        if sums.impossible:
            return one.result(np.inf, 0.0, view=view, n=n)
        value = float(ratio(np.float64(size), scale))
        return one.result(value, float(one.tail(value)), view=view, n=n)

    share = np.concatenate(([0.0], np.cumsum(means.rows) / n))
    return cumulative.CumulativeDifferences(
        share=share,
        prob=np.concatenate(([0.0], means.prediction)),
        difference=path,
        scale=scale,
        mad_test=tested(cumulative.largest_statistic(float), float(np.abs(path).max())),
        range_test=tested(cumulative.range_statistic(float), float(np.ptp(path))),
    )
