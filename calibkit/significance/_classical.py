"""The statistics of the classical tests, for many sets of labels at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit import _links
from calibkit.bins import EqualMass
from calibkit.significance._tested import (
    NORMAL,
    FloatMatrix,
    FloatVector,
    Rule,
    ratio,
    two_sided,
)


class BinnedRule:
    """Sum over equal-mass bins of squared residual sums over their variances."""

    signs = ("", "")
    symbol = "X²"

    def __init__(self, prob: FloatVector, n_bins: int, *, pooled: bool, fitted: int) -> None:
        count, variance, self.starts = _bins(prob, n_bins)
        if pooled:
            mean = np.add.reduceat(prob, self.starts) / count
            variance = count * mean * (1 - mean)
        self.used = variance > 0
        self.variance = variance[self.used]
        self.df = max(int(self.used.sum()) - fitted, 0)
        self.name = "Hosmer-Lemeshow test"
        self.law = f"chi-squared law, {self.df} degrees of freedom"

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return the statistic of each row."""
        total = np.add.reduceat(residual, self.starts, axis=1)[:, self.used]
        return np.asarray((total**2 / self.variance).sum(axis=1))

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return upper tails of the chi-squared law."""
        if self.df == 0:
            return np.ones(len(statistic))
        return np.asarray(special.chdtrc(self.df, statistic))


def _bins(prob: FloatVector, n_bins: int) -> tuple[FloatVector, FloatVector, NDArray[np.intp]]:
    """Return counts, variances and first rows of the equal-mass bins of sorted predictions."""
    binning = EqualMass(n_bins)
    index = binning.assign(prob, binning.edges(prob))
    starts = np.flatnonzero(np.diff(index, prepend=-1))
    count = np.diff(starts, append=len(prob)).astype(np.float64)
    return count, np.add.reduceat(prob * (1 - prob), starts), starts


class BrierRule:
    """Spiegelhalter's standardised Brier score."""

    name = "Spiegelhalter's test"
    symbol = "z"
    law = NORMAL
    signs = ("under-confident", "over-confident")

    def __init__(self, prob: FloatVector) -> None:
        self.weight = 1 - 2 * prob
        self.sd = float(np.sqrt((self.weight**2 * prob * (1 - prob)).sum()))

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return z of each row."""
        return ratio(residual @ self.weight, self.sd)

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return two-sided p-values."""
        return two_sided(statistic)


class InterceptRule:
    """Calibration in the large: more events than predicted, or fewer."""

    name = "Cox's test of the intercept"
    symbol = "z"
    law = NORMAL
    signs = ("too high", "too low")

    def __init__(self, prob: FloatVector) -> None:
        self.sd = float(np.sqrt((prob * (1 - prob)).sum()))

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return z of each row."""
        return ratio(residual.sum(axis=1), self.sd)

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return two-sided p-values."""
        return two_sided(statistic)


class SlopeRule:
    """Whether logits have to be stretched or shrunk."""

    name = "Cox's test of the slope"
    symbol = "z"
    law = NORMAL
    signs = ("over-confident", "under-confident")

    def __init__(self, prob: FloatVector) -> None:
        weight = prob * (1 - prob)
        logits = _links.logit(prob)
        total = weight.sum()
        mean = (weight @ logits) / total if total > 0 else 0.0
        self.lever = logits - mean
        spread = float(weight @ self.lever**2)
        # Equal predictions have no slope; what is left of them is rounding.
        noise = (1e-12 * (1 + np.abs(logits).max())) ** 2 * total
        self.sd = float(np.sqrt(spread)) if spread > noise else 0.0

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return z of each row."""
        return ratio(residual @ self.lever, self.sd)

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return two-sided p-values."""
        return two_sided(statistic)


class CoxRule:
    """Score test of intercept 0 and slope 1 together."""

    name = "Cox's test of intercept and slope"
    symbol = "X²"
    signs = ("", "")

    def __init__(self, prob: FloatVector) -> None:
        self.parts = (InterceptRule(prob), SlopeRule(prob))
        self.df = sum(part.sd > 0 for part in self.parts)
        plural = "degree" if self.df == 1 else "degrees"
        self.law = f"chi-squared law, {self.df} {plural} of freedom"

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return the sum of both squares for each row."""
        return np.asarray(sum(part.statistic(residual) ** 2 for part in self.parts))

    def p_value(self, statistic: FloatVector) -> FloatVector:
        """Return upper tails of the chi-squared law."""
        if self.df == 0:
            return np.ones(len(statistic))
        return np.asarray(special.chdtrc(self.df, statistic))


COX: dict[str, Callable[[FloatVector], Rule]] = {
    "both": CoxRule,
    "intercept": InterceptRule,
    "slope": SlopeRule,
}
