"""The one Newton method for all logistic problems."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special
from scipy.sparse import linalg as sparse

from calibkit.inputs import FloatMatrix, FloatVector, IntVector

TOLERANCE = 1e-9  # of the norm of the gradient, for features of size 1
_ACCEPTED = 1e-8
_MOST_STEPS = 300
_MANY_PARAMETERS, _MOST_PRODUCTS = 600, 300
_DEAR = 1e9  # multiplications for what makes conjugate gradients quick
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


def newton(objective: Any, start: NDArray[np.float64]) -> LogisticFit:
    """Minimise a convex loss by Newton steps, each halved until the loss falls in proportion.

    Where less than half of a step can be taken, the next are held back (Levenberg). `objective` has
    ``loss(theta)``, ``newton_step(theta, damping)`` (which returns gradient and step), and
    ``logits(theta)``, linear in the parameters.
    """
    theta, loss, damping = start, objective.loss(start), 0.0
    for n_iter in range(1, _MOST_STEPS + 1):  # noqa: B007 - told in the end
        gradient, step = objective.newton_step(theta, damping)
        size = float(linalg.norm(gradient))
        if size <= TOLERANCE:
            break
        slope = float((gradient * step).sum())
        for share in 0.5 ** np.arange(60):
            there = objective.loss(theta + share * step)
            if there <= loss + 1e-4 * share * slope + 1e-14 * loss:
                break
        theta, loss = theta + share * step, there
        if share < 0.5:
            damping = max(4 * damping, 1e-5 * size)
        elif share == 1:
            damping = damping / 4 if damping > 1e-12 else 0.0
    if damping > 0:  # a step held back says little about the distance to the end
        _, step = objective.newton_step(theta, 0.0)
    finite = bool(np.abs(objective.logits(step)).max() <= _LARGE_MOVE)
    theta = theta + step if finite else theta
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

    def newton_step(self, theta: FloatVector, damping: float) -> tuple[FloatVector, FloatVector]:
        logit = self.logits(theta)
        up, down = special.expit(logit), special.expit(-logit)
        # Not `up - target`: for logits of 40 that is 0, and the slope would be lost.
        residual = self.share * (up * (1 - self.target) - down * self.target)
        gradient = self.features @ residual
        hessian = (self.features * (self.share * up * down)) @ self.features.T
        return gradient, _direct_step(hessian + damping * np.eye(len(theta)), gradient)


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
    size = np.where(size > 0, size, 1.0)  # ln(1 - p) is 0 for all p below 1e-16
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

    def newton_step(self, theta: FloatMatrix, damping: float) -> tuple[FloatMatrix, FloatMatrix]:
        prob = special.softmax(self.logits(theta), axis=1)
        residual = prob.copy()
        residual[np.arange(len(prob)), self.label] -= 1
        pull = self._pull(residual * self.share[:, np.newaxis], self.x)
        gradient = pull + 2 * self.weight * (theta - self.centre)
        held = replace(self, weight=self.weight + damping / 2)
        if theta.size > _MANY_PARAMETERS:
            return gradient, held._cg(prob, gradient)
        return gradient, _direct_step(held._hessian(prob), gradient)

    def _pull(self, residual: FloatMatrix, x: FloatMatrix) -> FloatMatrix:
        """Return what residuals sum to in each parameter: the transpose of `logits`."""
        if self.full:
            return np.asarray(residual.T @ x)
        return np.column_stack([(residual * x).sum(axis=0), residual.sum(axis=0)])

    def _own(self, prob: FloatMatrix) -> FloatMatrix:
        """Return the second derivatives within each class, ``sum q (1 - q) f f'``, (K, d, d)."""
        spread = (prob * (1 - prob) * self.share[:, np.newaxis]).T
        each = [self.x] * len(spread)
        if not self.full:
            each = [np.column_stack([x, np.ones_like(x)]) for x in self.x.T]
        return np.stack([(f.T * q) @ f for f, q in zip(each, spread, strict=True)])

    def _hessian(self, prob: FloatMatrix) -> FloatMatrix:
        n = len(prob)
        own = np.stack([self.x, np.ones_like(self.x)], axis=2)  # (n, K, 2)
        features = self.x[:, np.newaxis] if self.full else own
        d = features.shape[2]
        root = np.sqrt(self.share)[:, np.newaxis, np.newaxis]
        both = (root * prob[:, :, np.newaxis] * features).reshape(n, -1)
        matrix = -(both.T @ both)
        # Not by adding `q f f'`: near certainty that would cancel to nothing but rounding.
        for c, block in enumerate(self._own(prob)):
            matrix[c * d : (c + 1) * d, c * d : (c + 1) * d] = block
        return np.asarray(matrix + np.diag(2 * self.weight.ravel()))

    def _nearly_inverse(self, prob: FloatMatrix) -> Any:
        """Return what undoes the second derivatives without the links between classes, or less."""
        k, d = self.weight.shape
        if len(prob) * k * d * d > _DEAR:
            part = prob * (1 - prob) * self.share[:, np.newaxis]
            diagonal = self._pull(part, np.square(self.x)) + 2 * self.weight
            scale = 1 / np.maximum(diagonal.ravel(), 1e-12)
            return lambda vector: scale * vector
        blocks = self._own(prob)
        blocks[:, np.arange(d), np.arange(d)] += 2 * self.weight
        scale = 1 / np.sqrt(np.maximum(np.diagonal(blocks, axis1=1, axis2=2), 1e-200))
        blocks *= scale[:, :, np.newaxis] * scale[:, np.newaxis]
        inverse = np.linalg.inv(blocks + 1e-9 * np.eye(d))
        inverse *= scale[:, :, np.newaxis] * scale[:, np.newaxis]
        return lambda vector: (inverse @ vector.reshape(k, d, 1)).ravel()

    def _cg(self, prob: FloatMatrix, gradient: FloatMatrix) -> FloatMatrix:
        """Return the step by conjugate gradients, as exact as its place on the way deserves."""
        part, shape = prob * self.share[:, np.newaxis], gradient.shape

        def product(vector: FloatVector) -> FloatVector:
            vector = vector.reshape(shape)
            move = self.logits(vector)
            move -= (prob * move).sum(axis=1, keepdims=True)
            return (self._pull(part * move, self.x) + 2 * self.weight * vector).ravel()

        square = (gradient.size, gradient.size)
        step, _ = sparse.cg(
            sparse.LinearOperator(square, product),
            -gradient.ravel(),
            rtol=min(0.1, np.sqrt(float(linalg.norm(gradient)))),
            maxiter=_MOST_PRODUCTS,
            M=sparse.LinearOperator(square, self._nearly_inverse(prob)),
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
