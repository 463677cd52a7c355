"""Where the CORP curve of a calibrated model would lie."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from calibkit.corp.decomposition import CorpDecomposition, corp_decomposition
from calibkit.progress import watched
from calibkit.results import Result, read_only, spell
from calibkit.types import FloatVector
from calibkit.validation import TIE, as_array, as_count, as_generator, as_level
from calibkit.views import Rows, View, refuse_weights

_MOST_POINTS = 500
MANY_ROWS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CorpBand(Result):
    """Where the CORP curve of a calibrated model would lie.

    Parameters
    ----------
    parts, at, lower, upper, level
        The observed curve; the predictions at which the band was computed, its ends there, and the
        probability that the curve of a calibrated model lies inside, at each point alone.
    """

    parts: CorpDecomposition
    at: FloatVector
    lower: FloatVector
    upper: FloatVector
    level: float

    @property
    def outside(self) -> NDArray[np.bool_]:
        """At which points the observed curve is outside the band."""
        height = self.parts.recalibrate(self.at)
        return np.asarray((height < self.lower - TIE) | (height > self.upper + TIE))

    def describe(self) -> str:
        """Say at how many points the curve is outside and how many chance alone would put there."""
        points = len(self.at)
        return (
            f"The curve is outside the pointwise {100 * self.level:g} % consistency band at "
            f"{int(self.outside.sum()):,} of {spell(points, 'prediction')}; chance alone puts "
            f"about {(1 - self.level) * points:.3g} of them there."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "prediction": self.at,
            "recalibrated": self.parts.recalibrate(self.at),
            "lower": self.lower,
            "upper": self.upper,
            "outside": self.outside,
        }


def corp_band(
    y_true: Any,
    y_prob: Any,
    *,
    view: View | None = None,
    at: Any = None,
    level: float = 0.9,
    n_draws: int = 1000,
    rng: int | np.random.Generator | None = None,
    **rows: Unpack[Rows],
) -> CorpBand:
    """Band in which the CORP curve would lie if the predictions were right.

    The predictions stay fixed, the labels are redrawn from them, and the curve is fitted again;
    the band runs between the ``(1 - level)/2`` quantiles of its height. Neighbouring points are
    outside together, so their number varies much more than for independent points. Where the
    curve is often exactly 0 or 1, more than `level` of the curves are inside. Source:
    Dimitriadis, Gneiting and Jordan (2021). Taught in lesson 04.

    Parameters
    ----------
    y_true, y_prob, view, **rows : As in `binary_problem`
    at : array-like of shape (m,), optional
        Where to compute the band. The default is at the distinct predictions; of more than
        500, at 500 of them with equally spaced ranks.
    level : float
        Probability content at each point, in (0, 1).
    n_draws, rng : As in `null_level`
        At least two draws. A million rows take several seconds, with a bar for who waits.

    Examples
    --------
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(1).random(300) < y_prob
    >>> corp_band(y_true, y_prob, at=[.2, .5, .8], n_draws=200, rng=0).outside.tolist()
    [False, False, False]
    """
    level, n_draws = as_level(level), as_count(n_draws, "n_draws", minimum=2)
    generator = as_generator(rng)
    refuse_weights(rows)
    parts = corp_decomposition(y_true, y_prob, view=view, **rows)
    prediction, count = parts.prediction, parts.prediction_count
    points = _points(at, prediction)
    height = np.empty((n_draws, len(points)))
    # Of many predictions without ties, runs of events are pooled before the curve is fitted.
    in_runs = len(prediction) > MANY_ROWS and bool((count == 1).all())
    # Only the neighbours of the points are looked at.
    above = np.searchsorted(prediction, points)
    near = np.unique(np.clip([above - 1, above], 0, len(prediction) - 1))
    for draw in watched(height, n_draws, "redraws"):
        if in_runs:
            curve = _curve_of_events(generator.random(len(prediction)) < prediction, near)
        else:
            frequency = generator.binomial(count, prediction) / count
            curve = isotonic_regression(frequency, weights=count).x[near]
        draw[:] = np.interp(points, prediction[near], curve)
    lower, upper = np.quantile(height, [(1 - level) / 2, (1 + level) / 2], axis=0)
    at, lower, upper = map(read_only, (points, lower, upper))
    return CorpBand(parts=parts, at=at, lower=lower, upper=upper, level=level)


def _curve_of_events(event: NDArray[np.bool_], near: NDArray[np.intp]) -> FloatVector:
    """Return the curve at some predictions, for one event or miss per prediction.

    Misses that follow events are pooled with them anyway: such runs are what is left to pool.
    """
    change = np.flatnonzero(event[1:] != event[:-1]) + 1
    first = int(event[0])
    start = np.concatenate(([0], change[first::2]))
    fall = np.concatenate(([0] * (1 - first), change[1 - first :: 2], [len(event)]))[: len(start)]
    count = np.diff(start, append=len(event)).astype(np.float64)
    curve = isotonic_regression((fall - start) / count, weights=count).x
    return np.asarray(curve[np.searchsorted(start, near, side="right") - 1])


def _points(at: Any, prediction: FloatVector) -> FloatVector:
    """Return the points asked for, in order, or the distinct predictions if they are not many."""
    if at is None:
        if len(prediction) <= _MOST_POINTS:
            return prediction
        ranks = np.linspace(0, len(prediction) - 1, _MOST_POINTS)
        return prediction[np.rint(ranks).astype(np.intp)]
    points = as_array(at, "at").astype(np.float64)
    if points.ndim != 1 or not ((points >= 0) & (points <= 1)).all():
        raise ValueError("at must be a list of probabilities in [0, 1].")
    return np.sort(points)
