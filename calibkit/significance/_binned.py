"""Fast redraws of binned errors: with fixed edges, only sums per bin have to be drawn again."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._validation import FloatArray
from calibkit.bins import Binning
from calibkit.errors.family import CalibrationError, bin_weights, combine_views, weighted_norm
from calibkit.reliability import BinTable, reliability_tables
from calibkit.views import BinaryProblem, View, binary_problems

FloatVector = NDArray[np.float64]

# Redraws are made in blocks of about this many random numbers (8 MB of float64).
_BLOCK_DRAWS = 1_000_000


def reusable(
    observed: Any, y_true: Any, y_prob: Any
) -> tuple[CalibrationError, tuple[BinaryProblem, ...]] | None:
    """Return a binned error and its problems if its bins can be reused for redraws, else None.

    They cannot if they depend on the labels, or if the measure changed or selected rows before
    it measured: then its tables are not those of the rows that are redrawn.
    """
    if not isinstance(observed, CalibrationError) or uses_labels(observed.tables[0].binning):
        return None
    view, binning = view_of(observed), observed.tables[0].binning
    try:
        tables = reliability_tables(y_true, y_prob, view=view, bins=binning)
    except ValueError:  # a view of other columns, or predictions outside of these bins
        return None
    if not all(map(_same_table, tables, observed.tables)):
        return None
    return observed, binary_problems(y_true, y_prob, view=view)


def _same_table(one: BinTable, other: BinTable) -> bool:
    parts = ("edges", "count", "mean_prob", "frequency")
    return one.view == other.view and all(
        np.array_equal(getattr(one, part), getattr(other, part), equal_nan=True) for part in parts
    )


def uses_labels(binning: Binning) -> bool:
    """Tell whether a binning looks at the labels, so that it must be found anew each time."""
    return bool(getattr(binning, "uses_labels", False))


def view_of(error: CalibrationError) -> View | None:
    """Return the `view` argument that led to this error."""
    if len(error.tables) > 1:
        return "class-wise"
    words = error.tables[0].view
    if words == "top-label":
        return words
    return None if words == "positive class" else int(words.removeprefix("class "))


def blocks(n_draws: int, n: int) -> Iterator[slice]:
    """Cut the draws into blocks that fit into memory."""
    size = max(1, _BLOCK_DRAWS // n)
    for start in range(0, n_draws, size):
        yield slice(start, min(start + size, n_draws))


def sort_by_bin(
    problem: BinaryProblem, table: BinTable
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the row order that puts bins side by side, and the bounds of the bins in it."""
    index = table.binning.assign(problem.prob, table.edges)
    bounds = np.concatenate(([0], np.cumsum(table.count)))
    return np.argsort(index, kind="stable"), bounds


def draw_classes(
    prob: FloatArray, n_draws: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Draw labels of shape (n_draws, n) from the predictions themselves."""
    uniform = generator.random((n_draws, len(prob)))
    if prob.ndim == 1:
        return (uniform < prob).astype(np.int64)
    upper = np.cumsum(prob[:, :-1], axis=1, dtype=np.float64)
    drawn = np.zeros(uniform.shape, dtype=np.int64)
    for k in range(upper.shape[1]):  # the class is the number of cumulative sums passed
        drawn += uniform >= upper[:, k]
    return drawn


def draw_events(
    problem: BinaryProblem,
    table: BinTable,
    n_draws: int,
    generator: np.random.Generator,
    *,
    coarse: bool = False,
) -> NDArray[np.intp]:
    """Draw events from the predictions and count them per bin: shape (n_draws, B).

    Coarse draws take less time. They meet the predictions to 1e-7 only.
    """
    order, bounds = sort_by_bin(problem, table)
    kind: type[np.float32 | np.float64] = np.float32 if coarse else np.float64
    prob = problem.prob[order].astype(kind)
    events = np.empty((n_draws, table.n_bins), dtype=np.intp)
    for rows in blocks(n_draws, problem.n):
        uniform = generator.random((rows.stop - rows.start, problem.n), dtype=kind)
        happened = np.less(uniform, prob)
        for b in range(table.n_bins):
            events[rows, b] = np.count_nonzero(happened[:, bounds[b] : bounds[b + 1]], axis=1)
    return events


def null_errors(
    error: CalibrationError,
    problems: tuple[BinaryProblem, ...],
    prob: FloatArray,
    n_draws: int,
    generator: np.random.Generator,
) -> FloatVector:
    """Redraw all labels from the predictions and return the error of each redraw."""
    events = null_events(error, problems, prob, n_draws, generator)
    per_view = []
    for table, hits in zip(error.tables, events, strict=True):
        reference = table.mean_prob if error.gap == "mean" else table.centre
        with np.errstate(invalid="ignore"):  # empty bins stay NaN
            gap = reference - hits / table.count
        per_view.append(weighted_norm(gap, bin_weights(table.count, error.weights), error.norm))
    return combine_views(np.stack(per_view, axis=-1), error.norm)


def null_events(
    error: CalibrationError,
    problems: tuple[BinaryProblem, ...],
    prob: FloatArray,
    n_draws: int,
    generator: np.random.Generator,
    *,
    coarse: bool = False,
) -> list[NDArray[np.intp]]:
    """Redraw all labels from the predictions; count events per table, shape (n_draws, B)."""
    if len(problems) == 1:
        return [draw_events(problems[0], error.tables[0], n_draws, generator, coarse=coarse)]
    return _draw_events_of_classes(error, problems, prob, n_draws, generator)


def _draw_events_of_classes(
    error: CalibrationError,
    problems: tuple[BinaryProblem, ...],
    prob: FloatArray,
    n_draws: int,
    generator: np.random.Generator,
) -> list[NDArray[np.intp]]:
    """Count events per class and bin; the classes share one drawn label per row."""
    offset = np.concatenate(([0], np.cumsum([table.n_bins for table in error.tables])))
    cell = np.stack(
        [
            table.binning.assign(problem.prob, table.edges) + start
            for problem, table, start in zip(problems, error.tables, offset[:-1], strict=True)
        ],
        axis=1,
    )
    rows = np.arange(len(cell))
    counts = np.empty((n_draws, offset[-1]), dtype=np.intp)
    for block in blocks(n_draws, cell.size):
        drawn = draw_classes(prob, block.stop - block.start, generator)
        for row, labels in zip(range(block.start, block.stop), drawn, strict=True):
            counts[row] = np.bincount(cell[rows, labels], minlength=offset[-1])
    return [counts[:, a:b] for a, b in zip(offset[:-1], offset[1:], strict=True)]


def bootstrap_errors(
    error: CalibrationError,
    problems: tuple[BinaryProblem, ...],
    n_resamples: int,
    generator: np.random.Generator,
) -> FloatVector:
    """Redraw the rows with replacement, edges fixed, and return the error of each resample."""
    values = np.empty(n_resamples)
    for block, sums in resampled_sums(error, problems, n_resamples, generator):
        values[block] = errors_of_sums(error, sums)
    return values


def resampled_sums(
    error: CalibrationError,
    problems: tuple[BinaryProblem, ...],
    n_resamples: int,
    generator: np.random.Generator,
) -> Iterator[tuple[slice, list[FloatVector]]]:
    """Redraw the rows with replacement; yield count, sum of predictions and events per bin.

    Each block has one array per table, of shape (resamples, B, 3).
    """
    n = problems[0].n
    sorted_rows = [_SortedRows(p, t) for p, t in zip(problems, error.tables, strict=True)]
    for block in blocks(n_resamples, n):
        drawn = generator.integers(0, n, size=(block.stop - block.start, n))
        times = np.empty(drawn.shape)  # how often each row was drawn, as float for the products
        for row, indices in zip(times, drawn, strict=True):
            row[:] = np.bincount(indices, minlength=n)
        yield (
            block,
            [
                # One problem needs no reordering: its rows may be drawn in sorted order at once.
                rows.sums(times if len(problems) == 1 else times[:, rows.order])
                for rows in sorted_rows
            ],
        )


def errors_of_sums(error: CalibrationError, sums: list[FloatVector]) -> FloatVector:
    """Return the error of each resample from its sums per bin."""
    per_view = []
    for table, of_table in zip(error.tables, sums, strict=True):
        count, sum_prob, hits = np.moveaxis(of_table, -1, 0)
        with np.errstate(invalid="ignore"):
            reference = sum_prob / count if error.gap == "mean" else table.centre
            gap = reference - hits / count
        per_view.append(weighted_norm(gap, bin_weights(count, error.weights), error.norm))
    return combine_views(np.stack(per_view, axis=-1), error.norm)


class _SortedRows:
    """The rows of one problem sorted by bin, ready to be counted several times each."""

    def __init__(self, problem: BinaryProblem, table: BinTable) -> None:
        self.table = table
        self.order, self.bounds = sort_by_bin(problem, table)
        prob = problem.prob[self.order].astype(np.float64)
        label = problem.label[self.order].astype(np.float64)
        self.columns = np.column_stack([np.ones_like(prob), prob, label])

    def sums(self, times: FloatVector) -> FloatVector:
        """Add up each resample per bin; `times` says how often each sorted row was drawn."""
        sums = np.empty((len(times), self.table.n_bins, 3))
        for b in range(self.table.n_bins):
            inside = slice(self.bounds[b], self.bounds[b + 1])
            sums[:, b] = times[:, inside] @ self.columns[inside]
        return sums
