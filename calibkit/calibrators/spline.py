"""A smooth map without bins: a spline through the cumulative gaps."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibkit.calibrators.base import Calibrator
from calibkit.calibrators.folds import assign_folds
from calibkit.types import FloatVector, Rng
from calibkit.validation import as_choice, as_count

# The rule that the second derivatives at the three outer knots obey.
_ENDS = {"natural": [1.0, 0, 0], "parabolic": [1.0, -1, 0], "linear": [1.0, -2, 1]}


def _second_derivatives(n_knots: int, ends: str) -> FloatVector:
    step = 1 / (n_knots - 1)
    left, right = np.zeros((2, n_knots, n_knots))
    for i in range(1, n_knots - 1):
        left[i, i - 1 : i + 2] = np.array([1, 4, 1]) * step / 6
        right[i, i - 1 : i + 2] = np.array([1, -2, 1]) / step
    left[0, :3], left[-1, -3:] = _ENDS[ends], _ENDS[ends][::-1]
    return np.asarray(np.linalg.solve(left, right))


def _spline_basis(t: FloatVector, n_knots: int, ends: str) -> FloatVector:
    """Return how much each height at a knot contributes to the spline at `t`: shape (n, m)."""
    step = 1 / (n_knots - 1)
    index = np.minimum((t * (n_knots - 1)).astype(np.intp), n_knots - 2)
    right = t / step - index
    left = 1 - right
    height, bend = np.eye(n_knots), _second_derivatives(n_knots, ends) * step**2 / 6
    return np.asarray(
        left[:, None] * height[index]
        + right[:, None] * height[index + 1]
        + (left**3 - left)[:, None] * bend[index]
        + (right**3 - right)[:, None] * bend[index + 1]
    )


class _Pooled:
    """Sorted data, equal predictions together."""

    def __init__(self, prob: FloatVector, label: FloatVector):
        self.value, index, self.count = np.unique(prob, return_inverse=True, return_counts=True)
        self.hits = np.bincount(index, label, len(self.value))

    def fit(self, n_knots: int, ends: str) -> tuple[FloatVector, FloatVector]:
        n = self.count.sum()
        place = np.concatenate(([0], np.cumsum(self.count))) / n
        gaps = np.cumsum(self.hits - self.count * self.value) / n
        # Each row stands for one prediction; within a tie the curve goes straight.
        t = np.arange(n + 1) / n
        curve = np.interp(t, place, np.concatenate(([0.0], gaps)))
        heights = np.linalg.lstsq(_spline_basis(t, n_knots, ends), curve, rcond=None)[0]
        at = _spline_basis(place, n_knots, ends) @ heights
        return heights, self.value + np.diff(at) / np.diff(place)


@dataclass(eq=False, repr=False)
class SplineCalibrator(Calibrator):
    """Spline calibration: add the slope of the smoothed cumulative gap, ``c(p) = p + S'``.

    The cubic spline S is fitted to the sum of ``y - p`` over the k lowest predictions, divided by
    n, against k / n: for a calibrated model it stays near 0. Its slope is the mean gap nearby.

    Parameters
    ----------
    n_knots : int or None
        Number of equally spaced knots, at least 3 (4 for ``"linear"`` ends). None chooses 4 to 10
        by the mean held-out Brier score of 10 folds (as many folds as predictions, if fewer).
    ends : {"natural", "parabolic", "linear"}
        The second derivative at either end: 0, that of the neighbour, or on a line through two.
    rng : int, Generator or None, draws the folds

    Attributes
    ----------
    candidates_, scores_ : ndarray
        Numbers of knots tried and their scores; one number and NaN if it was given.
    value_, height_, knot_heights_ : ndarray
        Distinct predictions and the map there; the spline at its knots.
    n_knots_, n_parameters_, converged_, n_iter_
        Number of knots, twice; True and 0: least squares.

    Notes
    -----
    The map need be neither increasing nor within [0, 1], and cut there it may say exactly 0 or 1.
    It is linear between predictions and constant beyond them. For ties the slope is the mean over
    their share of the axis. With fewer predictions than knots the smallest heights that fit are
    used. The authors' program spreads k = 1, ..., n over [0, 1]; here the curve starts at (0, 0).
    It also swaps the weights of the two neighbours between predictions, which makes a map with n
    teeth. Gupta et al. (2021). Lesson 07 teaches other smooth maps.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 4000))
    >>> SplineCalibrator().fit(p, u < p**2).calibrate([0.2, 0.5, 0.8]).round(2).tolist()
    [0.05, 0.27, 0.62]
    """

    family: ClassVar[str] = "spline"
    can_say_zero: ClassVar[bool] = True
    loss_name: ClassVar[str] = "squared error of the cumulative gap"

    n_knots: int | None = 6
    ends: str = "natural"
    rng: Rng = 0

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        as_choice(self.ends, "ends", _ENDS)
        if self.n_knots is not None:
            fewest = 4 if self.ends == "linear" else 3
            self.n_knots_ = as_count(self.n_knots, "n_knots", fewest)
            self.candidates_, self.scores_ = np.array([self.n_knots_]), np.array([np.nan])
        else:
            self._choose(prob, label)
        pooled = _Pooled(prob, label)
        self.value_ = pooled.value
        self.knot_heights_, self.height_ = pooled.fit(self.n_knots_, self.ends)
        self.n_parameters_ = self.n_knots_

    def _choose(self, prob: FloatVector, label: FloatVector) -> None:
        if len(prob) < 2:
            raise ValueError("n_knots=None needs at least 2 predictions; give a number of knots.")
        order = np.lexsort((label, prob))
        prob, label = prob[order], label[order]
        fold, n_folds = assign_folds(prob, label, min(10, len(prob)), self.rng)
        self.candidates_ = np.arange(4, 11)
        scores = np.zeros(len(self.candidates_))
        for out in (fold == k for k in range(n_folds)):
            train = _Pooled(prob[~out], label[~out])
            for place, n_knots in enumerate(self.candidates_):
                _, height = train.fit(int(n_knots), self.ends)
                guess = np.clip(np.interp(prob[out], train.value, height), 0, 1)
                scores[place] += ((guess - label[out]) ** 2).mean() / n_folds
        self.scores_ = scores
        self.n_knots_ = int(self.candidates_[scores.argmin()])

    def _curve(self, prob: FloatVector) -> FloatVector:
        return np.interp(prob, self.value_, self.height_)

    def spline(self, t: Any) -> FloatVector:
        """Return the fitted spline S at shares `t` of the sorted predictions, in [0, 1]."""
        self._check_fitted()
        t = np.asarray(t, dtype=np.float64)
        if not ((t >= 0) & (t <= 1)).all():
            raise ValueError("t must lie in [0, 1]: the share of the sorted predictions.")
        basis = _spline_basis(t.ravel(), self.n_knots_, self.ends)
        return (basis @ self.knot_heights_).reshape(t.shape)
