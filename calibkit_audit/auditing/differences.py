"""What a row adds to each measure of a model, and the interval of a difference of two models."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from calibkit.bins import Binning
from calibkit.decisions import best_actions
from calibkit.inputs import (
    BinaryProblem,
    FloatMatrix,
    FloatVector,
    IntVector,
    View,
    binary_problems,
)
from calibkit.reliability import table_of
from calibkit.scores import corp_decomposition
from calibkit_audit.auditing.rows import AuditRows, losses, probability_of
from calibkit_audit.dependent_rows import ClusterSums, means_of_sums, student

FEWEST = 10  # events, other rows, and rows that differ, below which no interval is given
_EACH_WAY = 5  # rows decided better and worse, below which prices not yet paid may decide
_DRAWS = 20_000  # of all differences together
NONE = (float("nan"), float("nan"))  # no interval
Ends = tuple[float, float]
Each = Sequence[Mapping[str, FloatVector]]  # what rows add, by model and measure
SCORES = ("cost", "log loss", "Brier score")  # means over rows: exact also in a stream


def row_scores(
    label: IntVector, prob: FloatVector, costs: FloatVector | None
) -> dict[str, FloatVector]:
    """Return what each row adds to cost, log loss and Brier score."""
    own = probability_of(label, prob)
    brier = (1 - own) ** 2
    if prob.ndim == 2:
        brier = np.einsum("ik,ik->i", prob, prob) - own**2 + brier
    found = {"log loss": losses(own), "Brier score": brier}
    if costs is None:
        return found
    return {"cost": costs[best_actions(prob, costs=costs), label]} | found


def row_measures(
    rows: AuditRows, prob: FloatVector, costs: FloatVector | None, view: View, bins: Binning
) -> dict[str, FloatVector]:
    """Return what each row adds to the scores, the CORP parts of the Brier score, and the ECE.

    The curve and the frequency are minimisers of what they are subtracted from: to first order
    their own error does not matter, and sums over rows behave as those of fixed functions.
    """
    problems = binary_problems(rows.label, prob, view=view, sample_weight=rows.weight)
    parts = [_parts(problem, bins) for problem in problems]
    lost, won, error = (np.sum(one, axis=0) for one in zip(*parts, strict=True))
    parts_of_brier = {"miscalibration": lost, "discrimination": won}
    scores = row_scores(rows.label, prob, costs)
    return scores | parts_of_brier | {"calibration error": error / len(problems)}


def _parts(problem: BinaryProblem, bins: Binning) -> tuple[FloatVector, FloatVector, FloatVector]:
    prob, happened = problem.prob.astype(np.float64), problem.label.astype(np.float64)
    weight = problem.weight
    curve = corp_decomposition(problem.label, prob, sample_weight=weight).recalibrate(prob)
    best = (curve - happened) ** 2
    table = table_of(problem, bins)
    place, scale = table.assign(prob), 1.0 if weight is None else weight
    side = np.sign(np.bincount(place, scale * (prob - happened), minlength=table.n_bins))
    return (
        (prob - happened) ** 2 - best,
        (np.average(happened, weights=weight) - happened) ** 2 - best,
        side[place] * (prob - happened),
    )


class Change(NamedTuple):
    """A measure of the first model and of another one, and what differs."""

    first: float
    value: float
    difference: float  # value minus first; NaN where both are infinite
    low: float
    high: float
    verdict: str  # "better", "worse", "equal" or "not separated"
    joint: bool = True  # whether that holds where all measures and models are judged together


Changes = Mapping[tuple[str, str], Change]  # by model and measure


def judge_change(measure: str, first: float, value: float, ends: tuple[float, float]) -> Change:
    """Judge a difference by its interval; an infinite one judges itself."""
    apart = float("nan") if np.isinf(first) and np.isinf(value) else value - first
    low, high = (apart, apart) if np.isinf(apart) else ends
    sign, verdict = 1 if measure == "discrimination" else -1, "not separated"
    if apart == low == high == 0:
        verdict = "equal"
    elif sign * low > 0 and sign * high > 0:
        verdict = "better"
    elif sign * low < 0 and sign * high < 0:
        verdict = "worse"
    return Change(first, value, apart, *ends, verdict)


class DifferenceSums:
    """What rows add to each measure, summed by model: enough to judge every difference."""

    def __init__(self, costs: FloatVector | None = None) -> None:
        self.costs = costs
        self.count: Any = 0  # rows of each class
        self.measures: list[str] = []
        self.values: Any = 0.0  # (models, measures)
        # Of the differences to the first model, a row per other model and measure: sums, sums of
        # products, rows that go up, rows that go down; sums by cluster, where some are named.
        self.apart: Any = 0.0
        self.products: Any = 0.0
        self.up: Any = 0
        self.down: Any = 0
        self.clusters = ClusterSums()

    @property
    def n(self) -> int:
        """Rows so far."""
        return int(np.sum(self.count))

    @property
    def few(self) -> bool:
        """Whether events, or other rows, are too few for any interval."""
        count = self.count
        return int(count.min() if len(count) == 2 else count.sum() - count.max()) < FEWEST

    def add(
        self, count: IntVector, each: Each, cluster: Any = None, weigh: Any = np.asarray
    ) -> None:
        """Add what some rows add to the measures of each model; `count`: rows of each class.

        `weigh` makes of these values such as have weighted means; which rows differ they hide.
        """
        self.count, self.measures = self.count + count, list(each[0])
        values = np.array([list(one.values()) for one in each])
        with np.errstate(invalid="ignore"):  # infinite minus infinite: no interval
            apart = (values[1:] - values[0]).reshape(-1, values.shape[2])
            self.up, self.down = self.up + (apart > 0).sum(1), self.down + (apart < 0).sum(1)
            values, apart = weigh(values), weigh(apart)
            self.values, self.apart = self.values + values.sum(axis=2), self.apart + apart.sum(1)
            if cluster is None:
                self.products = self.products + apart @ apart.T
            else:
                self.clusters.add(cluster, apart.T)

    @cached_property
    def moments(self) -> tuple[FloatMatrix, float]:
        """Covariances of the mean differences of all rows, and Student's degrees of freedom."""
        with np.errstate(invalid="ignore"):
            if self.clusters.number:
                sums, size = self.clusters.found()
                return means_of_sums(sums.T, size)[1:]
            n, mean = self.n, self.apart / self.n
            cover = (self.products - n * np.outer(mean, mean)) / max(n - 1, 1) / n
        # Equal models differ by nothing; rounding must not make a variance negative.
        np.fill_diagonal(cover, np.maximum(np.diag(cover), 0.0))
        return cover, max(n - 1.0, 1.0)

    def refuses(self, key: str, other: int) -> bool:
        """Tell whether the rows that differ, or differ to one side, are too few to conclude."""
        place = self._place(key, other)
        up, down = int(self.up[place]), int(self.down[place])
        if up + down == 0:
            return False
        worst = 0.0 if self.costs is None else float(np.ptp(self.costs, axis=0).max())
        one_sided = min(up, down) < _EACH_WAY and abs(self.apart[place]) <= _EACH_WAY * worst
        return self.few or up + down < FEWEST or (key == "cost" and bool(one_sided))

    def change(self, key: str, other: int, level: float, wider: Ends = (0.0, 0.0)) -> Change:
        """Judge the difference to the first model by Student's interval, made `wider` or not.

        Nothing is concluded from a handful of rows, nor from an infinite difference.
        """
        place, (cover, df), ends = self._place(key, other), self.moments, NONE
        mean = float(self.apart[place]) / self.n
        if np.isfinite(mean) and not self.refuses(key, other):
            some = self.up[place] + self.down[place] > 0
            half = float(student(cover[place, place], df, level))
            ends = mean - half - wider[0] * some, mean + half + wider[1] * some
        first, value = (self.values[[0, other], self.measures.index(key)] / self.n).tolist()
        return judge_change(key, first, value, ends)

    def together(self, level: float, rng: np.random.Generator) -> float:
        """Return the content of single intervals that hold all their truths with this level.

        The largest of all |t| under the multivariate Student law of the differences (Hothorn, Bretz
        and Westfall, 2008), by redraws.
        """
        cover, df = self.moments
        used = np.diag(cover) > 0
        sd = np.sqrt(np.diag(cover)[used])
        if not used.any():
            return level
        correlation = cover[np.ix_(used, used)] / np.outer(sd, sd)
        value, vector = np.linalg.eigh(correlation)
        drawn = rng.standard_normal((_DRAWS, len(sd))) @ (vector * np.sqrt(np.maximum(value, 0))).T
        largest = np.abs(drawn).max(axis=1) / np.sqrt(rng.chisquare(df, _DRAWS) / df)
        return 2 * float(special.stdtr(df, np.quantile(largest, level))) - 1

    def _place(self, key: str, other: int) -> int:
        return (other - 1) * len(self.measures) + self.measures.index(key)
