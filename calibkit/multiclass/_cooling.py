"""The log loss as a function of 1/T: a convex problem in one unknown, in blocks of rows."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibkit._validation import FloatArray

MOST_SWEEPS = 200
_NARROW = 1e-7  # width of a bracket of ln T that is no longer halved
# Error of ln T that is left alone: far below what sums in that precision make.
_ROUNDING = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-11}
_CLOSE = 0.1  # steps in ln T between which the derivative is all but a cubic
_LARGEST_STEP = 2.3  # a factor of 10
_BLOCK = 1 << 17  # numbers that stay inside the processor's cache
_FEW_CLASSES = 64
# Rows from which a start is found: at least these, and a share of all.
_FIRST_ROWS, _FIRST_NUMBERS, _FIRST_SHARE = 500, 20_000, 25
# Sweeps over more numbers than these may be made in the single precision of the input: rounding
# errors of 1e-7 each average out.
_MANY = 2_000_000


class Cooling:
    """Logits below the largest of their row, `d = z - max z`, and sums over ``exp(slope d)``.

    Parameters
    ----------
    logits : ndarray of shape (n, K)
        Finite logits, float32 or float64.
    label : ndarray of shape (n,)
        Labels.
    """

    def __init__(self, logits: FloatArray, label: NDArray[np.intp]):
        n, k = logits.shape
        precise = logits.dtype == np.float64 or logits.size <= _MANY
        self.dtype = np.dtype(np.float64 if precise else np.float32)
        # Sums over few classes are quick class by class, over many row by row.
        self.axis = 0 if k <= _FEW_CLASSES else 1
        self.rows = max(1, _BLOCK // k)
        self._ones = np.ones(k, dtype=self.dtype)
        self._weight, self._space = np.empty((2, min(self.rows, n) * k), dtype=self.dtype)
        self._logits, self._label = logits, label
        self._blocks: list[tuple[FloatArray, FloatArray | None]] = []
        self.n: int = n
        self.k: int = k
        self.at_label, self.total = 0.0, 0.0

    def prepare(self) -> None:
        """Look through the data once; otherwise the first sweep does so on its way."""
        deque(self._shifted(), maxlen=0)

    @property
    def at_zero(self) -> float:
        """Slope of the loss at 1/T = 0."""
        return self.total / (self.n * self.k) - self.at_label

    def _shifted(self) -> Iterator[FloatArray]:
        """Yield blocks of logits below the largest of their row; set sums the first time."""
        if self._blocks:
            yield from (self._below_top(*pair) for pair in self._blocks)
            return
        for start in range(0, self.n, self.rows):
            block = self._logits[start : start + self.rows].astype(self.dtype, copy=False)
            block = np.array(block.T, order="C") if self.axis == 0 else block
            top = block.max(axis=self.axis, keepdims=True)
            if self.axis == 0:
                block -= top  # a copy of ours
                self._blocks.append((block, None))
            else:
                self._blocks.append((block, top))
            block = self._below_top(*self._blocks[-1])
            mine = self._label[start : start + self.rows]
            row = np.arange(len(mine))
            found = block[mine, row] if self.axis == 0 else block[row, mine]
            self.at_label += float(found.sum(dtype=np.float64)) / self.n
            self.total += float(self._totals(block).sum(dtype=np.float64))
            yield block

    def slopes(self, slope: float) -> tuple[float, float]:
        """Return first and second derivative of the mean log loss at 1/T = `slope`."""
        first = second = 0.0
        factor = self.dtype.type(slope)
        for block in self._shifted():
            weight = self._weight[: block.size].reshape(block.shape)
            np.exp(np.multiply(block, factor, out=weight), out=weight)
            total = self._totals(weight)
            mean = self._sums(weight, block) / total
            weight *= block
            square = self._sums(weight, block) / total
            first += float(mean.sum())
            second += float((square - mean * mean).sum())
        return first / self.n - self.at_label, second / self.n

    def _below_top(self, block: FloatArray, top: FloatArray | None) -> FloatArray:
        """Return logits below the largest of their row; without a copy of all the data."""
        if top is None:
            return block
        space: FloatArray = self._space[: block.size].reshape(block.shape)
        np.subtract(block, top, out=space)
        return space

    def _totals(self, block: FloatArray) -> FloatArray:
        """Return the sum of each row of the data."""
        return np.asarray(self._ones @ block if self.axis == 0 else block @ self._ones)

    def _sums(self, left: FloatArray, right: FloatArray) -> NDArray[np.float64]:
        """Return the sum of products of each row of the data."""
        if self.axis == 0:
            return np.asarray(np.einsum("ij,ij->j", left, right), dtype=np.float64)
        # One product of two vectors per row: several times as fast as einsum.
        products = np.matmul(left[:, np.newaxis], right[..., np.newaxis])
        return np.asarray(products[:, 0, 0], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Slope:
    """The minimiser 1/T, where it lies (-1 lower bound, 1 upper bound of 1/T), and how found."""

    slope: float
    bound: int
    gradient: float
    n_iter: int
    converged: bool
    determined: bool = True


def fit_slope(logits: FloatArray, label: NDArray[np.intp], low: float, high: float) -> Slope:
    """Minimise the log loss over 1/T in [low, high].

    The derivative increases in 1/T. Newton steps towards its zero are taken in ln T, at most a
    factor of 10 long; a step out of the bracket becomes a bisection. Where there are many rows,
    the optimum of some of them is the start.
    """
    n, k = logits.shape
    first_rows = max(_FIRST_ROWS, _FIRST_NUMBERS // k, n // _FIRST_SHARE)
    start, begin, sweeps = None, None, 0
    if n >= 4 * first_rows:
        step = n // first_rows
        some = fit_slope(logits[::step], label[::step], low, high)
        start, sweeps = (some.slope if some.bound == 0 else None), some.n_iter
    data = Cooling(logits, label)
    if start is None:
        data.prepare()
    else:
        start = float(data.dtype.type(start))
        begin = data.slopes(start)
    if data.total == 0:  # every row is constant: the temperature is without effect
        return Slope(min(max(1.0, low), high), 0, 0.0, 0, True, determined=False)
    if data.at_zero >= 0:
        return Slope(low, -1, 0.0, 0, True)
    if data.at_label == 0:  # the label has the largest logit in every row
        return Slope(high, 1, 0.0, 0, True)
    if start is None:
        start = min(max(-n * k / data.total, low), high)
    return _newton(data, (low, high), start, begin, sweeps)


@dataclass(frozen=True, slots=True)
class _Sweep:
    """A place ln(1/T), the derivative of the loss in 1/T there, and its own in ln(1/T)."""

    place: float
    first: float
    curvature: float


def _newton(
    data: Cooling,
    bounds: tuple[float, float],
    start: float,
    begin: tuple[float, float] | None,
    sweeps: int,
) -> Slope:
    """Find the zero of the derivative; `begin`: its value at the start, and that of its own."""
    low, high = np.log(bounds[0]), np.log(bounds[1])
    place = float(np.clip(np.log(start), low, high))
    before: _Sweep | None = None
    for n_iter in range(sweeps + 1, sweeps + MOST_SWEEPS + 1):
        if data.dtype == np.float32:  # the slope that is meant is the one that is used
            place = float(np.log(np.float64(np.float32(np.exp(place)))))
        slope = float(np.exp(place))
        first, second = begin or data.slopes(slope)
        begin = None
        low, high = (place, high) if first < 0 else (low, place)
        now = _Sweep(place, first, slope * second)
        step, left = _step(before, now)
        if left <= _ROUNDING[data.dtype]:
            end = float(np.clip(place + step, *np.log(bounds)))
            gradient = slope * now.curvature * left  # but for rounding
            return Slope(float(np.exp(end)), 0, gradient, n_iter, True)
        if high - low <= _NARROW:
            side = 1 if first < 0 else -1
            return Slope(bounds[(side + 1) // 2], side, 0.0, n_iter, True)
        place = _inside(place, float(np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)), (low, high))
        before = now
    return Slope(slope, 0, abs(first) * slope, n_iter, False)


def _step(before: _Sweep | None, now: _Sweep) -> tuple[float, float]:
    """Return the step to the zero of the derivative, and about what error it leaves.

    Newton's step leaves its square. After a short step there is a better one: ln(1/T) as the
    cubic in the derivative that agrees with both sweeps in value and slope. It leaves the square
    of the product of the two steps.
    """
    if now.first == 0:
        return 0.0, 0.0
    if now.curvature <= 0:
        return -np.inf * now.first, np.inf
    newton = -now.first / now.curvature
    short = before is not None and abs(newton) < abs(now.place - before.place) < _CLOSE
    if before is None or not short or before.curvature <= 0 or before.first == now.first:
        return newton, newton**2
    back, change = before.place - now.place, now.first - before.first
    r = now.first / change
    step = (3 - 2 * r) * r**2 * back
    step += change * ((1 - r) * r**2 / before.curvature - (1 - r) ** 2 * r / now.curvature)
    return step, min(newton**2, (newton * back) ** 2)


def _inside(place: float, step: float, bracket: tuple[float, float]) -> float:
    """Take the step, up to the end of the bracket; where it begins there, halve the bracket."""
    low, high = bracket
    new = place + step
    if low < new < high:
        return new
    return (low + high) / 2
