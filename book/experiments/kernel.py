"""The kernel calibration error and its test, in time proportional to the number of rows.

How often the limit law rejects a calibrated model at the 5 % level:

============================  =====  =====  =====  =====  =====  =====
scores                        uniform       sharp         rare
----------------------------  ------------  ------------  ------------
law, n =                      200    2000   200    2000   200    2000
============================  =====  =====  =====  =====  =====  =====
kernel 0.1                    4.9    5.0    4.7    5.1    4.0    4.9
kernel 0.05                   4.8    4.8    5.2    5.0    4.2    4.9
============================  =====  =====  =====  =====  =====  =====
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.hypothesis_tests.p_values import in_order
from calibkit.inputs import FloatMatrix, FloatVector, binary_problem

ComplexMatrix = NDArray[np.complex128]

_BLOCK_ENTRIES = 200_000
# At so many standard deviations a Gaussian is 1e-17.
_FAR = 8.85
# Below this share of the diagonal, what is left of the pairs is mostly rounding.
_NO_PAIRS = 1e-8


class KernelRule:
    """Unbiased squared kernel calibration error with a Gaussian kernel."""

    name = "Kernel calibration error, squared and unbiased"
    symbol = "SKCE"
    law = "gamma law with the first three moments"

    def __init__(self, prob: FloatVector, length_scale: float) -> None:
        self.n = len(prob)
        self.variance = prob * (1 - prob)
        self.skewness = self.variance * (1 - 2 * prob)  # third moments of the residuals
        # One period holds all predictions and a gap that the kernel does not cross.
        period = float(prob[-1] - prob[0]) + _FAR * length_scale
        self.angle = 2 * np.pi / period * (prob - prob[0])
        self.decay = 2 * np.pi * length_scale / period
        self.n_waves = int(np.ceil(_FAR / self.decay)) + 1

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return the mean of ``k(p, q) (y - p)(z - q)`` over all pairs, for each row."""
        sums = _sums_of_waves(self.angle, residual, self.n_waves)
        pairs = _square(sums) @ self._shares(1, self.n_waves)
        pairs -= np.einsum("ij,ij->i", residual, residual)
        return np.asarray(pairs / (self.n * (self.n - 1)))

    def _shares(self, power: int, n_waves: int) -> FloatVector:
        """Return what each wave adds to the kernel to this power, a narrower Gaussian."""
        decay = self.decay / np.sqrt(power)
        share = decay / np.sqrt(2 * np.pi) * np.exp(-((decay * np.arange(n_waves)) ** 2) / 2)
        share[1:] *= 2  # waves to the left and to the right
        return np.asarray(share)

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return upper tails of a gamma law with the moments of the null law."""
        variance, third = self.moments()
        if variance <= 0:
            return np.ones(len(statistic))
        z = statistic * self.n * (self.n - 1) / np.sqrt(variance)
        skew = third / variance**1.5
        if skew <= 0:  # nothing like a sum of squares: the normal law
            return np.asarray(special.ndtr(-z))
        df = 8 / skew**2
        return np.asarray(special.chdtrc(df, np.maximum(df + np.sqrt(2 * df) * z, 0)))

    def moments(self) -> tuple[float, float]:
        """Return variance and third cumulant of the sum over pairs ``i != j``."""
        n_waves = 2 * self.n_waves - 1
        weights = np.stack([self.variance, self.variance**2, self.skewness])
        first, second, skewed = _sums_of_waves(self.angle, weights, n_waves)
        squared, cubed = self._shares(2, n_waves), self._shares(3, n_waves)
        diagonal = float((self.variance**2).sum())
        variance = 2 * (float(_square(first) @ squared) - diagonal)
        if variance <= _NO_PAIRS * diagonal:
            variance = 0.0
        # Triples are the trace of a cube, in waves from -M to M: row m, column l has sum m - l.
        root = np.sqrt(self._shares(1, self.n_waves) / np.r_[1, np.full(self.n_waves - 1, 2)])
        root = np.r_[root[:0:-1], root]
        place = np.subtract.outer(np.arange(len(root)), np.arange(len(root))) + len(root) - 1
        gram = np.r_[first[:0:-1].conj(), first][place] * np.outer(root, root)
        cube = float(((gram @ gram) * gram.T).sum().real)
        # Take out those with two or three equal rows.
        twice = float((first * second.conj()).real @ squared)
        third = cube - 3 * twice + 2 * float((self.variance**3).sum())
        pairs = float(_square(skewed) @ cubed - self.skewness @ self.skewness)
        return variance, 8 * third + 4 * pairs


def _square(sums: ComplexMatrix) -> FloatVector:
    return np.asarray(sums.real**2 + sums.imag**2)


def _sums_of_waves(angle: FloatVector, weights: FloatMatrix, n_waves: int) -> ComplexMatrix:
    """Return the sums of ``weight exp(i m angle)`` for each row of weights, m = 0, 1, ..."""
    total = np.zeros((len(weights), 2 * n_waves))
    size = max(1, _BLOCK_ENTRIES // n_waves)
    for start in range(0, len(angle), size):
        part = angle[start : start + size]
        waves = np.exp(1j * np.multiply.outer(part, np.arange(n_waves)))
        total += weights[:, start : start + size] @ waves.view(np.float64)
    return total.view(np.complex128)


def kernel_error(y_true: Any, y_prob: Any, length_scale: float = 0.1) -> float:
    """Return the mean product of residuals over all pairs of predictions, near ones counting most.

    ``SKCE = 2 / (n (n - 1)) sum over pairs i < j of k(p_i, p_j) (y_i - p_i)(y_j - p_j)`` with
    ``k(p, q) = exp(-(p - q)² / (2 length_scale²))``: in squared probability, unbiased, hence below
    0 about half of the time if the predictions are right. Take no root. It is at most the mean
    squared miscalibration, and not on its scale; a second kernel, on labels, ``exp(-d²/2)``, as in
    the table of Kängsepp, Valk and Kull (2022), multiplies it by ``2 (1 - exp(-1/2)) = 0.787``.

    On a period that is longer than all distances, the kernel is a sum of cosines whose shares fall
    like a Gaussian, so that time grows like n, not n². Waves are dropped where they cannot change
    the last digit: about 1.4 / length_scale are left. Without near pairs the limit law returns the
    p-value 1.

    The law is careful for rare events with n = 200: it misses the 5 % level by 1.0 point, and by
    0.8 with a scale of 0.05. Redraws kept 4.7 to 5.5 in all cases. Sources: Widmann and others
    (2019); Kängsepp, Valk and Kull (2022), section on evaluators.
    """
    label, prob = in_order(binary_problem(y_true, y_prob))
    return float(KernelRule(prob, length_scale).statistic((label - prob)[np.newaxis])[0])
