"""Temperature scaling: one number that makes all predictions bolder or more careful."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from calibkit.calibrators.base import Weights
from calibkit.calibrators.multiclass import MulticlassCalibrator
from calibkit.inputs import FloatArray, FloatMatrix, IntVector, expit, warn

_MOST_SWEEPS = 200
_SMALL_STEP = 1e-7  # in ln T: Newton's step leaves about its square
_SOME_ROWS = 5_000  # enough for a start that is all but right
_BLOCK = 1 << 17  # numbers that stay inside the processor's cache


class TemperatureScaling(MulticlassCalibrator):
    """Divide all logits by the one temperature of least log loss, ``softmax(z / T)``.

    Parameters
    ----------
    input : {"logits", "probabilities"}, whose logarithm is taken, at least ln(1e-16)
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
    preserves_argmax: ClassVar[bool] = True
    takes_one_event: ClassVar[bool] = True

    def __init__(self, input: str | None = None, bounds: tuple[float, float] = (1e-6, 1e6)):
        self.input = input
        self.bounds = bounds

    def _fit(self, logits: FloatArray, label: IntVector, weight: Weights = None) -> None:
        low, high = _check_bounds(self.bounds)
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


def _check_bounds(bounds: object) -> tuple[float, float]:
    try:
        low, high = (float(value) for value in bounds)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        low = high = 0.0
    if not 0 < low < high < np.inf:
        raise ValueError(
            f"bounds must be two temperatures, 0 < lower < upper, e.g. (0.05, 20), got {bounds!r}."
        )
    return low, high


@dataclass(frozen=True, slots=True)
class Slope:
    """The minimiser 1/T, where it lies (-1 lower bound, 1 upper bound of 1/T), and how found."""

    slope: float
    bound: int
    gradient: float
    n_iter: int
    converged: bool
    determined: bool = True


class _LossInSlope:
    """The mean log loss as a function of 1/T; `logits` are finite."""

    def __init__(self, logits: FloatArray, label: IntVector, weight: Weights):
        # Of few columns twice as fast as `max`.
        top = np.maximum.reduceat(logits.ravel(), np.arange(0, logits.size, logits.shape[1]))
        self.logits, self.top = logits, top.astype(np.float64)[:, np.newaxis]
        self.share = (
            np.full(len(label), 1 / len(label)) if weight is None else weight / weight.sum()
        )
        mine = logits[np.arange(len(label)), label] - self.top[:, 0]
        self.at_label = float(self.share @ mine)

    def derivatives(self, slope: float) -> tuple[float, float]:
        """Return the first and the second derivative in 1/T, block by block."""
        n, k = self.logits.shape
        first, second, ones = -self.at_label, 0.0, np.ones(k)
        step = max(1, _BLOCK // k)
        for start in range(0, n, step):
            rows = slice(start, start + step)
            below = self.logits[rows] - self.top[rows]
            odds = np.exp(slope * below)
            total = odds @ ones  # quicker than `sum`
            odds *= below
            mean = odds @ ones / total
            odds *= below
            first += float(self.share[rows] @ mean)
            second += float(self.share[rows] @ (odds @ ones / total - mean**2))
        return first, second


def fit_slope(
    logits: FloatArray, label: IntVector, low: float, high: float, weight: Weights = None
) -> Slope:
    """Find the 1/T in [low, high] with the least mean log loss of ``softmax(logits / T)``.

    Parameters
    ----------
    logits, label : ndarray of shape (n, K), ndarray of shape (n,)
        Finite logits and class numbers, already checked.
    low, high : float
        The smallest and the largest 1/T allowed, above 0.
    weight : ndarray of shape (n,), optional
        How much each row counts.

    Returns
    -------
    Slope
        1/T, whether it is one of the bounds, and how the search ended.
    """
    loss = _LossInSlope(logits, label, weight)
    if loss.at_label == 0:  # the label has the largest logit in every row
        if (logits == loss.top).all():  # all logits have: the temperature is without effect
            return Slope(min(max(1.0, low), high), 0, 0.0, 0, True, determined=False)
        return Slope(high, 1, 0.0, 0, True)
    start = 1.0
    if len(logits) >= 4 * _SOME_ROWS:
        some = slice(None, None, len(logits) // _SOME_ROWS)
        part = None if weight is None else weight[some]
        start = fit_slope(logits[some], label[some], low, high, part).slope
    return _newton(loss, low, high, start)


def _newton(loss: _LossInSlope, low: float, high: float, start: float) -> Slope:
    """Take Newton steps in ln(1/T); where one leads out of the bracket, halve the bracket."""
    least, most = float(np.log(low)), float(np.log(high))
    left, right = -np.inf, np.inf  # where the loss is known to fall, and to rise
    place = min(max(float(np.log(start)), least), most)
    for n_iter in range(1, _MOST_SWEEPS + 1):
        slope = float(np.exp(place))
        first, second = loss.derivatives(slope)
        if place == most and first <= 0:
            return Slope(high, 1, 0.0, n_iter, True)
        if place == least and first >= 0:
            return Slope(low, -1, 0.0, n_iter, True)
        left, right = (place, right) if first <= 0 else (left, place)
        curvature = slope * second
        downhill = np.inf if first <= 0 else -np.inf
        step = -first / curvature if curvature > 0 else downhill
        place = min(max(place + step, least), most)
        if abs(step) <= _SMALL_STEP or right - left <= _SMALL_STEP:
            end = float(np.exp(min(max(place, left), right)))
            return Slope(end, 0, slope * curvature * step**2, n_iter, True)
        if not left < place < right:
            place = (left + right) / 2
    return Slope(slope, 0, abs(first) * slope, n_iter, False)
