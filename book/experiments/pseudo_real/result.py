"""Three questions to the stored numbers, each with its standard error.

All numbers of one *draw* (task, truth, size, seed) share its rows and labels, so they are averaged
first. Two evaluators are compared on the same draws. More seeds and sizes bring more draws, but no
other clones, and all clones of a network share its predictions. So a standard error counts clones,
or networks, whichever makes it larger; never draws.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

from book.experiments.compared import Keep, Table
from book.experiments.pseudo_real.clones import NONE, TASKS, PseudoSet
from book.experiments.pseudo_real.stored import Row, Rows
from calibkit.inputs import FloatVector

# Which truths were fitted in an evaluator's own family: a Platt map is a beta map, and a PL3 map.
OWN: dict[str, tuple[str, ...]] = {
    "Platt": ("Platt",),
    "beta": ("Platt", "beta"),
    "isotonic": ("isotonic",),
    "KDE": ("KDE",),
} | dict.fromkeys(("PL3^CE", "PL3^CE rule", "PL3^CE 10", "PL3^MSE"), ("Platt", "PL3"))


# What draws have in common: the clone that they come from, and its network.
CLUSTERS = (("task", "truth"), ("network",))


class Draw(NamedTuple):
    """What one draw of rows and labels belongs to."""

    task: str
    truth: str
    n: int
    seed: int | str  # "all" where the seeds are averaged

    @property
    def network(self) -> str:
        """The network that was cloned."""
        return TASKS[self.task].network if self.task in TASKS else self.task


def of_truth(truth: str) -> Keep:
    """Keep the draws whose true map belongs to a family."""
    return lambda draw: draw.truth == truth


def _groups(rows: Rows, raw: bool) -> dict[Draw, list[PseudoSet]]:
    """Return the data sets of each draw: of the network itself, or behind its calibrators."""
    groups: dict[Draw, list[PseudoSet]] = {}
    for data_set in rows:
        if (data_set.calibrator == NONE) == raw:
            draw = Draw(data_set.task, data_set.truth, data_set.n, data_set.seed)
            groups.setdefault(draw, []).append(data_set)
    return groups


def _names(rows: Rows) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for found in rows.values() for name in found))


def distances(rows: Rows, of: Callable[[Row], float], *, raw: bool = False) -> Table:
    """Return the mean over calibrators of a number of each cell."""
    groups, names = _groups(rows, raw), _names(rows)
    values = [
        [np.mean([of(rows[d][name]) if name in rows[d] else np.nan for d in sets])
         for name in names]
        for sets in groups.values()
    ]  # fmt: skip
    return Table(tuple(groups), names, np.array(values), clusters=CLUSTERS)


def map_distance(row: Row) -> float:
    """Return the mean distance of the fitted map from the true one, on the whole clone."""
    return row.map_error


def map_square(row: Row) -> float:
    """Return the mean squared distance of the fitted map from the true one; not of every size."""
    return row.map_squared


def error_distance(row: Row) -> float:
    """Return the distance of the estimated from the true calibration error."""
    return abs(row.absolute - row.true_absolute)


def bias(row: Row) -> float:
    """Return by how much the estimated calibration error exceeds the true one."""
    return row.absolute - row.true_absolute


def squared_distance(row: Row) -> float:
    """Return the distance of the estimated from the true squared calibration error."""
    return abs(row.squared - row.true_squared)


def rankings(
    rows: Rows, judge: Callable[[FloatVector, FloatVector], float], *, higher: bool
) -> Table:
    """Return, for each draw, how an evaluator orders the calibrators.

    `judge` sees the estimated and the true errors. The kernel error knows no absolute error, so its
    squares stand in for the estimates.
    """
    groups, names = _groups(rows, raw=False), _names(rows)
    values = np.full((len(groups), len(names)), np.nan)
    for i, sets in enumerate(groups.values()):
        truth = np.array([next(iter(rows[d].values())).true_absolute for d in sets])
        for j, name in enumerate(names):
            found = [rows[d][name] for d in sets if name in rows[d]]
            if len(found) == len(sets):
                estimate = [r.squared if np.isnan(r.absolute) else r.absolute for r in found]
                values[i, j] = judge(np.array(estimate), truth)
    return Table(tuple(groups), names, values, higher, clusters=CLUSTERS)


def spearman(estimate: FloatVector, truth: FloatVector) -> float:
    """Return the rank correlation; 0 where all estimates are equal, for they order nothing."""
    if np.ptp(estimate) == 0 or np.ptp(truth) == 0:
        return 0.0
    return float(stats.spearmanr(estimate, truth).statistic)


def picks_the_best(estimate: FloatVector, truth: FloatVector) -> float:
    """Return 1 if the calibrator with the smallest estimate is the best one."""
    return float(truth[estimate.argmin()] == truth.min())


def regret(estimate: FloatVector, truth: FloatVector) -> float:
    """Return how much worse than the best the calibrator with the smallest estimate is."""
    return float(truth[estimate.argmin()] - truth.min())


def is_foreign(name: str, truth: str) -> bool:
    """Tell whether a truth is outside an evaluator's own family."""
    return truth not in OWN.get(name, ())


def foreign_ratio(table: Table, name: str, reference: str) -> tuple[float, float]:
    """Compare with a reference on truths outside the evaluator's own family.

    Returns the geometric mean over draws of the ratio of the two, and the relative standard error.
    """
    part = table.where(lambda draw: is_foreign(name, draw.truth))
    logs = np.log(part.column(name)) - np.log(part.column(reference))
    return float(np.exp(logs.mean())), part.error_of_mean(logs)
