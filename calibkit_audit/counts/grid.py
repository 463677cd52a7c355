"""The cells of a count table: adding rows, and what can be read off the sums of one problem."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Binning, EqualWidth, FixedEdges, slack_of
from calibkit.inputs import FloatArray, FloatMatrix, FloatVector, IntArray, as_array
from calibkit.reliability import BinTable
from calibkit_audit.incoming import column_names

Counts = NDArray[np.int64]

CELLS = 25_200  # 2^4 * 3^2 * 5^2 * 7: a multiple of every usual number of bins
EDGES = EqualWidth(CELLS).edges(np.empty(0))
_BLOCK = 131_072  # rows whose work arrays stay inside the processor's cache
_LOOSE = 1e-6  # what the mean of many predictions may be off by rounding


class CellSums(NamedTuple):
    """What a table keeps of some rows of one binary problem."""

    counts: Counts  # (G, 2): rows in each cell, without and with the event
    sums: FloatMatrix  # (G, 2): sums of their predictions
    impossible: int  # rows whose prediction was exactly 0 or 1, and wrong


def sums_of_rows(prob: FloatArray, label: IntArray, precision: str) -> CellSums:
    """Add up checked rows of a binary problem."""
    slack = slack_of(EqualWidth(CELLS), precision)
    count, total = np.zeros(2 * CELLS, dtype=np.int64), np.zeros(2 * CELLS)
    for start in range(0, len(prob), _BLOCK):
        part = prob[start : start + _BLOCK].astype(np.float64)
        # Events have every second place: one pass counts both kinds.
        place = 2 * cell_of(part, slack) + label[start : start + _BLOCK].astype(np.int32)
        count += np.bincount(place, minlength=2 * CELLS)
        total += np.bincount(place, weights=part, minlength=2 * CELLS)
    wrong = np.count_nonzero(prob == 1 - label.astype(np.int8))
    return CellSums(count.reshape(-1, 2), total.reshape(-1, 2), int(wrong))


def cell_of(prob: FloatVector, slack: float) -> NDArray[np.int32]:
    """Return the cell of each prediction; below an edge by no more than `slack` is on it."""
    cell = ((prob + slack) * CELLS).astype(np.int32)  # int64 takes 19 times as long
    return np.asarray(np.minimum(cell, CELLS - 1))


def sums_of_counts(frame: Any) -> CellSums:
    """Add up rows that were counted elsewhere, some of a cell at a time; a cell may come again.

    Cell G holds predictions of 1. Without `sum_p` all others are in the middle of their cells.
    """
    cell, n, events, sum_p = _count_columns(frame)
    place = np.minimum(cell, CELLS - 1).astype(np.intp)
    mean = np.minimum((cell + 0.5) / CELLS, 1.0) if sum_p is None else sum_p / n
    if off := np.flatnonzero(np.abs(mean * CELLS - place - 0.5) > 0.5 + _LOOSE * CELLS).tolist():
        raise ValueError(
            f"row {off[0]}: the predictions of cell {cell[off[0]]:.0f} have the mean "
            f"{mean[off[0]]:.9g}, which lies outside of it. The cell is floor(p * {CELLS}), and "
            "sum_p the sum of p."
        )
    count, total = np.zeros((CELLS, 2), dtype=np.int64), np.zeros((CELLS, 2))
    for kind, rows in enumerate((n - events, events)):
        np.add.at(count[:, kind], place, rows.astype(np.int64))
        np.add.at(total[:, kind], place, mean * rows)
    wrong = (n - events)[mean == 1].sum() + events[mean == 0].sum()
    return CellSums(count, total, int(wrong))


def _count_columns(frame: Any) -> tuple[FloatVector, FloatVector, FloatVector, FloatVector | None]:
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
        ("cell", cell, 0, CELLS, f"floor(p * {CELLS}) of a probability in [0, 1]"),
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


def borders_of(binning: Binning) -> NDArray[np.intp]:
    """Return the cells at which bins begin, and G; edges that are not on the grid are refused."""
    if type(binning) not in (EqualWidth, FixedEdges):
        raise ValueError(
            f"A count table cannot use {binning}: it holds no single predictions. Use a number of "
            "equal-width bins or FixedEdges, or bin the rows in memory."
        )
    if isinstance(binning, EqualWidth) and binning.n_bins > CELLS:
        raise ValueError(f"{binning} do not fit into the table's {CELLS:,} cells. Use fewer.")
    edges = binning.edges(np.array([1.0]))
    borders = np.rint(edges * CELLS).astype(np.intp)
    off = np.flatnonzero(EDGES[borders] != edges)
    if len(off):
        raise ValueError(
            f"{binning}: the edge {float(edges[off[0]]):.6g} lies inside a cell of the table. "
            f"Edges must be multiples of 1/{CELLS}, so a number of bins must divide {CELLS:,}; "
            f"of the numbers up to 100 these do: "
            f"{', '.join(str(k) for k in range(1, 101) if CELLS % k == 0)}."
        )
    return borders


def bin_table(counts: Counts, sums: FloatMatrix, binning: Binning, view: str) -> BinTable:
    """Return the bin table of a binning whose edges are on the grid."""
    borders = borders_of(binning)
    parts = (counts.sum(axis=1), sums.sum(axis=1), counts[:, 1])
    count, total, events = (np.add.reduceat(values, borders[:-1]) for values in parts)
    edges = EDGES[borders]
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: the mark of an empty bin
        mean_prob, frequency = total / count, events / count
    return BinTable(
        edges=edges,
        count=count,
        mean_prob=mean_prob,
        frequency=frequency,
        view=view,
        bins=str(binning),
        binning=binning,
    )
