"""The kernel calibration error and its test, in time proportional to the number of rows."""

from collections.abc import Iterator
from typing import Any, Unpack

import numpy as np
from scipy import special

from calibkit.significance._tested import (
    FloatMatrix,
    FloatVector,
    Rule,
    TestResult,
    run,
    sample_of,
)
from calibkit.views import Rows, View, binary_problem

# The series needs about 1 / (4 length_scale²) terms; this is where it stops being quick.
SHORTEST = 0.02
_BLOCK_ENTRIES = 2_000_000
_NEGLIGIBLE = 1e-17
# Below this share of the diagonal, what is left of the pairs is mostly rounding.
_NO_PAIRS = 1e-8


class KernelRule(Rule):
    """Unbiased squared kernel calibration error with a Gaussian kernel."""

    name = "Kernel calibration error, squared and unbiased"
    symbol = "SKCE"
    law = "gamma law with the first three moments"
    bounded = True

    def __init__(self, prob: FloatVector, length_scale: float) -> None:
        self.n = len(prob)
        self.variance = prob * (1 - prob)
        self.skewness = self.variance * (1 - 2 * prob)  # third moments of the residuals
        # Centred, so that fewer terms are enough; a kernel of differences does not notice.
        self.position = (prob - (prob[0] + prob[-1]) / 2) / length_scale
        self.n_terms = _terms(self.position)

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return the mean of ``k(p, q) (y - p)(z - q)`` over all pairs, for each row."""
        sums = np.zeros((len(residual), self.n_terms))
        for rows, terms in _series(self.position):
            sums += residual[:, rows] @ terms
        pairs = np.einsum("ij,ij->i", sums, sums) - np.einsum("ij,ij->i", residual, residual)
        return np.asarray(pairs / (self.n * (self.n - 1)))

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return upper tails of a gamma law with the moments of the null law."""
        variance, third = self._moments()
        if variance <= 0:
            return np.ones(len(statistic))
        z = statistic * self.n * (self.n - 1) / np.sqrt(variance)
        skew = third / variance**1.5
        if skew <= 0:  # nothing like a sum of squares: the normal law
            return np.asarray(special.ndtr(-z))
        df = 8 / skew**2
        return np.asarray(special.chdtrc(df, np.maximum(df + np.sqrt(2 * df) * z, 0)))

    def _moments(self) -> tuple[float, float]:
        """Return variance and third cumulant of the sum over pairs ``i != j``."""
        gram = np.zeros((2, self.n_terms, self.n_terms))
        for rows, terms in _series(self.position):
            weight = self.variance[rows, np.newaxis]
            gram[0] += terms.T @ (weight * terms)
            gram[1] += terms.T @ (weight**2 * terms)
        first, second = gram
        square = float((first * first).sum())
        diagonal = float((self.variance**2).sum())
        variance = 2 * (square - diagonal)
        if variance <= _NO_PAIRS * diagonal:
            variance = 0.0
        cube = float(((first @ first) * first).sum())
        # Triples of different rows: take out those with two or three equal ones.
        third = cube - 3 * float((first * second).sum()) + 2 * float((self.variance**3).sum())
        # Pairs: the cubed kernel, again Gaussian but narrower, times third moments.
        narrow = np.sqrt(3) * self.position
        sums = np.zeros(_terms(narrow))
        for rows, terms in _series(narrow):
            sums += self.skewness[rows] @ terms
        pairs = float(sums @ sums - self.skewness @ self.skewness)
        return variance, 8 * third + 4 * pairs


def _terms(position: FloatVector) -> int:
    """Return how many terms are needed: what is left out is a tail of the Poisson law."""
    largest = float((position**2).max())
    candidates = np.arange(int(largest + 12 * np.sqrt(largest)) + 40)
    return int(np.flatnonzero(special.pdtrc(candidates, largest) <= _NEGLIGIBLE)[0]) + 1


def _series(position: FloatVector) -> Iterator[tuple[slice, FloatMatrix]]:
    """Yield blocks of rows with their terms, (rows, terms), whose products are the kernel."""
    n_terms = _terms(position)
    size = max(1, _BLOCK_ENTRIES // n_terms)
    for start in range(0, len(position), size):
        rows = slice(start, min(start + size, len(position)))
        part = position[rows]
        terms = np.empty((n_terms, len(part)))
        terms[0] = np.exp(-(part**2) / 2)
        for m in range(1, n_terms):
            terms[m] = terms[m - 1] * part / np.sqrt(m)
        yield rows, terms.T


def kernel_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View | None = None,
    length_scale: float = 0.1,
    null_draws: int = 0,
    rng: int | np.random.Generator | None = None,
    **rows: Unpack[Rows],
) -> TestResult:
    """Average products of residuals over all pairs of predictions, near pairs counting most.

    Parameters
    ----------
    y_true, y_prob, view, rng, **rows : As in `hosmer_lemeshow`
        At least two rows.
    length_scale : float
        Standard deviation of the kernel, at least 0.02: how near is near. Errors that change
        sign over a shorter distance cancel.
    null_draws : int
        Redraws of the labels that give the p-value; 0: a gamma law with the mean, variance and
        third moment of the null distribution.

    Notes
    -----
    ``SKCE = 2 / (n (n - 1)) sum over pairs i < j of k(p_i, p_j) (y_i - p_i)(y_j - p_j)`` with
    ``k(p, q) = exp(-(p - q)² / (2 length_scale²))``: in squared probability, unbiased, hence below
    0 about half of the time if the predictions are right. Take no root. It is at most the mean
    squared miscalibration, and not on its scale; a second kernel, on labels, ``exp(-d²/2)``, as in
    the table of Kängsepp, Valk and Kull (2022), multiplies it by ``2 (1 - exp(-1/2)) = 0.787``.

    The kernel is ``sum over m of t_m(p) t_m(q)`` with ``t_m(p) = exp(-a²/2) a^m / sqrt(m!)``; a is
    the centred p over the length scale. So time grows like n, not n². Terms are dropped where they
    cannot change the last digit. Without near pairs the limit law returns the p-value 1.

    The law is careful for rare events with n = 200: it misses the 5 % level by 1.0 point, and by
    0.8 with a scale of 0.05. Redraws kept 4.7 to 5.5 in all cases. Sources: Widmann and others
    (2019); Kängsepp, Valk and Kull (2022), section on evaluators. Taught in lesson 08.

    Examples
    --------
    >>> y_prob = np.linspace(.02, .98, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 1.5
    >>> result = kernel_calibration_error(y_true, y_prob)
    >>> round(result.statistic, 4), result.p_value < .001
    (0.0053, True)
    """
    number = isinstance(length_scale, int | float | np.number) and length_scale is not True
    if not number or not SHORTEST <= length_scale < np.inf:
        raise ValueError(
            f"length_scale must be a finite number of at least {SHORTEST}, got {length_scale!r}. "
            "The series has about 1 / (4 length_scale²) terms."
        )
    sample = sample_of(binary_problem(y_true, y_prob, view=view, **rows))
    if len(sample.prob) < 2:
        raise ValueError("The kernel calibration error is a mean over pairs: pass two rows.")
    rule = KernelRule(sample.prob, float(length_scale))
    return run(sample, [rule], null_draws=null_draws, rng=rng)[0]
