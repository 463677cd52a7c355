"""Where the CORP curve of a calibrated model would lie."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from calibkit._result import Result, read_only, spell
from calibkit._validation import as_array, as_count, as_generator, as_level
from calibkit.corp.decomposition import CorpDecomposition, FloatVector, corp_decomposition
from calibkit.views import Rows, View, refuse_weights

# Two computations of the same curve may differ in the last digits.
_TIE = 1e-12
_MOST_POINTS = 500


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
        return np.asarray((height < self.lower - _TIE) | (height > self.upper + _TIE))

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

    Examples
    --------
    >>> y_prob = np.linspace(.05, .95, 300)
    >>> y_true = np.random.default_rng(1).random(300) < y_prob
    >>> corp_band(y_true, y_prob, at=[.2, .5, .8], n_draws=200, rng=0).outside.tolist()
    [False, False, False]
    """
    level, n_draws = as_level(level), as_count(n_draws, "n_draws")
    generator = as_generator(rng)
    refuse_weights(rows)
    parts = corp_decomposition(y_true, y_prob, view=view, **rows)
    prediction, count = parts.prediction, parts.prediction_count
    points = _points(at, prediction)
    height = np.empty((n_draws, len(points)))
    for draw in height:
        frequency = generator.binomial(count, prediction) / count
        draw[:] = np.interp(points, prediction, isotonic_regression(frequency, weights=count).x)
    lower, upper = np.quantile(height, [(1 - level) / 2, (1 + level) / 2], axis=0)
    at, lower, upper = map(read_only, (points, lower, upper))
    return CorpBand(parts=parts, at=at, lower=lower, upper=upper, level=level)


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
