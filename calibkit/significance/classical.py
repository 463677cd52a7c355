"""Classical tests: Hosmer-Lemeshow (bins), Spiegelhalter (Brier score) and Cox (logits)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from calibkit import links
from calibkit.bins import EqualMass
from calibkit.results import listed
from calibkit.significance.results import (
    ChiSquaredRule,
    LinearRule,
    Rule,
    Sample,
    TestResult,
    ratio,
    run,
    sample_of,
)
from calibkit.types import FloatMatrix, FloatVector
from calibkit.validation import as_choice, as_count
from calibkit.views import Rows, View, binary_problem


class BinnedRule(ChiSquaredRule):
    """Sum over equal-mass bins of squared residual sums over their variances."""

    name = "Hosmer-Lemeshow test"

    def __init__(self, prob: FloatVector, n_bins: int, *, pooled: bool, fitted: int) -> None:
        edges = EqualMass(n_bins).edges(prob)
        self.starts = np.unique(np.searchsorted(prob, edges[:-1]))
        variance = np.add.reduceat(prob * (1 - prob), self.starts)
        if pooled:
            count = np.diff(self.starts, append=len(prob)).astype(np.float64)
            mean = np.add.reduceat(prob, self.starts) / count
            variance = count * mean * (1 - mean)
        self.used = variance > 0
        self.variance = variance[self.used]
        super().__init__(max(int(self.used.sum()) - fitted, 0))

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return the statistic of each row."""
        return self.of_totals(np.add.reduceat(residual, self.starts, axis=1))

    def of_totals(self, total: FloatMatrix) -> FloatVector:
        """Return the statistic of each row of residual sums, one sum per bin."""
        return np.asarray((total[:, self.used] ** 2 / self.variance).sum(axis=1))


class BrierRule(LinearRule):
    """Spiegelhalter's standardised Brier score."""

    name = "Spiegelhalter's test"
    signs = ("under-confident", "over-confident")

    def __init__(self, prob: FloatVector) -> None:
        self.lever = 1 - 2 * prob
        self.sd = float(np.sqrt((self.lever**2 * prob * (1 - prob)).sum()))


class InterceptRule(LinearRule):
    """Calibration in the large; here and in `SlopeRule`, `rows` of them share each prediction."""

    name = "Cox's test of the intercept"
    signs = ("too high", "too low")

    def __init__(self, prob: FloatVector, rows: Any = 1) -> None:
        self.sd = float(np.sqrt((rows * prob * (1 - prob)).sum()))

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return z of each row."""
        return ratio(residual.sum(axis=1), self.sd)


class SlopeRule(LinearRule):
    """Whether logits have to be stretched or shrunk."""

    name = "Cox's test of the slope"
    signs = ("over-confident", "under-confident")

    def __init__(self, prob: FloatVector, rows: Any = 1) -> None:
        weight = rows * prob * (1 - prob)
        logits = links.logit(prob)
        total = weight.sum()
        self.lever = logits - ((weight @ logits) / total if total > 0 else 0.0)
        spread = float(weight @ self.lever**2)
        # Equal predictions have no slope; what is left of them is rounding.
        noise = (1e-12 * (1 + np.abs(logits).max())) ** 2 * total
        self.sd = float(np.sqrt(spread)) if spread > noise else 0.0


class CoxRule(ChiSquaredRule):
    """Score test of intercept 0 and slope 1 together."""

    name = "Cox's test of intercept and slope"

    def __init__(self, prob: FloatVector) -> None:
        self.parts = (InterceptRule(prob), SlopeRule(prob))
        super().__init__(sum(part.sd > 0 for part in self.parts))

    def statistic(self, residual: FloatMatrix) -> FloatVector:
        """Return the sum of both squares for each row."""
        return np.asarray(sum(part.statistic(residual) ** 2 for part in self.parts))


COX: dict[str, Callable[[FloatVector], Rule]] = {
    "both": CoxRule,
    "intercept": InterceptRule,
    "slope": SlopeRule,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoxResult(TestResult):
    """Cox's test, with the line in logits that fits best; the rest as in `TestResult`.

    Parameters
    ----------
    intercept, slope : float
        Maximum-likelihood a and b of ``logit P(event) = a + b logit p``, fitted together.
    intercept_error, slope_error : float
        Their standard errors, from the inverse of Fisher's information at the fit. All four are
        NaN if predictions are equal, or if a threshold separates the labels.
    """

    intercept: float
    slope: float
    intercept_error: float
    slope_error: float

    def describe(self) -> str:
        """Say what `TestResult` says, and the fitted line with its standard errors."""
        return (
            f"{TestResult.describe(self)} Fitted intercept {self.intercept:.3f} "
            f"(standard error {self.intercept_error:.3f}), slope {self.slope:.3f} "
            f"({self.slope_error:.3f})."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("statistic", "p_value", "n", "intercept", "slope")
        return listed(self, (*names, "intercept_error", "slope_error"), ("quantity", "number"))


def _with_line(result: TestResult, sample: Sample) -> CoxResult:
    """Add the fitted line with its standard errors to a test."""
    from calibkit.calibrators.logistic import fit_logistic  # its room is slow to import

    logits, line = links.logit(sample.prob), np.full(4, np.nan)
    if logits[0] < logits[-1] and 0 < sample.label.mean() < 1:
        features = np.vstack([np.ones_like(logits), logits])
        fit = fit_logistic(features, sample.label, [[0.0, 0.0], [0.0, 1.0]])
        if fit.finite:
            prob = links.expit(fit.theta @ features)
            information = (features * (prob * (1 - prob))) @ features.T
            line[:] = *fit.theta, *np.sqrt(np.diag(np.linalg.inv(information)))
    a, b, a_error, b_error = map(float, line)
    return CoxResult(
        **asdict(result), intercept=a, slope=b, intercept_error=a_error, slope_error=b_error
    )


def cox_z(prob: FloatVector, rows: FloatVector, events: FloatVector) -> tuple[float, float]:
    """Return Cox's z of intercept and slope, where many rows share a prediction."""
    residual = (events - prob * rows)[np.newaxis]
    level, slope = InterceptRule(prob, rows), SlopeRule(prob, rows)
    return float(level.statistic(residual)[0]), float(slope.statistic(residual)[0])


def hosmer_lemeshow(
    y_true: Any,
    y_prob: Any,
    *,
    view: View | None = None,
    n_bins: int = 10,
    variance: str = "bin-mean",
    predictions: str = "given",
    null_draws: int = 0,
    rng: int | np.random.Generator | None = None,
    **rows: Unpack[Rows],
) -> TestResult:
    """Compare events with predictions in equal-mass bins: Hosmer and Lemeshow's chi-squared.

    Parameters
    ----------
    y_true, y_prob, view, **rows : As in `binary_problem`
    n_bins : int
        Number of equal-mass bins; ties are never split, so there may be fewer.
    variance : {"bin-mean", "predictions"}
        Of the events of a bin: the original ``n m (1 - m)`` with the mean prediction m, or the
        sum of ``p (1 - p)``, which is exact and a little smaller.
    predictions : {"given", "fitted"}
        Made without these labels: one degree of freedom per bin. By a logistic model that was
        fitted to them: two fewer, and no redraws.
    null_draws : int
        0: the limit law. Otherwise this many redraws of the labels give the p-value.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.

    Notes
    -----
    ``X² = sum over bins of (events - sum of p)² / variance``. With ``variance="predictions"``
    its mean under the hypothesis is exactly the number of bins. Bins whose predictions are all 0
    or all 1 do not count. A prediction of exactly 0 or 1 that was wrong gives the p-value 0.

    For sharp predictions and rare events the law rejects up to 7 points too often (sizes of all
    tests: `calibkit.significance`), as bins of nearly certain predictions hold less than one
    expected event. Take redraws there; 199 of them kept 4.7 to 5.0 per cent in all six cases.
    Source: Hosmer and Lemeshow (1980). Taught in lesson 08.

    Examples
    --------
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 1.5
    >>> result = hosmer_lemeshow(y_true, y_prob)
    >>> round(result.statistic, 2), result.law
    (47.9, 'chi-squared law, 10 degrees of freedom')
    """
    as_choice(variance, "variance", ("bin-mean", "predictions"))
    as_choice(predictions, "predictions", ("given", "fitted"))
    fitted = predictions == "fitted"
    if fitted and null_draws:
        raise ValueError(
            "Redraws would need the model to be fitted again each time; use null_draws=0 for "
            "fitted predictions."
        )
    n_bins = as_count(n_bins, "n_bins", minimum=3 if fitted else 1)
    sample = sample_of(binary_problem(y_true, y_prob, view=view, **rows))
    pooled = variance == "bin-mean"
    rule = BinnedRule(sample.prob, n_bins, pooled=pooled, fitted=2 * fitted)
    return run(sample, [rule], null_draws=null_draws, rng=rng)[0]


def spiegelhalter(
    y_true: Any,
    y_prob: Any,
    *,
    view: View | None = None,
    null_draws: int = 0,
    rng: int | np.random.Generator | None = None,
    **rows: Unpack[Rows],
) -> TestResult:
    """Ask whether the Brier score is what the predictions themselves promise (two-sided).

    ``z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)² p (1 - p))``: the Brier score minus its
    expected value, in standard deviations; above 0 over-confident, below 0 under-confident.
    Errors that leave the Brier score as promised are not seen, such as a shift of all logits when
    predictions lie evenly about 1/2. Predictions of 1/2 do not count; if there are no others, z
    is 0 and the p-value 1. The measured sizes are within 0.4 points of the level.
    Source: Spiegelhalter (1986). Taught in lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, null_draws, rng, **rows : As in `hosmer_lemeshow`

    Examples
    --------
    >>> y_prob = np.linspace(.01, .99, 300)
    >>> y_true = np.random.default_rng(0).random(300) < .5 + .7 * (y_prob - .5)
    >>> result = spiegelhalter(y_true, y_prob)
    >>> round(result.statistic, 2), result.direction
    (5.64, 'over-confident')
    """
    sample = sample_of(binary_problem(y_true, y_prob, view=view, **rows))
    return run(sample, [BrierRule(sample.prob)], null_draws=null_draws, rng=rng)[0]


def cox_test(
    y_true: Any,
    y_prob: Any,
    *,
    view: View | None = None,
    part: str = "both",
    null_draws: int = 0,
    rng: int | np.random.Generator | None = None,
    **rows: Unpack[Rows],
) -> CoxResult:
    """Test a line in logits, intercept 0 and slope 1, by its score; fit the line beside it.

    Model: ``logit P(event) = a + b logit p``; hypothesis: a = 0 and b = 1. With ``w = p (1 - p)``
    and the w-weighted mean m of the logits, ``z_intercept = sum (y - p) / sqrt(sum w)`` and
    ``z_slope = sum (y - p)(logit p - m) / sqrt(sum w (logit p - m)²)``.
    They are uncorrelated, and the sum of their squares is Rao's score test with 2 degrees of
    freedom. The test needs no fit; the result also has the fitted a and b with standard errors, for
    every `part` the same, as of a logistic regression of the labels on the logits. A small shift of
    all logits moves ``z_slope`` to second order only. Equal predictions have no slope: z is then 0
    and the joint test has 1 degree of freedom.
    The measured sizes are within 0.4 points of the level.
    Source: Cox (1958), Miller and others (1991). Taught in lesson 08.

    Parameters
    ----------
    y_true, y_prob, view, null_draws, rng, **rows : As in `hosmer_lemeshow`
    part : {"both", "intercept", "slope"}
        ``"intercept"``: too many or too few events, "calibration in the large"? ``"slope"``:
        should logits be stretched or shrunk? Both are z; ``"both"`` adds their squares.

    Examples
    --------
    >>> y_prob = np.linspace(.02, .98, 300)
    >>> y_true = np.random.default_rng(0).random(300) < .5 + .7 * (y_prob - .5)
    >>> parts = [cox_test(y_true, y_prob, part=part) for part in ("both", "intercept", "slope")]
    >>> [round(result.statistic, 2) for result in parts]
    [36.55, -1.53, -5.85]
    >>> round(parts[0].slope, 2), round(parts[0].slope_error, 2)
    (0.5, 0.09)
    """
    as_choice(part, "part", COX)
    sample = sample_of(binary_problem(y_true, y_prob, view=view, **rows))
    result = run(sample, [COX[part](sample.prob)], null_draws=null_draws, rng=rng)[0]
    return _with_line(result, sample)
