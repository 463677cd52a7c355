"""Compare models whose predictions stand in files: kept, or summed up in a stream."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibkit.auditing import _paired as paired
from calibkit.auditing._comparing import FloatVector, compare, worded
from calibkit.auditing._large import SAMPLE, Sample
from calibkit.auditing._readers import Predictions
from calibkit.auditing.comparison import Comparison
from calibkit.decisions.costs import as_costs


def compare_rows(rows: Predictions, names: Sequence[str], **options: Any) -> Comparison:
    """Compare models whose rows are kept, with the options of `compare`."""
    probs = _by_model(rows.scores, names)
    classes = rows.class_names if rows.scores.shape[1] > len(names) else None
    return compare(rows.y_true, probs, groups=rows.groups, class_names=classes, **options)


def _by_model(scores: FloatVector, names: Sequence[str]) -> dict[str, FloatVector]:
    parts = np.split(scores, len(names), axis=1)
    return {n: p[:, 0] if p.shape[1] == 1 else p for n, p in zip(names, parts, strict=True)}


def compare_stream(
    blocks: Iterable[Predictions],
    names: Sequence[str],
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
    keeper, sums, table = Sample(sample, rng), _Sums(), None
    for block in blocks:
        k = max(block.scores.shape[1] // len(names), 2)
        table = None if costs is None else as_costs(costs, k)
        probs = _by_model(block.scores, names).values()
        sums.count += np.bincount(block.y_true, minlength=k)
        sums.add([paired.scores_of_rows(block.y_true, prob, table) for prob in probs])
        keeper.add(block)
    found = compare_rows(keeper.rows(), names, costs=table, level=level, rng=rng, **options)
    return found if sums.n == found.n else _with_all_rows(found, sums, level)


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
