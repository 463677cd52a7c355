"""Where is it wrong, and for whom? The worst of many groups, with what looking costs.

A segment is a group of rows that one, two or three features name: women, over 70, in ward B. Of
each the range of the cumulative differences between labels and predictions is taken, in standard
deviations (ECCE/sigma: Guy, Perini, Tax, Tygert and others, 2025; Arrieta-Ibarra and others, 2022,
section 3), and one set of redrawn labels says how large the largest of all gets by chance: segments
overlap, so that corrections for their number would take too much.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import (
    FloatMatrix,
    FloatVector,
    IntVector,
    View,
    as_count,
    as_generator,
    binary_problem,
    unwrapped,
)
from calibkit.results import Result, spell
from calibkit_audit.clusters import clusters_of
from calibkit_audit.dependent_rows import DependentRows
from calibkit_audit.incoming import is_missing

ALL = "all rows"
_LEVELS, _PARTS = 8, 4  # words of a feature that keep their name; parts of a numeric one
_FEWEST = 5.0  # expected surprises, sum of p (1 - p), of a segment that is looked at
_BLOCK, _MOST = 4_000_000, 3_000_000_000  # numbers at once, and in all redraws


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SegmentTable(Result):
    """Segments, the worst first.

    Parameters
    ----------
    segment, count, mean_prob, frequency : ndarray of shape (S,)
        What its rows share, how many there are, what they say, and what happened.
    statistic, p_value : ndarray of shape (S,)
        Range of the cumulative differences in standard deviations; the share of redraws in which
        any segment reaches it.
    view, law : str
        Which event, and what the redraws kept together.
    """

    segment: NDArray[np.str_]
    count: IntVector
    mean_prob: FloatVector
    frequency: FloatVector
    statistic: FloatVector
    p_value: FloatVector
    view: str
    law: str

    def describe(self) -> str:
        """Say which is worst, in numbers of a hundred, and whether chance would do."""
        text = f"Worst of {spell(len(self.segment), 'segment')} ({self.view}): {self._row(0)}"
        if self.segment[0] == ALL and len(self.segment) > 1:
            text += f". Of its parts the worst: {self._row(1)}"
        return f"{text}. p for all segments together, by {self.law}."

    def _row(self, k: int) -> str:
        said, came = 100 * float(self.mean_prob[k]), 100 * float(self.frequency[k])
        return (
            f"{self.segment[k]} (n = {self.count[k]:,}): of 100, {said:.0f} were promised and "
            f"{came:.0f} came, p = {self.p_value[k]:.3g}"
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("segment", "count", "mean_prob", "frequency", "statistic", "p_value")
        return {name: getattr(self, name) for name in names}


def worst_segments(
    y_true: Any,
    y_prob: Any,
    features: Any,
    *,
    view: View = None,
    cluster: Any = None,
    depth: int = 3,
    n_draws: int = 999,
    rng: int | np.random.Generator | None = 0,
) -> SegmentTable:
    """Look for segments in which predictions are off, up to `depth` features deep.

    Parameters
    ----------
    y_true, y_prob, view
        As in `calibkit.reliability_table`.
    features : mapping from names to array-like of shape (n,), or DataFrame
        Words, of which the eight commonest keep their name; numbers of more values, cut into four
        parts of equal size. Missing values are a part of their own.
    cluster : array-like of shape (n,), optional
        Which rows belong together: only clusters are then independent.
    depth : {1, 2, 3}
        How many features name a segment at most.
    n_draws : int
        Redraws of the labels, at least 99; fewer for very large data.
    rng : int, numpy.random.Generator or None
        What draws.

    Returns
    -------
    SegmentTable
        All segments with enough rows, also that of all rows.

    Raises
    ------
    ValueError
        If the input is not valid, or too few rows are there for any segment.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ward, y_prob = rng.choice(["A", "B", "C"], 3000), rng.uniform(0.1, 0.4, 3000)
    >>> y_true = rng.random(3000) < y_prob + 0.15 * (ward == "B")
    >>> print(worst_segments(y_true, y_prob, {"ward": ward}, rng=0).segment[0])
    ward B
    """
    problem = binary_problem(y_true, y_prob, view=view)
    prob, label = problem.prob.astype(np.float64), problem.label
    depth, n_draws = as_count(depth, "depth"), as_count(n_draws, "n_draws", minimum=99)
    clusters = None if cluster is None else clusters_of(cluster, problem.n)
    segments = list(_segments(_features(features, problem.n), prob, depth))
    if not segments:
        raise ValueError(
            "no segment can be looked at: fewer than five outcomes should go against the "
            "predictions of all rows. Bring more rows."
        )
    most = max(199, _MOST // sum(len(one.rows) for one in segments))
    drawn = DependentRows(label=label, prob=prob, clusters=clusters).redraws(
        min(n_draws, most), as_generator(rng)
    )
    totals, ranges = [], []
    for block in _blocks((y - prob for y, _ in drawn), max(1, _BLOCK // problem.n)):
        found = [one.differences(block) for one in segments]
        totals.append([total for total, _ in found])
        ranges.append([reach for _, reach in found])
    sd = np.sqrt([(prob[one.rows] * (1 - prob[one.rows])).sum() for one in segments])
    if clusters is not None:
        sd = np.sqrt(np.mean(np.square(np.concatenate(totals, axis=1)), axis=1))
    own = np.array([one.differences((label - prob)[np.newaxis])[1][0] for one in segments]) / sd
    largest = (np.concatenate(ranges, axis=1) / sd[:, np.newaxis]).max(axis=0)
    p_value = (1 + (largest >= own[:, np.newaxis] - 1e-9).sum(axis=1)) / (len(largest) + 1)
    order = np.argsort(-own, kind="stable")
    rows = [segments[k].rows for k in order]
    law = f"{len(largest):,} redraws of the labels"
    return SegmentTable(
        segment=np.array([segments[k].name for k in order]),
        count=np.array([len(one) for one in rows]),
        mean_prob=np.array([prob[one].mean() for one in rows]),
        frequency=np.array([label[one].mean() for one in rows]),
        statistic=own[order],
        p_value=p_value[order],
        view=problem.view,
        law=law if clusters is None else f"{law} by {clusters.count:,} clusters",
    )


class _Segment(NamedTuple):
    name: str
    rows: IntVector  # by rising prediction
    ends: IntVector  # where equal predictions end

    def differences(self, residual: FloatMatrix) -> tuple[FloatVector, FloatVector]:
        """Return the total, and the range of the cumulative differences, of (R, n) residuals."""
        sums = np.cumsum(residual[:, self.rows], axis=1)
        at = sums[:, self.ends]
        reach = np.maximum(at.max(axis=1), 0) - np.minimum(at.min(axis=1), 0)
        return sums[:, -1], reach


def _segments(
    features: Sequence[tuple[IntVector, list[str]]], prob: FloatVector, depth: int
) -> Iterator[_Segment]:
    """Yield all rows, and what up to `depth` features cut out, where it can show something."""
    order = np.argsort(prob, kind="stable")
    variance = prob * (1 - prob)
    for few in range(depth + 1):
        for chosen in combinations(features, few):
            codes = np.stack([code for code, _ in chosen]) if few else np.zeros((1, len(prob)))
            cells, cell = np.unique(codes[:, order], axis=1, return_inverse=True)
            for k, values in enumerate(cells.T.astype(int)):
                rows = order[cell.ravel() == k]
                if variance[rows].sum() < _FEWEST:
                    continue
                parts = [names[v] for (_, names), v in zip(chosen, values, strict=False)]
                ends = np.flatnonzero(np.append(np.diff(prob[rows]) > 0, True))
                yield _Segment(" and ".join(parts) or ALL, rows, ends)


def _features(features: Any, n: int) -> list[tuple[IntVector, list[str]]]:
    """Return the part of each row in each feature, and the names of its parts."""
    names = list(getattr(features, "columns", features))
    found = []
    for name in names:
        values = unwrapped(features[name], str(name))
        if values.ndim != 1 or len(values) != n:
            raise ValueError(f"{name} has shape {values.shape}; it needs one value for each row.")
        found.append(_parts(str(name), values.tolist()))
    if not found:
        raise ValueError("features names no column; name those that may matter.")
    return found


def _parts(name: str, given: list[Any]) -> tuple[IntVector, list[str]]:
    """Cut one feature into parts."""
    gone = np.array([is_missing(value) for value in given])
    known = [value for value, missing in zip(given, gone, strict=True) if not missing]
    numeric = all(isinstance(value, int | float) for value in known)
    code = np.full(len(given), -1)
    if numeric and len(set(known)) > _LEVELS:
        numbers = np.array(known, dtype=np.float64)
        edges = np.unique(np.quantile(numbers, np.arange(1, _PARTS) / _PARTS))
        code[~gone] = np.searchsorted(edges, numbers, side="left")
        parts = [numbers[code[~gone] == k] for k in range(len(edges) + 1)]
        names = [f"{name} {one.min():g} to {one.max():g}" if len(one) else "" for one in parts]
    else:
        words, place, count = np.unique(
            list(map(str, known)), return_inverse=True, return_counts=True
        )
        rank = np.argsort(np.argsort(-count, kind="stable"), kind="stable")
        code[~gone] = np.minimum(rank[place], _LEVELS)
        names = [f"{name} {words[k]}" for k in np.argsort(-count, kind="stable")[:_LEVELS]]
        names += [f"other {name}"]
    code[gone] = len(names)
    return code, [*names, f"{name} missing"]


def _blocks(rows: Iterator[FloatVector], size: int) -> Iterator[FloatMatrix]:
    """Stack rows into blocks of a few."""
    block = []
    for row in rows:
        block.append(row)
        if len(block) == size:
            yield np.array(block)
            block = []
    if block:
        yield np.array(block)
