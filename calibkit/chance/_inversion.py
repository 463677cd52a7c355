"""Intervals for a binned error by inverting tests: which true errors could have shown it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibkit.chance.redraws import Redraws
from calibkit.errors.family import CalibrationError, bin_weights
from calibkit.inputs import TIE, FloatVector, logit
from calibkit.reliability import BinTable

# The ends are found to this share of the measured error, far below what the draws resolve.
_HALVINGS = 16
# Three arrays of this many numbers are kept, 240 MB each.
LARGEST = 30_000_000


def too_large(error: CalibrationError, n_resamples: int) -> bool:
    """Tell whether the draws of all bins would not fit into memory."""
    return n_resamples * sum(table.n_bins for table in error.tables) > LARGEST


@dataclass(frozen=True, slots=True)
class _Chance:
    """What chance does to the gaps of one table: arrays of shape (n_resamples, B).

    `gap` is the pattern of the true gaps, see `_pattern`; `calibrated` is the scatter of labels
    drawn from the predictions, `observed` and `weight` that of rows drawn with replacement;
    `worst` is the largest gap that a frequency can make.
    """

    gap: FloatVector
    worst: FloatVector
    calibrated: FloatVector
    observed: FloatVector
    weight: FloatVector


class Inversion:
    """The distribution of a binned error for any true error, and the interval that follows.

    Rows are drawn first (`draws` are their errors), then labels, `n_resamples` of either kind.
    """

    def __init__(self, redraws: Redraws, n_resamples: int, generator: np.random.Generator) -> None:
        self.redraws, self.error = redraws, redraws.error
        self.draws = np.empty(n_resamples)
        tables = self.error.tables
        sums = [np.empty((n_resamples, table.n_bins, 3)) for table in tables]
        for block, found in redraws.resampled_sums(n_resamples, generator):
            self.draws[block] = redraws.errors_of_sums(found)
            for whole, part in zip(sums, found, strict=True):
                whole[block] = part
        events = redraws.null_events(n_resamples, generator, coarse=True)
        units = None if redraws.clusters is None else redraws.clusters.count
        self.parts = [
            _chance(self.error, *each, units) for each in zip(tables, sums, events, strict=True)
        ]
        self.unit = self._of_the_data([part.gap for part in self.parts])
        if self.unit <= TIE:  # no gap to scale: imagine gaps in proportion to the scatter
            self.parts = [replace(part, gap=part.calibrated.std(axis=0)) for part in self.parts]
            self.unit = self._of_the_data([part.gap for part in self.parts])
        self.largest = self._of_the_data([part.worst for part in self.parts])

    def _of_the_data(self, gaps: list[FloatVector]) -> float:
        weights = [bin_weights(table.total, self.error.weights) for table in self.error.tables]
        return float(self.redraws.errors(gaps, weights))

    def at(self, true_error: float) -> FloatVector:
        scale = true_error / self.unit if self.unit > 0 else 0.0
        # The scatter passes from that of a calibrated model to that of the data, in variance.
        share = min(true_error / self.error.value, 1.0) if self.error.value > TIE else 1.0
        first, second = np.sqrt(1 - share), np.sqrt(share)
        return self.redraws.errors(
            [scale * p.gap + first * p.calibrated + second * p.observed for p in self.parts],
            [part.weight for part in self.parts],
        )

    def interval(self, level: float) -> tuple[float, float]:
        """Return the smallest and the largest true error that is not rejected."""
        value, tail = self.error.value, (1 - level) / 2
        calibrated = self.at(0.0)
        # Less error than a calibrated model shows on average is luck, not knowledge: an upper
        # end from there would be too low, or none would be left at all.
        lucky = max(value, float(np.median(calibrated)))

        def large_enough(true_error: float) -> bool:
            return _share(self.at(true_error) >= value - TIE) > tail

        def small_enough(true_error: float) -> bool:
            return _share(self.at(true_error) <= lucky + TIE) > tail

        low = 0.0 if large_enough(0.0) else _border(large_enough, (value, 0.0))
        if self.unit == 0:
            return low, value
        beyond = max(value, self.unit)
        while beyond < self.largest and small_enough(beyond):
            beyond *= 2
        high = min(_border(small_enough, (0.0, beyond)), self.largest)
        return low, max(high, low)


def _share(which: NDArray[np.bool_]) -> float:
    """Return a share in which the data count as one of the draws, so it is never 0."""
    return float((1 + which.sum()) / (which.size + 1))


def _border(accepted: Callable[[float], bool], ends: tuple[float, float]) -> float:
    """Halve the way from an accepted end to a rejected one; return the last one accepted."""
    inside, outside = ends
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if accepted(middle):
            inside = middle
        else:
            outside = middle
    return inside


def _chance(
    error: CalibrationError,
    table: BinTable,
    sums: FloatVector,
    events: NDArray[np.intp],
    units: int | None,
) -> _Chance:
    count, sum_prob, hits = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore"):  # empty bins are NaN, and count nothing below
        gap = table.gap
        calibrated = table.mean_prob - events / table.total
        observed = sum_prob / count - hits / count - gap
    # A frequency scatters more than resamples of its n rows show, by n / (n - 1); one row alone
    # shows nothing, and is taken to scatter as its prediction says. So do clusters, of which no
    # bin holds more than all.
    number = np.minimum(table.total, table.total if units is None else units)
    several = number > 1
    observed = observed * np.sqrt(number / np.where(several, number - 1, 1))
    return _Chance(
        gap=np.nan_to_num(_pattern(table, gap)),
        worst=np.nan_to_num(np.maximum(table.mean_prob, 1 - table.mean_prob)),
        calibrated=np.nan_to_num(calibrated),
        observed=np.nan_to_num(np.where(several, observed, calibrated)),
        weight=bin_weights(count, error.weights),
    )


def _pattern(table: BinTable, gap: FloatVector) -> FloatVector:
    """Return gaps without most of their chance: a line in logits, and what clearly departs from it.

    Chance makes measured gaps differ in sign where true ones need not, and such a pattern says of
    every true error that it would look larger than it does. A small shift and stretch of the
    logits makes gaps ``a v + b v logit p`` with ``v = p (1 - p)``. They are fitted by weighted
    least squares; the rest is shrunk by the factor of James and Stein, ``1 - df / X²``.
    """
    used = table.occupied
    n, prob, frequency = table.total[used], table.mean_prob[used], table.frequency[used]
    guess = (frequency * n + 0.5) / (n + 1)  # never 0 or 1, so that every bin has a spread
    sd = np.sqrt(guess * (1 - guess) / n)
    spread = prob * (1 - prob)
    lines = np.column_stack([spread, spread * logit(prob)]) / sd[:, np.newaxis]
    z = (prob - frequency) / sd
    rest = z - lines @ np.linalg.lstsq(lines, z, rcond=None)[0]
    square, df = float(rest @ rest), len(n) - 2
    chance = np.zeros_like(gap)
    if square > 0 and df > 0:
        chance[used] = min(1.0, df / square) * rest * sd
    return gap - chance
