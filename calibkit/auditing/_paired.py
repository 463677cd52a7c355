"""Two models on the same rows: what each row adds to each measure, and intervals of differences."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.auditing.repairs import resampled_means
from calibkit.bins import Binning, as_bins
from calibkit.corp import corp_decomposition
from calibkit.decisions import best_actions
from calibkit.types import FloatVector
from calibkit.views import BinaryProblem, View, binary_problems

# Each measure with its unit in words.
MEASURES = {
    "cost": "in cost",
    "log loss": "nats of log loss",
    "Brier score": "in Brier score",
    "miscalibration": "in miscalibration",
    "discrimination": "in discrimination",
    "calibration error": "in calibration error",
}
FEWEST = 10  # events, other rows, and rows that differ, below which no interval is given
_EACH_WAY = 5  # rows decided better and worse, below which prices not yet paid may decide
NONE = (float("nan"), float("nan"))  # no interval
SCORES = ("cost", "log loss", "Brier score")  # means over rows: exact also in a stream


def scores_of_rows(
    label: NDArray[np.int64], prob: FloatVector, costs: FloatVector | None
) -> dict[str, FloatVector]:
    """Return what each row adds to cost, log loss and Brier score."""
    table = np.column_stack([1 - prob, prob]) if prob.ndim == 1 else prob
    own = table[np.arange(len(label)), label]
    brier = (1 - own) ** 2
    if prob.ndim == 2:
        brier = np.einsum("ik,ik->i", prob, prob) - own**2 + brier
    with np.errstate(divide="ignore"):  # ln 0 is infinite, and said to be
        found = {"log loss": 0.0 - np.log(own), "Brier score": brier}
    if costs is None:
        return found
    return {"cost": costs[best_actions(prob, costs=costs), label]} | found


def parts_of_rows(
    label: NDArray[np.int64], prob: FloatVector, view: View | None, bins: Binning | int
) -> dict[str, FloatVector]:
    """Return what each row adds to the CORP parts of the Brier score, and to the ECE.

    The curve and the frequency are minimisers of what they are subtracted from: to first order
    their own error does not matter, and sums over rows behave as those of fixed functions.
    """
    problems = binary_problems(label, prob, view=view)
    parts = [_parts(problem, as_bins(bins)) for problem in problems]
    lost, won, error = (np.sum(one, axis=0) for one in zip(*parts, strict=True))
    found = (lost, won, error / len(problems))
    return dict(zip(("miscalibration", "discrimination", "calibration error"), found, strict=True))


def _parts(problem: BinaryProblem, bins: Binning) -> tuple[FloatVector, FloatVector, FloatVector]:
    prob, happened = problem.prob.astype(np.float64), problem.label.astype(np.float64)
    curve = corp_decomposition(problem.label, prob).recalibrate(prob)
    best = (curve - happened) ** 2
    edges = bins.edges(prob, problem.label)
    place = bins.assign(prob, edges)
    side = np.sign(np.bincount(place, prob - happened, minlength=len(edges)))
    return (
        (prob - happened) ** 2 - best,
        (happened.mean() - happened) ** 2 - best,
        side[place] * (prob - happened),
    )


def intervals(
    differences: FloatVector, level: float, count: int, rng: np.random.Generator
) -> tuple[FloatVector, FloatVector]:
    """Return percentile intervals of the mean of each row of (m, n) differences, paired.

    Where a difference is infinite there is no interval: NaN.
    """
    finite = np.asarray(np.isfinite(differences).all(axis=1))
    means = resampled_means(np.where(finite[:, None], differences, 0.0), count, rng)
    ends = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    low, high = np.where(finite, ends, np.nan)
    return low, high


class Change(NamedTuple):
    """A measure of the first model and of another one, and what differs."""

    first: float
    value: float
    difference: float  # value minus first; NaN where both are infinite
    low: float
    high: float
    verdict: str  # "better", "worse", "equal" or "not separated"


def change(measure: str, first: float, value: float, ends: tuple[float, float]) -> Change:
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


class Rule(NamedTuple):
    """When rows are too few for an interval."""

    few: bool  # events or other rows
    worst: float  # largest difference in cost that a row can make

    def refuses(self, key: str, up: int, down: int, total: float) -> bool:
        """Judge by the rows that differ upwards and downwards, and by the sum of differences."""
        if up + down == 0:
            return False
        one_sided = min(up, down) < _EACH_WAY and abs(total) <= _EACH_WAY * self.worst
        return self.few or up + down < FEWEST or (key == "cost" and one_sided)

    def refuses_rows(self, key: str, apart: FloatVector) -> bool:
        total = float(apart.sum()) if key == "cost" else 0.0  # losses may be infinite
        return self.refuses(key, int((apart > 0).sum()), int((apart < 0).sum()), total)


def rule_of(count: NDArray[np.intp], costs: FloatVector | None) -> Rule:
    """Return the rule for these rows of each class and these costs."""
    few = int(count.min() if len(count) == 2 else count.sum() - count.max()) < FEWEST
    return Rule(few, 0.0 if costs is None else float(np.ptp(costs, axis=0).max()))


def around(mean: float, sd: float, n: int, level: float) -> tuple[float, float]:
    """Return Student's interval of a mean."""
    half = float(special.stdtrit(n - 1, (1 + level) / 2)) * sd / float(np.sqrt(n))
    return mean - half, mean + half
