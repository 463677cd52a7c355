"""Where is it wrong, and for whom? The worst of many groups, with what looking costs.

A segment is a group of rows that one, two or three features name: women, over 70, in ward B. Of
each the range of the cumulative differences between labels and predictions is taken, in standard
deviations (ECCE/sigma: Guy, Perini, Tax, Tygert and others, 2025; Arrieta-Ibarra and others, 2022,
section 3), and one set of redrawn labels says how large the largest of all gets by chance: segments
overlap, so that corrections for their number would take too much.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.inputs import FloatMatrix, FloatVector, IntVector, is_missing, unwrapped
from calibkit.results import Result, spell
from calibkit_audit.dependent_rows import DependentRows, weights_of_labels
from calibkit_audit.incoming import column_names
from calibkit_audit.saving import printable

DEEPEST = 3  # features that name a segment together
_LEVELS, _PARTS = 8, 4  # words of a feature that keep their name; parts of a numeric one
_FEWEST = 5.0  # expected surprises, sum of p (1 - p), of a segment that is looked at
Feature = tuple[IntVector, tuple[str, ...]]  # the part of every row, and the names of the parts
_BLOCK, _MOST = 4_000_000, 3_000_000_000  # numbers at once, and in all redraws


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SegmentTable(Result):
    """Segments, the worst first.

    Parameters
    ----------
    segment, count, mean_prob, frequency : ndarray of shape (S,)
        What its rows share, how many there are, what they say, and what happened.
    smallest : ndarray of shape (S,)
        Average error that would be found with probability 90 %.
    statistic, p_value : ndarray of shape (S,)
        Range of the cumulative differences in standard deviations; the share of redraws in which
        any segment reaches it. NaN where fewer than five outcomes should go against the
        predictions.
    wrong : ndarray of shape (S,)
        Rows that said exactly 0 or 1 and were wrong, which no redraw does.
    view, law : str
        Which event, and what the redraws kept together.
    alpha, detectable : float
        The largest p-value that counts as an error, and the average error to be found.
    """

    segment: NDArray[np.str_]
    count: IntVector
    mean_prob: FloatVector
    frequency: FloatVector
    smallest: FloatVector
    statistic: FloatVector
    p_value: FloatVector
    wrong: IntVector
    view: str
    law: str
    alpha: float
    detectable: float

    @property
    def gap(self) -> FloatVector:
        """Mean prediction minus frequency."""
        return self.mean_prob - self.frequency

    @property
    def miscalibrated(self) -> tuple[str, ...]:
        """Segments whose labels contradict the predictions beyond chance."""
        return tuple(self.segment[self.p_value <= self.alpha].tolist())

    @property
    def worst(self) -> str:
        """What the worst promised and what came, in counts that show a clear difference."""
        apart = abs(float(self.gap[0])) > self.smallest[0] / 2
        of, said, came = of_so_many(float(self.mean_prob[0]), float(self.frequency[0]), apart=apart)
        text = f"{self.segment[0]} (n = {self.count[0]:,}): of {of}, {said} were promised and "
        return f"{text}{came} came" + ", wrong in parts" * bool(self.miscalibrated and not apart)

    def describe(self) -> str:
        """Say which is worst, whether chance would do, and where sure rows were wrong."""
        many = f"{spell(len(self.segment), 'segment')} ({self.view})"
        few = int((self.smallest > self.detectable).sum())
        error = f"an average error of {self.detectable:g}"
        text = f"Worst of {many}: {self.worst}, p = {self.p_value[0]:.3g}"
        text += f". p for all segments together, by {self.law}."
        if few == len(self.segment) and not self.miscalibrated:
            text = f"{many}: too few rows in each to show {error}; join some."
        elif few:
            text += f" Too few rows to show {error}: {spell(few, 'segment')}."
        name, most = self.segment[self.wrong.argmax()], int(self.wrong.max())
        sure = f" Rows that said 0 or 1 and were wrong: {name} has most ({most:,})."
        return text + sure * (most > 0)

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("segment", "count", "mean_prob", "frequency", "gap", "smallest")
        return {name: getattr(self, name) for name in (*names, "statistic", "p_value", "wrong")}


def of_so_many(said: float, came: float, *, apart: bool = False) -> tuple[str, str, str]:
    """Return how many cases, and of these two shares: of 100, or of as many as it takes.

    `apart` asks that their difference is right to a quarter.

    >>> of_so_many(0.15, 0.23), of_so_many(0.0158, 0.0111, apart=True)
    (('100', '15', '23'), ('1,000', '16', '11'))
    """
    gap, least = said - came, min(part for part in (said, 1 - said, came, 1 - came) if part > 0)
    for of in (100, 1_000, 10_000, 100_000, 1_000_000):
        off = abs(round(of * said) - round(of * came) - of * gap)
        if round(of * least) and not (apart and off > abs(of * gap) / 4):
            break
    return f"{of:,}", f"{of * said:,.0f}", f"{of * came:,.0f}"


class Segment(NamedTuple):
    """Some rows, by rising prediction."""

    name: str
    rows: IntVector
    ends: IntVector  # where equal predictions end
    variance: float  # of their events: expected, of a sure row that was wrong its own

    def differences(self, residual: FloatMatrix) -> tuple[FloatVector, FloatVector]:
        """Return the total, and the range of the cumulative differences, of (R, n) residuals."""
        sums = np.cumsum(residual[:, self.rows], axis=1)
        at = sums[:, self.ends]
        reach = np.maximum(at.max(axis=1), 0) - np.minimum(at.min(axis=1), 0)
        return sums[:, -1], reach


def segment_table(
    data: DependentRows,
    view: str,
    features: Sequence[Feature],
    n_draws: int,
    rng: np.random.Generator,
    *,
    alpha: float,
    detectable: float,
) -> SegmentTable:
    """Compare the range of each segment with the largest of all that redrawn labels show.

    Of several features those segments are left out that can show nothing.
    """
    label, prob = data.label, data.prob.astype(np.float64)
    wrong = prob == 1 - label  # it promised no variance: its squared residual serves
    segments = list(segments_of(features, prob, prob * (1 - prob) + wrong))
    if len(features) > 1:
        segments = [one for one in segments if one.variance >= _FEWEST] or segments
    weight = np.ones(len(prob)) if data.weight is None else data.weight
    n_draws = min(n_draws, max(199, _MOST // sum(len(one.rows) for one in segments)))
    totals, ranges = _redrawn(data, segments, n_draws, rng)

    def sums(values: FloatVector) -> FloatVector:
        return np.array([values[one.rows].sum() for one in segments])

    both, _ = weights_of_labels(weight, np.column_stack([1 - prob, prob]), label)
    sd = np.sqrt(sums(both.prod(axis=1) * prob * (1 - prob) + weight**2 * wrong))
    law = f"{n_draws:,} redraws of the labels"
    if data.clusters is not None:
        sd = np.sqrt(np.mean(np.square(totals), axis=1) + sums(weight**2 * wrong))
        law += f" by {data.clusters.count:,} clusters"
    residual, mass = weight * (label - prob), sums(weight)
    # No test looks at a segment that can hardly be surprised: it has NaN.
    scale = np.where([one.variance >= _FEWEST for one in segments], sd, np.nan)
    own = np.array([one.differences(residual[np.newaxis])[1][0] for one in segments]) / scale
    largest = np.nan_to_num(ranges / scale[:, np.newaxis]).max(axis=0)
    p_value = (1 + (largest >= own[:, np.newaxis] - 1e-9).sum(axis=1)) / (n_draws + 1)
    p_value[np.isnan(own)] = np.nan
    needed = np.quantile(largest, 1 - alpha) + special.ndtri(0.9)
    columns: dict[str, Any] = {
        "segment": np.array([one.name for one in segments]),
        "count": np.array([len(one.rows) for one in segments]),
        "mean_prob": sums(weight * prob) / mass,
        "frequency": sums(weight * label) / mass,
        "smallest": np.where(np.isnan(scale), np.inf, needed * sd / mass),
        "statistic": own,
        "p_value": p_value,
        "wrong": sums(wrong),
    }
    order = np.argsort(-own, kind="stable")
    ordered = {name: column[order] for name, column in columns.items()}
    return SegmentTable(**ordered, view=view, law=law, alpha=alpha, detectable=detectable)


def _redrawn(
    data: DependentRows, segments: Sequence[Segment], n_draws: int, rng: np.random.Generator
) -> tuple[FloatMatrix, FloatMatrix]:
    """Return totals and ranges, (S, R), of redrawn labels."""
    prob = data.prob
    drawn = ((y - prob) * (1 if w is None else w) for y, w in data.redraws(n_draws, rng))
    size, parts = max(1, _BLOCK // len(prob)), []
    while block := list(islice(drawn, size)):
        rows = np.array(block)
        parts.append(list(zip(*(one.differences(rows) for one in segments), strict=True)))
    totals, ranges = (np.concatenate(one, axis=1) for one in zip(*parts, strict=True))
    return totals, ranges


def segments_of(features: Sequence[Feature], prob: FloatVector, variance: Any) -> Iterator[Segment]:
    """Yield what up to three features cut out."""
    order = np.argsort(prob, kind="stable")
    for few in range(1, min(len(features), DEEPEST) + 1):
        for some in combinations(features, few):
            codes = np.stack([code for code, _ in some])
            cells, cell = np.unique(codes[:, order], axis=1, return_inverse=True)
            for k, values in enumerate(cells.T):
                rows = order[cell.ravel() == k]
                parts = [names[v] for (_, names), v in zip(some, values, strict=True)]
                ends = np.flatnonzero(np.append(np.diff(prob[rows]) > 0, True))
                yield Segment(" and ".join(parts), rows, ends, float(variance[rows].sum()))


def features_of(features: Any, n: int) -> list[Feature]:
    """Cut each feature into parts: of words the eight commonest, of numbers four of equal size."""
    found = []
    for name in column_names(features) or list(features):
        values = unwrapped(features[name], str(name))
        if values.ndim != 1 or len(values) != n:
            raise ValueError(f"{name} has shape {values.shape}; it needs one value for each row.")
        found.append(_parts(str(name), values.tolist()))
    if not found:
        raise ValueError("features names no column; name those that may matter.")
    return found


def _parts(name: str, given: list[Any]) -> Feature:
    """Cut one feature into parts."""
    gone = np.array([is_missing(value) for value in given])
    known = [value for value, missing in zip(given, gone, strict=True) if not missing]
    code, numbers = np.full(len(given), -1), np.empty(0)
    with suppress(TypeError, ValueError):  # words that are numbers are, as files have them
        numbers = np.array(known, dtype=np.float64)
    if len(numbers) and len(set(known)) > _LEVELS:
        edges = np.unique(np.quantile(numbers, np.arange(1, _PARTS) / _PARTS))
        code[~gone] = np.searchsorted(edges, numbers, side="left")
        parts = [numbers[code[~gone] == k] for k in range(len(edges) + 1)]
        names = [f"{name} {one.min():g} to {one.max():g}" if len(one) else "" for one in parts]
    else:
        count = Counter(map(str, known))
        words = sorted(count, key=lambda word: (-count[word], word))[:_LEVELS]
        place = {word: k for k, word in enumerate(words)}
        code[~gone] = [place.get(str(value), len(words)) for value in known]
        names = [*(f"{name} {word}" for word in words), f"other {name}"]
    code[gone] = len(names)
    return code, tuple(map(printable, [*names, f"{name} missing"]))
