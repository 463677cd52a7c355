"""Chance: labels redrawn for the test of all views.

One redraw of all labels serves every view: a test that pays for having looked at many.

A view has two statistics: Cox's score test of level and slope, and the clearest of tests over bins
of equal variance, from fine to coarse. The louder one counts. The level holds for any n, any
predictions and any number of views. Of a view the test leaves out the rows that give exactly 0 to
the event or to all else, right and wrong alike: no redraw changes them, and one that was wrong is
proof without a test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special

from calibkit.hypothesis_tests.p_values import ratio
from calibkit.inputs import FloatMatrix, FloatVector, IntVector
from calibkit_audit.clusters import Clusters, robust_sd
from calibkit_audit.dependent_rows import DependentRows, undecided, weights_of_labels

TOP = -1  # the view of the predicted class; other views are numbers of classes
_LEAST_VARIANCE = 4.0  # bins are halved while each holds at least this much variance
# Smooth errors are seen best with about n^(2/5) bins (Lee and others, 2023, for slopes that are
# bounded); finer bins would only add looks that have to be paid for.
_FINEST = 2 / 5
_TIE = 1e-9
_MOST_NUMBERS = 300_000_000  # random numbers per audit; very large data get fewer redraws
_FEWEST_DRAWS = 199
# Near a limit: the most redraws, random numbers, and sums that are kept.
_MOST_DRAWS, _NEAR, _KEPT = 100_000, 400_000_000, 30_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ViewTest:
    """One view: its sums over all rows, and how loudly it speaks."""

    view: int  # `TOP` or the number of a class
    n: int
    events: int  # how often the event happened
    mean_prob: float
    frequency: float
    variance: float  # mean of p (1 - p)
    z_level: float  # Cox's z of intercept and slope: below 0 too high, over-confident
    z_slope: float
    p_value: float  # adjusted for all views looked at together; 0 where a sure row was wrong
    sure: int = 0  # rows that say exactly 0 or 1, which no test can look at
    wrong: int = 0  # those of them that were wrong
    design: float = 1.0  # variance of the gap by clusters and weights, over that of plain rows
    sides: tuple[float, float] = (0.0, 0.0)  # z of the rows below and above the mean prediction

    @property
    def gap(self) -> float:
        """Mean prediction minus frequency."""
        return self.mean_prob - self.frequency


class JointTest(NamedTuple):
    """The test of all views together."""

    views: tuple[ViewTest, ...]  # in the order asked for
    others: float  # p-value of the largest statistic over all views, without sure rows
    n_draws: int

    @property
    def p_value(self) -> float:
        """The smallest of all views: 0 where a sure row was wrong."""
        return min(one.p_value for one in self.views)


class _Strength(NamedTuple):
    """How loudly the data, and redraws, speak in one view."""

    values: FloatVector  # first that of the data
    z: FloatVector  # of level and slope, of the data
    design: float  # variance of the level over that of independent rows


class _View:
    """The sums that a view needs, and its statistic for many sets of labels."""

    def __init__(
        self, view: int, table: FloatVector, scale: FloatVector, weights: FloatVector
    ) -> None:
        """Take the weight of each row as it is, and (n, K) as it would be with each label."""
        place, predicted = np.arange(len(table)), table.argmax(axis=1)
        self.view, self.scale = view, scale
        self.happens = predicted if view == TOP else np.full(len(table), view)  # with this label
        self.prob = table[place, self.happens]
        # Not 1 - p, which is rounded to 0.
        named = np.arange(table.shape[1]) == self.happens[:, np.newaxis]
        self.rest = np.where(named, 0, table).sum(axis=1)
        self.sure = (self.prob == 0) | (self.rest == 0)
        # Weights without the event and with it: w (y - p) is linear in it. Sure rows have none.
        no, yes = weights[place, self.happens - 1], weights[place, self.happens]
        parts, other = np.stack([no, yes, self.prob, self.rest]), [[0.0], [0.0], [0.5], [0.5]]
        no, yes, prob, rest = np.where(self.sure, other, parts)
        self.weight = no + (yes - no) * rest  # what an event adds to the sum
        variance, self.logits = no * yes * prob * rest, np.log(prob) - np.log(rest)
        self.total = float(variance.sum())
        self.lever = self.logits - variance @ self.logits / max(self.total, 1e-300)
        self.sd = np.sqrt([self.total, variance @ self.lever**2])
        # Equal predictions have no slope; what is left of them is rounding.
        self.sd[1] *= self.sd[1] > 1e-12 * (1 + np.abs(self.logits).max()) * self.sd[0]
        most = min(self.total / _LEAST_VARIANCE, len(prob) ** _FINEST)
        self.n_cells = 2 ** int(np.log2(max(1.0, most)))
        self.cell = cells_of_equal_variance(prob, variance, self.n_cells)
        self.expected = np.bincount(self.cell, no * prob, self.n_cells)
        self.variance = np.bincount(self.cell, variance, self.n_cells)
        self.pull = self.weight * self.lever
        self.expected_lever = float((no * prob) @ self.lever)

    def sums(self, label: IntVector) -> FloatVector:
        """Return the events of all cells, and last the sum of levers, of a set of labels."""
        happened = np.flatnonzero(label == self.happens)
        cells = np.bincount(self.cell[happened], self.weight[happened], self.n_cells)
        return np.append(cells, self.pull[happened].sum())

    def strength(self, sums: FloatMatrix, label: IntVector, clusters: Clusters | None) -> _Strength:
        """Return the larger -ln p of both tests, for (R, cells + 1) sums; first come the data's.

        Where only clusters are independent, every sum is divided by its standard deviation in the
        redraws; that of the data by the sandwich of its residuals, if that is larger: it knows
        dependence of every kind, but where hardly any event was expected it only sees that none
        has come.
        """
        events = sums[:, :-1]
        level = events.sum(axis=1) - self.expected.sum()
        scores = np.column_stack([level, sums[:, -1] - self.expected_lever])
        if self.total <= 0:
            return _Strength(np.zeros(len(sums)), np.zeros(2), 1.0)
        cells = _halve(events - self.expected)
        if clusters is None:
            z = np.column_stack(list(map(ratio, scores.T, self.sd)))
            cox = (z[:, 0] ** 2 + z[:, 1] ** 2) / 2
            if self.sd[1] == 0:
                cox = -(special.log_ndtr(-np.abs(z[:, 0])) + np.log(2))
            clearest = _clearest(cells, _halve(self.variance[np.newaxis]))
            return _Strength(np.maximum(cox, clearest), z[0], 1.0)
        residual = np.where(self.sure, 0, self.scale * ((label == self.happens) - self.prob))
        own = clusters.sums(np.column_stack([residual, residual * self.lever]))
        sd = np.sqrt((scores[1:] ** 2).mean(axis=0))
        z = np.column_stack(list(map(ratio, scores.T, sd)))
        z[0] = list(map(ratio, scores[0], robust_sd(sd, own)))
        inverse = np.linalg.pinv(z[1:].T @ z[1:] / (len(z) - 1), 1e-6, True)
        cox = np.einsum("ij,jk,ik->i", z, inverse, z) / 2
        place, shape = (clusters.code, self.cell), (clusters.count, self.n_cells)
        sandwiches = _halve(sparse.csc_array(sparse.coo_array((residual, place), shape=shape)))
        variances = [(part[1:] ** 2).mean(axis=0) for part in cells]
        for part, variance, mine in zip(cells, variances, sandwiches, strict=True):
            sandwich = np.maximum(np.asarray(mine.power(2).sum(axis=0)), 1e-300)
            part[0] *= np.minimum(1.0, np.sqrt(variance / sandwich))
        design = float(sd[0] ** 2 / self.total)
        return _Strength(np.maximum(cox, _clearest(cells, variances)), z[0], design)

    def _z_of_all_rows(self, residual: FloatVector, variance: FloatVector) -> FloatVector:
        """Return Cox's z of level and slope, sure rows that were wrong included.

        A row that said 0 or 1 promises no variance and has no logit: if it was wrong, its squared
        residual and the logit of 1 / (n + 2) serve.
        """
        n = self.scale.sum()
        least = special.logit((n * (self.rest == 0) + 1) / (n + 2))
        logits = np.where(self.sure, least, self.logits)
        lever = logits - variance @ logits / max(float(variance.sum()), 1e-300)
        sides = np.array([np.ones_like(lever), np.where(np.abs(lever) > 1e-9, lever, 0)])
        return np.array(list(map(ratio, sides @ residual, np.sqrt(sides**2 @ variance))))

    def result(self, label: IntVector, p_value: float, strength: _Strength) -> ViewTest:
        """Return what is reported of the view."""
        happened, mass, n = label == self.happens, float(self.scale.sum()), len(label)
        wrong = np.where(happened, self.prob, self.rest) == 0
        said, came = self.scale @ self.prob / mass, self.scale @ happened / mass
        mean_prob, frequency = round(float(said), 14), round(float(came), 14)  # on any machine
        off, z, high = self.scale * (happened - self.prob), strength.z, self.prob > mean_prob
        spread = np.where(self.sure, np.abs(off), self.scale * self.prob * self.rest)
        if wrong.any():
            z, p_value = self._z_of_all_rows(off, spread) / np.sqrt(strength.design), 0.0
        sums = [(off[part].sum(), spread[part].sum()) for part in (~high, high)]
        low, top = (float(ratio(a, np.sqrt(b * strength.design))) for a, b in sums)
        return ViewTest(
            view=self.view,
            n=n,
            events=int(happened.sum()),
            mean_prob=mean_prob,
            frequency=frequency,
            variance=self.total / mass,
            z_level=float(z[0]),
            z_slope=float(z[1]),
            p_value=p_value,
            sure=int(self.sure.sum()),
            wrong=int(wrong.sum()),
            design=strength.design * n / mass,
            sides=(low, top),
        )


def _halve(cells: Any) -> list[Any]:
    """Return (m, cells) sums, and those of pairs of cells, of pairs of pairs, ... of all."""
    found = [cells]
    while found[-1].shape[1] > 1:
        found.append(found[-1][:, ::2] + found[-1][:, 1::2])
    return found


def _clearest(residuals: Sequence[FloatMatrix], variances: Sequence[FloatVector]) -> FloatVector:
    """Return the clearest -ln p over bins from fine to coarse, for (R, bins) residuals."""
    clearest = np.full(len(residuals[0]), -np.inf)
    for residual, variance in zip(residuals, map(np.ravel, variances), strict=True):
        used = variance > 0
        square = (residual[:, used] ** 2 / variance[used]).sum(axis=1)
        df = int(used.sum())
        # Wilson and Hilferty: the cube root of chi-squared is nearly normal.
        spread = 2 / (9 * df)
        z = (np.cbrt(square / df) - (1 - spread)) / np.sqrt(spread)
        clearest = np.maximum(clearest, z)
    return np.asarray(-special.log_ndtr(-clearest) - np.log(len(variances)))


def cells_of_equal_variance(key: FloatVector, variance: FloatVector, n_cells: int) -> IntVector:
    """Return the cell of each row along a key, of (nearly) equal variance; ties stay together."""
    value, where = np.unique(key, return_inverse=True)
    own = np.bincount(where, variance, len(value))
    middle = (np.cumsum(own) - own / 2) / max(float(own.sum()), 1e-300)
    return np.asarray(np.minimum((middle * n_cells).astype(np.intp), n_cells - 1)[where])


def joint_test(
    table: FloatVector,
    label: IntVector,
    views: Sequence[int],
    *,
    n_draws: int,
    rng: np.random.Generator,
    clusters: Clusters | None = None,
    weight: FloatVector | None = None,
    limits: Sequence[float] = (),
) -> JointTest:
    """Test several views (`TOP` and numbers of classes) of (n, K) probabilities together.

    A weight, scaled by `kish`, stays with its row in a redraw, as it would be with the new label.
    The number of redraws is doubled while it is open on which side of one of the `limits` the
    p-value lies: `undecided`.
    """
    n_draws = min(n_draws, max(_FEWEST_DRAWS, _MOST_NUMBERS // len(label)))
    if clusters is None:  # an order that the names of the two classes do not change
        order = np.argsort(table[np.arange(len(label)), label], kind="stable")
        table, label = table[order], label[order]
        weight = None if weight is None else weight[order]
    scale = np.ones(len(label)) if weight is None else weight
    weights, _ = weights_of_labels(scale, table, label)
    tests = [_View(view, table, scale, weights) for view in views]
    room = _NEAR // table.size, _KEPT // (sum(test.n_cells for test in tests) + 1)
    most, sums = max(n_draws, min(_MOST_DRAWS, *room)), [[test.sums(label)] for test in tests]
    rows = DependentRows(label=label, prob=table, clusters=clusters, weight=weight)
    redraws = rows.redraws(most, rng)
    if clusters is None and weight is not None:  # each row as a cluster: its sandwich holds for
        clusters = Clusters(np.arange(len(label)), len(label))  # weights of any kind
    while True:
        for redrawn, _ in islice(redraws, n_draws + 1 - len(sums[0])):
            for test, kept in zip(tests, sums, strict=True):
                kept.append(test.sums(redrawn))
        with np.errstate(over="ignore"):  # next to no variance was promised
            pairs = zip(tests, map(np.array, sums), strict=True)
            parts = [test.strength(kept, label, clusters) for test, kept in pairs]
        loudest = np.max([one.values[1:] for one in parts], axis=0)
        beyond = [int((loudest >= one.values[0] - _TIE).sum()) for one in parts]
        if n_draws >= most or not undecided(min(beyond), n_draws, limits):
            break
        n_draws = min(2 * n_draws, most)
    p_values = [(1 + count) / (n_draws + 1) for count in beyond]
    ordered = zip(tests, p_values, parts, strict=True)
    results = tuple(test.result(label, p_value, part) for test, p_value, part in ordered)
    return JointTest(results, min(p_values), n_draws)
