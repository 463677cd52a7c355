"""Tests of sums of residuals: Spiegelhalter's of the Brier score, and Cox's of a line in logits."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.hypothesis_tests.p_values import (
    Statistic,
    TestResult,
    as_floats,
    chi_squared,
    in_order,
    ratio,
    run_tests,
)
from calibkit.inputs import (
    FloatVector,
    Rng,
    View,
    as_choice,
    binary_problem,
    expit,
    least_prediction,
    logit,
)
from calibkit.results import listed


def normal(name: str, of: Callable[[FloatVector], Any], signs: tuple[str, str]) -> Statistic:
    """Return a standardised sum of residuals by the normal law, two-sided."""

    def tail(z: Any) -> Any:
        return special.erfc(np.abs(z) / np.sqrt(2))

    return Statistic(name, "z", "standard normal law", of, tail, signs)


def spiegelhalter(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    n_draws: int = 0,
    rng: Rng = None,
    positive: Any = None,
) -> TestResult:
    """Ask whether the Brier score is what the predictions themselves promise (two-sided).

    ``z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)² p (1 - p))``: the Brier score minus its
    expected value, in standard deviations; above 0 over-confident, below 0 under-confident.
    Errors that leave the Brier score as promised are not seen, such as a shift of all logits when
    predictions lie evenly about 1/2. Predictions of 1/2 do not count; if there are no others, z
    is 0 and the p-value 1. Source: Spiegelhalter (1986). Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    n_draws : int
        0: the limit law. Otherwise this many redraws of the labels give the p-value.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``.

    Returns
    -------
    TestResult
        Statistic, p-value, the law it comes from, and the direction.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Examples
    --------
    >>> y_prob = np.linspace(.01, .99, 300)
    >>> y_true = np.random.default_rng(0).random(300) < .5 + .7 * (y_prob - .5)
    >>> result = spiegelhalter(y_true, y_prob)
    >>> round(result.statistic, 2), result.direction
    (5.64, 'over-confident')
    """
    problem = binary_problem(y_true, y_prob, view=view, positive=positive)
    # Sums need no order; redraws do, so that the rows' order cannot matter.
    label, prob = in_order(problem) if n_draws else as_floats(problem)
    test = brier_statistic(prob)
    return run_tests([test], label, prob, view=problem.view, n_draws=n_draws, rng=rng)[0]


def brier_statistic(prob: FloatVector) -> Statistic:
    """Return Spiegelhalter's standardised Brier score."""
    lever = 1 - 2 * prob
    sd = float(np.sqrt(lever @ (lever * prob * (1 - prob))))
    signs = ("under-confident", "over-confident")
    return normal("Spiegelhalter's test", lambda r: ratio(r @ lever, sd), signs)


class CoxScores(NamedTuple):
    """The two scores of Cox's line: standard deviations, and the lever of the slope."""

    level_sd: float
    slope_sd: float
    lever: FloatVector

    def z(self, residual: FloatVector) -> tuple[Any, Any]:
        """Return z of intercept and slope for residuals, rows last."""
        slope = ratio(residual @ self.lever, self.slope_sd)
        return ratio(residual.sum(axis=-1), self.level_sd), slope

    @property
    def df(self) -> int:
        """How many of the two can vary."""
        return int(self.level_sd > 0) + int(self.slope_sd > 0)


def cox_scores(prob: FloatVector, rows: Any = 1) -> CoxScores:
    """Return what Cox's test needs of predictions; `rows` of them share each."""
    weight, logits = rows * prob * (1 - prob), logit(prob, least_prediction(prob))
    total = weight.sum()
    lever = logits - ((weight @ logits) / total if total > 0 else 0.0)
    spread = float(weight @ lever**2)
    # Equal predictions have no slope; what is left of them is rounding.
    noise = (1e-12 * (1 + np.abs(logits).max())) ** 2 * total
    return CoxScores(
        float(np.sqrt(total)), float(np.sqrt(spread)) if spread > noise else 0.0, lever
    )


def cox_statistic(prob: FloatVector, part: str = "both") -> Statistic:
    """Return the score test of intercept 0 and slope 1, or of one of them."""
    scores = cox_scores(prob)
    if part == "both":

        def squares(residual: FloatVector) -> Any:
            level, slope = scores.z(residual)
            return level**2 + slope**2

        return chi_squared("Cox's test of intercept and slope", squares, scores.df)
    place = int(part == "slope")
    signs = (("too high", "too low"), ("over-confident", "under-confident"))[place]
    return normal(f"Cox's test of the {part}", lambda residual: scores.z(residual)[place], signs)


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

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("statistic", "p_value", "n", "intercept", "slope")
        return listed(self, (*names, "intercept_error", "slope_error"), ("quantity", "number"))


def cox_test(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    part: str = "both",
    n_draws: int = 0,
    rng: Rng = None,
    positive: Any = None,
) -> CoxResult:
    """Test a line in logits, intercept 0 and slope 1, by its score; fit the line beside it.

    Model: ``logit P(event) = a + b logit p``; hypothesis: a = 0 and b = 1. With ``w = p (1 - p)``
    and the w-weighted mean m of the logits, ``z_intercept = sum (y - p) / sqrt(sum w)`` and
    ``z_slope = sum (y - p)(logit p - m) / sqrt(sum w (logit p - m)²)``.
    They are uncorrelated, and the sum of their squares is Rao's score test with 2 degrees of
    freedom. The test needs no fit; the fitted a and b are those of a logistic regression of the
    labels on the logits, for every `part` the same. Equal predictions have no slope: z is then 0
    and the joint test has 1 degree of freedom. Sources: Cox (1958); Miller and others (1991).
    Taught in lesson 08.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    part : {"both", "intercept", "slope"}
        ``"intercept"``: too many or too few events, "calibration in the large"? ``"slope"``:
        should logits be stretched or shrunk? Both are z; ``"both"`` adds their squares.
    n_draws : int
        0: the limit law. Otherwise this many redraws of the labels give the p-value.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``.

    Returns
    -------
    CoxResult
        The test, and the fitted line with its standard errors.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

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
    as_choice(part, "part", ("both", "intercept", "slope"))
    problem = binary_problem(y_true, y_prob, view=view, positive=positive)
    label, prob = in_order(problem)
    test = cox_statistic(prob, part)
    result = run_tests([test], label, prob, view=problem.view, n_draws=n_draws, rng=rng)[0]
    a, b, a_error, b_error = line_in_logits(label, logit(prob, least_prediction(prob)))
    return CoxResult(
        **asdict(result), intercept=a, slope=b, intercept_error=a_error, slope_error=b_error
    )


def line_in_logits(label: FloatVector, logits: FloatVector) -> tuple[float, ...]:
    """Return a and b of the likeliest ``logit P(event) = a + b logit p``, and standard errors.

    Logits are sorted. NaN where there is no finite optimum: all are equal, or one separates labels.
    """
    from calibkit.calibrators.newton import fit_logistic  # slow to import

    one, none = logits[label == 1], logits[label == 0]
    if not len(one) or not len(none) or one[0] >= none[-1] or none[0] >= one[-1]:
        return (np.nan,) * 4
    features = np.vstack([np.ones_like(logits), logits])
    starts = [[0.0, 1.0], [float(logit(label.mean())), 0.0]]
    theta = fit_logistic(features, label, starts).theta
    prob = expit(theta @ features)
    information = (features * prob * (1 - prob)) @ features.T
    error = np.sqrt(np.diag(np.linalg.inv(information)))
    return (*theta.tolist(), *error.tolist())
