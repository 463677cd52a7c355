"""Minimise a penalised log loss of ``softmax(W x + b)``: Newton steps with a line search.

The objective is convex: mean log loss + sum of ``weight * (theta - centre)^2``. Few parameters are
fitted with the full matrix of second derivatives, many by conjugate gradients, which need only its
products with a vector.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from calibkit.inputs import FloatVector

TOLERANCE = 1e-9  # of the norm of the gradient; features have the size 1, residuals at most that
ACCEPTED = 1e-8
MOST_STEPS = 1000
MOST_PRODUCTS = 300
_FEW_PARAMETERS = 600
# Where so many inexact steps were not enough, exact ones are worth their price up to here.
_PATIENCE, _NOT_TOO_MANY = 60, 2500
_RIDGE, _BLOCK_RIDGE = 1e-12, 1e-9
_CHEAP = 1e9  # multiplications
_MOST_NUMBERS = 3e7  # in blocks of their own for each class; about 300 classes
_INVISIBLE = 1e-11
# Steps are damped once less than this share of one could be taken.
_SMALL_SHARE, _FIRST_DAMPING, _LEAST_DAMPING = 0.4, 1e-5, 1e-12
# A last step that still moves some logit by this much has no finite end.
_LARGE_STEP = 0.1


class Features:
    """How parameters become logits: logit k is ``sum_j theta_kj f_kj``.

    For `full` the features f are all scores and a 1; otherwise each class has its own score and a
    1.
    """

    def __init__(self, x: FloatVector, full: bool):
        self.n, self.full = len(x), full
        one = np.ones((len(x), 1))
        columns = np.column_stack([x, one])[:, np.newaxis]
        self.f = columns if full else np.stack([x, one + 0 * x], axis=2)  # (n, 1 or K, d)

    def logits(self, theta: FloatVector) -> FloatVector:
        if self.full:
            return np.asarray(self.f[:, 0] @ theta.T)
        return np.asarray((self.f * theta).sum(axis=2))

    def pull(self, residual: FloatVector) -> FloatVector:
        """Return what residuals sum to in each parameter: the transpose of `logits`."""
        if self.full:
            return np.asarray(residual.T @ self.f[:, 0])
        return np.asarray((residual[:, :, np.newaxis] * self.f).sum(axis=0))

    def _own(self, spread: FloatVector, k: int) -> FloatVector:
        """Return ``sum q (1 - q) f f'`` for each of the `k` classes."""
        f = np.broadcast_to(self.f, (self.n, k, self.f.shape[2]))
        return np.stack([(f[:, c].T * spread[:, c]) @ f[:, c] for c in range(k)])

    def hessian(self, prob: FloatVector, spread: FloatVector) -> FloatVector:
        """Return the second derivatives of the summed loss: ``sum q_k (1[k = l] - q_l) f f'``."""
        n, k = prob.shape
        d = self.f.shape[2]
        both = (prob[:, :, np.newaxis] * self.f).reshape(n, k * d)
        matrix = np.asarray(-(both.T @ both))
        # Not by adding `q f f'`: near certainty that would cancel to nothing but rounding.
        for c, own in enumerate(self._own(spread, k)):
            matrix[c * d : (c + 1) * d, c * d : (c + 1) * d] = own
        return matrix

    def nearly_inverse(
        self, spread: FloatVector, weight: FloatVector
    ) -> Callable[[FloatVector], FloatVector]:
        """Invert ``hessian / n + 2 weight`` without class links; dear blocks share features."""
        k, d = weight.shape
        dear = self.n * k * d * d > _CHEAP or k * d * d > _MOST_NUMBERS
        if self.full and dear:
            return self._shared_inverse(spread, weight)
        blocks = self._own(spread, k) / self.n
        place = np.arange(d)
        blocks[:, place, place] += 2 * weight
        scale = 1 / np.sqrt(np.maximum(blocks[:, place, place], 1e-200))
        blocks *= scale[:, :, np.newaxis] * scale[:, np.newaxis]
        blocks[:, place, place] += _BLOCK_RIDGE
        inverse = np.linalg.inv(blocks) * scale[:, :, np.newaxis] * scale[:, np.newaxis]
        inverse = (inverse + inverse.transpose(0, 2, 1)) / 2
        return lambda vector: np.asarray((inverse @ vector[:, :, np.newaxis])[:, :, 0])

    def _shared_inverse(
        self, spread: FloatVector, weight: FloatVector
    ) -> Callable[[FloatVector], FloatVector]:
        """Invert ``share_c common + 2 weight_c`` without a block per class, by one decomposition.

        All classes have the same weights but for their own score, a correction of rank one.
        """
        common = (self.f[:, 0].T * spread.mean(axis=1)) @ self.f[:, 0] / self.n
        share = spread.sum(axis=0) / max(spread.mean() * self.n, 1e-200)
        place = np.arange(len(weight))
        base = 2 * np.median(weight, axis=0)
        scale = 1 / np.sqrt(base + _BLOCK_RIDGE * np.maximum(np.diag(common), 1e-200))
        value, vector = np.linalg.eigh(common * scale[:, np.newaxis] * scale)
        turn = scale[:, np.newaxis] * vector
        size = 1 + share[:, np.newaxis] * np.maximum(value, 0.0)
        own = (turn[place] / size) @ turn.T
        change = 2 * weight[place, place] - base[place]
        change /= np.maximum(1 + change * own[place, place], 1e-6)

        def inverse(vector: FloatVector) -> FloatVector:
            first = (vector @ turn / size) @ turn.T
            return np.asarray(first - (change * first[place, place])[:, np.newaxis] * own)

        return inverse


@dataclass(frozen=True, slots=True)
class SoftmaxFit:
    """Parameters and how the fit ended; `finite` is False if the optimum is at infinity."""

    theta: FloatVector
    loss: float  # mean log loss, without the penalty
    gradient: float
    n_iter: int
    converged: bool
    finite: bool


@dataclass(frozen=True, slots=True)
class _Point:
    theta: FloatVector
    objective: float
    loss: float
    logits: FloatVector  # below the largest of the row
    top: NDArray[np.intp]
    odds: FloatVector  # exp(logit), and 0 in place of the 1 at the top
    others: FloatVector  # sum of the odds


@dataclass(frozen=True, slots=True)
class _Slopes:
    gradient: FloatVector
    prob: FloatVector
    spread: FloatVector  # q (1 - q), times what the row counts
    top: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Problem:
    """Features, labels, and a quadratic penalty around a centre.

    Near certainty the small probabilities of the others are summed: 1 - q would lose its digits.
    """

    features: Features
    label: NDArray[np.intp]
    weight: FloatVector
    centre: FloatVector
    share: FloatVector | float = 1.0  # how much each row counts, with mean 1, (n, 1)

    def at(self, theta: FloatVector) -> _Point:
        row = np.arange(self.features.n)
        logits = self.features.logits(theta)
        top = logits.argmax(axis=1)
        logits -= logits[row, top][:, np.newaxis]
        odds = np.exp(logits)
        odds[row, top] = 0.0
        others = odds.sum(axis=1)
        losses = np.log1p(others) - logits[row, self.label]
        loss = float((losses * np.ravel(self.share)).mean())
        penalty = float((self.weight * (theta - self.centre) ** 2).sum())
        return _Point(theta, loss + penalty, loss, logits, top, odds, others)

    def slopes(self, point: _Point) -> _Slopes:
        row = np.arange(self.features.n)
        total = 1 + point.others
        prob = point.odds / total[:, np.newaxis]
        prob[row, point.top] = 1 / total
        rest = 1 - prob
        rest[row, point.top] = point.others / total
        residual = prob.copy()
        residual[row, self.label] = -rest[row, self.label]
        residual *= self.share
        pull = self.features.pull(residual) / self.features.n
        gradient = pull + 2 * self.weight * (point.theta - self.centre)
        return _Slopes(gradient, prob, prob * rest * self.share, point.top)

    def product(self, at: _Slopes, vector: FloatVector) -> FloatVector:
        move = self.features.logits(vector)
        move -= move[np.arange(self.features.n), at.top][:, np.newaxis]
        move -= np.einsum("ik,ik->i", at.prob, move)[:, np.newaxis]
        move *= at.prob
        move *= self.share
        return self.features.pull(move) / self.features.n + 2 * self.weight * vector


def minimise(problem: Problem, start: FloatVector) -> SoftmaxFit:
    """Minimise; features have size 1 (root mean square), so gradients are between 0 and about 1."""
    point, n_iter, damping = problem.at(start), 0, 0.0
    now = problem.slopes(point)
    reach = 0.0
    while n_iter < MOST_STEPS and linalg.norm(now.gradient) > TOLERANCE:
        step = _newton_step(problem, now, damping, n_iter)
        better, share = _advance(problem, point, now, step)
        n_iter += 1
        if better is None:
            if damping == 0:
                break
            damping = 0.0
            continue
        reach = float(np.abs(better.logits - point.logits).max())
        point = better
        now = problem.slopes(point)
        damping = _next_damping(damping, share, float(linalg.norm(now.gradient)))
    size = float(linalg.norm(now.gradient))
    if damping > 0:  # a damped step says little about the distance to the end
        last = problem.at(point.theta + _newton_step(problem, now, 0.0, n_iter))
        reach = float(np.abs(last.logits - point.logits).max())
    return SoftmaxFit(point.theta, point.loss, size, n_iter, size <= ACCEPTED, reach <= _LARGE_STEP)


def _newton_step(problem: Problem, now: _Slopes, damping: float, n_iter: int) -> FloatVector:
    """Return the step to the optimum of the local quadratic, held back by `damping`."""
    few = problem.centre.size <= (_FEW_PARAMETERS if n_iter < _PATIENCE else _NOT_TOO_MANY)
    held = replace(problem, weight=problem.weight + damping / 2)
    return (_direct if few else _conjugate)(held, now)


def _next_damping(damping: float, share: float, gradient: float) -> float:
    if share < _SMALL_SHARE:
        return max(4 * damping, _FIRST_DAMPING * gradient)
    if share < 1:
        return damping
    return damping / 4 if damping > _LEAST_DAMPING else 0.0


def _direct(problem: Problem, now: _Slopes) -> FloatVector:
    """Solve for the Newton step; a tiny ridge stands for directions without effect."""
    prob = now.prob * np.sqrt(problem.share)
    matrix = problem.features.hessian(prob, now.spread) / problem.features.n
    matrix[np.diag_indices_from(matrix)] += 2 * problem.weight.ravel()
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), 1e-200))
    matrix *= scale[:, np.newaxis] * scale
    for ridge in _RIDGE * 100.0 ** np.arange(7):
        try:
            factor = linalg.cho_factor(matrix + ridge * np.eye(len(matrix)))
        except linalg.LinAlgError:
            continue
        step = -scale * linalg.cho_solve(factor, scale * now.gradient.ravel())
        return np.asarray(step.reshape(now.gradient.shape))
    return -now.gradient


def _conjugate(problem: Problem, now: _Slopes) -> FloatVector:
    """Return a Newton step as exact as its place on the way deserves."""
    gradient = now.gradient
    near = problem.features.nearly_inverse(now.spread, problem.weight)
    size = float(linalg.norm(gradient))
    enough = size * min(0.1, np.sqrt(size))
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = near(residual)
    inner = float((residual * direction).sum())
    for _ in range(MOST_PRODUCTS):
        moved = problem.product(now, direction)
        curvature = float((direction * moved).sum())
        if curvature <= 0:
            break
        step += inner / curvature * direction
        residual -= inner / curvature * moved
        if linalg.norm(residual) <= enough:
            break
        preconditioned = near(residual)
        after = float((residual * preconditioned).sum())
        direction = preconditioned + after / inner * direction
        inner = after
    return step if step.any() else -gradient


def _advance(
    problem: Problem, point: _Point, now: _Slopes, step: FloatVector
) -> tuple[_Point | None, float]:
    """Take the step, or the share of it that lowers the objective; return that share as well."""
    slope = float((now.gradient * step).sum())
    if -slope <= _INVISIBLE * point.objective:  # rounding hides the gain; the gradient shows it
        trial = problem.at(point.theta + step)
        if linalg.norm(problem.slopes(trial).gradient) < linalg.norm(now.gradient):
            return trial, 1.0
    slack = 1e-15 * point.objective
    for share in 0.5 ** np.arange(60):
        trial = problem.at(point.theta + share * step)
        if trial.objective <= point.objective + 1e-4 * share * slope + slack:
            return trial, float(share)
    return None, 0.0
