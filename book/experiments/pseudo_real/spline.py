"""A smooth map without bins: a spline through the cumulative gaps."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.interpolate import CubicSpline

from calibkit.calibrators import Calibrator
from calibkit.inputs import FloatMatrix, FloatVector, as_count


@dataclass(eq=False, repr=False)
class SplineCalibrator(Calibrator):
    """Spline calibration: add the slope of the smoothed cumulative gap, ``c(p) = p + S'``.

    The cubic spline S is fitted to the sum of ``y - p`` over the k lowest predictions, divided by
    n, against k / n: for a calibrated model it stays near 0. Its slope is the mean gap nearby.

    Parameters
    ----------
    n_knots : int
        Number of equally spaced knots, at least 3. ``GridSearchCV`` chooses among numbers by the
        held-out Brier score.

    Attributes
    ----------
    value_, height_, knot_heights_ : ndarray
        Distinct predictions and the map there; the spline at its knots.
    n_parameters_, converged_, n_iter_
        The number of knots; True and 0: least squares.

    Notes
    -----
    The map need be neither increasing nor within [0, 1], and cut there it may say exactly 0 or 1.
    It is linear between predictions and constant beyond them. For ties the slope is the mean over
    their share of the axis. At both ends the spline is natural: its second derivative is 0. With
    fewer predictions than knots the smallest heights that fit are used. The authors' program
    spreads k = 1, ..., n over [0, 1]; here the curve starts at (0, 0). It also swaps the weights of
    the two neighbours between predictions, which makes a map with n teeth. Gupta et al. (2021).
    Lesson 07 teaches other smooth maps.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 4000))
    >>> SplineCalibrator().fit(p, u < p**2).calibrate([0.2, 0.5, 0.8]).round(2).tolist()
    [0.05, 0.27, 0.62]
    """

    family: ClassVar[str] = "spline"
    can_say_zero: ClassVar[bool] = True
    loss_name: ClassVar[str] = "squared error of the cumulative gap"

    n_knots: int = 6

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        self.n_parameters_ = n_knots = as_count(self.n_knots, "n_knots", minimum=3)
        self.value_, index, count = np.unique(prob, return_inverse=True, return_counts=True)
        n, hits = len(prob), np.bincount(index, label)
        place = np.concatenate(([0], np.cumsum(count))) / n
        gaps = np.concatenate(([0.0], np.cumsum(hits - count * self.value_) / n))
        # Each row stands for one prediction; within a tie the curve goes straight.
        t = np.arange(n + 1) / n
        basis, curve = _spline_basis(t, n_knots), np.interp(t, place, gaps)
        self.knot_heights_ = np.linalg.lstsq(basis, curve, rcond=None)[0]
        rise = np.diff(_spline_basis(place, n_knots) @ self.knot_heights_)
        self.height_ = self.value_ + rise / np.diff(place)

    def _curve(self, prob: FloatVector) -> FloatVector:
        return np.interp(prob, self.value_, self.height_)


def _spline_basis(t: FloatVector, n_knots: int) -> FloatMatrix:
    """Return how much each height at a knot contributes to the spline at `t`: shape (n, m)."""
    knots = np.linspace(0, 1, n_knots)
    return np.asarray(CubicSpline(knots, np.eye(n_knots), bc_type="natural")(t))
