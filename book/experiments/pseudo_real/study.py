"""The study as a whole: what was measured, and the tables of the three questions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from book.experiments.compared import Keep, Table
from book.experiments.pseudo_real.clones import TASKS
from book.experiments.pseudo_real.result import (
    CLUSTERS,
    Draw,
    bias,
    distances,
    error_distance,
    map_distance,
    map_square,
    picks_the_best,
    rankings,
    regret,
    spearman,
    squared_distance,
)
from book.experiments.pseudo_real.stored import Rows, stored
from book.experiments.pseudo_real.targets import Worths, draws_of, estimate, stored_worths

TITLES: Final = {
    "EW15": "15 equal-width bins",
    "ES15": "15 equal-mass bins",
    "ES_sweep": "bins by sweep",
    "ES_CV": "bins by cross-validation",
    "PL^CE": "PL, log loss",
    "PL^CE rule": "PL, log loss, by the rule",
    "PL^CE 10": "PL, log loss, ten maps",
    "PL^MSE": "PL, Brier score",
    "PL3^CE": "PL3, log loss",
    "PL3^CE rule": "PL3, log loss, by the rule",
    "PL3^CE 10": "PL3, log loss, ten maps",
    "PL3^MSE": "PL3, Brier score",
    "PL_DE": "PL by differential evolution",
    "Platt": "Platt",
    "beta": "beta",
    "isotonic": "isotonic",
    "spline": "spline",
    "KDE": "kernel densities",
    "IOP": "intra order-preserving",
    "KCE": "kernel calibration error",
}


def is_confidence(draw: Draw) -> bool:
    """Tell whether a draw is about the predicted label."""
    return TASKS[draw.task].title.endswith("confidence")


KINDS: Mapping[str, Keep] = {
    "confidence": is_confidence,
    "one-vs-rest": lambda draw: not is_confidence(draw),
}


@dataclass(frozen=True)
class Study:
    """The stored numbers, and the tables made from them.

    Numbers are averaged over seeds first. So sizes and clones count alike, whatever is stored.
    """

    rows: Rows
    worths: Worths = field(default_factory=dict)
    between: Rows = field(default_factory=dict)

    @classmethod
    def load(cls) -> "Study":
        """Return what is stored of the smallest and the largest size; those between stand apart.

        `between` holds all sizes, of the questions that have them all: it has fewer seeds and
        evaluators, so that means over sizes leave it out.
        """
        rows = stored()
        tasks = {n: {d.task for d in rows if d.n == n} for n in {d.n for d in rows}}
        every, ends = set.intersection(*tasks.values()), (min(tasks), max(tasks))
        between = {d: row for d, row in rows.items() if d.task in every and len(tasks) > len(ends)}
        return cls({d: row for d, row in rows.items() if d.n in ends}, stored_worths(), between)

    def measured_by(self, name: str) -> "Study":
        """Return the part with the data sets that an evaluator has measured."""
        return Study({data_set: rows for data_set, rows in self.rows.items() if name in rows})

    @cached_property
    def maps(self) -> Table:
        """Distance of the map, behind calibrators."""
        return distances(self.rows, map_distance).averaged(seed="all")

    @cached_property
    def map_squares(self) -> Table:
        """Squared distance of the map, behind calibrators, where it is stored."""
        return distances(self.rows, map_square).having("ES15").averaged(seed="all")

    @cached_property
    def raw_maps(self) -> Table:
        """Distance of the map, for the networks themselves."""
        return distances(self.rows, map_distance, raw=True).averaged(seed="all")

    @cached_property
    def errors(self) -> Table:
        """Distance of the error, behind calibrators."""
        return distances(self.rows, error_distance).averaged(seed="all")

    @cached_property
    def squares(self) -> Table:
        """Distance of the squared error, behind calibrators."""
        return distances(self.rows, squared_distance).averaged(seed="all")

    @cached_property
    def ranks(self) -> Table:
        """Rank correlation over calibrators."""
        return rankings(self.rows, spearman, higher=True).averaged(seed="all")

    @cached_property
    def picks(self) -> Table:
        """Whether the best calibrator is picked."""
        return rankings(self.rows, picks_the_best, higher=True).averaged(seed="all")

    @cached_property
    def regrets(self) -> Table:
        """How much worse than the best the calibrator is that is picked."""
        return rankings(self.rows, regret, higher=False).averaged(seed="all")

    @cached_property
    def biases(self) -> Table:
        """Mean estimate minus mean truth, behind calibrators."""
        return distances(self.rows, bias).averaged(seed="all")

    def best_by(self, target: str, names: tuple[str, ...]) -> Table:
        """Whether scores and evaluators pick the calibrator that is best by a target."""
        groups = draws_of(self.rows)
        values = np.empty((len(groups), len(names)))
        for row, sets in zip(values, groups.values(), strict=True):
            truth = np.array([getattr(self.worths[d], target) for d in sets])
            for column, name in enumerate(names):
                said = [estimate(self.rows, self.worths, d, name) for d in sets]
                row[column] = truth[np.argmin(said)] == truth.min()
        return Table(tuple(groups), names, values, True, clusters=CLUSTERS).averaged(seed="all")

    def repairs(self, what: str) -> Table:
        """Return what calibrators are worth by a target, on every clone; the sizes play no part."""
        clones: dict[Draw, dict[str, float]] = {}
        for d, worth in self.worths.items():
            row = clones.setdefault(Draw(d.task, d.truth, 0, d.seed), {})
            row[d.calibrator] = getattr(worth, what)
        names = tuple(next(iter(clones.values())))
        values = np.array([[row[name] for name in names] for row in clones.values()])
        return Table(tuple(clones), names, values, clusters=CLUSTERS).averaged(seed="all")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that were measured, in rising order."""
        return tuple(sorted({data_set.n for data_set in self.rows}))

    def seeds_of(self, n: int) -> tuple[int, ...]:
        """Return the seeds that were measured at a size."""
        return tuple(sorted({data_set.seed for data_set in self.rows if data_set.n == n}))
