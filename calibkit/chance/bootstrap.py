"""How uncertain is a measured error? Bootstrap intervals."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.chance import redraws
from calibkit.chance._inversion import LARGEST, Inversion, too_large
from calibkit.chance.clusters import Clusters, clusters_of
from calibkit.chance.null import Measure, measured
from calibkit.errors.debiased import DebiasedError
from calibkit.errors.family import error_of_tables
from calibkit.inputs import (
    FloatArray,
    FloatVector,
    IntArray,
    IntVector,
    Rng,
    as_choice,
    as_count,
    as_generator,
    as_level,
    plain_rows,
)
from calibkit.progress import watched
from calibkit.results import Number, listed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Interval(Number):
    """A measured value with an interval for the true one.

    Parameters
    ----------
    value, low, high, level : float
        The value, the ends of its interval, and the nominal probability content.
    name : str
        What was measured.
    """

    value: float
    low: float
    high: float
    level: float
    name: str

    def _columns(self) -> dict[str, NDArray[Any]]:
        return listed(self, ("value", "low", "high", "level"), ("quantity", "number"))


METHODS = ("inverted", "reflected", "percentile")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BootstrapInterval(Interval):
    """A measured value with an interval for the true one.

    Parameters
    ----------
    value, name : float, str
        What was measured, on all rows.
    low, high : float
        The inverted form starts at 0 exactly where a calibrated model could have shown the value.
        The reflected form can reach below 0; then 0 is in the interval.
    level, method, draws
        Nominal probability content, how it was made, and the value of each resample.
    """

    method: str
    draws: FloatVector

    def describe(self) -> str:
        """Say the value and the interval with its level and method."""
        how = "inverted tests" if self.method == "inverted" else f"{self.method} bootstrap"
        return (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.4f}, "
            f"{100 * self.level:g} % interval {self.low:.4f} to {self.high:.4f} "
            f"({how}, {len(self.draws):,} resamples)."
        )


def bootstrap_interval(
    measure: Measure,
    y_true: Any,
    y_prob: Any,
    *,
    level: float = 0.9,
    method: str | None = None,
    n_resamples: int = 1000,
    rng: Rng = None,
    cluster: Any = None,
    **options: Any,
) -> BootstrapInterval:
    """Interval for the true value of a measure, from rows redrawn with replacement.

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
    method : {"inverted", "reflected", "percentile"}, optional
        ``"inverted"``: all true errors that would not be rejected, for binned errors whose bins
        ignore the labels (the default there, an error elsewhere). ``"reflected"``, the default
        elsewhere, also called basic: ``[2T - q_high, 2T - q_low]`` with the measured value T and
        the quantiles q of the resamples. ``"percentile"``: ``[q_low, q_high]``, to be compared.
    n_resamples : int
        At least two.
    rng : int, numpy.random.Generator or None
        Seed or generator of the resamples.
    cluster : array-like of shape (n,), optional
        Which rows belong together (patient, document): whole clusters are then redrawn, and the
        labels of a calibrated model as in `null_level`.
    **options
        Passed to `measure`, e.g. ``view="top-label"``; ``positive`` names the label that a
        one-dimensional `y_prob` is about; `sample_weight` is redrawn with its row.

    Returns
    -------
    BootstrapInterval
        The value, the ends of the interval, and the value of each resample.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Notes
    -----
    A resample has ties that the data did not have, so its calibration error is larger on
    average than the measured one, which is larger than the truth. The percentile form adds the
    second bias to the first; the reflected form subtracts it once, which is not enough close to
    calibration.

    The inverted form asks of each true error a: would T be an unlikely outcome? Gaps of error
    ``a = t T`` are t times a pattern. It is not that of the measured gaps, whose signs chance
    mixes: a shift and a stretch of the logits are fitted to them, and what departs from that line
    is shrunk by the factor of James and Stein. Chance adds the scatter of labels drawn from the
    predictions for t = 0, that of resampled rows for t = 1, a mixture in between. The interval
    holds each a that puts more than ``(1 - level) / 2`` of its draws at T or above, and as many
    at T or below; for the upper end, T counts as the median of a calibrated model at least. A
    debiased error gets the interval of the plain error of its bins: both estimate the same number.

    The true value is that of the bins of the full data, without chance, so T can lie above the
    interval. The error without bins is never smaller; an interval says nothing about it.

    Measured coverage in per cent of the 90 % interval, with 250 or 400 data sets of 500 resamples
    each, standard error 1.5 to 1.9. There were 15 bins of equal width or equal mass, and norms 1
    and 2; the ranges are over these four. Ten classes are seen by their predicted label; shifted
    logits are said 0.3 too high.

    ==========================  ====  ========  =========  ==========
    model                       n     inverted  reflected  percentile
    ==========================  ====  ========  =========  ==========
    calibrated                  500   96 to 97  23 to 27   0
    calibrated                  2000  96        20 to 26   0
    nearly calibrated           500   95 to 96  49 to 60   0
    nearly calibrated           2000  94 to 95  70 to 82   0
    over-confident              500   88 to 90  83 to 86   20 to 49
    over-confident              2000  90 to 92  87 to 90   58 to 82
    shifted logits              500   95 to 96  76 to 81   0 to 2
    shifted logits              2000  89 to 91  81 to 88   34 to 83
    10 classes, calibrated      500   93 to 96  14 to 43   0
    10 classes, calibrated      2000  95 to 97  25 to 50   0
    10 classes, over-confident  500   88 to 92  86 to 90   68 to 92
    10 classes, over-confident  2000  88 to 90  89 to 90   84 to 90
    10 classes, look-alike      500   85 to 89  85 to 89   70 to 90
    10 classes, look-alike      2000  87 to 90  87 to 89   86 to 90
    ==========================  ====  ========  =========  ==========

    The look-alike's interval is too short with few rows: measured again, it had 85.5 to 88.5 with
    n = 500. Normal logits (mean 0, standard deviation 1.5) that are said 0.3 too high, with 2000
    data sets: 88.5 at n = 1000, 88.6 at 2000, 89.8 at 5000; the same with mean -2: 89 to 94; said
    0.7 times as large: 88 to 93.

    Bins in which every event happened, or none, show no scatter for t = 1: with a handful of rows
    per bin the upper end can be too low there. Source: Li's reproduction of Kumar, Liang and Ma
    (2019), section 4; the inversion is our own. Taught in lesson 11.

    Examples
    --------
    >>> from calibkit import expected_calibration_error
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob ** 2
    >>> interval = bootstrap_interval(expected_calibration_error, y_true, y_prob, rng=0)
    >>> round(interval.low, 2), round(interval.value, 2), round(interval.high, 2)
    (0.19, 0.23, 0.27)
    """
    level = as_level(level)
    n_resamples, generator = as_count(n_resamples, "n_resamples", minimum=2), as_generator(rng)
    method = None if method is None else as_choice(method, "method", METHODS)
    labels, prob, options = plain_rows(y_true, y_prob, options)
    observed, value, name = measured(measure, labels, prob, options, "interval")
    clusters = None if cluster is None else clusters_of(cluster, len(prob))
    data = labels, prob, options.pop("sample_weight", None)
    tests = _invert(observed, data, method, n_resamples, generator, clusters)
    if tests is not None:
        draws = tests.draws
    elif kept := redraws.redraws_of(observed, *data):
        draws = kept._replace(clusters=clusters).resampled_errors(n_resamples, generator)
    else:
        draw = (clusters or Clusters(np.arange(len(prob)), len(prob))).resample
        rows = (draw(generator) for _ in range(n_resamples))
        values = map(_of_some(measure, data, options), rows)
        draws = np.array(list(watched(values, n_resamples, "resamples")))
    how = "inverted" if tests else method or "reflected"
    low, high = tests.interval(level) if tests else _quantiles(value, draws, level, how)
    return BootstrapInterval(
        value=value,
        low=float(low),
        high=float(high),
        level=level,
        method=how,
        name=name,
        draws=draws,
    )


def _of_some(measure: Measure, data: Any, options: Any) -> Callable[[IntVector], float]:
    """Return a measure of rows by their places, whose weights go with them."""
    label, prob, weight = data

    def found(i: IntVector) -> float:
        more = {} if weight is None else {"sample_weight": weight[i]}
        return float(measure(label[i], prob[i], **options, **more))

    return found


def _quantiles(value: float, draws: FloatVector, level: float, how: str) -> tuple[float, float]:
    """Return the quantiles of the draws, mirrored at the value for the reflected form."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return (2 * value - high, 2 * value - low) if how == "reflected" else (low, high)


def _invert(
    observed: Any,
    data: tuple[IntArray, FloatArray, Any],
    method: str | None,
    n_resamples: int,
    generator: np.random.Generator,
    clusters: Clusters | None,
) -> Inversion | None:
    """Return what inverts the tests of a binned error, or None where its bins do not allow it."""
    if method not in (None, "inverted"):
        return None
    if isinstance(observed, DebiasedError):  # the plain error of its bins
        observed = error_of_tables(observed.tables, norm=observed.norm)
    kept = redraws.redraws_of(observed, *data)
    if kept is not None and not too_large(kept.error, n_resamples):
        return Inversion(kept.within(clusters, generator), n_resamples, generator)
    if method is None:
        return None
    raise ValueError(
        "Tests can be inverted only for binned calibration errors whose bins ignore the "
        f'labels, and up to {LARGEST:,} resampled bins. Use method="reflected".'
    )
