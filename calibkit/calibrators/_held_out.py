"""Held-out Brier scores of slope-1 bins: every number of bins at once, fold by fold."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Binning, EqualMass, EqualWidth

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.intp]


def held_out_scores(
    prob: FloatVector,
    residual: FloatVector,
    folds: tuple[IntVector, int],
    binnings: Sequence[Binning],
) -> FloatVector:
    """Return the mean held-out Brier score of each binning.

    Parameters
    ----------
    prob : ndarray of shape (n,)
        Predictions, sorted.
    residual : ndarray of shape (n,)
        Label minus prediction.
    folds : (ndarray of shape (n,), int)
        Fold of each prediction, and the number of folds.
    binnings : sequence of EqualMass or of EqualWidth
        All of one kind and rule.

    Raises
    ------
    ValueError
        If a fold leaves nothing to fit to.
    """
    fold, n_folds = folds
    plan = _Plan(binnings)
    scores = np.zeros(len(binnings))
    for part in range(n_folds):
        held = fold == part
        if held.all():
            raise ValueError(
                "One fold holds out all predictions, so nothing is left to fit to. Use at least "
                "two folds."
            )
        fit = ~held
        low, low_held = plan.cuts(prob[fit], prob[held])
        shift = _means(_sums(residual[fit], low), np.diff(low))
        here, left = np.diff(low_held), residual[held]
        # sum (r - s)^2 over a bin, for its shift s, is sum r^2 - s (2 sum r - n s).
        gain = shift * (2 * _sums(left, low_held) - here * shift)
        total = np.square(left).sum() - np.add.reduceat(gain, plan.starts)
        scores += total / len(left)
    return scores / n_folds


def _sums(values: FloatVector, cuts: IntVector) -> FloatVector:
    """Return the sums of the values between the cuts."""
    running = np.concatenate(([0.0], np.cumsum(values)))
    return np.diff(running[cuts])


def _means(sums: FloatVector, count: IntVector) -> FloatVector:
    """Divide; where there is nothing to average, the shift is 0 and the map the identity."""
    return np.divide(sums, count, out=np.zeros_like(sums), where=count > 0)


class _Plan:
    """The cuts of all binnings in one array: for each binning a 0, its inner cuts, and n.

    `starts` has the place of each 0. The step from the n of one binning to the 0 of the next is
    no bin: its count is negative, so that its shift is 0 and it adds nothing.
    """

    def __init__(self, binnings: Sequence[Binning]):
        first = binnings[0]
        wanted = [b.n_bins for b in binnings if isinstance(b, EqualMass | EqualWidth)]
        numbers = np.array(wanted, dtype=np.intp)
        self.starts = np.concatenate(([0], np.cumsum(numbers + 1)[:-1]))
        self.ends = self.starts + numbers
        self.owner = np.repeat(numbers, numbers - 1)
        self.inner = np.ones(int((numbers + 1).sum()), dtype=np.bool_)
        self.inner[self.starts] = self.inner[self.ends] = False
        self.rule = first.rule if isinstance(first, EqualMass) else None
        self.rank = np.concatenate([np.arange(1, number) for number in numbers])
        # `EqualWidth` has the same edges whatever the data.
        fixed = [] if self.rule else [b.edges(np.zeros(1))[1:-1] for b in binnings]
        self.fixed = np.concatenate([np.empty(0), *fixed])

    def cuts(self, fit: FloatVector, held: FloatVector) -> tuple[IntVector, IntVector]:
        """Return how many of the sorted predictions lie below each edge, in both parts."""
        if self.rule is None:
            below = np.searchsorted(fit, self.fixed)
            return self._whole(below, fit), self._whole(np.searchsorted(held, self.fixed), held)
        edges = self._equal_mass_edges(fit)
        below, below_held = np.searchsorted(fit, edges), np.searchsorted(held, edges)
        # Two cuts with the same predictions below them are one edge: the lower of the two.
        again = np.concatenate(([False], (below[1:] == below[:-1])))[: len(below)]
        again[1:] &= self.owner[1:] == self.owner[:-1]
        place = np.maximum.accumulate(np.where(again, 0, np.arange(len(below))))
        edges, below_held = edges[place], below_held[place]
        # `EqualMass` has no edge at the smallest prediction and none at 1.
        below_held[below == 0] = 0
        below[edges >= 1], below_held[edges >= 1] = len(fit), len(held)
        return self._whole(below, fit), self._whole(below_held, held)

    def _equal_mass_edges(self, fit: FloatVector) -> FloatVector:
        """Return the edges that `EqualMass` puts into sorted predictions, repetitions included."""
        size, extra = np.divmod(len(fit), self.owner)
        cut = self.rank * size + np.minimum(self.rank, extra)
        within = np.minimum(cut, len(fit) - 1)
        left, right = fit[within - 1], fit[within]
        middle = right if self.rule == "first" else (left + right) / 2
        edges: FloatVector = np.where((middle <= left) & (left < right), right, middle)
        edges[cut >= len(fit)] = 1.0  # more bins than predictions
        return edges

    def _whole(self, below: IntVector, values: FloatVector) -> IntVector:
        """Put the 0 and the n of each binning around its inner cuts."""
        cuts = np.zeros(len(self.inner), dtype=np.intp)
        cuts[self.inner] = below
        cuts[self.ends] = len(values)
        return cuts
