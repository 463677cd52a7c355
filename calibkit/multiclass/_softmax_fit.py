"""Minimise a penalised log loss of ``softmax(W x + b)``: Newton steps with a line search.

The objective is convex: mean log loss + sum of ``weight * (theta - centre)^2``. Few parameters
are fitted with the full matrix of second derivatives. Many are fitted with conjugate gradients,
which need only its products with a vector.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

FloatArray = NDArray[np.float64]

TOLERANCE = 1e-9  # of the norm of the gradient; features have the size 1, residuals at most that
ACCEPTED = 1e-8
MOST_STEPS = 1000
MOST_PRODUCTS = 300
_FEW_PARAMETERS = 600
# Where so many inexact steps were not enough, exact ones are worth their price up to here.
_PATIENCE, _NOT_TOO_MANY = 60, 2500
_RIDGE, _BLOCK_RIDGE = 1e-12, 1e-9
_CHEAP = 1e9  # multiplications
_INVISIBLE = 1e-11
# Steps are damped once less than this share of one could be taken.
_SMALL_SHARE, _FIRST_DAMPING, _LEAST_DAMPING = 0.4, 1e-5, 1e-12
# A last step that still moves some logit by this much has no finite end.
_LARGE_STEP = 0.1


Solver = Callable[[FloatArray], FloatArray]


class Features(Protocol):
    """How parameters become logits; `theta` has one row per class, or per kind of parameter."""

    n: int

    def logits(self, theta: FloatArray) -> FloatArray:
        """Return the logits, (n, K)."""
        ...

    def pull(self, residual: FloatArray) -> FloatArray:
        """Return what `residual`, (n, K), sums to in each parameter: the transpose of `logits`."""
        ...

    def hessian(self, prob: FloatArray, spread: FloatArray) -> FloatArray:
        """Return the matrix of second derivatives of the summed loss; spread = q (1 - q)."""
        ...

    def nearly_inverse(self, spread: FloatArray, weight: FloatArray) -> Solver:
        """Return a cheap approximate inverse of ``hessian / n + 2 weight``."""
        ...


class PerClass:
    """Vector scaling: logit k is ``w_k x_k + b_k``; theta has shape (2, K)."""

    def __init__(self, x: FloatArray):
        self.x, self.n = x, len(x)

    def logits(self, theta: FloatArray) -> FloatArray:
        """Return ``w x + b``."""
        return np.asarray(self.x * theta[0] + theta[1])

    def pull(self, residual: FloatArray) -> FloatArray:
        """Return sums of ``r x`` and of ``r``."""
        return np.stack([np.einsum("ik,ik->k", residual, self.x), residual.sum(axis=0)])

    def hessian(self, prob: FloatArray, spread: FloatArray) -> FloatArray:
        """Return ``sum q_k (1[k = l] - q_l) f f'`` for the features f = x and 1."""
        both = np.hstack([prob * self.x, prob])
        k = prob.shape[1]
        matrix = np.asarray(-(both.T @ both))
        (first, last), mixed = self._diagonal(spread), np.einsum("ik,ik->k", spread, self.x)
        own = np.arange(k)
        matrix[own, own], matrix[own + k, own + k] = first, last
        matrix[own, own + k] = matrix[own + k, own] = mixed
        return matrix

    def _diagonal(self, spread: FloatArray) -> FloatArray:
        """Return sums of ``q (1 - q) f^2``."""
        return np.stack([np.einsum("ik,ik->k", spread, self.x**2), spread.sum(axis=0)])

    def nearly_inverse(self, spread: FloatArray, weight: FloatArray) -> Solver:
        """Invert the diagonal."""
        scale = 1 / np.maximum(self._diagonal(spread) / self.n + 2 * weight, 1e-200)
        return lambda vector: scale * vector


class AllPairs:
    """Matrix scaling: logit k is ``sum_j W_kj x_j + b_k``; theta has shape (K, K + 1)."""

    def __init__(self, x: FloatArray):
        self.x, self.n = np.column_stack([x, np.ones(len(x))]), len(x)

    def logits(self, theta: FloatArray) -> FloatArray:
        """Return ``W x + b``."""
        return np.asarray(self.x @ theta.T)

    def pull(self, residual: FloatArray) -> FloatArray:
        """Return sums of ``r_k x_j``."""
        return np.asarray(residual.T @ self.x)

    def hessian(self, prob: FloatArray, spread: FloatArray) -> FloatArray:
        """Return blocks ``sum q_k (1[k = l] - q_l) x x'``."""
        n, k = prob.shape
        d = self.x.shape[1]
        both = (prob[:, :, np.newaxis] * self.x[:, np.newaxis]).reshape(n, k * d)
        matrix = np.asarray(-(both.T @ both))
        for c in range(k):
            place = slice(c * d, (c + 1) * d)
            # Not by adding `q x x'`: near certainty that would cancel to nothing but rounding.
            matrix[place, place] = (self.x.T * spread[:, c]) @ self.x
        return matrix

    def nearly_inverse(self, spread: FloatArray, weight: FloatArray) -> Solver:
        """Invert the blocks of the single classes; where they are dear, with common features."""
        k, d = weight.shape
        if self.n * k * d * d <= _CHEAP:
            blocks = np.stack([(self.x.T * spread[:, c]) @ self.x for c in range(k)]) / self.n
        else:
            common = (self.x.T * spread.mean(axis=1)) @ self.x / self.n
            share = spread.sum(axis=0) / max(spread.sum() / k, 1e-200)
            blocks = share[:, np.newaxis, np.newaxis] * common
        place = np.arange(d)
        blocks[:, place, place] += 2 * weight
        scale = 1 / np.sqrt(np.maximum(blocks[:, place, place], 1e-200))
        blocks *= scale[:, :, np.newaxis] * scale[:, np.newaxis]
        blocks[:, place, place] += _BLOCK_RIDGE
        inverse = np.linalg.inv(blocks) * scale[:, :, np.newaxis] * scale[:, np.newaxis]
        inverse = (inverse + inverse.transpose(0, 2, 1)) / 2
        return lambda vector: np.asarray((inverse @ vector[:, :, np.newaxis])[:, :, 0])


@dataclass(frozen=True, slots=True)
class SoftmaxFit:
    """Parameters and how the fit ended; `finite` is False if the optimum is at infinity."""

    theta: FloatArray
    loss: float  # mean log loss, without the penalty
    gradient: float
    n_iter: int
    converged: bool
    finite: bool


@dataclass(frozen=True, slots=True)
class _Point:
    theta: FloatArray
    objective: float
    loss: float
    logits: FloatArray  # below the largest of the row
    top: NDArray[np.intp]
    odds: FloatArray  # exp(logit), and 0 in place of the 1 at the top
    others: FloatArray  # sum of the odds


@dataclass(frozen=True, slots=True)
class _Slopes:
    gradient: FloatArray
    prob: FloatArray
    spread: FloatArray  # q (1 - q)
    top: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Problem:
    """Features, labels, and a quadratic penalty around a centre.

    What is close to certain is reckoned from the small probabilities of the others: their sum
    keeps its digits, 1 - q does not.
    """

    features: Features
    label: NDArray[np.intp]
    weight: FloatArray
    centre: FloatArray

    def at(self, theta: FloatArray) -> _Point:
        """Evaluate the objective."""
        row = np.arange(self.features.n)
        logits = self.features.logits(theta)
        top = logits.argmax(axis=1)
        logits -= logits[row, top][:, np.newaxis]
        odds = np.exp(logits)
        odds[row, top] = 0.0
        others = odds.sum(axis=1)
        loss = float((np.log1p(others) - logits[row, self.label]).mean())
        penalty = float((self.weight * (theta - self.centre) ** 2).sum())
        return _Point(theta, loss + penalty, loss, logits, top, odds, others)

    def slopes(self, point: _Point) -> _Slopes:
        """Return the gradient and what the second derivatives are made of."""
        row = np.arange(self.features.n)
        total = 1 + point.others
        prob = point.odds / total[:, np.newaxis]
        prob[row, point.top] = 1 / total
        rest = 1 - prob
        rest[row, point.top] = point.others / total
        residual = prob.copy()
        residual[row, self.label] = -rest[row, self.label]
        pull = self.features.pull(residual) / self.features.n
        gradient = pull + 2 * self.weight * (point.theta - self.centre)
        return _Slopes(gradient, prob, prob * rest, point.top)

    def product(self, at: _Slopes, vector: FloatArray) -> FloatArray:
        """Return second derivatives times `vector`."""
        move = self.features.logits(vector)
        move -= move[np.arange(self.features.n), at.top][:, np.newaxis]
        move -= np.einsum("ik,ik->i", at.prob, move)[:, np.newaxis]
        return self.features.pull(at.prob * move) / self.features.n + 2 * self.weight * vector


def minimise(problem: Problem, start: FloatArray) -> SoftmaxFit:
    """Return the minimiser of a problem.

    Parameters
    ----------
    problem : Problem
        Features of size 1 (root mean square), so that the norm of the gradient is a number
        between 0 and about 1.
    start : ndarray
        Parameters to begin with.
    """
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


def _newton_step(problem: Problem, now: _Slopes, damping: float, n_iter: int) -> FloatArray:
    """Return the step to the optimum of the local quadratic, held back by `damping`."""
    few = problem.centre.size <= (_FEW_PARAMETERS if n_iter < _PATIENCE else _NOT_TOO_MANY)
    held = replace(problem, weight=problem.weight + damping / 2)
    return (_direct if few else _conjugate)(held, now)


def _next_damping(damping: float, share: float, gradient: float) -> float:
    """Damp more after steps of which only a small share could be taken, else less."""
    if share < _SMALL_SHARE:
        return max(4 * damping, _FIRST_DAMPING * gradient)
    if share < 1:
        return damping
    return damping / 4 if damping > _LEAST_DAMPING else 0.0


def _direct(problem: Problem, now: _Slopes) -> FloatArray:
    """Solve for the Newton step; a tiny ridge stands for directions without effect."""
    matrix = problem.features.hessian(now.prob, now.spread) / problem.features.n
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


def _conjugate(problem: Problem, now: _Slopes) -> FloatArray:
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
    problem: Problem, point: _Point, now: _Slopes, step: FloatArray
) -> tuple[_Point | None, float]:
    """Take the step, or the share of it that lowers the objective; return that share as well."""
    slope = float((now.gradient * step).sum())
    if -slope <= _INVISIBLE * point.objective:  # rounding hides the gain; the gradient shows it
        trial = problem.at(point.theta + step)
        if linalg.norm(problem.slopes(trial).gradient) < linalg.norm(now.gradient):
            return trial, 1.0
    return _line_search(problem, point, step, slope)


def _line_search(
    problem: Problem, point: _Point, step: FloatArray, slope: float
) -> tuple[_Point | None, float]:
    """Halve the step until the objective falls in proportion."""
    size = 1.0
    slack = 1e-15 * point.objective
    for _ in range(60):
        trial = problem.at(point.theta + size * step)
        if trial.objective <= point.objective + 1e-4 * size * slope + slack:
            return trial, size
        size /= 2
    return None, 0.0
