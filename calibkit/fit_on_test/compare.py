"""Several evaluators on the same data, with and without a known truth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.fit_on_test.evaluate import FitOnTest, fit_on_test
from calibkit.inputs import FloatVector, Rng, View, as_array, as_generator, binary_problem
from calibkit.results import Result, spell

Truth = Callable[[FloatVector], Any]


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

    def __len__(self) -> int:
        return len(self.names)

    @property
    def value(self) -> FloatVector:
        """The estimate of each evaluator."""
        return np.array([result.value for result in self.results])

    def describe(self) -> str:
        """Say how far the estimates are apart and, if the truth is known, which map is closest."""
        low, high = int(self.value.argmin()), int(self.value.argmax())
        text = (
            f"{spell(len(self), 'evaluator')} on the same {spell(self.n, 'prediction')} "
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
    null_draws: int = 0,
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
    null_draws : int
        How often each map is fitted again to labels drawn from the predictions.
    evaluators : mapping of str to Calibrator or estimator
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
        If the input is not valid, an evaluator is neither a calibrator nor an estimator, or `truth`
        does not give one probability per row.

    Notes
    -----
    `map_error` is ``(1/n) sum_i |g(p_i) - c(p_i)|`` on the data of the fit, the calibration-map
    estimation error of Kängsepp, Valk and Kull (2022), section 4.7; `true_error` is
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
        fit_on_test(y_true, y_prob, evaluator=one, view=view, null_draws=null_draws, rng=seed)
        for one in evaluators.values()
    )
    map_error, true_error = np.full(len(results), np.nan), float("nan")
    if truth is not None:
        problem = binary_problem(y_true, y_prob, view=view)
        prob = problem.prob.astype(np.float64)
        # `fit_on_test` keeps predictions sorted. Maps are equal within a tie, so its order is free.
        true_prob = _true_prob(truth, prob)[np.argsort(prob)]
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


def _true_prob(truth: Truth | Any, prob: FloatVector) -> FloatVector:
    values = as_array(truth(prob) if callable(truth) else truth, "truth").astype(np.float64)
    if values.shape != prob.shape:
        raise ValueError(
            f"truth has shape {values.shape}, but there are {len(prob)} predictions; give one "
            "probability per row, or a map of predictions to probabilities."
        )
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if len(bad):
        raise ValueError(f"truth[{bad[0]}] = {values[bad[0]]:g} is not a probability in [0, 1].")
    return values
