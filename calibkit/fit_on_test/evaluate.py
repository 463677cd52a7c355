"""Evaluators: fit a map to the test data and measure its distance from the diagonal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from calibkit.calibrators import Calibrator, SlopeOneBinning
from calibkit.chance import null_level
from calibkit.errors.debiased import debiased_absolute, debiased_square
from calibkit.inputs import (
    FloatVector,
    Rng,
    View,
    as_count,
    as_generator,
    as_number,
    as_probability_array,
    binary_problem,
    refuse_other_order,
)
from calibkit.results import Number, Result, listed, plus_minus, spell

Truth = Callable[[FloatVector], Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FitOnTest(Number):
    """A map fitted to the test data, and what it says about the calibration error.

    Parameters
    ----------
    value, squared : float
        Mean distance of the map from the diagonal, the estimate of the calibration error; mean
        squared distance, without a root.
    debiased, debiased_squared : float
        The same with the surplus of chance taken off, for slope-1 bins; may be negative. NaN for
        other families.
    family, loss, view : str; family of maps, what the fit minimised, which event
    n_parameters, n : int
        Free parameters (None for non-parametric families), and number of predictions.
    prob, label, fitted : ndarray of shape (n,)
        The predictions, sorted; their labels; the map there, which may leave [0, 1].
    evaluator, line_x, line_y : Calibrator, ndarray, ndarray
        The fitted calibrator, and its map to draw, with NaN between separate pieces.
    null_mean, null_sd, p_value : float
        Mean and standard deviation of `value` for a calibrated model with these predictions, and
        `calibkit.NullLevel.p_value`; NaN without redraws.
    """

    value: float
    squared: float
    debiased: float
    debiased_squared: float
    family: str
    loss: str
    n_parameters: int | None
    view: str
    n: int
    prob: FloatVector
    label: NDArray[np.int64]
    fitted: FloatVector
    evaluator: Calibrator
    line_x: FloatVector
    line_y: FloatVector
    null_mean: float
    null_sd: float
    p_value: float

    def error(self, alpha: float) -> float:
        """Return ``(1/n) sum_i |g(p_i) - p_i|^alpha``, without a root, for any alpha above 0."""
        as_number(alpha, "alpha", "a finite number above 0", lambda value: 0 < value < np.inf)
        return float(np.mean(np.abs(self.fitted - self.prob) ** alpha))

    def describe(self) -> str:
        """Say the estimate, the family that made it, and what a calibrated model would show."""
        size = spell(self.n_parameters, "parameter") if self.n_parameters else "non-parametric"
        text = (
            f"Fit on test with {self.family} ({size}; {self.view}, {spell(self.n, 'prediction')}): "
            f"the map is {self.value:.4f} from the diagonal on average"
        )
        if not np.isnan(self.debiased):
            text += f", {self.debiased:.4f} debiased"
        if not np.isnan(self.null_mean):
            text += (
                f"; a calibrated model with these predictions would show about "
                f"{plus_minus(self.null_mean, self.null_sd)} (p = {self.p_value:.3f})"
            )
        return text + "."

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        rows = ["value", "squared", "debiased", "debiased_squared"]
        rows += [] if np.isnan(self.null_mean) else ["null_mean", "null_sd", "p_value"]
        return listed(self, tuple(rows), ("quantity", "number"))


def fit_on_test(
    y_true: Any,
    y_prob: Any,
    *,
    evaluator: Any = None,
    view: View | None = None,
    n_draws: int = 0,
    rng: Rng = None,
) -> FitOnTest:
    """Fit a map to the test data; its mean distance from the diagonal estimates the error.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or the class numbers ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        Predicted probabilities of the event, or of each class.
    view : "top-label" or int, optional
        Of K classes: the event that the predicted class is right, or that this class occurs.
    evaluator : Calibrator, optional
        The family of maps. By default ``SlopeOneBinning(15)``, which gives the expected
        calibration error.
    n_draws, rng : int, int, numpy.random.Generator or None
        How often labels are redrawn from the predictions and the map is fitted again, to see what a
        calibrated model would show.

    Returns
    -------
    FitOnTest
        The estimate, the fitted map, and what a calibrated model would show.

    Raises
    ------
    ValueError
        If the input is not valid, or the evaluator is no calibrator of one dimension.

    Notes
    -----
    ``g = argmin over the family of (1/n) sum_i loss(g(p_i), y_i)``, then
    ``(1/n) sum_i |g(p_i) - p_i|^a`` for a = 1 (`value`) and a = 2 (`squared`), without a root
    (Kängsepp, Valk and Kull, 2022, section 4.2). With slope-1 bins it equals the binned calibration
    error for every a (Theorem 2), with flat bins it does not. The debiased values are those of
    `calibkit.debiased_calibration_error`. Other families have no correction: compare them with
    their null level; a rich family finds a distance even where there is none. Taught in lesson 05.

    Examples
    --------
    >>> from calibkit import expected_calibration_error
    >>> p, u = np.random.default_rng(0).random((2, 500))
    >>> y = u < p**1.5
    >>> round(fit_on_test(y, p).value, 4), round(float(expected_calibration_error(y, p)), 4)
    (0.1062, 0.1062)
    """
    problem = binary_problem(y_true, y_prob, view=view)
    # Sorted, so that neither a stochastic fit nor the redraws depend on the order of the rows.
    order = np.lexsort((problem.label, problem.prob))
    prob, label = problem.prob[order].astype(np.float64), problem.label[order].astype(np.int64)
    calibrator = as_evaluator(SlopeOneBinning(15) if evaluator is None else evaluator)
    fitted = calibrator.fit(prob, label).curve(prob)
    gap = np.abs(fitted - prob)
    line_x, line_y = calibrator.polyline()
    null_mean = null_sd = p_value = np.nan
    if as_count(n_draws, "n_draws", minimum=0):
        fresh = as_evaluator(calibrator)

        def distance(y_true: Any, y_prob: Any) -> float:
            return float(np.mean(np.abs(fresh.fit(y_prob, y_true).curve(y_prob) - y_prob)))

        null = null_level(distance, label, prob, n_draws=n_draws, rng=rng)
        null_mean, null_sd, p_value = null.mean, null.sd, null.p_value
    # Only with slope-1 bins are they the errors of a bin table, which can be corrected.
    table = calibrator.table_ if isinstance(calibrator, SlopeOneBinning) else None
    return FitOnTest(
        value=float(gap.mean()),
        squared=float(np.square(gap).mean()),
        debiased=np.nan if table is None else debiased_absolute(table),
        debiased_squared=np.nan if table is None else debiased_square(table),
        family=calibrator.family,
        loss=calibrator.loss_name,
        n_parameters=calibrator.n_parameters_,
        view=problem.view,
        n=problem.n,
        prob=prob,
        label=label,
        fitted=fitted,
        evaluator=calibrator,
        line_x=line_x,
        line_y=line_y,
        null_mean=null_mean,
        null_sd=null_sd,
        p_value=p_value,
    )


def as_evaluator(evaluator: Any) -> Calibrator:
    """Return an unfitted copy of a calibrator of one dimension; anything else is refused."""
    if not isinstance(evaluator, Calibrator):
        raise ValueError(
            "An evaluator is a calibrator of one dimension such as PlattCalibrator(), got "
            f"{evaluator!r}. Any other fit becomes one as a subclass of Calibrator with _fit and "
            "_curve."
        )
    copy: Calibrator = clone(evaluator)
    return copy


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EvaluatorComparison(Result):
    """The estimates of several evaluators on one data set.

    Parameters
    ----------
    names, results : tuple of str, tuple of FitOnTest
        Names of the evaluators, in the order given, and what each of them found.
    map_error, true_error : ndarray, float
        Mean distance of each map from the true one, and of the predictions; NaN if it is not known.
    view, n : str, int
    """

    names: tuple[str, ...]
    results: tuple[FitOnTest, ...]
    map_error: FloatVector
    true_error: float
    view: str
    n: int

    def __getitem__(self, name: str) -> FitOnTest:
        if name not in self.names:
            raise KeyError(f"{name!r} was not compared; there are {', '.join(self.names)}.")
        return self.results[self.names.index(name)]

    @property
    def value(self) -> FloatVector:
        """The estimate of each evaluator."""
        return np.array([result.value for result in self.results])

    def describe(self) -> str:
        """Say how far the estimates are apart and, if the truth is known, which map is closest."""
        low, high = int(self.value.argmin()), int(self.value.argmax())
        text = (
            f"{spell(len(self.names), 'evaluator')} on the same {spell(self.n, 'prediction')} "
            f"({self.view}): the estimates of the calibration error go from "
            f"{self.value[low]:.4f} ({self.names[low]}) to {self.value[high]:.4f} "
            f"({self.names[high]})."
        )
        if np.isnan(self.true_error):
            return text
        best = int(self.map_error.argmin())
        return text + (
            f" The true error is {self.true_error:.4f}; the map of {self.names[best]} is closest "
            f"to the true one, {self.map_error[best]:.4f} from it on average."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        def each(name: str) -> NDArray[Any]:
            return np.array([getattr(result, name) for result in self.results])

        sizes = ["–" if size is None else str(size) for size in each("n_parameters")]
        columns = {
            "evaluator": np.array(self.names),
            "parameters": np.array(sizes),
            "loss": each("loss"),
            "estimate": self.value,
            "debiased": each("debiased"),
        }
        if not np.isnan(each("null_mean")).all():
            columns |= {name: each(name) for name in ("null_mean", "null_sd", "p_value")}
        if not np.isnan(self.true_error):
            columns["map_error"] = self.map_error
        return columns


def compare_evaluators(
    y_true: Any,
    y_prob: Any,
    *,
    evaluators: Mapping[str, Any],
    view: View | None = None,
    n_draws: int = 0,
    rng: Rng = None,
    truth: Truth | Any = None,
) -> EvaluatorComparison:
    """Fit several evaluators to the same test data.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or the class numbers ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        Predicted probabilities of the event, or of each class.
    view : "top-label" or int, optional
        Of K classes: the event that the predicted class is right, or that this class occurs.
    n_draws : int
        How often each map is fitted again to labels drawn from the predictions.
    evaluators : mapping of str to Calibrator
        What to compare, by name.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws. All evaluators start from the same state.
    truth : callable or array-like of shape (n,), optional
        The true probability of the event: a map ``truth(p)``, or one value per row.

    Returns
    -------
    EvaluatorComparison
        What each evaluator found, in the order given.

    Raises
    ------
    ValueError
        If the input is not valid, an evaluator is no calibrator of one dimension, or `truth` does
        not give one probability per row.

    Notes
    -----
    `map_error` is ``(1/n) sum_i |g(p_i) - c(p_i)|`` on the data of the fit, the calibration-map
    estimation error of Kängsepp, Valk and Kull (2022), section 6.1; `true_error` is
    ``(1/n) sum_i |p_i - c(p_i)|``. A close estimate of the error does not imply a close map: errors
    of the map may cancel. Taught in lesson 05.

    Examples
    --------
    >>> from calibkit.calibrators import SlopeOneBinning, SweepBinning
    >>> p, u = np.random.default_rng(0).random((2, 500))
    >>> both = {"slanted tops": SlopeOneBinning(5), "sweep": SweepBinning()}
    >>> comparison = compare_evaluators(u < p**1.5, p, evaluators=both, truth=lambda p: p**1.5)
    >>> comparison.value.round(4).tolist(), comparison.map_error.round(4).tolist()
    ([0.1008, 0.1008], [0.0336, 0.0325])
    """
    if not evaluators:
        raise ValueError("evaluators is empty; give at least one, e.g. {'Platt': ...}.")
    seed = int(as_generator(rng).integers(2**63))
    results = tuple(
        fit_on_test(y_true, y_prob, evaluator=one, view=view, n_draws=n_draws, rng=seed)
        for one in evaluators.values()
    )
    map_error, true_error = np.full(len(results), np.nan), float("nan")
    if truth is not None:
        problem = binary_problem(y_true, y_prob, view=view)
        prob = problem.prob.astype(np.float64)
        refuse_other_order(y_prob=y_prob, truth=truth)
        true_prob = as_probability_array(truth(prob) if callable(truth) else truth, "truth")
        if true_prob.shape != prob.shape:
            raise ValueError(
                f"truth has shape {true_prob.shape}, but there are {len(prob)} predictions; give "
                "one probability per row, or a map of predictions to probabilities."
            )
        # `fit_on_test` keeps predictions sorted. Maps are equal within a tie, so its order is free.
        true_prob = true_prob[np.argsort(prob)]
        map_error = np.array([np.mean(np.abs(one.fitted - true_prob)) for one in results])
        true_error = float(np.mean(np.abs(results[0].prob - true_prob)))
    return EvaluatorComparison(
        names=tuple(evaluators),
        results=results,
        map_error=map_error,
        true_error=true_error,
        view=results[0].view,
        n=results[0].n,
    )
