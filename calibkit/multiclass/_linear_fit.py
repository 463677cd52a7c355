"""Fit vector and matrix scaling: units, penalties, and where they pull to."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibkit.calibrators.base import Weights
from calibkit.multiclass._softmax_fit import Features, Problem, SoftmaxFit, minimise
from calibkit.multiclass.temperature import fit_slope
from calibkit.types import FloatVector, IntVector

_COOLEST, _WARMEST = 1e-6, 1e6  # temperatures between which the centre is looked for
_STEEPEST = 100.0  # slope of the centre, in logits of size 1


@dataclass(frozen=True, slots=True)
class Penalty:
    """Weights of squared distances from temperature scaling."""

    off_diagonal: float
    diagonal: float
    bias: float


# How a penalty follows from n, K and the temperature.
Rule = Callable[[float, int, float], Penalty]


def fit_linear(
    x: FloatVector, label: IntVector, rule: Rule, full: bool, row_weight: Weights = None
) -> tuple[FloatVector, FloatVector, SoftmaxFit]:
    """Fit ``softmax(W x + b)``, with `W` diagonal unless `full`; return W or its diagonal, b, fit.

    ``rule(n, K, T)`` gives the penalty, n the rows or the sum of their weights, T the temperature,
    or the size of scores worth nothing.
    """
    k, given = x.shape[1], np.ones(len(x)) if row_weight is None else row_weight
    n, share = given.sum(), (given / given.mean())[:, np.newaxis]
    size = float(np.sqrt((np.square(x) * share).mean())) or 1.0
    warm = fit_slope(x, label, 1 / _WARMEST, 1 / _COOLEST, row_weight)
    slope = 0.0 if warm.bound < 0 else min(warm.slope, _STEEPEST / size)
    penalty = rule(n, k, 1 / slope if slope > 0 else size)
    # Parameters of a class: weights of all scores or of its own, then the intercept.
    idle, own = penalty.off_diagonal / size**2, penalty.diagonal / size**2
    if full:
        unit = np.eye(k, k + 1)
        weight = np.where(unit == 1, own, idle)
    else:
        unit = np.tile([1.0, 0.0], (k, 1))
        weight = np.full((k, 2), own)
    weight[:, -1] = penalty.bias
    start = slope * size * unit
    fit = minimise(Problem(Features(x / size, full), label, weight, start, share), start)
    weights, bias = fit.theta[:, :-1] / size, fit.theta[:, -1]
    weights = weights if full else weights[:, 0]
    # One constant for all classes has no effect on the map: fix it where it has no penalty.
    if penalty.bias == 0:
        bias = bias - bias.mean()
    if full and penalty.off_diagonal == penalty.diagonal == 0:
        weights = weights - weights.mean(axis=0) + slope / k
    return weights, bias, fit
