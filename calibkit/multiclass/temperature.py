"""Temperature scaling: one number that makes all predictions bolder or more careful."""

import warnings
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit._links import expit
from calibkit._validation import CalibrationWarning, FloatArray
from calibkit.multiclass._base import FloatMatrix, MulticlassCalibrator
from calibkit.multiclass._cooling import fit_slope
from calibkit.multiclass._scores import as_table, softmax


class TemperatureScaling(MulticlassCalibrator):
    """Divide all logits by one temperature, ``softmax(z / T)``.

    T is the minimiser of the log loss within `bounds`. The log loss is convex in 1/T, and
    Newton steps in a bracket find its minimum from everywhere.

    Parameters
    ----------
    input : {"logits", "probabilities"}
        What is passed as scores; it has no default. Of probabilities the logarithm is taken,
        and that of 0 is limited to ln(1e-16).
    bounds : (float, float)
        Smallest and largest temperature allowed.

    Attributes
    ----------
    temperature_ : float
        T. Above 1: the model was over-confident. Below 1: under-confident.
    at_bound_ : {"lower", "upper"} or None
        The bound that the temperature stopped at. ``"lower"``: nothing is gained by caution,
        e.g. because every prediction was right. ``"upper"``: the scores are worth nothing, or
        less. A `CalibrationWarning` says so as well.
    gradient_norm_ : float
        Slope of the log loss in ln T at the solution, a pure number; 0 at a bound.
    n_parameters_ : int
        1; 0 if every row has equal scores throughout, and then T = 1.
    n_iter_ : int
        Sweeps through the data, short ones for a first value included.

    Raises
    ------
    ValueError
        By ``fit``, as in `MulticlassCalibrator`, and for `bounds` out of order.

    Notes
    -----
    Logits and log-probabilities give the same map, and so do logits with another constant
    added to each row. The class of the largest score keeps the largest probability. Scores of
    shape (n,) are logits or probabilities of class 1. More than two million float32 numbers are
    summed in single precision within a row; T then has a relative error of about 1e-8.

    Taught in lesson 10. Guo, Pleiss, Sun and Weinberger (2017); source 001 section 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(5000, 4))
    >>> y = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    >>> model = TemperatureScaling("logits").fit(2 * truth, y)
    >>> round(model.temperature_, 2)
    1.95
    >>> model.calibrate([[2.0, 0.0, 0.0, 0.0]]).round(3).tolist()
    [[0.481, 0.173, 0.173, 0.173]]
    """

    family: ClassVar[str] = "temperature"
    preserves_argmax: ClassVar[bool] = True
    takes_one_event: ClassVar[bool] = True

    temperature_: float
    at_bound_: str | None
    gradient_norm_: float

    def __init__(self, input: str, bounds: tuple[float, float] = (1e-6, 1e6)):
        self.input = input
        self.bounds = bounds

    def _fit(self, logits: FloatArray, label: NDArray[np.intp]) -> None:
        low, high = _check_bounds(self.bounds)
        result = fit_slope(as_table(logits), label, 1 / high, 1 / low)
        self.temperature_ = 1 / result.slope
        self.at_bound_ = {0: None, -1: "upper", 1: "lower"}[result.bound]
        if self.at_bound_ is not None:
            self.temperature_ = float(high if result.bound < 0 else low)
        self.gradient_norm_ = result.gradient
        self.n_parameters_ = int(result.determined)
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        if self.at_bound_ is not None:
            reason = "the scores do not help" if result.bound < 0 else "no caution is needed"
            warnings.warn(
                f"Temperature scaling: the log loss is lowest at the {self.at_bound_} bound, "
                f"T = {self.temperature_:g}: {reason}. Look at the accuracy, use more data, or "
                "set bounds.",
                CalibrationWarning,
                stacklevel=3,
            )

    def _calibrate(self, logits: FloatArray) -> FloatMatrix:
        if logits.ndim == 1:
            return expit(logits / np.float64(self.temperature_))
        return softmax(_shifted(logits) / self.temperature_)


def _shifted(logits: FloatArray) -> FloatMatrix:
    """Subtract the largest logit first: a ratio could tie what a difference keeps apart."""
    table = logits.astype(np.float64)
    return np.asarray(table - table.max(axis=1, keepdims=True))


def _check_bounds(bounds: object) -> tuple[float, float]:
    try:
        low, high = (float(value) for value in bounds)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        low = high = 0.0
    if not 0 < low < high < np.inf:
        raise ValueError(
            f"bounds must be two temperatures, 0 < lower < upper, e.g. (0.05, 20), got {bounds!r}."
        )
    return low, high
