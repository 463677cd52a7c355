"""A smooth calibration curve with bands, and the distances to it in one number. Lesson 08."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate, optimize, special

from calibkit.chance.null import p_value_of, redrawn_labels
from calibkit.hypothesis_tests.p_values import in_order
from calibkit.inputs import (
    FloatMatrix,
    FloatVector,
    Rng,
    View,
    as_count,
    as_generator,
    as_level,
    as_number,
    binary_problem,
)
from calibkit.results import Number, spell

INDICES = ("ICI", "E50", "E90", "E_max", "ECI")
_SHOWN = 301  # points of the curve
_LEAST = 10  # rows of which a curve is made
_CELL = 0.2  # a cell of the loess holds at most this share of a window
_MARGIN = 0.005  # how far its outermost knots lie outside, as a share of the range


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SmoothCurve(Number):
    """A smooth calibration curve, its bands, and its distances to the diagonal.

    Parameters
    ----------
    value : float
        The integrated calibration index: mean of ``|c(p_i) - p_i|`` over the rows, in [0, 1].
    index_value, null_mean, null_high, p_value : ndarray of shape (5,)
        ICI, E50, E90, E_max and ECI (`INDICES`); what a calibrated model would show (mean,
        and what 95 % stay below), and the share of redraws at least as large; NaN without redraws.
    prob, frequency : ndarray of shape (m,)
        Points from the smallest to the largest prediction, and the curve c there.
    low, high, all_low, all_high : ndarray of shape (m,)
        The band that holds the curve at each point, and the one that holds it everywhere, with
        probability `level`; ends beyond 0 and 1 are put there.
    of_events, of_others : ndarray of shape (n_1,) and (n_0,)
        The predictions of both outcomes, sorted.
    method, level, view, n : str, float, str, int
    """

    value: float
    index_value: FloatVector
    null_mean: FloatVector
    null_high: FloatVector
    p_value: FloatVector
    prob: FloatVector
    frequency: FloatVector
    low: FloatVector
    high: FloatVector
    all_low: FloatVector
    all_high: FloatVector
    of_events: FloatVector
    of_others: FloatVector
    method: str
    level: float
    view: str
    n: int

    def describe(self) -> str:
        """Say the distances, beside what chance would show where that was asked."""
        chance = self.null_mean.tolist()
        pairs = zip(INDICES, self.index_value.tolist(), chance, strict=True)
        said = (
            f"{k} {v:.4f}" + ("" if np.isnan(m) else f" (by chance {m:.4f})") for k, v, m in pairs
        )
        return f"{', '.join(said)} ({self.method}; {self.view}, {spell(self.n, 'prediction')})."

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("index_value", "null_mean", "null_high", "p_value")
        return {"index": np.array(INDICES)} | {name: getattr(self, name) for name in names}


def smooth_curve(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    span: float = 0.75,
    degree: int = 2,
    level: float = 0.95,
    n_draws: int = 0,
    rng: Rng = None,
    positive: Any = None,
) -> SmoothCurve:
    """Smooth the labels over the predictions; sum up how far the curve is from the diagonal.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"} or int, optional
        Which event; needed when `y_prob` has columns.
    span, degree : float in (0, 1], 1 or 2
        Of the local regression (loess): the share of rows in a window, and the degree of its
        polynomials.
    level : float
        Of both bands.
    n_draws : int
        Redraws of the labels from the predictions, for what a calibrated model would show.
    rng : int, numpy.random.Generator or None
        Seed or generator of the redraws.
    positive : label, optional
        The label that a one-dimensional `y_prob` is about.

    Returns
    -------
    SmoothCurve
        As a number the ICI, so that `null_level` and `bootstrap_interval` take this function.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; if there are fewer than ten rows,
        or so many equal predictions that nothing can be fitted.

    Notes
    -----
    With the curve c and ``d_i = |c(p_i) - p_i|``: ICI is the mean of d, E50 and E90 its median and
    90 % quantile, E_max its maximum (Austin and Steyerberg, 2019); ECI is the mean of ``100 d^2``
    (Van Hoorde and others, 2015). None is 0 for a calibrated model: read them beside `null_mean`.

    The loess is that of R's ``loess(y ~ p)``, knots and cubics included, to seven digits on its
    published example; ``span=2/3, degree=1`` is close to ``lowess(p, y, iter=0)`` of ``val.prob``.
    It need not stay within [0, 1], and is not cut there.

    The curve is ``B theta``. Bands are ``B theta`` plus or minus c standard deviations, from
    variances q (1 - q), where q is the curve with two events and two others added (Agresti and
    Coull, 1998). c is the normal quantile at each point; everywhere it solves the tube formula (Sun
    and Loader, 1994)
    ``kappa / pi exp(-c^2 / 2) + 2 (1 - Phi(c)) = 1 - level``, kappa the normed process's length.

    Taught in lesson 08.

    Examples
    --------
    >>> y_prob = np.linspace(.02, .98, 300)
    >>> y_true = np.random.default_rng(0).random(300) < .5 + .7 * (y_prob - .5)
    >>> curve = smooth_curve(y_true, y_prob, n_draws=99, rng=0)
    >>> round(float(curve), 3), curve.null_mean.round(3).tolist()[0]
    (0.082, 0.037)
    """
    level, n_draws = as_level(level), as_count(n_draws, "n_draws", minimum=0)
    problem = binary_problem(y_true, y_prob, view=view, positive=positive)
    label, prob = in_order(problem)
    span = as_number(span, "span", "a number in (0, 1]", lambda s: 0 < s <= 1)
    degree = int(as_number(degree, "degree", "1 or 2", lambda d: d in (1, 2)))
    if len(prob) < _LEAST:
        raise ValueError(f"a smooth curve takes at least {_LEAST} rows, got {len(prob)}.")
    if prob[0] == prob[-1]:
        raise ValueError("all predictions are equal, so there is no curve; compare their mean.")
    how = Loess(prob, span, degree)
    value = _indices(how, label)
    return SmoothCurve(
        value=float(value[0]),
        index_value=value,
        **_null(how, value, prob, n_draws, as_generator(rng)),
        **_bands(how, label, level),
        of_events=prob[label == 1],
        of_others=prob[label == 0],
        method=how.words,
        level=level,
        view=problem.view,
        n=len(prob),
    )


class Loess:
    """Local regression of labels on sorted predictions (Cleveland and Devlin 1988), as R fits it.

    The curve is ``B(p) theta``: `basis` gives the rows of B (`rows` those of the data), and
    `operator`, (q, n), theta for labels: how it moves with each of them.

    At each knot a polynomial is fitted to the nearest share `span` of rows with tricube weights;
    a cubic with the heights and slopes of two knots lies between them. The range is halved at
    medians until a cell holds a fifth of a window, as in Cleveland's program, which R calls.
    """

    def __init__(self, prob: FloatVector, span: float, degree: int) -> None:
        self.words, self.prob = f"loess, span {span:.4g}, degree {degree}", prob
        near = min(len(prob), int(len(prob) * span + 1e-5))
        margin = _MARGIN * (prob[-1] - prob[0])
        ends = [float(prob[0] - margin), float(prob[-1] + margin)]
        self.knot = np.array(ends + _cuts(prob, int(len(prob) * span * _CELL)))
        self.knot.sort()
        operator = np.zeros((2, len(self.knot), len(prob)))
        for place, knot in enumerate(self.knot):
            first, local = _local(prob, float(knot), near, max(1.0, span), degree)
            operator[:, place, first : first + local.shape[1]] = local
        self.operator: FloatMatrix = operator.reshape(2 * len(self.knot), len(prob))
        self.rows = self.basis(prob)

    def basis(self, at: FloatVector) -> FloatMatrix:
        """Return Hermite's cubics: what heights and slopes at the knots contribute."""
        each = np.eye(2 * len(self.knot))
        heights, slopes = np.split(each, 2)
        return np.asarray(interpolate.CubicHermiteSpline(self.knot, heights, slopes)(at))

    def fit(self, label: FloatVector) -> FloatVector:
        """Return heights and slopes at the knots."""
        return np.asarray(self.operator @ label)


def _cuts(prob: FloatVector, most: int) -> list[float]:
    """Return where cells of sorted rows are halved until they hold at most so many."""
    n = len(prob)
    if n <= max(most, 1) or prob[0] == prob[-1]:
        return []
    half = (n - 1) // 2
    gaps = np.flatnonzero(prob[1:] > prob[:-1])  # a cut lies between different predictions
    # The nearest gap; of two as near the upper one.
    cut = int(gaps[np.argmin(2 * np.abs(gaps - half) + (gaps < half))])
    return [float(prob[cut]), *_cuts(prob[: cut + 1], most), *_cuts(prob[cut + 1 :], most)]


def _local(
    prob: FloatVector, knot: float, near: int, widen: float, degree: int
) -> tuple[int, FloatMatrix]:
    """Return the first row of a window, and what its labels add to height and slope, (2, rows)."""
    first = int(np.searchsorted(prob[near:] + prob[: len(prob) - near], 2 * knot))
    reach = float(max(knot - prob[first], prob[first + near - 1] - knot)) * np.sqrt(widen)
    # At its ends a window's weights are 0.
    first, last = np.searchsorted(prob, knot - reach, "right"), np.searchsorted(prob, knot + reach)
    if first >= last:
        raise ValueError(
            f"so many predictions equal {knot:.6g} that a window of the loess holds nothing else; "
            "make span larger."
        )
    away = (prob[first:last] - knot) / reach
    far = np.abs(away)
    weight = np.maximum(1 - far * far * far, 0)  # products: powers take many times as long
    weight *= weight * weight
    powers = np.stack([away**k for k in range(degree + 1)])
    weighted = weight * powers
    solve = np.linalg.pinv(weighted @ powers.T, rcond=100 * np.finfo(np.float64).eps)[:2]
    return int(first), solve / [[1], [reach]] @ weighted


def _indices(how: Loess, label: FloatVector) -> FloatVector:
    """Return ICI, E50, E90, E_max and ECI of these labels."""
    distance = np.abs(how.rows @ how.fit(label) - how.prob)
    middle, most = np.quantile(distance, [0.5, 0.9])
    square = 100 * (distance**2).mean()
    return np.array([distance.mean(), middle, most, distance.max(), square])


def _null(
    how: Loess, value: FloatVector, prob: FloatVector, n_draws: int, rng: np.random.Generator
) -> dict[str, FloatVector]:
    """Return mean, 95 % quantile and p-value of each index over redraws; NaN without any."""
    if not n_draws:
        return dict.fromkeys(("null_mean", "null_high", "p_value"), np.full(len(value), np.nan))
    redraws = redrawn_labels(prob, n_draws, rng)
    draws = np.array([_indices(how, label.astype(np.float64)) for label in redraws])
    p_values = [p_value_of(v, column) for v, column in zip(value, draws.T, strict=True)]
    high = np.quantile(draws, 0.95, axis=0)
    return {"null_mean": draws.mean(axis=0), "null_high": high, "p_value": np.array(p_values)}


def _bands(how: Loess, label: FloatVector, level: float) -> dict[str, FloatVector]:
    """Return the curve at some points, with both bands."""
    theta, basis, shown = how.fit(label), how.rows, np.linspace(how.prob[0], how.prob[-1], _SHOWN)
    line, influence = basis @ theta, how.operator
    # Two events and two others are added to as many rows as a point of the curve is worth.
    worth = np.clip((basis * influence.T).sum(axis=1), 0, 1)
    curve = (np.clip(line, 0, 1) + 2 * worth) / (1 + 4 * worth)
    parts = influence.T * np.sqrt(curve * (1 - curve))[:, np.newaxis]
    # A direction for each point; products of them are the covariances of the curve.
    value, vector = np.linalg.eigh(parts.T @ parts)
    across = how.basis(shown) @ (vector * np.sqrt(np.maximum(value, 0)))
    sd = np.linalg.norm(across, axis=1)
    kappa = float(np.linalg.norm(np.diff(across / sd[:, np.newaxis], axis=0), axis=1).sum())
    middle = how.basis(shown) @ theta
    band = {"prob": shown, "frequency": middle}
    for name, tube in (("", 0.0), ("all_", kappa)):
        reach = _reach(tube, level) * sd
        band[f"{name}low"] = np.clip(middle - reach, 0, 1)
        band[f"{name}high"] = np.clip(middle + reach, 0, 1)
    return band


def _reach(kappa: float, level: float) -> float:
    """Return how many standard deviations a tube of this length takes (0: one point)."""

    def missed(c: float) -> float:
        return float(kappa / np.pi * np.exp(-(c**2) / 2) + 2 * special.ndtr(-c)) - (1 - level)

    return float(optimize.brentq(missed, 0, 1e3))
