"""How uncertain is a measured value? Bootstrap intervals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.chance.null import Measure, measured, plain_data, values_of
from calibkit.inputs import FloatVector, Rng, as_choice, as_count, as_generator, as_level
from calibkit.results import Number, listed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BootstrapInterval(Number):
    """A measured value with an interval for the true one.

    Parameters
    ----------
    value, name : float, str
        What was measured, on all rows.
    low, high : float
        The reflected form of an error can reach below 0; then 0 is in the interval.
    level, method, draws
        Nominal probability content, how it was made, and the value of each resample.
    """

    value: float
    name: str
    low: float
    high: float
    level: float
    method: str
    draws: FloatVector

    def describe(self) -> str:
        """Say the value and the interval with its level and method."""
        return (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.4f}, "
            f"{100 * self.level:g} % interval {self.low:.4f} to {self.high:.4f} "
            f"({self.method} bootstrap, {len(self.draws):,} resamples)."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return listed(self, ("value", "low", "high", "level"), ("quantity", "number"))


def bootstrap_interval(
    measure: Measure,
    y_true: Any,
    y_prob: Any,
    *,
    level: float = 0.9,
    method: str = "reflected",
    n_draws: int = 1000,
    rng: Rng = None,
    **options: Any,
) -> BootstrapInterval:
    """Interval for the true value of a measure, from rows redrawn with replacement.

    A resample has ties that the data did not have, so its calibration error is larger on
    average than the measured one, which is larger than the truth. The percentile form adds the
    second bias to the first; the reflected form subtracts it once, which is not enough close to
    calibration: there, read a `null_level` beside it, or measure a debiased error.
    Sources: Davison and Hinkley (1997), section 5.2; Li's reproduction of Kumar, Liang and Ma
    (2019), sections 2 and 4. Taught in lesson 11.

    Parameters
    ----------
    measure : callable
        Any ``measure(y_true, y_prob, **options)`` that returns a number or a calibkit result.
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    level : float
        Nominal probability content, in (0, 1).
    method : {"reflected", "percentile"}
        ``"reflected"``, also called basic: ``[2T - q_high, 2T - q_low]`` with the measured value
        T and the quantiles q of the resamples. ``"percentile"``: ``[q_low, q_high]``.
    n_draws : int
        Number of resamples, at least two.
    rng : int, numpy.random.Generator or None
        Seed or generator of the resamples.
    **options
        Passed to `measure`, e.g. ``view="top-label"``, except ``positive``, the label that a
        one-dimensional `y_prob` is about.

    Returns
    -------
    BootstrapInterval
        The value, the ends of the interval, and the value of each resample.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    See Also
    --------
    null_level : what chance alone would show.

    Examples
    --------
    >>> from calibkit import expected_calibration_error
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 2
    >>> interval = bootstrap_interval(expected_calibration_error, y_true, y_prob, rng=0)
    >>> round(interval.low, 1), round(interval.value, 2), round(interval.high, 1)
    (0.2, 0.23, 0.3)
    """
    level, n_draws = as_level(level), as_count(n_draws, "n_draws", minimum=2)
    method, generator = as_choice(method, "method", ("reflected", "percentile")), as_generator(rng)
    labels, prob, options = plain_data(y_true, y_prob, options, "bootstrap interval")
    value, name = measured(measure, labels, prob, options, "interval")
    n = len(prob)
    places = (generator.integers(0, n, size=n) for _ in range(n_draws))
    draws = values_of(measure, ((labels[rows], prob[rows]) for rows in places), options)
    low, high = map(float, np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]))
    if method == "reflected":
        low, high = 2 * value - high, 2 * value - low
    return BootstrapInterval(
        value=value, name=name, low=low, high=high, level=level, method=method, draws=draws
    )
