"""The same question for each group of rows, and whether one of them is worse than the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit._result import Result, read_only, spell
from calibkit.auditing._evidence import given_view
from calibkit.auditing._rows import FloatVector, Rows
from calibkit.auditing.settings import AuditSettings
from calibkit.significance import cox_test
from calibkit.views import binary_problem


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GroupTable(Result):
    """One row per group.

    Parameters
    ----------
    group, count, mean_prob, frequency, error : ndarray of shape (G,)
        Names, numbers of predictions, mean predictions, shares of events, and the standard
        deviations of these shares if the predictions were right.
    p_value, p_differs : ndarray of shape (G,)
        Of Cox's test of level and slope in each group, and of the hypothesis that the group is
        off by as much as all others; both corrected by Holm.
    view, alpha : str and float
        Which event, and the level of both families of tests.
    """

    group: NDArray[np.str_]
    count: NDArray[np.int64]
    mean_prob: FloatVector
    frequency: FloatVector
    error: FloatVector
    p_value: FloatVector
    p_differs: FloatVector
    view: str
    alpha: float

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
        wrong, other = self.miscalibrated, self.different
        found = f"miscalibrated: {', '.join(wrong)}" if wrong else "none shows miscalibration"
        apart = "no group differs from the rest"
        if other:
            apart = f"off by another amount than the rest: {', '.join(other)}"
        number = spell(len(self.group), "group")
        return f"{number} ({self.view}, Holm's correction): {found}; {apart}."

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        numbers = ("mean_prob", "frequency", "gap", "p_value", "p_differs")
        return {name: getattr(self, name) for name in ("group", "count", *numbers)}


def groups_of(rows: Rows, view: int, words: str, settings: AuditSettings) -> GroupTable | None:
    """Test every group on its own in the first view."""
    if rows.group is None:
        return None
    given = given_view(rows, view)
    problem = binary_problem(rows.label, rows.prob, view=given)
    prob, label = problem.prob.astype(np.float64), problem.label.astype(np.float64)
    size = len(rows.groups)
    promised, events, variance = (
        np.asarray(np.bincount(rows.group, weights, size), dtype=np.float64)
        for weights in (prob, label, prob * (1 - prob))
    )
    count = np.bincount(rows.group, minlength=size).astype(np.int64)
    order = np.argsort(rows.group, kind="stable")
    members = np.split(order, np.cumsum(count)[:-1])
    p_values = np.array([cox_test(label[inside], prob[inside]).p_value for inside in members])
    return GroupTable(
        group=read_only(np.array(rows.groups, dtype=np.str_)),
        count=read_only(count),
        mean_prob=read_only(promised / count),
        frequency=read_only(events / count),
        error=read_only(np.sqrt(variance) / count),
        p_value=read_only(holm(p_values)),
        p_differs=read_only(holm(_apart(events - promised, variance, count))),
        view=words,
        alpha=settings.alpha,
    )


def _apart(residual: FloatVector, variance: FloatVector, count: NDArray[np.int64]) -> FloatVector:
    """Return two-sided p-values of each group's mean residual against that of all others."""
    n, total, spread = count.sum(), residual.sum(), variance.sum()
    others = n - count
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = residual / count - (total - residual) / others
        sd = np.sqrt(variance / count**2 + (spread - variance) / others**2)
        z = np.where((others > 0) & (sd > 0), difference / sd, 0.0)
    return np.asarray(special.erfc(np.abs(z) / np.sqrt(2)))


def holm(p_values: FloatVector) -> FloatVector:
    """Return p-values corrected by Holm's step-down rule, in the same order."""
    order = np.argsort(p_values, kind="stable")
    factor = len(p_values) - np.arange(len(p_values))
    stepped = np.minimum(1.0, np.maximum.accumulate(p_values[order] * factor))
    corrected = np.empty_like(stepped)
    corrected[order] = stepped
    return corrected
