"""Net benefit at a threshold with its interval: rows weigh, and may come in clusters."""

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from calibkit.inputs import FloatVector

# Rows (or clusters) that decide a mean, and each way a difference; of fewer there is no interval.
_FEWEST, _EACH_WAY = 10, 5


class NetBenefit(NamedTuple):
    """Net benefit of a model, its difference from another one, and treatments avoided.

    Ends of intervals are NaN where fewer than ten rows (or clusters) are treated, or are treated
    otherwise, or where fewer than five of these are gained, or lost.
    """

    value: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    avoided: float
    treat_all: float


def net_benefit(
    label: Any,
    prob: FloatVector,
    against: FloatVector,
    *,
    threshold: float,
    level: float = 0.95,
    clusters: Any = None,
    weight: FloatVector | None = None,
) -> NetBenefit:
    """Return the net benefit of treating from a threshold on, and what it gains over another model.

    `threshold` lies strictly between 0 and 1. Net benefit is a mean over rows; intervals are
    Student's, with the sandwich variance of rows or clusters. A row of weight 2 is that row twice,
    for the values; for the intervals it is one row (or one cluster) that counts more.
    """
    label = np.asarray(label, dtype=np.float64)
    weight = np.ones(len(label)) if weight is None else weight
    odds = threshold / (1 - threshold)
    worth = label - odds * (1 - label)
    gain, other = ((p >= threshold) * worth for p in (prob, against))
    mean = _mean(gain, weight, clusters, level)
    difference = _mean(gain - other, weight, clusters, level, _EACH_WAY)
    prevalence = float(np.average(label, weights=weight))
    treat_all = prevalence - odds * (1 - prevalence)
    return NetBenefit(*mean, *difference, (mean[0] - treat_all) / odds, treat_all)


def _mean(
    gain: FloatVector, weight: FloatVector, clusters: Any, level: float, each_way: int = 0
) -> tuple[float, float, float]:
    """Return a weighted mean over rows with its interval; sums do not depend on their order."""
    total = weight.sum()
    mean = float(np.sort(weight * gain).sum() / total)
    part = weight * (gain - mean) / total
    sides = np.stack([weight * gain > 0, weight * gain < 0, weight * gain != 0], axis=1)
    if clusters is not None:
        part, sides = clusters.sums(part), clusters.sums(sides) > 0
    won, lost, decided = sides.sum(axis=0)
    if decided < _FEWEST or min(won, lost) < each_way:
        return mean, np.nan, np.nan
    units = len(part)
    half = special.stdtrit(units - 1, (1 + level) / 2) * np.sqrt(units / (units - 1) * part @ part)
    return mean, mean - float(half), mean + float(half)
