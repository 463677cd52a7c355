"""What a calibrated model would show: null levels and consistency bands."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Bins, as_bins
from calibkit.inputs import (
    TIE,
    FloatArray,
    FloatVector,
    IntArray,
    IntVector,
    Rng,
    View,
    as_count,
    as_generator,
    as_level,
    as_predictions,
    binary_problem,
    quiet,
)
from calibkit.reliability import BinTable, table_of
from calibkit.results import Number, Result, listed, plus_minus, spell

Measure = Callable[..., SupportsFloat]
_RELATIVE_TIE = 1e-9  # two computations of one number may differ in the last digits


def redrawn_labels(
    prob: FloatArray, n_draws: int, generator: np.random.Generator
) -> Iterator[IntVector]:
    """Yield labels of all rows, drawn from their own probabilities, `n_draws` times."""
    if prob.ndim == 1:
        for _ in range(n_draws):
            yield (generator.random(len(prob)) < prob).astype(np.intp)
        return
    upper = np.cumsum(prob, axis=1, dtype=np.float64)
    for _ in range(n_draws):  # the class is the number of cumulated probabilities passed
        level = generator.random((len(prob), 1)) * upper[:, -1:]  # rows may miss the sum 1
        yield (level >= upper[:, :-1]).sum(axis=1)


def p_value_of(value: float, draws: FloatVector) -> float:
    """Return ``(1 + #{redraws >= value}) / (R + 1)``, which is never 0."""
    limit = value - _RELATIVE_TIE * abs(value) - TIE
    return float((1 + (draws >= limit).sum()) / (len(draws) + 1))


def values_of(
    measure: Measure, rows: Iterator[tuple[IntArray, FloatArray]], options: Mapping[str, Any]
) -> FloatVector:
    """Measure redrawn rows; what the measure warned of on the data, it does not repeat."""
    with quiet():
        values = np.array([float(measure(*drawn, **options)) for drawn in rows])
    if missing := np.isnan(values).sum():
        raise ValueError(f"The measure is nan in {missing:,} of {len(values):,} redraws.")
    return values


def plain_data(
    y_true: Any, y_prob: Any, options: Mapping[str, Any], wanted: str
) -> tuple[IntArray, FloatArray, dict[str, Any]]:
    """Return labels 0 .. K-1, probabilities, and the options of the measure."""
    if options.get("sample_weight") is not None:
        raise ValueError(
            f"A {wanted} takes no sample_weight: chance depends on how weights hang together with "
            "labels. Leave it out, or repeat rows that stand for several independent ones."
        )
    labels, prob = as_predictions(y_true, y_prob, options.get("positive"))
    return labels, prob, {key: value for key, value in options.items() if key != "positive"}


def measured(
    measure: Measure, y_true: Any, y_prob: Any, options: Mapping[str, Any], wanted: str
) -> tuple[float, str]:
    """Return what a measure finds on the data, and its name."""
    observed = measure(y_true, y_prob, **options)
    value = float(observed)
    if not np.isfinite(value):
        raise ValueError(f"The measure is {value} on these predictions, so it has no {wanted}.")
    name = getattr(observed, "name", getattr(measure, "__name__", "measure").replace("_", " "))
    return value, str(name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NullLevel(Number):
    """A measured value beside the values that a calibrated model would show.

    Parameters
    ----------
    value, name
        What was measured on the real labels.
    mean, sd, low, median, high : float
        Of the redraws: mean, standard deviation, 5 %, 50 % and 95 % quantile.
    p_value, draws
        ``(1 + #{redraws >= value}) / (R + 1)``, and the value of each redraw.
    """

    value: float
    name: str
    mean: float
    sd: float
    low: float
    median: float
    high: float
    p_value: float
    draws: FloatVector

    @classmethod
    def of(cls, value: float, name: str, draws: FloatVector) -> "NullLevel":
        """Sum up the values of redraws."""
        low, median, high = map(float, np.quantile(draws, [0.05, 0.5, 0.95]))
        return cls(
            value=value,
            name=name,
            mean=float(draws.mean()),
            sd=float(draws.std(ddof=1)) if len(draws) > 1 else float("nan"),
            low=low,
            median=median,
            high=high,
            p_value=p_value_of(value, draws),
            draws=draws,
        )

    def describe(self) -> str:
        """Say the value, its null level, the p-value and the verdict at 5 %."""
        verdict = "no evidence of miscalibration"
        if self.p_value <= 0.05:
            verdict = "more than chance explains (5 % level)"
        elif 1 / (len(self.draws) + 1) > 0.05:
            verdict = "too few redraws to tell"
        return (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.4f}; a calibrated model with "
            f"these predictions would show {plus_minus(self.mean, self.sd)} (95 % below "
            f"{self.high:.4f}); p = {self.p_value:.3f}: {verdict}."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        rows = ("value", "mean", "sd", "low", "median", "high", "p_value")
        return listed(self, rows, ("quantity", "number"))


def null_level(
    measure: Measure,
    y_true: Any,
    y_prob: Any,
    *,
    n_draws: int = 1000,
    rng: Rng = None,
    **options: Any,
) -> NullLevel:
    """Measure again and again on labels redrawn from the predictions themselves.

    The predictions stay fixed; ``y*_i`` is drawn with the probabilities of row i, so that the
    model is calibrated by construction. ``p = (1 + #{redraws >= value}) / (R + 1)``, which is
    never 0 and is valid for any R. Sources: Bröcker and Smith (2007); Panchenko (2021),
    section 3.3. Taught in lesson 04.

    Parameters
    ----------
    measure : callable
        Any ``measure(y_true, y_prob, **options)`` that returns a number or a calibkit result,
        where larger means worse. A value that is not finite is refused, and nan in a redraw.
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    n_draws : int
        Number of redraws R; the smallest possible p-value is 1 / (R + 1).
    rng : int, numpy.random.Generator or None
        Seed or generator. Random numbers follow the rows: with the same seed, the same rows in
        another order get other redraws, of the same law.
    **options
        Passed to `measure`, e.g. ``view="top-label"``, except ``positive``, the label that a
        one-dimensional `y_prob` is about.

    Returns
    -------
    NullLevel
        The measured value beside mean, spread and quantiles of the redraws, and the p-value.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    See Also
    --------
    consistency_band : the same chance, bin by bin.
    bootstrap_interval : how sure a measured value is.

    Examples
    --------
    >>> from calibkit import expected_calibration_error
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob
    >>> null = null_level(expected_calibration_error, y_true, y_prob, rng=0)
    >>> round(null.value, 3), round(null.mean, 2), null.p_value > .05
    (0.086, 0.07, True)
    """
    n_draws, generator = as_count(n_draws, "n_draws"), as_generator(rng)
    labels, prob, options = plain_data(y_true, y_prob, options, "null level")
    value, name = measured(measure, labels, prob, options, "null level")
    rows = ((drawn, prob) for drawn in redrawn_labels(prob, n_draws, generator))
    return NullLevel.of(value, name, values_of(measure, rows, options))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConsistencyBand(Result):
    """Where the frequencies of a calibrated model would lie, bin by bin.

    Parameters
    ----------
    table : BinTable
        The bins with the observed frequencies.
    lower, upper : ndarray of shape (B,)
        Ends of the band, in [0, 1]; NaN where the bin is empty.
    level, simultaneous
        Probability that a frequency (or all of them, if simultaneous) lies inside.
    """

    table: BinTable
    lower: FloatVector
    upper: FloatVector
    level: float
    simultaneous: bool

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Which bins have an observed frequency outside the band."""
        frequency = self.table.frequency
        return (frequency < self.lower - TIE) | (frequency > self.upper + TIE)

    def describe(self) -> str:
        """Say how many bins are outside and how many chance alone would put there."""
        used = int(self.table.occupied.sum())
        outside = int(self.outside.sum())
        percent = f"{100 * self.level:g} %"
        if self.simultaneous:
            expected = f"a calibrated model stays inside everywhere with probability {percent}"
        else:
            share = (1 - self.level) * used  # fewer in thin bins, whose frequencies are coarse
            expected = f"chance alone puts at most about {share:.1f} of them there"
        kind = "simultaneous" if self.simultaneous else "pointwise"
        return (
            f"{outside} of {spell(used, 'bin')} outside the {kind} {percent} consistency band; "
            f"{expected}."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        named = {name: getattr(self.table, name) for name in ("mean_prob", "frequency")}
        return named | {name: getattr(self, name) for name in ("lower", "upper", "outside")}


def consistency_band(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = 15,
    level: float = 0.9,
    simultaneous: bool = False,
    n_draws: int = 1000,
    rng: Rng = None,
    positive: Any = None,
) -> ConsistencyBand:
    """Band in which the frequency of each bin would lie if the predictions were right.

    Pointwise: the ``(1 - level)/2`` quantiles of the redrawn frequencies. Simultaneous: the
    mean prediction ± c standard deviations ``sqrt(sum p(1-p)) / n_b``, with c the `level`
    quantile of the largest standardised deviation over all bins (maximum statistic).
    Source: Bröcker and Smith (2007). Taught in lesson 04.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    bins : int, Binning or edges
        A number of equal-width bins, or a binning that ignores the labels.
    level : float
        Probability content, in (0, 1).
    simultaneous : bool
        If true, all bins together stay inside with probability `level`; otherwise each bin
        alone does, and with 15 bins one or two are outside by chance.
    n_draws : int
        Number of redraws, at least two.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``.

    Returns
    -------
    ConsistencyBand
        The table of bins with the ends of the band, and which bins lie outside.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    See Also
    --------
    null_level : the same chance, in one number.

    Examples
    --------
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(0).random(300) < y_prob
    >>> consistency_band(y_true, y_prob, bins=5, rng=0).outside.tolist()
    [False, False, False, False, False]
    """
    level, n_draws = as_level(level), as_count(n_draws, "n_draws", minimum=2)
    generator = as_generator(rng)
    problem = binary_problem(y_true, y_prob, view=view, positive=positive)
    table, prob = table_of(problem, as_bins(bins)), problem.prob.astype(np.float64)
    if getattr(table.binning, "uses_labels", False):
        raise ValueError(f"A consistency band needs bins that ignore the labels, not {table.bins}.")
    index = table.assign(problem.prob)
    redraws = redrawn_labels(prob, n_draws, generator)
    events = np.array([np.bincount(index, drawn, table.n_bins) for drawn in redraws])
    with np.errstate(invalid="ignore"):  # empty bins stay NaN
        frequency = events / table.count
    if simultaneous:
        variance = np.bincount(index, prob * (1 - prob), table.n_bins).astype(np.float64)
        lower, upper = simultaneous_ends(frequency, variance, table, level)
    else:
        lower, upper = np.quantile(frequency, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return ConsistencyBand(
        table=table, lower=lower, upper=upper, level=level, simultaneous=simultaneous
    )


def simultaneous_ends(
    frequency: FloatVector, variance: FloatVector, table: BinTable, level: float
) -> tuple[FloatVector, FloatVector]:
    """Return the ends that all (R, B) frequencies keep at this level; `variance` is of counts."""
    with np.errstate(invalid="ignore", divide="ignore"):
        sd = np.sqrt(variance) / table.total
        deviation = np.abs(frequency - table.mean_prob) / sd
    # Bins whose predictions are all 0 or 1 cannot deviate: 0 / 0 counts as no deviation.
    largest = np.nan_to_num(deviation, nan=0.0).max(axis=1)
    margin = np.quantile(largest, level, method="higher") * sd
    # A frequency cannot leave [0, 1], and neither does the band.
    return np.clip(table.mean_prob - margin, 0, 1), np.clip(table.mean_prob + margin, 0, 1)
