"""Minimise the log loss of linear maps of logits: one Newton method for all of them.

The losses are convex. Few parameters are fitted with the whole matrix of second derivatives, many
by scipy's conjugate gradients, which need only its products with a vector.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special
from scipy.sparse import linalg as sparse

from calibkit.inputs import FloatMatrix, FloatVector, IntVector

TOLERANCE = 1e-9  # of the norm of the gradient, for features of size 1
_ACCEPTED = 1e-8
_MOST_STEPS = 300
_MANY_PARAMETERS, _MOST_PRODUCTS = 600, 300
# A last step that still moves some logit by this much has no finite end.
_LARGE_MOVE = 0.1


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Where a fit ended: `gradient` is a norm, `finite` is False if the optimum is at infinity."""

    theta: NDArray[np.float64]
    loss: float
    gradient: float
    n_iter: int
    converged: bool
    finite: bool


class Objective(Protocol):
    """A mean log loss, perhaps with a penalty, as a function of parameters of any shape."""

    def logits(self, theta: Any) -> Any:
        """Return the logits, which are linear in `theta`."""

    def loss(self, theta: Any) -> float:
        """Return the mean loss, penalty included."""

    def newton_step(self, theta: Any) -> tuple[Any, Any]:
        """Return the gradient, and the step to the lowest point of the local quadratic."""


def newton(objective: Objective, start: NDArray[np.float64]) -> LogisticFit:
    """Minimise by Newton steps, each halved until the loss falls in proportion."""
    theta, loss = start, objective.loss(start)
    for n_iter in range(1, _MOST_STEPS + 1):  # noqa: B007 - told in the end
        gradient, step = objective.newton_step(theta)
        if linalg.norm(gradient) <= TOLERANCE:
            break
        slope = float((gradient * step).sum())
        for share in 0.5 ** np.arange(60):
            there = objective.loss(theta + share * step)
            if there <= loss + 1e-4 * share * slope + 1e-14 * loss:
                break
        theta, loss = theta + share * step, there
    size, finite = (
        float(linalg.norm(gradient)),
        bool(np.abs(objective.logits(step)).max() <= _LARGE_MOVE),
    )
    theta = theta + step if finite else theta  # the distance that is left is squared once more
    return LogisticFit(theta, loss, size, n_iter, size <= _ACCEPTED and finite, finite)


def _direct_step(hessian: FloatMatrix, gradient: Any) -> Any:
    """Solve for the step; a tiny ridge stands for directions without effect."""
    scale = 1 / np.sqrt(np.maximum(np.diag(hessian), 1e-200))
    scaled = hessian * scale[:, np.newaxis] * scale
    for ridge in 1e-12 * 100.0 ** np.arange(7):
        try:
            factor = linalg.cho_factor(scaled + ridge * np.eye(len(scaled)))
        except linalg.LinAlgError:
            continue
        step = -scale * linalg.cho_solve(factor, scale * gradient.ravel())
        return step.reshape(gradient.shape)
    return -gradient


@dataclass(frozen=True, slots=True)
class _OneEvent:
    """Features of size 1, shape (d, n), targets in [0, 1] and shares that sum to 1."""

    features: FloatMatrix
    target: FloatVector
    share: FloatVector

    def logits(self, theta: FloatVector) -> FloatVector:
        return theta @ self.features

    def loss(self, theta: FloatVector) -> float:
        logit = self.logits(theta)
        each = np.maximum(logit, 0) - self.target * logit + np.log1p(np.exp(-np.abs(logit)))
        return float(self.share @ each)

    def newton_step(self, theta: FloatVector) -> tuple[FloatVector, FloatVector]:
        logit = self.logits(theta)
        up, down = special.expit(logit), special.expit(-logit)
        # Not `up - target`: for logits of 40 that is 0, and the slope would be lost.
        residual = self.share * (up * (1 - self.target) - down * self.target)
        gradient = self.features @ residual
        hessian = (self.features * (self.share * up * down)) @ self.features.T
        return gradient, _direct_step(hessian, gradient)


def fit_logistic(
    features: FloatMatrix,
    target: FloatVector,
    starts: list[list[float]],
    weight: FloatVector | None = None,
) -> LogisticFit:
    """Minimise the mean log loss of ``expit(theta @ features)``, from the best of the starts.

    Features are d linearly independent rows, columns in an order of their own, targets in [0, 1].
    """
    size = np.sqrt(np.square(features).mean(axis=1))
    weight = np.ones_like(target) if weight is None else weight
    objective = _OneEvent(features / size[:, np.newaxis], target, weight / weight.sum())
    fit = newton(objective, min((np.array(s) * size for s in starts), key=objective.loss))
    return replace(fit, theta=fit.theta / size)


@dataclass(frozen=True, slots=True)
class _Softmax:
    """Mean log loss of ``softmax(x @ W.T + b)`` and a quadratic penalty around `centre`.

    `x` (n, d) ends with a column of ones if `full`: then `theta` is W and b, (K, d). Else each
    class has its own score and an intercept, and `theta` is (K, 2). `share` (n,) sums to 1.
    """

    x: FloatMatrix
    label: IntVector
    share: FloatVector
    weight: FloatMatrix
    centre: FloatMatrix
    full: bool

    def logits(self, theta: FloatMatrix) -> FloatMatrix:
        return np.asarray(self.x @ theta.T if self.full else self.x * theta[:, 0] + theta[:, 1])

    def log_loss(self, theta: FloatMatrix) -> float:
        """Return the mean log loss, without the penalty."""
        logits = self.logits(theta)
        each = special.logsumexp(logits, axis=1) - logits[np.arange(len(logits)), self.label]
        return float(self.share @ each)

    def loss(self, theta: FloatMatrix) -> float:
        penalty = (self.weight * np.square(theta - self.centre)).sum()
        return self.log_loss(theta) + float(penalty)

    def newton_step(self, theta: FloatMatrix) -> tuple[FloatMatrix, FloatMatrix]:
        prob = special.softmax(self.logits(theta), axis=1)
        residual = prob.copy()
        residual[np.arange(len(prob)), self.label] -= 1
        pull = self._pull(residual * self.share[:, np.newaxis], self.x)
        gradient = pull + 2 * self.weight * (theta - self.centre)
        few = theta.size <= _MANY_PARAMETERS
        step = _direct_step(self._hessian(prob), gradient) if few else self._cg(prob, gradient)
        return gradient, step

    def _pull(self, residual: FloatMatrix, x: FloatMatrix) -> FloatMatrix:
        """Return what residuals sum to in each parameter: the transpose of `logits`."""
        if self.full:
            return np.asarray(residual.T @ x)
        return np.column_stack([(residual * x).sum(axis=0), residual.sum(axis=0)])

    def _hessian(self, prob: FloatMatrix) -> FloatMatrix:
        n, k = prob.shape
        own = np.stack([self.x, np.ones_like(self.x)], axis=2)  # (n, K, 2)
        features = self.x[:, np.newaxis] if self.full else own
        d = features.shape[2]
        root = np.sqrt(self.share)[:, np.newaxis, np.newaxis]
        both = (root * prob[:, :, np.newaxis] * features).reshape(n, -1)
        matrix = np.diag(2 * self.weight.ravel()) - both.T @ both
        for c in range(k):
            f = features[:, 0 if self.full else c]
            place = slice(c * d, (c + 1) * d)
            matrix[place, place] += (f.T * (self.share * prob[:, c])) @ f
        return np.asarray(matrix)

    def _cg(self, prob: FloatMatrix, gradient: FloatMatrix) -> FloatMatrix:
        """Return the step by conjugate gradients, as exact as its place on the way deserves."""
        part, shape = prob * self.share[:, np.newaxis], gradient.shape

        def product(vector: FloatVector) -> FloatVector:
            vector = vector.reshape(shape)
            move = self.logits(vector)
            move -= (prob * move).sum(axis=1, keepdims=True)
            return (self._pull(part * move, self.x) + 2 * self.weight * vector).ravel()

        diagonal = self._pull(part * (1 - prob), np.square(self.x)) + 2 * self.weight
        scale = 1 / np.maximum(diagonal.ravel(), 1e-12)
        square = (gradient.size, gradient.size)
        size = float(linalg.norm(gradient))
        step, _ = sparse.cg(
            sparse.LinearOperator(square, product),
            -gradient.ravel(),
            rtol=min(0.1, np.sqrt(size)),
            maxiter=_MOST_PRODUCTS,
            M=sparse.LinearOperator(square, lambda vector: scale * vector),
        )
        return np.asarray(step.reshape(shape))


def fit_softmax(
    x: FloatMatrix,
    label: IntVector,
    share: FloatVector,
    penalty: tuple[FloatMatrix, FloatMatrix],
    full: bool,
) -> LogisticFit:
    """Minimise the mean log loss of ``softmax(x @ W.T + b)`` plus a penalty, from its centre.

    `x` has size 1 (root mean square) and, if `full`, a last column of ones; `share` sums to 1;
    `penalty` has the weights of squared distances, and the centre. The loss returned is without it.
    """
    objective = _Softmax(x, label, share, *penalty, full)
    fit = newton(objective, penalty[1])
    return replace(fit, loss=objective.log_loss(fit.theta))
