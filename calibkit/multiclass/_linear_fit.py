"""Fit vector and matrix scaling: units, penalties and their strength."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.calibrators._folds import assign_folds
from calibkit.multiclass._cooling import fit_slope
from calibkit.multiclass._softmax_fit import AllPairs, PerClass, Problem, SoftmaxFit, minimise

FloatArray = NDArray[np.float64]
IntVector = NDArray[np.intp]

# Multiples of the rule that needs no tuning, from simple maps to complex ones.
MULTIPLES = (100.0, 10.0, 1.0, 0.1, 0.01, 0.001)
_SLOPES = (1e-6, 1e6)  # temperatures between which the centre is looked for
_STEEPEST = 100.0  # slope of the centre, in logits of size 1


@dataclass(frozen=True, slots=True)
class Penalty:
    """Weights of squared distances from the centre, in the units of the scores.

    The centre is the map of temperature scaling, or 0 for ``to_zero``. A weight of None on the
    diagonal leaves it free.
    """

    off_diagonal: float
    diagonal: float
    bias: float
    to_zero: bool = False


def check_weight(value: Any, name: str, besides: str = "") -> None:
    """Check the weight of a penalty."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be {besides}a finite number from 0 on, got {value!r}.")


def given(penalty: float, bias_penalty: float | None) -> tuple[float, float]:
    """Return the weights of matrix and intercepts where they are numbers."""
    bias = penalty if bias_penalty is None else bias_penalty
    check_weight(bias, "bias_penalty")
    return float(penalty), float(bias)


def towards_temperature(n: int, k: int, temperature: float, multiple: float) -> Penalty:
    """Return the rule without tuning: K/n per weight of a class, K (K - 1)/n per pair."""
    unit = multiple * k / n
    return Penalty(unit * (k - 1) * temperature**2, unit * temperature**2, unit)


@dataclass(frozen=True, slots=True)
class LinearFit:
    """Weights, (K,) or (K, K), and biases, with the fit and the penalty behind them."""

    weights: FloatArray
    bias: FloatArray
    fit: SoftmaxFit
    penalty: Penalty

    def logits(self, x: FloatArray) -> FloatArray:
        """Return the mapped logits."""
        moved = x * self.weights if self.weights.ndim == 1 else x @ self.weights.T
        return np.asarray(moved + self.bias)


# How a penalty follows from n, K and the temperature.
Rule = Callable[[int, int, float], Penalty]


def fit_linear(x: FloatArray, label: IntVector, rule: Rule, full: bool) -> LinearFit:
    """Fit ``softmax(W x + b)`` with `W` full or diagonal.

    Parameters
    ----------
    x : ndarray of shape (n, K)
        Logits.
    label : ndarray of shape (n,)
        Labels.
    rule : callable
        ``rule(n, K, T)`` gives the penalty; T is the temperature of temperature scaling.
    full : bool
        Whether all pairs of classes have a weight, or each class only its own.
    """
    n, k = x.shape
    size = float(np.sqrt(np.square(x).mean())) or 1.0
    slope = min(_own_slope(x, label), _STEEPEST / size)
    penalty = rule(n, k, 1 / slope if slope > 0 else size)
    middle = 0.0 if penalty.to_zero else slope * size
    scaled = np.array([penalty.off_diagonal, penalty.diagonal]) / size**2
    if full:
        weight = np.full((k, k + 1), scaled[0])
        weight[np.arange(k), np.arange(k)] = scaled[1]
        weight[:, k] = penalty.bias
        centre, start = middle * np.eye(k, k + 1), slope * size * np.eye(k, k + 1)
    else:
        weight = np.stack([np.full(k, scaled[1]), np.full(k, penalty.bias)])
        shape = np.array([[1.0], [0.0]]) * np.ones(k)
        centre, start = middle * shape, slope * size * shape
    features = AllPairs(x / size) if full else PerClass(x / size)
    fit = minimise(Problem(features, label, weight, centre), start)
    weights = fit.theta[:, :k] / size if full else fit.theta[0] / size
    bias = fit.theta[:, k] if full else fit.theta[1]
    return _without_idle(weights, bias, slope, fit, penalty)


def _without_idle(
    weights: FloatArray, bias: FloatArray, slope: float, fit: SoftmaxFit, penalty: Penalty
) -> LinearFit:
    """Fix what has no effect on the map, and no penalty: one constant for all classes."""
    if penalty.bias == 0:
        bias = bias - bias.mean()
    if weights.ndim == 2 and penalty.off_diagonal == penalty.diagonal == 0:
        weights = weights - weights.mean(axis=0) + slope / len(bias)
    return LinearFit(weights, bias, fit, penalty)


def _own_slope(x: FloatArray, label: IntVector) -> float:
    """Return 1/T of temperature scaling; 0 where the scores are worth nothing or less."""
    result = fit_slope(x, label, 1 / _SLOPES[1], 1 / _SLOPES[0])
    return 0.0 if result.bound < 0 else result.slope


def held_out_losses(
    x: FloatArray,
    label: IntVector,
    fit: Callable[[FloatArray, IntVector, float], LinearFit],
    folds: tuple[Any, Any],
) -> FloatArray:
    """Return the mean held-out log loss of each of the `MULTIPLES`.

    Folds are drawn over the rows sorted by scores and label, so that row order never matters.
    """
    order = np.lexsort((label, *x.T[::-1]))
    x, label = x[order], label[order]
    fold, n_folds = assign_folds(x[:, 0], label.astype(np.float64), *folds)
    losses = np.zeros(len(MULTIPLES))
    for number in range(n_folds):
        out = fold == number
        for place, multiple in enumerate(MULTIPLES):
            logits = fit(x[~out], label[~out], multiple).logits(x[out])
            logits -= logits.max(axis=1, keepdims=True)
            mine = logits[np.arange(len(logits)), label[out]]
            losses[place] += float((np.log(np.exp(logits).sum(axis=1)) - mine).sum())
    return losses / len(x)
