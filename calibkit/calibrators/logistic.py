"""Logistic regression on two or three features: a Newton method that says how it ended."""

from dataclasses import dataclass

import numpy as np

from calibkit.inputs import FloatVector

MOST_STEPS = 100
# A Newton step this small in every logit leaves an error of its square: rounding is all that is
# left.
_SMALL_STEP = 1e-8
# Nothing to gain, although the logits still move: the optimum is at infinity.
_NO_GAIN = 1e-13
_LARGE_STEP = 0.1
# Data that a line separates: the summed log loss at which it is not worth going on.
_ZERO_LOSS = 1e-10


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Coefficients, summed log loss, number of steps, and how it ended."""

    theta: FloatVector
    loss: float
    n_iter: int
    converged: bool
    finite: bool


@dataclass(frozen=True, slots=True)
class _Point:
    """The summed log loss at some coefficients, with gradient and Hessian."""

    theta: FloatVector
    loss: float
    logit: FloatVector
    decay: FloatVector  # exp(-|logit|)


Weight = FloatVector | float


def _at(theta: FloatVector, features: FloatVector, target: FloatVector, weight: Weight) -> _Point:
    logit = theta @ features
    decay = np.exp(-np.abs(logit))
    loss = np.maximum(logit, 0) - target * logit + np.log1p(decay)
    loss *= weight
    return _Point(theta, float(loss.sum()), logit, decay)


def _slopes(
    point: _Point, features: FloatVector, target: FloatVector, weight: Weight
) -> tuple[FloatVector, FloatVector]:
    total = 1 + point.decay
    positive = point.logit >= 0
    up = np.where(positive, 1.0, point.decay) / total
    down = np.where(positive, point.decay, 1.0) / total
    # Not `up - target`: for logits of 40 that is 0, and the gradient would be lost.
    residual = (up * (1 - target) - target * down) * weight
    return features @ residual, (features * (up * down * weight)) @ features.T


def _newton_step(gradient: FloatVector, hessian: FloatVector) -> FloatVector:
    """Return a step downhill, also where the Hessian is singular to rounding."""
    scale = 1 / np.sqrt(np.maximum(np.diag(hessian), np.finfo(np.float64).tiny))
    value, vector = np.linalg.eigh(hessian * np.outer(scale, scale))
    value = np.maximum(value, 1e-15 * len(value))
    return np.asarray(-scale * (vector @ ((vector.T @ (scale * gradient)) / value)))


def fit_logistic(
    features: FloatVector,
    target: FloatVector,
    starts: list[list[float]],
    weight: FloatVector | None = None,
) -> LogisticFit:
    """Minimise the summed log loss of ``expit(theta @ features)``, from the best of the starts.

    Features are d linearly independent rows, columns in an order of their own, targets in [0, 1];
    weights are taken as parts of their mean.
    Separable labels have no finite optimum: the steps then end where the loss can hardly fall.
    """
    data = features, target, 1.0 if weight is None else weight / weight.mean()
    point = min((_at(np.array(s), *data) for s in starts), key=lambda p: p.loss)
    hard = bool(((target == 0) | (target == 1)).all())
    for n_iter in range(1, MOST_STEPS + 1):
        gradient, hessian = _slopes(point, *data)
        step = _newton_step(gradient, hessian)
        slope = float(gradient @ step)
        reach = float(np.abs(step @ features).max())
        if reach <= _SMALL_STEP * (1 + float(np.abs(point.logit).max())):
            return LogisticFit(point.theta + step, point.loss, n_iter, True, True)
        # With labels 0 and 1, a loss below log 2 has every label on its side of the line.
        separated = hard and point.loss < _ZERO_LOSS
        if separated or (-slope <= _NO_GAIN * point.loss and reach > _LARGE_STEP):
            return LogisticFit(point.theta, point.loss, n_iter, False, False)
        better = _line_search(point, step, slope, data)
        if better is None:
            break
        point = better
    return LogisticFit(point.theta, point.loss, n_iter, False, True)


def _line_search(
    point: _Point, step: FloatVector, slope: float, data: tuple[FloatVector, FloatVector, Weight]
) -> _Point | None:
    """Halve the step until the loss falls in proportion; far away a full one may overshoot."""
    for size in 0.5 ** np.arange(50):
        trial = _at(point.theta + size * step, *data)
        if trial.loss <= point.loss + 1e-4 * size * slope + 1e-14 * point.loss:
            return trial
    return None
