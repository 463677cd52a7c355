"""What a study measures in one cell: the fitted map against the truth, its error against CE."""

from collections.abc import Iterable
from time import process_time
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from book.experiments.synthetic.evaluators import Derived, Direct, Evaluators
from book.experiments.synthetic.grid import Unseen
from calibkit.calibrators.base import Calibrator
from calibkit.fakes import FakeSample
from calibkit.fit_on_test import fit_on_test
from calibkit.inputs import FloatVector

# Maps of few parameters and without jumps are judged on every tenth of a million unseen
# predictions, which are in order: that changes less than a millionth. Other maps need all of them.
STRIDE, MANY = 10, 1_000_000
# The error after calibration needs no more than so many predictions, in groups of neighbours.
AFTER, GROUP = 50_000, 50


class Known(Protocol):
    """A data set whose truth is known."""

    @property
    def key(self) -> str:
        """The coordinates as the name of a file."""

    def sample(self) -> FakeSample:
        """Draw the data."""

    def unseen(self) -> Unseen:
        """Return other predictions of the same classifier, in rising order."""


class Measures(NamedTuple):
    """The numbers of one cell.

    `map_error` is the mean of ``|c_hat - c|`` on the unseen predictions, `map_squared` that of
    its square, `after` the calibration error that is left when the map is applied. `absolute` and
    `squared` are the estimates of the calibration error for ``alpha`` 1 and 2, debiased for bins.
    `true_absolute` and `true_squared` are the errors of the same n predictions. `choice` is the
    number of bins, pieces or parameters (0 where a family has none to count), `seconds` the
    processor time of the fit. What is not estimated is NaN.
    """

    map_error: float
    after: float
    absolute: float
    squared: float
    true_absolute: float
    true_squared: float
    choice: int
    seconds: float
    map_squared: float = float("nan")


class Fit(NamedTuple):
    """A fitted evaluator, if it has a map, and its estimates on the data it was fitted to."""

    evaluator: Calibrator | None
    absolute: float
    squared: float
    seconds: float


def measure(data_set: Known, evaluators: Evaluators, names: Iterable[str]) -> dict[str, Measures]:
    """Fit the named evaluators to one data set and compare them with the truth."""
    sample, unseen = data_set.sample(), data_set.unseen()
    gap = sample.y_prob - sample.true_prob
    true_absolute, true_squared = float(np.mean(np.abs(gap))), float(np.mean(gap**2))
    fits: dict[str, Fit] = {}
    rows = {}
    for name in names:
        fit = _fit(name, evaluators, (sample.y_prob, sample.y_true), fits)
        map_error, map_squared, after = _map_errors(fit.evaluator, unseen)
        rows[name] = Measures(
            map_error=map_error,
            map_squared=map_squared,
            after=after,
            absolute=fit.absolute,
            squared=fit.squared,
            true_absolute=true_absolute,
            true_squared=true_squared,
            choice=_choice(fit.evaluator),
            seconds=fit.seconds,
        )
    return rows


def _fit(
    name: str,
    evaluators: Evaluators,
    data: tuple[FloatVector, NDArray[np.int64]],
    fits: dict[str, Fit],
) -> Fit:
    """Fit one evaluator, and the one that it is derived from, unless that has been done."""
    if name in fits:
        return fits[name]
    prob, label = data
    evaluator = evaluators[name]
    start = process_time()
    if isinstance(evaluator, Direct):
        squared = evaluator.estimate(label, prob)
        fits[name] = Fit(None, float("nan"), squared, process_time() - start)
        return fits[name]
    if isinstance(evaluator, Derived):
        source = _fit(evaluator.source, evaluators, data, fits).evaluator
        start = process_time()
        fitted = evaluator.finish(source, prob, label)
        seconds = process_time() - start
        gap = fitted.curve(prob) - prob
        fits[name] = Fit(fitted, float(np.mean(np.abs(gap))), float(np.mean(gap**2)), seconds)
        return fits[name]
    start = process_time()
    result = fit_on_test(label, prob, evaluator=clone(evaluator))
    seconds = process_time() - start
    # Only bins can be debiased; the plug-in error of the other families stands as it is.
    absolute = result.value if np.isnan(result.debiased) else result.debiased
    squared = result.squared if np.isnan(result.debiased_squared) else result.debiased_squared
    fits[name] = Fit(result.evaluator, float(absolute), float(squared), seconds)
    return fits[name]


def _map_errors(evaluator: Calibrator | None, unseen: Unseen) -> tuple[float, float, float]:
    """Return the distance of a map from the truth, its square, and what is left behind the map."""
    if evaluator is None:
        return float("nan"), float("nan"), float("nan")
    smooth = evaluator.n_parameters_ and not hasattr(evaluator, "table_")
    step = STRIDE if smooth and len(unseen.prob) >= MANY else 1
    truth = unseen.true_prob[::step]
    fitted = evaluator.curve(unseen.prob[::step])
    some = slice(None, None, max(len(truth) // AFTER, 1))
    after = error_after_calibration(fitted[some], truth[some])
    gap = fitted - truth
    return float(np.mean(np.abs(gap))), float(np.mean(gap**2)), after


def _choice(evaluator: Any) -> int:
    """Return the number of pieces or bins, or else of parameters; 0 where nothing is counted."""
    for attribute in ("n_pieces_", "n_bins_", "n_parameters_"):
        value = getattr(evaluator, attribute, None)
        if value is not None:
            return int(value)
    return 0


def error_after_calibration(fitted: FloatVector, true_prob: FloatVector) -> float:
    """Return the calibration error that is left when a map has been applied."""
    order = np.argsort(fitted, kind="stable")
    value, truth = fitted[order], true_prob[order]
    first = np.flatnonzero(np.diff(value, prepend=-np.inf) > 0)  # where a new value starts
    number = np.searchsorted(first, np.arange(0, len(value), GROUP), side="right") - 1
    starts = np.unique(first[number])
    gaps = np.add.reduceat(value - truth, starts)
    return float(np.sum(np.abs(gaps)) / len(value))
