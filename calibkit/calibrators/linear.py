"""Vector, matrix and Dirichlet scaling: linear maps from logits to logits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from calibkit.calibrators._softmax_fit import Features, Problem, SoftmaxFit, minimise
from calibkit.calibrators.base import Weights
from calibkit.calibrators.multiclass import MulticlassCalibrator
from calibkit.calibrators.temperature import fit_slope
from calibkit.inputs import FloatArray, FloatMatrix, FloatVector, IntVector, as_number, warn

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


class _LinearCalibrator(MulticlassCalibrator):
    """What vector, matrix and Dirichlet scaling share."""

    weighted: ClassVar[bool] = True
    full: ClassVar[bool] = True

    penalty: Any
    bias_penalty: float | None = None

    def _automatic(self) -> bool:
        return isinstance(self.penalty, str) and self.penalty == "auto"

    def _rule(self, n: float, k: int, temperature: float) -> Penalty:
        if self._automatic():  # K/n per weight of a class, K (K - 1)/n per pair
            unit = k / n
            return Penalty(unit * (k - 1) * temperature**2, unit * temperature**2, unit)
        weight = bias = _strength(self.penalty, "penalty", '"auto" or ')
        if self.bias_penalty is not None:
            bias = _strength(self.bias_penalty, "bias_penalty")
        return Penalty(weight, 0.0 if self.full else weight, bias)

    def _features(self, logits: FloatArray) -> FloatMatrix:
        return logits.astype(np.float64)

    def _fit(self, logits: FloatArray, label: IntVector, weight: Weights = None) -> None:
        x = self._features(logits)
        self.weights_, self.bias_, fit = fit_linear(x, label, self._rule, self.full, weight)
        self.training_loss_, self.gradient_norm_ = fit.loss, fit.gradient
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged and fit.finite
        k = x.shape[1]
        # One constant per row of scores has no effect on probabilities.
        self.n_parameters_ = k * k - 1 if self.full else 2 * k - 1
        if not self.converged_:
            reason = f"the optimiser stopped at a gradient of {fit.gradient:.1e}"
            if not fit.finite:
                reason = "no finite optimum (a class is absent, or classes can be separated)"
            warn(f'{self.family} scaling: {reason}. Use penalty="auto", or more data.')

    def _calibrate(self, logits: FloatArray) -> FloatMatrix:
        x = self._features(logits)
        new = (x @ self.weights_.T if self.full else x * self.weights_) + self.bias_
        return np.asarray(special.softmax(new, axis=1))


def _strength(value: Any, name: str, besides: str = "") -> float:
    words = f"{besides}a finite number from 0 on"
    return as_number(value, name, words, lambda weight: 0 <= weight < np.inf)


@dataclass(eq=False, repr=False)
class VectorScaling(_LinearCalibrator):
    """Scale and shift the logit of each class, ``softmax(w z + b)``.

    Parameters
    ----------
    input : {"logits", "probabilities"}, whose logarithm is taken
    penalty : "auto" or float
        ``"auto"`` needs no tuning: ``P_b = K / n`` and ``P_w = T^2 K / n``. A number is both
        weights (``GridSearchCV`` tunes it); 0 is classical vector scaling.

    Attributes
    ----------
    weights_, bias_ : ndarray of shape (K,)
    training_loss_, gradient_norm_ : float
        Mean log loss of the data fitted to, in nats, without the penalty; norm of the gradient at
        the solution, for logits scaled to size 1.
    converged_ : bool
        False, with a `CalibrationWarning`, if there is no finite optimum: only without a penalty.

    Notes
    -----
    Minimised is ``mean log loss + P_w sum_k (w_k - 1/T)^2 + P_b sum_k b_k^2``, with T of
    temperature scaling on the same data. The constant that the logits of a row have in common
    matters here, unlike in temperature scaling: log-probabilities and raw logits give different
    maps. Guo, Pleiss, Sun and Weinberger (2017). Taught in lesson 10.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(5000, 3))
    >>> y = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    >>> VectorScaling("logits", penalty=0).fit(truth * [1, 2, 4], y).weights_.round(1).tolist()
    [1.0, 0.5, 0.3]
    """

    family: ClassVar[str] = "vector"
    full: ClassVar[bool] = False

    input: str | None = None
    penalty: Any = "auto"


@dataclass(eq=False, repr=False)
class MatrixScaling(_LinearCalibrator):
    """Mix the logits of all classes, ``softmax(W z + b)``, with a penalty on mixing.

    Parameters
    ----------
    input : {"logits", "probabilities"}
        As in `VectorScaling`. Of probabilities it is Dirichlet calibration.
    penalty, bias_penalty : "auto" or float; float or None
        ``"auto"`` needs no tuning, at any K. Numbers are the weights of off-diagonal and intercept
        regularisation, None that of `penalty`; 0 is classical matrix scaling.

    Attributes
    ----------
    weights_, bias_ : ndarray of shape (K, K), and (K,)
        Others as in `VectorScaling`.

    Notes
    -----
    ``"auto"`` shrinks towards temperature scaling: the weight is ``T^2 K (K - 1) / n`` off the
    diagonal, ``T^2 K / n`` for distances of the diagonal from 1/T, and ``K / n`` for intercepts.
    Numbers (ODIR) minimise ``mean log loss + penalty sum_{i != j} W_ij^2 + bias_penalty sum_j
    b_j^2``. The constant that the logits of a row have in common matters, as in vector scaling.
    Guo, Pleiss, Sun and Weinberger (2017); Kull, Perello-Nieto, Kängsepp, Silva Filho, Song and
    Flach (2019) for ODIR; Berta, Holzmüller, Jordan and Bach (2026) for the rule of ``"auto"``,
    *structured* matrix scaling. Taught in lesson 10.

    Examples
    --------
    >>> z, y = np.repeat(3 * np.eye(3), 40, axis=0), np.arange(120) % 4 % 3
    >>> MatrixScaling("logits").fit(z, y).calibrate(z[:1]).round(2).tolist()
    [[0.49, 0.26, 0.26]]
    """

    family: ClassVar[str] = "matrix"

    input: str | None = None
    penalty: Any = "auto"
    bias_penalty: float | None = None


@dataclass(eq=False, repr=False)
class DirichletCalibrator(_LinearCalibrator):
    """Dirichlet calibration: matrix scaling of log-probabilities, ``softmax(W ln p + b)``.

    Parameters
    ----------
    input : {"logits", "probabilities"}, logits become log-probabilities first
    penalty, bias_penalty
        As in `MatrixScaling`.

    Attributes
    ----------
    weights_, bias_ : ndarray of shape (K, K), and (K,)
        Others as in `VectorScaling`.

    Notes
    -----
    If the probabilities given each class are Dirichlet distributed, the true posterior is such a
    map. The penalty treats all classes alike. The authors' program subtracts the weights of the
    last class before it penalises: its ODIR then depends on the order of the classes. Kull,
    Perello-Nieto, Kängsepp, Silva Filho, Song and Flach (2019). Taught in lessons 10 and 12.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=5000)
    >>> y = (2 * np.log(p) + rng.gumbel(size=p.shape)).argmax(axis=1)
    >>> DirichletCalibrator("probabilities").fit(p, y).weights_.diagonal().round(1).tolist()
    [1.9, 2.0, 2.0]
    """

    family: ClassVar[str] = "Dirichlet"

    input: str | None = None
    penalty: Any = "auto"
    bias_penalty: float | None = None

    def _features(self, logits: FloatArray) -> FloatMatrix:
        x = super()._features(logits)
        return np.asarray(special.log_softmax(x, axis=1)) if self.input == "logits" else x
