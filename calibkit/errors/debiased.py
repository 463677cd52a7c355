"""Debiased calibration errors: what chance adds to the gaps is estimated and taken off."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from calibkit.bins import Bins, as_bins
from calibkit.errors.family import FIFTEEN, OfTables, error_of_tables, name_of
from calibkit.inputs import BinaryProblem, FloatVector, View, as_choice, as_number, binary_problems
from calibkit.reliability import BinTable, table_of
from calibkit.results import spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DebiasedError(OfTables):
    """A debiased calibration error, beside the plain one of the same bins.

    Parameters
    ----------
    value, squared : float
        The debiased error (not cut at 0 where there is no square, else the root of the positive
        part), and its square as it is: below 0 where chance alone makes larger gaps, NaN for norm
        1. Average `squared` over data sets, not `value`.
    plain, plain_squared : float
        The error without correction, and its square; NaN where `squared` is.
    name, norm, method, view, tables
        As in `CalibrationError`, and the method.
    per_view : ndarray
        The debiased square of each table where there is one, otherwise the debiased error.
    """

    value: float
    squared: float
    plain: float
    plain_squared: float
    name: str
    norm: float
    method: str
    view: str
    tables: tuple[BinTable, ...]
    per_view: FloatVector

    def describe(self) -> str:
        """Say the debiased and the plain error, and whether the square is below 0."""
        text = (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.4f}, without correction "
            f"{self.plain:.4f} ({self.view}, {self.bins}, {spell(self.n, 'prediction')})."
        )
        if self.squared < 0:
            text += (
                f" The debiased square is {self.squared:.6f}: chance alone makes larger gaps, and "
                "the root is set to 0."
            )
        single = int((self._of_bins("count") == 1).sum())  # nothing can be said of their chance
        if single:
            verb = "holds" if single == 1 else "hold"
            text += f" {spell(single, 'bin')} {verb} one prediction only."
        return text

    def _columns(self) -> dict[str, NDArray[Any]]:
        name = "debiased" if np.isnan(self.squared) else "debiased square"
        return {**OfTables._columns(self), name: self.per_view}


def debiased_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = FIFTEEN,
    norm: float = 2,
    method: str = "frequency",
    positive: Any = None,
) -> DebiasedError:
    """Estimate a binned calibration error and take off what chance adds to it.

    Frequencies scatter around their probabilities, so gaps are too large on average, most so in
    bins of few predictions. The correction removes nearly all of this, not what bins hide.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    bins : int, Binning or edges
        By default 15 equal-mass bins, as in Kumar et al. (2019).
    norm : {1, 2}
        1: mean gap; 2: root mean square.
    method : {"frequency", "pairwise"}
        Chance is estimated from a bin's frequency, or (norm 2) from its pairs of predictions.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``. Weights are refused: the
        correction knows whole rows only.

    Returns
    -------
    DebiasedError
        The debiased error and its square beside the plain one.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Notes
    -----
    With mean prediction ``m``, frequency ``f`` and ``n_b`` predictions in bin b:

    - norm 2: ``sum_b (n_b / n) [(m - f)^2 - f (1 - f) / (n_b - 1)]`` (Kumar et al., section 5;
      equation 8 of Li's report), to which a bin with one prediction adds nothing (its plain square
      in Kängsepp et al., 2022). Unbiased if the predictions of a bin are equal; otherwise each bin
      is off on average by ``(Var p - 2 Cov(p, y)) / n_b``, if calibrated by ``-Var p / n_b``.
    - norm 2, pairwise: ``sum_b (n_b / n) U_b`` with ``d_i = p_i - y_i`` and
      ``U_b = ((sum d)^2 - sum d^2) / (n_b (n_b - 1))``, the mean of ``d_i d_j`` over pairs.
      Unbiased whatever the predictions; equal to the first if they are equal in a bin.
    - norm 1: ``2 E - sum_b (n_b / n) E|m - R_b|`` with the plain error ``E`` and a normal
      ``R_b`` of mean f and variance ``s^2 = f (1 - f) / n_b``. With ``g = f - m``,
      ``E|m - R| = s sqrt(2/pi) exp(-g^2 / 2s^2) + g (1 - 2 Phi(-g / s))``, and ``|g|`` for
      ``s = 0`` (Kängsepp et al., C.5), the mean of what Kumar's library draws. Not unbiased: for
      a calibrated model about ``2 - sqrt(2)``, 59 %, of the plain error is left.

    All this holds for rows drawn alike and independently, and edges that are given beforehand.
    Over classes, squares are averaged first, then one root is taken. Lesson 06.

    Examples
    --------
    >>> y_prob, y_true = np.repeat([.2, .7], 50), np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    >>> error = debiased_calibration_error(y_true, y_prob, bins=2)
    >>> round(error.plain, 4), round(float(error), 4), round(error.squared, 6)
    (0.0707, 0.0416, 0.001735)
    """
    as_choice(method, "method", ("frequency", "pairwise"))
    as_number(norm, "norm", "1 or 2 (other norms have no formula)", lambda norm: norm in (1, 2))
    if norm == 1 and method == "pairwise":
        raise ValueError('method="pairwise" estimates a square: use norm=2.')
    problems = binary_problems(y_true, y_prob, view=view, positive=positive)
    tables = tuple(table_of(problem, as_bins(bins)) for problem in problems)
    if norm == 1:
        per_view = np.array([debiased_absolute(table) for table in tables])
    elif method == "pairwise":
        pairs = zip(problems, tables, strict=True)
        per_view = np.array([_pairwise(*pair) for pair in pairs])
    else:
        per_view = np.array([debiased_square(table) for table in tables])
    mean = float(per_view.mean())
    plain = error_of_tables(tables, norm=norm, name=name_of(norm))
    return DebiasedError(
        value=mean if norm == 1 else float(np.sqrt(max(mean, 0.0))),
        squared=float("nan") if norm == 1 else mean,
        plain=plain.value,
        plain_squared=float("nan") if norm == 1 else plain.value**2,
        name=f"{'pairwise ' if method == 'pairwise' else ''}debiased {plain.name}",
        norm=float(norm),
        method=method,
        view=plain.view,
        tables=tables,
        per_view=per_view,
    )


def _used(table: BinTable) -> tuple[FloatVector, FloatVector, FloatVector]:
    """Return count, gap and frequency of the bins in use."""
    used = table.occupied
    return table.count[used].astype(np.float64), table.gap[used], table.frequency[used]


def debiased_absolute(table: BinTable) -> float:
    """Return the debiased expected calibration error of a bin table; it may be negative."""
    count, gap, frequency = _used(table)
    sd = np.sqrt(frequency * (1 - frequency) / count)
    # The mean of ``|X|`` for a normal X with the mean `gap` and this standard deviation.
    ratio = np.divide(gap, sd, out=np.zeros_like(gap), where=sd > 0)
    normal = sd * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + gap * (1 - 2 * ndtr(-ratio))
    chance = np.where(sd > 0, normal, np.abs(gap))
    return float((count * (2 * np.abs(gap) - chance)).sum() / table.n)


def debiased_square(table: BinTable) -> float:
    """Return the debiased squared calibration error of a bin table; it may be negative."""
    count, gap, frequency = _used(table)
    chance = frequency * (1 - frequency) / np.maximum(count - 1, 1)
    return float((count * np.where(count > 1, gap**2 - chance, 0.0)).sum() / table.n)


def _pairwise(problem: BinaryProblem, table: BinTable) -> float:
    """Return the weighted mean over bins of the mean of ``d_i d_j`` over pairs."""
    index = table.assign(problem.prob)
    distance = problem.prob.astype(np.float64) - problem.label
    count = table.count.astype(np.float64)
    total = np.bincount(index, distance, len(count))
    squares = np.bincount(index, distance**2, len(count))
    pairs = np.where(count > 1, (total**2 - squares) / np.maximum(count * (count - 1), 1), 0.0)
    return float((count * pairs).sum() / table.n)
