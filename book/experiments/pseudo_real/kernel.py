"""A smooth map from two kernel densities (Zhang, Kailkhura and Han 2020)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibkit.calibrators import Calibrator
from calibkit.inputs import FloatVector, as_number

_REACH = 3  # where the triweight kernel with standard deviation 1 ends
_NARROWEST, _WIDEST = 5e-4, 1 / 3
_STEPS_PER_BANDWIDTH, _FEWEST_CELLS, _MOST_CELLS = 50, 1024, 65_536


@dataclass(eq=False, repr=False)
class KernelDensityCalibrator(Calibrator):
    """Kernel-density calibration: the share of ones among the predictions nearby.

    The densities of both classes, put together by the rule of Bayes, are a local average of labels:
    ``c(p) = sum_i K((p - p_i) / h) y_i / sum_i K((p - p_i) / h)`` with the triweight kernel
    ``K(u) ~ (1 - (u/3)^2)^3`` for ``|u| < 3``.

    Parameters
    ----------
    bandwidth : float or "rule"
        Standard deviation h of the kernel, from 0.0005 to 1/3. ``"rule"``:
        ``sd(p | y = 0) * (2 n)^(-1/5)``, brought into this range.

    Attributes
    ----------
    bandwidth_, grid_, height_ : float, ndarray, ndarray
        The bandwidth used; the map at the grid points that see any data, linear in between.

    Notes
    -----
    Where all labels nearby agree, the map says exactly 0 or 1. The data are mirrored at 0 and at 1,
    else the densities would fall to half there. Gaps wider than 3 h on both sides are crossed
    straight. If the zeros have no spread, the rule takes that of all predictions. Sums are taken on
    a grid: from a bandwidth of 0.01 on the map is within 0.0001 of the sums over all pairs, at the
    narrowest within 0.002. The authors' program sets the densities to 0 outside the *open* interval
    (0, 1); here 0 and 1 are points like any other. Zhang, Kailkhura and Han (2020). Lesson 07
    teaches other smooth maps.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 4000))
    >>> KernelDensityCalibrator().fit(p, u < p**2).calibrate([0.2, 0.5, 0.8]).round(2).tolist()
    [0.04, 0.26, 0.59]
    """

    family: ClassVar[str] = "kernel density"
    can_say_zero: ClassVar[bool] = True
    loss_name: ClassVar[str] = "none (rule of Bayes)"

    bandwidth: float | str = "rule"

    def _fit(self, prob: FloatVector, label: FloatVector) -> None:
        zeros, ones = np.sort(prob[label == 0]), np.sort(prob[label == 1])
        self.bandwidth_ = self._chosen_bandwidth(zeros, ones)
        fine = _STEPS_PER_BANDWIDTH / self.bandwidth_
        n_cells = int(np.clip(np.ceil(fine), _FEWEST_CELLS, _MOST_CELLS))
        reach = min(int(_REACH * self.bandwidth_ * n_cells), n_cells - 1)
        u = np.arange(-reach, reach + 1) / (_REACH * self.bandwidth_ * n_cells)
        kernel = np.maximum(1 - u**2, 0) ** 3
        mass_1, mass_0 = (_smooth(_on_grid(part, n_cells), kernel) for part in (ones, zeros))
        seen = mass_1 + mass_0 > 0
        self.grid_ = (np.arange(n_cells + 1) / n_cells)[seen]
        self.height_ = mass_1[seen] / (mass_1 + mass_0)[seen]
        self.n_parameters_ = None

    def _chosen_bandwidth(self, zeros: FloatVector, ones: FloatVector) -> float:
        if isinstance(self.bandwidth, str) and self.bandwidth == "rule":
            spread = zeros.std() if len(zeros) else 0.0
            spread = spread or np.sort(np.concatenate([zeros, ones])).std()
            rule = spread * (2 * (len(zeros) + len(ones))) ** -0.2
            return float(np.clip(rule, _NARROWEST, _WIDEST))
        words = f'a number from {_NARROWEST} to 1/3, or "rule"'
        return as_number(self.bandwidth, "bandwidth", words, lambda h: _NARROWEST <= h <= _WIDEST)

    def _curve(self, prob: FloatVector) -> FloatVector:
        return np.interp(prob, self.grid_, self.height_)


def _on_grid(prob: FloatVector, n_cells: int) -> FloatVector:
    """Share each prediction between its two grid points; return ``n_cells + 1`` masses."""
    place = prob * n_cells
    left = np.minimum(place.astype(np.intp), n_cells - 1)
    share = place - left
    return np.asarray(
        np.bincount(left, 1 - share, n_cells + 1) + np.bincount(left + 1, share, n_cells + 1)
    )


def _smooth(mass: FloatVector, kernel: FloatVector) -> FloatVector:
    reach = len(kernel) // 2
    # A mass at an end is its own mirror image, and counts twice like all others.
    mass = mass.copy()
    mass[[0, -1]] *= 2
    # Direct sums, not a Fourier transform: its rounding would fill the gaps with noise.
    return np.convolve(np.pad(mass, reach, mode="reflect"), kernel, mode="valid")
