"""Compare models whose predictions stand in files: kept, or summed up in a stream."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.auditing import _paired as paired
from calibkit.auditing._comparing import compare, worded
from calibkit.auditing._large import SAMPLE, _Sample, _take
from calibkit.auditing._readers import Predictions
from calibkit.auditing.comparison import Comparison
from calibkit.decisions.costs import as_costs

FloatVector = NDArray[np.float64]


def compare_files(models: Mapping[str, Predictions], **options: Any) -> Comparison:
    """Compare models whose rows are kept, with the options of `compare`."""
    blocks = _in_one_order(list(models.values()))
    probs = {name: block.scores for name, block in zip(models, blocks, strict=True)}
    return compare(blocks[0].y_true, probs, **_names(blocks[0]), **options)


def compare_stream(
    streams: Mapping[str, Iterator[Predictions]],
    *,
    costs: Any = None,
    level: float = 0.95,
    rng: int = 0,
    sample: int = SAMPLE,
    **options: Any,
) -> Comparison:
    """Compare models whose rows come in blocks: scores of all rows, the rest from a sample.

    Means and standard errors of cost, log loss and Brier score are those of all rows, with
    Student's intervals. Calibration, groups and figures are those of a random `sample`.
    """
    keeper, sums, table = _Sample(sample, rng), _Sums(), None
    names, width = tuple(streams), 1
    for blocks in _aligned(list(streams.values())):
        first = blocks[0]
        width = 1 if first.scores.ndim == 1 else first.scores.shape[1]
        table = None if costs is None else as_costs(costs, max(width, 2))
        sums.count += np.bincount(first.y_true, minlength=max(width, 2))
        sums.add([paired.scores_of_rows(b.y_true, b.scores, table) for b in blocks])
        together = np.column_stack([block.scores for block in blocks])
        keeper.add(replace(first, scores=together))
    if not sums.n:
        raise ValueError("There are no rows.")
    rows = keeper.rows()
    if width == 1 and not sums.count[1]:
        raise ValueError("y = 1 never occurs. Is the positive label the right one?")
    parts = np.split(rows.scores, len(names), axis=1)
    probs = {n: p[:, 0] if width == 1 else p for n, p in zip(names, parts, strict=True)}
    found = compare(
        rows.y_true, probs, costs=table, level=level, rng=rng, **_names(rows), **options
    )
    return found if sums.n == rows.n else _with_all_rows(found, sums, level)


def _names(rows: Predictions) -> dict[str, Any]:
    named = rows.class_names if rows.scores.ndim == 2 else None
    return {"groups": rows.groups, "class_names": named}


def _in_one_order(blocks: Sequence[Predictions]) -> list[Predictions]:
    """Return the blocks with the classes of the first one, matched by name; labels must agree."""
    first, ordered = blocks[0], [blocks[0]]
    for block in blocks[1:]:
        names = block.class_names
        if names != first.class_names and names and first.class_names:
            if set(names) != set(first.class_names):
                raise ValueError(
                    f"the models have different classes: {', '.join(first.class_names)} and "
                    f"{', '.join(names)}."
                )
            place = [names.index(name) for name in first.class_names]
            label = np.argsort(place)[block.y_true]
            block = replace(block, y_true=label, scores=block.scores[:, place])
        if block.n != first.n or not np.array_equal(block.y_true, first.y_true):
            raise ValueError("the models' columns give the labels different meanings.")
        ordered.append(block)
    return ordered


def _aligned(streams: Sequence[Iterator[Predictions]]) -> Iterator[list[Predictions]]:
    """Yield blocks of the same rows: readers cut their blocks by the number of columns."""
    held: list[Predictions | None] = [None] * len(streams)
    while True:
        held = [next(s, None) if b is None else b for b, s in zip(held, streams, strict=True)]
        blocks = [block for block in held if block is not None]
        if len(blocks) < len(streams):
            return
        n = min(block.n for block in blocks)
        yield _in_one_order([_take(block, np.arange(n)) for block in blocks])
        rests = [_take(block, np.arange(n, block.n)) for block in blocks]
        held = [rest if rest.n else None for rest in rests]


class _Sums:
    """Sums over all rows: of each score of each model, of differences, and of their squares."""

    def __init__(self) -> None:
        self.count: Any = 0  # rows of each class
        self.scores: dict[str, FloatVector] = {}
        self.squares: dict[str, FloatVector] = {}
        self.differ: dict[str, FloatVector] = {}  # how many rows differ

    @property
    def n(self) -> int:
        return int(np.sum(self.count))

    def add(self, each: Sequence[Mapping[str, FloatVector]]) -> None:
        for key in each[0]:
            values = np.array([one[key] for one in each])
            with np.errstate(invalid="ignore"):
                apart = values - values[0]
            self.scores[key] = self.scores.get(key, 0.0) + values.sum(axis=1)
            self.squares[key] = self.squares.get(key, 0.0) + (apart**2).sum(axis=1)
            self.differ[key] = self.differ.get(key, 0.0) + (apart != 0).sum(axis=1)

    def change(self, key: str, other: int, level: float) -> paired.Change:
        first, value = (float(self.scores[key][model]) / self.n for model in (0, other))
        ends, differ = paired.NONE, int(self.differ[key][other])
        few = differ > 0 and (differ < paired.FEWEST or paired.too_few(self.count))
        if np.isfinite(value) and np.isfinite(first) and not few:
            mean = value - first
            spread = max(float(self.squares[key][other]) / self.n - mean**2, 0.0)
            ends = paired.around(mean, float(np.sqrt(spread)), self.n, level)
        return paired.change(key, first, value, ends)


def _with_all_rows(found: Comparison, sums: _Sums, level: float) -> Comparison:
    """Put the scores of all rows in the place of those of the sample."""
    columns = [getattr(found, name).tolist() for name in paired.Change._fields]
    keys = zip(found.model.tolist(), found.measure.tolist(), strict=True)
    rows = dict(zip(keys, map(paired.Change, *columns), strict=True))
    for model, key in rows:
        if key in paired.SCORES:
            rows[model, key] = sums.change(key, found.models.index(model), level)
    note = (
        f"All {sums.n:,} rows: cost, log loss and Brier score, with Student's intervals. "
        f"Calibration, groups and figures: a random sample of {found.n:,} rows."
    )
    return replace(found, n=sums.n, notes=(note, *found.notes), **worded(found.models, rows, level))
