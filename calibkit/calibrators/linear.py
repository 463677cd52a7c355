"""Linear maps of logits: temperature, vector, matrix and Dirichlet scaling."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from calibkit.calibrators.base import Weights
from calibkit.calibrators.multiclass import MulticlassCalibrator
from calibkit.calibrators.newton import LogisticFit, fit_softmax
from calibkit.inputs import FloatArray, FloatMatrix, FloatVector, IntVector, as_number, expit, warn

_MOST_SWEEPS = 200
_SMALL_STEP = 1e-7  # in ln T: Newton's step leaves about its square
_BLOCK = 1 << 17  # numbers that stay inside the processor's cache
_LOWEST, _HIGHEST = 1e-6, 1e6  # temperatures between which the centre of a penalty is looked for
_STEEPEST = 100.0  # slope of that centre, in logits of size 1


class TemperatureScaling(MulticlassCalibrator):
    """Divide all logits by the one temperature of least log loss, ``softmax(z / T)``.

    Parameters
    ----------
    input : {"logits", "probabilities"}, whose logarithm is taken, as in `PlattCalibrator`
    bounds : (float, float), the smallest and largest temperature allowed

    Attributes
    ----------
    temperature_ : float
        T. Above 1: the model was over-confident. Below 1: under-confident.
    at_bound_ : {"lower", "upper"} or None
        The bound that the temperature stopped at, with a `CalibrationWarning`. ``"lower"``: nothing
        is gained by caution, e.g. because every prediction was right. ``"upper"``: the scores are
        worth nothing, or less.
    gradient_norm_ : float
        Slope of the log loss in ln T at the solution, a pure number; 0 at a bound.
    n_parameters_, n_iter_ : int
        1, or 0 if every row has equal scores throughout (then T = 1); sweeps through the data.

    Notes
    -----
    The log loss is convex in 1/T. Logits and log-probabilities give the same map, and so do logits
    with another constant added to each row. The class of the largest score keeps the largest
    probability. Scores of shape (n,) are those of class 1. Guo, Pleiss, Sun and Weinberger (2017).
    Taught in lesson 10.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(5000, 4))
    >>> y = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    >>> round(TemperatureScaling("logits").fit(2 * truth, y).temperature_, 2)
    1.95
    """

    family: ClassVar[str] = "temperature"
    weighted: ClassVar[bool] = True
    takes_one_event: ClassVar[bool] = True

    def __init__(self, input: str | None = None, bounds: tuple[float, float] = (1e-6, 1e6)):
        self.input = input
        self.bounds = bounds

    def _fit(self, logits: FloatArray, label: IntVector, weight: Weights = None) -> None:
        try:
            low, high = (float(value) for value in self.bounds)
        except (TypeError, ValueError):
            low = high = 0.0
        if not 0 < low < high < np.inf:
            raise ValueError(
                "bounds must be two temperatures, 0 < lower < upper, e.g. (0.05, 20), got "
                f"{self.bounds!r}."
            )
        if logits.ndim == 1:  # one event: the logit of class 0 is 0
            logits = np.column_stack([np.zeros_like(logits), logits])
        found = fit_slope(logits, label, 1 / high, 1 / low, weight)
        self.temperature_ = 1 / found.slope
        self.at_bound_: str | None = None
        self.gradient_norm_, self.n_parameters_ = found.gradient, int(found.determined)
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        if found.bound < 0:
            self._stop_at(high, "upper", "the scores do not help")
        elif found.bound > 0:
            self._stop_at(low, "lower", "no caution is needed")

    def _stop_at(self, temperature: float, bound: str, reason: str) -> None:
        self.temperature_, self.at_bound_ = temperature, bound
        warn(
            f"Temperature scaling: the log loss is lowest at the {bound} bound, "
            f"T = {temperature:g}: {reason}. Look at the accuracy, use more data, or set bounds."
        )

    def _calibrate(self, logits: FloatArray) -> FloatMatrix:
        if logits.ndim == 1:
            return expit(logits / np.float64(self.temperature_))
        # Subtract the largest logit first: a ratio could tie what a difference keeps apart.
        below = logits.astype(np.float64) - logits.max(axis=1, keepdims=True).astype(np.float64)
        return np.asarray(special.softmax(below / self.temperature_, axis=1))


@dataclass(frozen=True, slots=True)
class Slope:
    """The minimiser 1/T, where it lies (-1 lower bound, 1 upper bound of 1/T), and how found."""

    slope: float
    bound: int = 0
    gradient: float = 0.0
    n_iter: int = 0
    converged: bool = True
    determined: bool = True


def fit_slope(
    logits: FloatArray, label: IntVector, low: float, high: float, weight: Weights = None
) -> Slope:
    """Find the 1/T in [low, high] with the least mean log loss of ``softmax(logits / T)``.

    Newton steps in ln(1/T); where one leads out of the bracket, the bracket is halved.
    """
    n = len(label)
    share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
    top = logits.max(axis=1).astype(np.float64)
    at_label = float(share @ (logits[np.arange(n), label] - top))
    if at_label == 0:  # the label has the largest logit in every row
        if (logits == top[:, np.newaxis]).all():  # all have: the temperature is without effect
            return Slope(min(max(1.0, low), high), determined=False)
        return Slope(high, 1)
    least, most = np.log(low), np.log(high)
    left, right = -np.inf, np.inf  # where the loss is known to fall, and to rise
    place = min(max(0.0, least), most)
    for n_iter in range(1, _MOST_SWEEPS + 1):
        slope = float(np.exp(place))
        first, second = _slopes(logits, top, share, slope)
        first -= at_label
        if (place == most and first <= 0) or (place == least and first >= 0):
            return Slope(slope, 1 if first <= 0 else -1, n_iter=n_iter)
        left, right = (place, right) if first <= 0 else (left, place)
        step = -first / (slope * second) if second > 0 else -np.sign(first) * np.inf
        place = min(max(place + step, least), most)
        if abs(step) <= _SMALL_STEP or right - left <= _SMALL_STEP:
            end = float(np.exp(min(max(place, left), right)))
            return Slope(end, 0, slope**2 * second * step**2, n_iter)  # what the step leaves
        if not left < place < right:
            place = (left + right) / 2
    return Slope(slope, 0, abs(first) * slope, n_iter, converged=False)


def _slopes(
    logits: FloatArray, top: FloatVector, share: FloatVector, slope: float
) -> tuple[float, float]:
    """Return mean and variance of the logits under the map: derivatives of its log sums in 1/T.

    Block by block: a table of 1,000 classes is read from the memory once, and not five times.
    """
    n, k = logits.shape
    first, second, ones = 0.0, 0.0, np.ones(k)
    step = max(1, _BLOCK // k)
    for rows in (slice(start, start + step) for start in range(0, n, step)):
        below = logits[rows] - top[rows, np.newaxis]
        odds = np.exp(slope * below)
        total = odds @ ones  # quicker than `sum`
        odds *= below
        mean = odds @ ones / total
        odds *= below
        first += float(share[rows] @ mean)
        second += float(share[rows] @ (odds @ ones / total - mean**2))
    return first, second


class _LinearCalibrator(MulticlassCalibrator):
    """What vector, matrix and Dirichlet scaling share: ``softmax(W z + b)`` and its penalty."""

    weighted: ClassVar[bool] = True
    full: ClassVar[bool] = True

    penalty: Any
    bias_penalty: float | None = None

    def _penalty(self, n: float, k: int, temperature: float) -> tuple[float, float, float]:
        """Return weights of squared distances: off the diagonal, on it, and of intercepts."""
        if isinstance(self.penalty, str) and self.penalty == "auto":
            unit = k / n  # per weight of a class; K (K - 1) / n per pair
            return unit * (k - 1) * temperature**2, unit * temperature**2, unit
        weight = bias = _strength(self.penalty, "penalty", '"auto" or ')
        if self.bias_penalty is not None:
            bias = _strength(self.bias_penalty, "bias_penalty")
        return weight, 0.0 if self.full else weight, bias

    def _features(self, logits: FloatArray) -> FloatMatrix:
        return logits.astype(np.float64)

    def _fit(self, logits: FloatArray, label: IntVector, weight: Weights = None) -> None:
        x = self._features(logits)
        k, rows = x.shape[1], np.ones(len(x)) if weight is None else weight
        share = rows / rows.sum()
        size = float(np.sqrt(share @ np.square(x).mean(axis=1))) or 1.0
        warm = fit_slope(x, label, 1 / _HIGHEST, 1 / _LOWEST, weight)
        slope = 0.0 if warm.bound < 0 else min(warm.slope, _STEEPEST / size)
        off, own, bias = self._penalty(float(rows.sum()), k, 1 / slope if slope > 0 else size)
        # Parameters of a class: weights of all scores or of its own, then the intercept.
        unit = np.eye(k, k + 1) if self.full else np.tile([1.0, 0.0], (k, 1))
        strength = np.where(unit == 1, own, off) / size**2
        strength[:, -1] = bias
        features = np.column_stack([x / size, np.ones(len(x))]) if self.full else x / size
        start = slope * size * unit
        fit = fit_softmax(features, label, share, (strength, start), self.full)
        self.weights_, self.bias_ = fit.theta[:, :-1] / size, fit.theta[:, -1]
        # One constant for all classes has no effect on the map: fix it where it has no penalty.
        if bias == 0:
            self.bias_ = self.bias_ - self.bias_.mean()
        if self.full and off == own == 0:
            self.weights_ = self.weights_ - self.weights_.mean(axis=0) + slope / k
        self.weights_ = self.weights_ if self.full else self.weights_[:, 0]
        self.n_parameters_ = k * k - 1 if self.full else 2 * k - 1
        self._report(fit)

    def _report(self, fit: LogisticFit) -> None:
        self.training_loss_, self.gradient_norm_ = fit.loss, fit.gradient
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged
        if not fit.converged:
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
