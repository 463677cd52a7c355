"""How uncertain is a measured error? Bootstrap intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._result import Result, listed, read_only
from calibkit._validation import as_count, as_generator, as_level, as_predictions
from calibkit.significance import _binned
from calibkit.significance.null import Measure

FloatVector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BootstrapInterval(Result):
    """A measured value with an interval for the true one.

    Parameters
    ----------
    value : float
        The value measured on all rows.
    low, high : float
        Ends of the interval. The reflected form can reach below 0; then 0 is in the interval.
    level : float
        Nominal probability content.
    method : {"reflected", "percentile"}
        How the interval was made.
    name : str
        What was measured.
    draws : ndarray
        The value of each resample.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    name: str
    draws: FloatVector

    def __float__(self) -> float:
        return self.value

    def describe(self) -> str:
        """Say the value and the interval with its level and method."""
        return (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.4f}, "
            f"{100 * self.level:g} % interval {self.low:.4f} to {self.high:.4f} "
            f"({self.method} bootstrap, {len(self.draws):,} resamples)."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return listed(self, ("value", "low", "high", "level"), ("quantity", "number"))


def bootstrap_interval(
    measure: Measure,
    y_true: Any,
    y_prob: Any,
    *,
    level: float = 0.9,
    method: str = "reflected",
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = None,
    **options: Any,
) -> BootstrapInterval:
    """Interval for a measure by redrawing rows with replacement.

    Parameters
    ----------
    measure : callable
        Any ``measure(y_true, y_prob, **options)`` that returns a number or a calibkit result.
    y_true : array-like of shape (n,)
        Labels.
    y_prob : array-like of shape (n,) or (n, K)
        Probabilities.
    level : float
        Nominal probability content, in (0, 1).
    method : {"reflected", "percentile"}
        ``"reflected"``: ``[2T - q_high, 2T - q_low]`` with the measured value T and the
        quantiles q of the resamples. ``"percentile"``: ``[q_low, q_high]``; for calibration
        errors it is badly off and is here to be compared.
    n_resamples : int
        Number of resamples.
    rng : int, numpy.random.Generator or None
        Seed or generator.
    **options
        Passed to `measure`.

    Returns
    -------
    BootstrapInterval

    Raises
    ------
    ValueError
        If labels, probabilities or options are not valid, or the measure is not finite.

    Notes
    -----
    A resample has ties that the data did not have, so its calibration error is larger on
    average than the measured one, which is larger than the truth. The percentile form adds the
    second bias to the first; the reflected form subtracts it once.

    Measured coverage of the nominal 90 % interval for the expected calibration error (uniform
    predictions, 15 equal-width bins, 1000 data sets each):

    ==========================  ======  ===========  ============
    model (true error)          n       reflected    percentile
    ==========================  ======  ===========  ============
    over-confident (0.097)      500     85 %         51 %
    over-confident (0.097)      2000    87 %         83 %
    calibrated (0)              500     27 %         0 %
    calibrated (0)              2000    25 %         0 %
    ==========================  ======  ===========  ============

    Close to calibration neither form can be trusted to reach down to the truth: there, ask
    `null_level`. Binned errors keep the bins of the full data. Source 003 section 4. Taught in
    lesson 04.

    Examples
    --------
    >>> from calibkit import expected_calibration_error
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 2
    >>> interval = bootstrap_interval(expected_calibration_error, y_true, y_prob, rng=0)
    >>> round(interval.low, 2), round(interval.value, 2), round(interval.high, 2)
    (0.19, 0.23, 0.26)
    """
    level = as_level(level)
    n_resamples, generator = as_count(n_resamples, "n_resamples"), as_generator(rng)
    if method not in ("reflected", "percentile"):
        raise ValueError(f'method must be "reflected" or "percentile", got {method!r}.')
    labels, prob = as_predictions(y_true, y_prob)
    observed = measure(y_true, y_prob, **options)
    value = float(observed)
    if not np.isfinite(value):
        raise ValueError(f"The measure is {value} on these predictions, so it has no interval.")
    reusable = _binned.reusable(observed, y_true, y_prob)
    if reusable is not None:
        draws = _binned.bootstrap_errors(*reusable, n_resamples, generator)
    else:
        rows = (generator.integers(0, len(prob), size=len(prob)) for _ in range(n_resamples))
        draws = np.array([float(measure(labels[i], prob[i], **options)) for i in rows])
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    if method == "reflected":
        low, high = 2 * value - high, 2 * value - low
    name = getattr(observed, "name", getattr(measure, "__name__", "measure").replace("_", " "))
    return BootstrapInterval(
        value=value,
        low=float(low),
        high=float(high),
        level=level,
        method=method,
        name=str(name),
        draws=read_only(draws),
    )
