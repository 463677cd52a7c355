"""The same question for each group of rows, and whether one of them is worse than the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.hypothesis_tests.cox import cox_statistic
from calibkit.inputs import FloatVector
from calibkit.results import Result, spell
from calibkit_audit.auditing.evidence import detectable_z, problem_of
from calibkit_audit.auditing.rows import AuditRows
from calibkit_audit.auditing.settings import AuditSettings
from calibkit_audit.clusters import Clusters, robust_sd, score_test
from calibkit_audit.dependent_rows import cox_sums, weights_of_labels

_GROUP_DRAWS = 5  # redraws per group and level: Holm's correction must be able to reject
_ENOUGH = 25  # so many redraws as large as the labels, and p is clearly not small
_LAW_IS_RIGHT = 2000.0  # sum of p (1 - p) from which the limit laws hold far out in their tails
_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GroupTable(Result):
    """One row per group.

    Parameters
    ----------
    group, count, mean_prob, frequency, error : ndarray of shape (G,)
        Names, numbers of predictions, mean predictions, shares of events, and the standard
        deviations of these shares if the predictions were right.
    smallest : ndarray of shape (G,)
        Average error that would be found in this group with probability 90 %, at a level that pays
        for all groups.
    p_value, p_differs : ndarray of shape (G,)
        Of Cox's test of level and slope in each group, and of the hypothesis that the group is
        off by as much as all others; both by redraws of the labels (from an expected variance of
        2000 on by their limit laws) and corrected by Holm. Cox's leaves out rows that say 0 or 1; a
        group where one of them was wrong has the p-value 0.
    view, alpha, detectable : str, float and float
        Which event, the level of both families of tests, and the error that a group should show.
    """

    group: NDArray[np.str_]
    count: NDArray[np.int64]
    mean_prob: FloatVector
    frequency: FloatVector
    error: FloatVector
    smallest: FloatVector
    p_value: FloatVector
    p_differs: FloatVector
    view: str
    alpha: float
    detectable: float

    @property
    def gap(self) -> FloatVector:
        """Mean prediction minus frequency."""
        return self.mean_prob - self.frequency

    @property
    def miscalibrated(self) -> tuple[str, ...]:
        """Groups whose labels contradict the predictions."""
        return tuple(self.group[self.p_value <= self.alpha].tolist())

    @property
    def different(self) -> tuple[str, ...]:
        """Groups that are off by another amount than the rest."""
        return tuple(self.group[self.p_differs <= self.alpha].tolist())

    def describe(self) -> str:
        """Say which groups are miscalibrated, and which differ from the rest."""
        wrong, other, few = self.miscalibrated, self.different, self.smallest > self.detectable
        number, error = spell(len(self.group), "group"), f"an average error of {self.detectable:g}"
        found = f"miscalibrated: {', '.join(wrong)}" if wrong else "none shows miscalibration"
        apart = "no group differs from the rest"
        if other:
            apart = f"off by another amount than the rest: {', '.join(other)}"
        elif few.all() and not wrong:
            found, apart = "too few rows in each", f"none could show {error}; join groups"
        elif few.any():
            apart += f"; too few rows to show {error}: {spell(int(few.sum()), 'group')}"
        return f"{number} ({self.view}, Cox's test with Holm's correction): {found}; {apart}."

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        numbers = ("mean_prob", "frequency", "gap", "smallest", "p_value", "p_differs")
        return {name: getattr(self, name) for name in ("group", "count", *numbers)}


def groups_of(
    rows: AuditRows, view: int, words: str, settings: AuditSettings, rng: np.random.Generator
) -> GroupTable | None:
    """Test every group on its own in the first view."""
    group = rows.group
    if group is None:
        return None
    if rows.weight is not None and rows.clusters is None:  # weights differ: sandwiches of rows
        rows = replace(rows, clusters=Clusters(np.arange(rows.n), rows.n))
    weight = np.ones(rows.n) if rows.weight is None else rows.weight
    problem = problem_of(rows, view)
    prob, label = problem.prob.astype(np.float64), problem.label.astype(np.float64)
    size, residual = len(rows.groups), weight * (label - prob)
    # What a squared weight is on average, where rows were chosen by their label.
    table = np.column_stack([1 - prob, prob])
    square = weights_of_labels(weight, table, problem.label).prod(axis=1)
    sums = (weight * prob, weight * label, square * prob * (1 - prob), weight)
    promised, events, variance, mass = np.array([np.bincount(group, w, size) for w in sums])
    count = np.bincount(group, minlength=size).astype(np.int64)
    sure = (prob == 0) | (prob == 1)  # rows that no test can look at; what was wrong has varied
    wrong = np.bincount(group, np.where(sure, residual**2, 0), size)
    apart, spread = _apart_from_rest(events - promised, variance + wrong, wrong, mass)
    draws, sd = int(np.ceil(_GROUP_DRAWS * size / settings.alpha)), np.sqrt(variance)
    p_values = np.empty((size, 2))
    for k, inside in enumerate(np.split(np.argsort(group, kind="stable"), np.cumsum(count)[:-1])):
        left = inside[~sure[inside]]
        if rows.clusters is None:
            rest = float(apart[k]), float(spread[k]), len(inside)
            p_values[k] = _p_values(prob[left], label[left], rest, draws, rng)
            continue
        weights, members = (weight, square), rows.clusters.take(inside)
        p_values[k] = _p_values_by_cluster(prob, residual, (inside, left), rows.clusters, weights)
        sd[k] = robust_sd(sd[k], members.sums(residual[inside, np.newaxis]))[0]
    p_values[wrong > 0, 0] = 0.0
    return GroupTable(
        group=np.array(rows.groups),
        count=count,
        mean_prob=promised / mass,
        frequency=events / mass,
        error=np.sqrt(variance) / mass,
        smallest=detectable_z(settings.alpha / size) * sd / mass,
        p_value=holm(p_values[:, 0]),
        p_differs=holm(p_values[:, 1]),
        view=words,
        alpha=settings.alpha,
        detectable=settings.detectable,
    )


def _apart_from_rest(
    residual: FloatVector, variance: FloatVector, wrong: Any, mass: FloatVector
) -> tuple[FloatVector, FloatVector]:
    """Return mean residual of each group minus that of all other rows, NaN without any.

    And its standard deviation but for the promised one of the group itself.
    """
    others = np.where(mass == mass.sum(), np.nan, mass.sum() - mass)
    outside = np.maximum(variance.sum() - variance, 0.0) / others**2
    apart = residual / mass - (residual.sum() - residual) / others
    return apart, np.sqrt(outside + wrong / mass**2)


def _p_values(
    prob: FloatVector,
    label: FloatVector,
    rest: tuple[float, float, int],
    most: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return p-values by redraws, which stop early where both are clearly large.

    `rest`: mean residual minus that of the other rows, its standard deviation but for these rows
    themselves, and the rows of the group, sure ones included. Without other rows nothing differs.
    The limit laws would reject calibrated groups of rare events too often.
    """
    apart, sd, n = rest
    variance = float((prob * (1 - prob)).sum())
    spread, apart = np.hypot(np.sqrt(variance) / n, sd), abs(apart)
    by_law = float(special.erfc(apart / spread / np.sqrt(2))) if spread > 0 else 1.0
    if not len(prob):
        return 1.0, by_law
    rule = cox_statistic(prob)
    cox = rule.of(label - prob)
    if variance >= _LAW_IS_RIGHT:
        return float(rule.tail(cox)), by_law
    done, beyond = 0, np.zeros(2)
    while done < most and beyond.min() < _ENOUGH:
        draws = min(max(200, done), most - done, max(1, _BLOCK // len(prob)))
        redrawn = (rng.random((draws, len(prob))) < prob) - prob
        far = np.abs(redrawn.sum(axis=1) / n - sd * rng.standard_normal(draws))
        # Sums of whole numbers tie: rounding must not decide. Nothing is less than NaN.
        less = rule.of(redrawn) < cox * (1 - 1e-9), far < apart * (1 - 1e-9)
        beyond, done = beyond + draws - np.sum(less, axis=1), done + draws
    p_value, p_differs = ((beyond + 1) / (done + 1)).tolist()
    return p_value, p_differs


def _p_values_by_cluster(
    prob: FloatVector, residual: FloatVector, rows: Any, clusters: Clusters, weights: Any
) -> tuple[float, float]:
    """Return p-values of both tests where only clusters are independent, by limit laws.

    `rows`: those of the group, and those of them that do not say 0 or 1.
    """
    (mass, square), (inside, left), n = weights, rows, len(prob)
    own, p_value, differs = mass[inside].sum(), 1.0, 1.0
    if len(left):
        scores = cox_sums(prob[left], residual[left], clusters.take(left), square[left])
        p_value = score_test(*scores)[2]
    if len(inside) < n:
        share = np.full(n, -1.0 / (mass.sum() - own))
        share[inside] = 1.0 / own
        apart = np.sqrt(np.atleast_1d(share**2 @ (square * prob * (1 - prob))))
        differs = score_test(clusters.sums((share * residual)[:, np.newaxis]), apart)[2]
    return p_value, differs


def holm(p_values: FloatVector) -> FloatVector:
    """Return p-values corrected by Holm's step-down rule, in the same order."""
    order = np.argsort(p_values, kind="stable")
    factor = len(p_values) - np.arange(len(p_values))
    stepped = np.minimum(1.0, np.maximum.accumulate(p_values[order] * factor))
    return np.asarray(stepped[np.argsort(order)])
