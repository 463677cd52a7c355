"""Temperature scaling: one number that makes all predictions bolder or more careful."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from calibkit.calibrators.words import Weights
from calibkit.links import expit
from calibkit.multiclass._base import MulticlassCalibrator
from calibkit.types import FloatArray, FloatMatrix, IntVector
from calibkit.validation import CalibrationWarning

_MOST_SWEEPS = 200
_LARGEST_STEP = 2.3  # in ln T: a factor of 10
# Error of ln T that is left alone: far below what sums in that precision make.
_ROUNDING = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-9}
_CLOSE = 0.1  # steps in ln T between which the curvature is all but a straight line
_NARROW = 1e-7  # width of a bracket of ln T that is no longer halved
_FEW_CLASSES = 64
_BLOCK = 1 << 17  # numbers that stay inside the processor's cache
# Sweeps over more numbers than these are made in the single precision of the input: rounding
# errors of 1e-7 each average out.
_MANY = 2_000_000


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
    probability. Scores of shape (n,) are those of class 1. More than two million float32 numbers
    are summed in single precision within a row; T then has a relative error of about 1e-8. Guo,
    Pleiss, Sun and Weinberger (2017). Taught in lesson 10.

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

    def __init__(self, input: str, bounds: tuple[float, float] = (1e-6, 1e6)):
        self.input = input
        self.bounds = bounds

    def _fit(self, logits: FloatArray, label: IntVector, weight: Weights = None) -> None:
        low, high = _check_bounds(self.bounds)
        if logits.ndim == 1:  # one event: the logit of class 0 is 0
            logits = np.column_stack([np.zeros_like(logits), logits])
        found = fit_slope(logits, label, 1 / high, 1 / low, weight)
        self.at_bound_ = {0: None, -1: "upper", 1: "lower"}[found.bound]
        self.temperature_ = {0: 1 / found.slope, -1: float(high), 1: float(low)}[found.bound]
        self.gradient_norm_, self.n_parameters_ = found.gradient, int(found.determined)
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        if self.at_bound_ is not None:
            reason = "the scores do not help" if found.bound < 0 else "no caution is needed"
            warnings.warn(
                f"Temperature scaling: the log loss is lowest at the {self.at_bound_} bound, "
                f"T = {self.temperature_:g}: {reason}. Look at the accuracy, use more data, or "
                "set bounds.",
                CalibrationWarning,
                stacklevel=3,
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
    """The mean log loss as a function of 1/T, in blocks of rows; `logits` are finite."""

    def __init__(self, logits: FloatArray, label: IntVector, weight: Weights):
        precise = logits.dtype == np.float64 or logits.size <= _MANY
        self.dtype = np.dtype(np.float64 if precise else np.float32)
        # Of few classes, sums are several times as quick with each class in one piece.
        few = logits.shape[1] <= _FEW_CLASSES
        self.columns = np.ascontiguousarray(logits.T) if few else logits.T
        self.top = self.columns.max(axis=0).astype(self.dtype)
        mine = logits[np.arange(len(label)), label].astype(self.dtype) - self.top
        self.weight = weight
        self.at_label = float(np.average(mine.astype(np.float64), weights=weight))

    def derivatives(self, slope: float) -> tuple[float, float]:
        k, n = self.columns.shape
        first = second = 0.0
        factor, ones = self.dtype.type(slope), np.ones(k, self.dtype)
        step = max(1, _BLOCK // k)
        for start in range(0, n, step):
            rows = slice(start, start + step)
            below = self.columns[:, rows] - self.top[rows]
            weight = below * factor
            np.exp(weight, out=weight)
            total = ones @ weight  # quicker than `sum`
            weight *= below
            mean = (ones @ weight / total).astype(np.float64)
            weight *= below
            spread = ones @ weight / total - mean**2
            if self.weight is not None:
                mean, spread = mean * self.weight[rows], spread * self.weight[rows]
            first += float(mean.sum())
            second += float(spread.sum())
        n = n if self.weight is None else float(self.weight.sum())
        return first / n - self.at_label, second / n


def fit_slope(
    logits: FloatArray, label: IntVector, low: float, high: float, weight: Weights = None
) -> Slope:
    """Minimise the log loss over 1/T in [low, high], where its derivative increases in 1/T.

    Newton steps in ln(1/T); one out of the bracket becomes a bisection. Many rows start from the
    optimum of some of them.
    """
    n, k = logits.shape
    loss = _LossInSlope(logits, label, weight)
    if loss.at_label == 0:  # the label has the largest logit in every row
        if (loss.columns == loss.top).all():  # all logits have: the temperature is without effect
            return Slope(min(max(1.0, low), high), 0, 0.0, 0, True, determined=False)
        return Slope(high, 1, 0.0, 0, True)
    some = max(500, 20_000 // k, n // 25)
    if n >= 4 * some:
        few = slice(None, None, n // some)
        part = None if weight is None else weight[few]
        first = fit_slope(logits[few], label[few], low, high, part)
        return _newton(loss, (low, high), first.slope, first.n_iter)
    middle = float(np.average((loss.columns - loss.top).mean(axis=0), weights=weight))
    if middle >= loss.at_label:  # the derivative at 1/T = 0 is not below 0
        return Slope(low, -1, 0.0, 0, True)
    return _newton(loss, (low, high), -1 / middle, 0)


def _newton(loss: _LossInSlope, bounds: tuple[float, float], start: float, sweeps: int) -> Slope:
    least, most = np.log(bounds)
    low, high = least - _NARROW / 2, most + _NARROW / 2  # so that the bounds lie inside
    place = float(np.clip(np.log(start), least, most))
    before, bent = np.inf, 0.0
    for n_iter in range(sweeps + 1, sweeps + _MOST_SWEEPS + 1):
        # The slope that is meant is the one that is used, in the precision of the data.
        slope = float(np.exp(place).astype(loss.dtype))
        place = float(np.log(slope))
        first, second = loss.derivatives(slope)
        low, high = (place, high) if first < 0 else (low, place)
        curvature = slope * second
        step = 0.0 if first == 0 else -first / curvature if curvature > 0 else -np.inf * first
        left = step**2  # about the error that Newton's step leaves
        back = place - before
        if abs(step) < abs(back) < _CLOSE:  # how the curvature changes is worth one more sweep
            left *= abs(back)
            step -= (curvature - bent) / back * step**2 / (2 * curvature)
        before, bent = place, curvature
        if left <= _ROUNDING[loss.dtype]:
            end = float(np.exp(np.clip(place + step, least, most)))
            return Slope(end, 0, slope * curvature * left, n_iter, True)
        if high - low <= _NARROW:
            side = 1 if first < 0 else -1
            return Slope(bounds[(side + 1) // 2], side, 0.0, n_iter, True)
        came_from = place - back
        place = float(np.clip(place + np.clip(step, -_LARGEST_STEP, _LARGEST_STEP), least, most))
        # Two largest steps lead back, but for rounding: inside the bracket on some processors.
        if not low < place < high or abs(place - came_from) < 4 * _NARROW:
            place = (low + high) / 2
    return Slope(slope, 0, abs(first) * slope, n_iter, False)
