"""Fast redraws of binned errors: with fixed edges, only sums per bin have to be drawn again."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Binning
from calibkit.chance.clusters import Clusters, Dependence, classes_at, weights_of_labels
from calibkit.errors.family import CalibrationError, bin_weights, combine_views, weighted_norm
from calibkit.inputs import (
    BinaryProblem,
    FloatArray,
    FloatMatrix,
    FloatVector,
    IntArray,
    IntVector,
    Rows,
    View,
    as_predictions,
    weighted_problems,
)
from calibkit.progress import watched
from calibkit.reliability import BinTable, reliability_tables

# Redraws are made in blocks of about this many random numbers (8 MB of float64).
_BLOCK_DRAWS = 1_000_000
# Of so many rows and more, those of one bin are drawn in lots that agree to one part of 4096.
MANY_ROWS, _STEPS = 200_000, 4096


def uses_labels(binning: Binning) -> bool:
    """Tell whether a binning looks at the labels, so that it must be found anew each time."""
    return bool(getattr(binning, "uses_labels", False))


def blocks(n_draws: int, n: int, label: str = "redraws") -> Iterator[slice]:
    """Cut the draws into blocks that fit into memory; long runs show their progress."""
    size = max(1, _BLOCK_DRAWS // n)
    starts = range(0, n_draws, size)
    for start in watched(starts, len(starts), label):
        yield slice(start, min(start + size, n_draws))


def draw_classes(
    prob: FloatArray, n_draws: int, generator: np.random.Generator, chance: Dependence | None = None
) -> NDArray[np.int64]:
    """Draw labels of shape (n_draws, n) from the predictions themselves."""
    if chance is None:
        return classes_at(prob, generator.random((n_draws, len(prob))))
    return classes_at(prob, np.stack([chance.uniform(generator) for _ in range(n_draws)]))


def redrawn(
    prob: FloatArray,
    label: NDArray[Any],
    clusters: Clusters | None,
    n_draws: int,
    generator: np.random.Generator,
) -> Iterator[NDArray[np.int64]]:
    """Draw labels from the predictions again and again; in clusters they agree as in the data."""
    chance = None if clusters is None else Dependence(prob, label, clusters, generator)
    for _ in watched(range(n_draws), n_draws, "redraws"):
        yield draw_classes(prob, 1, generator, chance)[0]


def draw_events(
    problem: BinaryProblem,
    table: BinTable,
    n_draws: int,
    generator: np.random.Generator,
    *,
    coarse: bool = False,
    chance: Dependence | None = None,
) -> NDArray[Any]:
    """Draw events and add them up, (n_draws, B); `coarse` draws meet predictions to 1e-7, faster.

    Beyond `MANY_ROWS`, rows of one bin whose predictions agree to 1/4096 are one lot, with the
    binomial law of their mean prediction. `chance` makes the rows of clusters agree.
    """
    if problem.weight is not None:
        won, mass = draw_weighed(problem, table, n_draws, generator, chance)
        scale = table.total.sum() / mass.sum(axis=1, keepdims=True)
        return np.asarray(table.total * table.mean_prob + won * scale)
    if chance is not None:
        index = table.assign(problem.prob)
        drawn = (draw_classes(problem.prob, 1, generator, chance)[0] for _ in range(n_draws))
        return np.stack([np.bincount(index, minlength=table.n_bins, weights=y) for y in drawn])
    if problem.n > MANY_ROWS:
        count, bounds, columns = _lots(problem, table, by_label=False)
        drawn = (generator.binomial(count, columns[:, 1]) for _ in range(n_draws))
        before = (np.concatenate(([0], np.cumsum(row))) for row in drawn)
        return np.stack([np.diff(row[bounds]) for row in before])
    order, bounds = _sort_by_bin(problem, table)
    kind: type[np.float32 | np.float64] = np.float32 if coarse else np.float64
    prob = problem.prob[order].astype(kind)
    events = np.empty((n_draws, table.n_bins), dtype=np.intp)
    for rows in blocks(n_draws, problem.n):
        uniform = generator.random((rows.stop - rows.start, problem.n), dtype=kind)
        happened = np.less(uniform, prob)
        for b, (start, stop) in enumerate(pairwise(bounds)):
            events[rows, b] = np.count_nonzero(happened[:, start:stop], axis=1)
    return events


def draw_weighed(
    problem: BinaryProblem,
    table: BinTable,
    n_draws: int,
    generator: np.random.Generator,
    chance: Dependence | None = None,
) -> tuple[FloatMatrix, FloatMatrix]:
    """Redraw labels of rows chosen with them: ``sum w (y - p)`` and ``sum w``, (n_draws, B)."""
    index, prob = table.assign(problem.prob), problem.prob.astype(np.float64)
    both = np.column_stack([1 - prob, prob])
    weight = weights_of_labels(np.asarray(problem.weight), both, problem.label)
    both /= weight
    both /= both.sum(axis=1, keepdims=True)
    won, mass = np.empty((2, n_draws, table.n_bins))
    for i in range(n_draws):
        label = draw_classes(both[:, 1], 1, generator, chance)[0]
        drawn = weight[np.arange(len(label)), label]
        won[i] = np.bincount(index, drawn * (label - prob), table.n_bins)
        mass[i] = np.bincount(index, drawn, table.n_bins)
    return won, mass


def _sort_by_bin(problem: BinaryProblem, table: BinTable) -> tuple[IntVector, IntVector]:
    """Return the row order that puts bins side by side, and the bounds of the bins in it."""
    index = table.assign(problem.prob)
    bounds = np.concatenate(([0], np.cumsum(np.bincount(index, minlength=table.n_bins))))
    return np.argsort(index, kind="stable"), bounds


class Redraws(NamedTuple):
    """A binned error, its `problems`, all predictions and labels: its bins stay in a redraw.

    With `clusters` whole ones are redrawn, and `chance` draws labels.
    """

    error: CalibrationError
    problems: tuple[BinaryProblem, ...]
    prob: FloatArray
    label: IntArray
    clusters: Clusters | None = None
    chance: Dependence | None = None

    def within(self, clusters: Clusters | None, generator: np.random.Generator) -> "Redraws":
        """Return the same for rows of which only the clusters are independent."""
        if clusters is None:
            return self
        both = (self.prob, self.label)
        if len(self.problems) == 1:
            both = self.problems[0].prob, self.problems[0].label
        return self._replace(clusters=clusters, chance=Dependence(*both, clusters, generator))

    def null_errors(self, n_draws: int, generator: np.random.Generator) -> FloatVector:
        """Redraw all labels from the predictions and return the error of each redraw."""
        gaps, tables = [], self.error.tables
        for table, hits in zip(tables, self.null_events(n_draws, generator), strict=True):
            with np.errstate(invalid="ignore"):  # empty bins stay NaN
                gaps.append(table.mean_prob - hits / table.total)
        return self.errors(gaps, [bin_weights(t.total, self.error.weights) for t in tables])

    def errors(self, gaps: Sequence[FloatVector], weights: Sequence[FloatVector]) -> FloatVector:
        """Return the error for gaps and weights of the bins, one array per table, bins last."""
        norm = self.error.norm
        per_view = [weighted_norm(*both, norm) for both in zip(gaps, weights, strict=True)]
        return combine_views(np.stack(per_view, axis=-1), norm, self.error.class_weights)

    def null_events(
        self, n_draws: int, generator: np.random.Generator, *, coarse: bool = False
    ) -> list[NDArray[Any]]:
        """Redraw all labels from the predictions; count events per table, shape (n_draws, B)."""
        tables, problems = self.error.tables, self.problems
        if len(problems) == 1:
            one = problems[0], tables[0], n_draws, generator
            return [draw_events(*one, coarse=coarse, chance=self.chance)]
        # The classes share one drawn label per row.
        offset = np.concatenate(([0], np.cumsum([table.n_bins for table in tables])))
        cells = [
            table.assign(problem.prob) + start
            for problem, table, start in zip(problems, tables, offset[:-1], strict=True)
        ]
        cell, rows = np.stack(cells, axis=1), np.arange(len(self.prob))
        counts = np.empty((n_draws, offset[-1]), dtype=np.intp)
        for block in blocks(n_draws, len(rows)):
            drawn = draw_classes(self.prob, block.stop - block.start, generator, self.chance)
            for row, labels in zip(counts[block], drawn, strict=True):
                row[:] = np.bincount(cell[rows, labels], minlength=offset[-1])
        return [counts[:, a:b] for a, b in pairwise(offset)]

    def resampled_errors(self, n_resamples: int, generator: np.random.Generator) -> FloatVector:
        """Redraw the rows with replacement, edges fixed, and return the error of each resample."""
        sums = self.resampled_sums(n_resamples, generator)
        return np.concatenate([self.errors_of_sums(block) for _, block in sums])

    def resampled_sums(
        self, n_resamples: int, generator: np.random.Generator
    ) -> Iterator[tuple[slice, list[FloatVector]]]:
        """Redraw rows; yield count, sum of predictions and events per bin, (resamples, B, 3).

        Beyond `MANY_ROWS`, rows of one bin and label whose predictions agree to 1/4096 are one lot:
        lots have the multinomial law, and their means replace predictions.
        """
        n = len(self.prob)
        plain = self.clusters is None and self.problems[0].weight is None
        if n > MANY_ROWS and len(self.problems) == 1 and plain:
            count, bounds, columns = _lots(self.problems[0], self.error.tables[0], by_label=True)
            for block in blocks(n_resamples, len(count), "resamples"):
                size = block.stop - block.start
                times = generator.multinomial(n, count / n, size=size).astype(np.float64)
                yield block, [_sums(times, bounds, columns)]
            return
        parts = []  # the rows of each problem sorted by bin: order, bounds, what to add up
        for problem, table in zip(self.problems, self.error.tables, strict=True):
            order, bounds = _sort_by_bin(problem, table)
            columns = np.column_stack([np.ones(n), problem.prob, problem.label])
            if problem.weight is not None:
                columns *= problem.weight[:, np.newaxis]
            parts.append((order, bounds, columns[order]))
        for block in blocks(n_resamples, n, "resamples"):
            units = n if self.clusters is None else self.clusters.count
            size = block.stop - block.start, units
            drawn = generator.integers(0, units, size=size).astype(np.intp, copy=False)
            times = np.empty(drawn.shape)  # how often each row was drawn, as float for products
            for row, indices in zip(times, drawn, strict=True):
                row[:] = np.bincount(indices, minlength=units)
            if self.clusters is not None:
                times = times[:, self.clusters.code]
            # One problem needs no reordering: its rows may be drawn in sorted order at once.
            several = len(parts) > 1
            yield block, [_sums(times[:, o] if several else times, b, c) for o, b, c in parts]

    def errors_of_sums(self, sums: list[FloatVector]) -> FloatVector:
        """Return the error of each resample."""
        gaps, weights = [], []
        for of_table in sums:
            count, sum_prob, hits = np.moveaxis(of_table, -1, 0)
            with np.errstate(invalid="ignore"):
                gaps.append(sum_prob / count - hits / count)
            weights.append(bin_weights(count, self.error.weights))
        return self.errors(gaps, weights)


def _lots(
    problem: BinaryProblem, table: BinTable, *, by_label: bool
) -> tuple[IntVector, IntVector, FloatVector]:
    """Return rows per lot, the bounds of the bins among lots, and what a row of a lot adds up."""
    step = np.minimum(problem.prob * _STEPS, _STEPS - 1).astype(np.intp)
    index = table.assign(problem.prob)
    key = (index * _STEPS + step) * 2 + (problem.label if by_label else 0)
    count = np.bincount(key)
    used = np.flatnonzero(count)
    mean = np.bincount(key, problem.prob)[used] / count[used]
    columns = np.column_stack([np.ones(len(used)), mean, used % 2])
    bounds = np.searchsorted(used, np.arange(table.n_bins + 1) * (2 * _STEPS))
    return count[used], bounds, columns


def _sums(times: FloatVector, bounds: IntVector, columns: FloatVector) -> FloatVector:
    """Add up columns per resample and bin; `times` says how often each sorted row was drawn."""
    sums = np.empty((len(times), len(bounds) - 1, columns.shape[1]))
    for b, (start, stop) in enumerate(pairwise(bounds)):
        sums[:, b] = times[:, start:stop] @ columns[start:stop]
    return sums


def redraws_of(observed: Any, y_true: Any, y_prob: Any, weight: Any = None) -> Redraws | None:
    """Return what redraws a binned error if its bins can be reused, else None.

    They cannot if they depend on the labels, or if the measure changed or selected rows before
    it measured: then its tables are not those of the rows that are redrawn. Weights must be scaled
    by `kish`.
    """
    if not isinstance(observed, CalibrationError) or uses_labels(observed.tables[0].binning):
        return None
    first = observed.tables[0]
    if (first.mass is None) != (weight is None) or (first.mass is not None and observed.tables[1:]):
        return None
    binning, words = first.binning, first.view.removesuffix(", weighted")
    view: View = "class-wise"
    if len(observed.tables) == 1:
        named: dict[str, View] = {"top-label": "top-label", "positive class": None}
        if words in named:
            view = named[words]
        elif words.startswith("classes "):
            view = [int(k) for k in words.removeprefix("classes ").split(", ")]
        else:
            view = int(words.removeprefix("class "))
    # The confidence of a predicted class is a column of its own.
    several: tuple[Rows, ...] = ({}, {"predicted": True})
    for said in several[: 2 if view == "top-label" else 1]:
        rows: Rows = {**said, "sample_weight": weight}
        try:
            tables = reliability_tables(y_true, y_prob, view=view, bins=binning, **rows)
        except ValueError:  # a view of other columns, or predictions outside of these bins
            continue
        if all(map(_same_table, tables, observed.tables)):
            problems = weighted_problems(y_true, y_prob, view=view, **rows)
            label, prob = as_predictions(y_true, y_prob)
            return Redraws(observed, problems, prob, label)
    return None


def _same_table(one: BinTable, other: BinTable) -> bool:
    return one.view == other.view and all(
        np.array_equal(getattr(one, part), getattr(other, part), equal_nan=True)
        for part in ("edges", "count", "mean_prob", "frequency")
    )
