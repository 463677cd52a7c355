"""The family of binned calibration errors: a norm of the gaps between prediction and frequency."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Bins, EqualMass
from calibkit.inputs import BinaryProblem, FloatVector, View, as_choice, as_number, warn
from calibkit.reliability import BinTable, reliability_tables
from calibkit.results import Number, plus_minus, spell

FIFTEEN = EqualMass(15)


class OfTables(Number):
    """What all errors of bin tables share."""

    __slots__ = ()
    tables: tuple[BinTable, ...]
    value: float

    @property
    def n(self) -> int:
        """Number of predictions."""
        return self.tables[0].n

    @property
    def bins(self) -> str:
        """The binning in words."""
        return self.tables[0].bins

    def _of_bins(self, name: str) -> NDArray[Any]:
        """Return something of all bins of all tables, in order."""
        parts = [np.broadcast_to(getattr(t, name), t.n_bins) for t in self.tables]
        return np.concatenate(parts)

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            "view": np.array([table.view for table in self.tables]),
            "bins in use": np.array([int(table.occupied.sum()) for table in self.tables]),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CalibrationError(OfTables):
    """A calibration error together with everything that it depends on.

    Parameters
    ----------
    value, name, norm, weights, view
        The error, in [0, 1], its name and choices, and which event or events, in words.
    tables, per_view
        The bin tables, one per class for the class-wise view, and the error of each.
    """

    value: float
    name: str
    norm: float
    weights: str
    view: str
    tables: tuple[BinTable, ...]
    per_view: FloatVector

    @property
    def null_mean(self) -> float:
        """Mean error of a calibrated model with these predictions; NaN if there is no formula."""
        return self.null_moments[0]

    @property
    def null_sd(self) -> float:
        """Standard deviation of that error; NaN over classes, which move together."""
        return self.null_moments[1]

    @property
    def null_moments(self) -> tuple[float, float]:
        """Both, by `errors.null_moments`; NaN for other members, and bins that follow labels."""
        first = self.tables[0]
        of_rows = first.mass is None and not getattr(first.binning, "uses_labels", False)
        if (self.norm, self.weights) != (1, "mass") or not of_rows:
            return float("nan"), float("nan")
        means, spreads = zip(*map(null_moments, self.tables), strict=True)
        return float(np.mean(means)), spreads[0] if len(spreads) == 1 else float("nan")

    def describe(self) -> str:
        """Say the error, its view and bins, and what a calibrated model would show."""
        text = (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.4f} "
            f"({self.view}, {self.bins}, {spell(self.n, 'prediction')})"
        )
        mean, sd = self.null_moments
        if np.isnan(mean):
            return text + "."
        shown = f"a calibrated model with these predictions would show about {plus_minus(mean, sd)}"
        return f"{text}; {shown}."

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {**OfTables._columns(self), "error": self.per_view}


def weighted_norm(gap: FloatVector, weight: FloatVector, norm: float) -> FloatVector:
    """Return ``(sum_b w_b |gap_b|^norm)^(1/norm)`` along the last axis; empty bins count 0."""
    size = np.where(weight > 0, np.abs(gap), 0.0)
    if norm == 1:
        return np.asarray((weight * size).sum(axis=-1))
    largest = size.max(axis=-1)
    if np.isinf(norm):
        return np.asarray(largest)
    # In units of the largest gap, or high powers of small gaps would all underflow to 0.
    unit = np.where(largest > 0, largest, 1.0)
    powers = (size / unit[..., np.newaxis]) ** norm
    return np.asarray(unit * (weight * powers).sum(axis=-1) ** (1 / norm))


def error_of_tables(
    tables: tuple[BinTable, ...], *, norm: float = 1, weights: str = "mass", name: str | None = None
) -> CalibrationError:
    """Take the norm over the bins of each table, then over the tables."""
    per_view = np.empty(len(tables))
    for k, table in enumerate(tables):
        mass = table.count if table.mass is None else table.mass
        share = mass / mass.sum() if weights == "mass" else (mass > 0) / (mass > 0).sum()
        per_view[k] = weighted_norm(table.mean_prob - table.frequency, share, norm)
    value, view = float(per_view[0]), tables[0].view
    if len(tables) > 1:
        value = float(weighted_norm(per_view, np.full(len(tables), 1 / len(tables)), norm))
        view = view_of(tables)
        absent = [table.view for table in tables if not np.nansum(table.frequency) > 0]
        if absent:
            warn(
                f"Never seen in y_true: {', '.join(absent)}. The column is kept, with frequency 0 "
                "in every bin."
            )
    return CalibrationError(
        value=value,
        name=name or name_of(norm, weights),
        norm=float(norm),
        weights=weights,
        view=view,
        tables=tables,
        per_view=per_view,
    )


def view_of(parts: Sequence[BinTable | BinaryProblem]) -> str:
    """Say which event or events the parts are about."""
    return parts[0].view if len(parts) == 1 else f"class-wise, {len(parts)} classes"


def null_moments(table: BinTable) -> tuple[float, float]:
    """Mean and standard deviation of the expected calibration error of a calibrated model.

    If the predictions are right, the number of events in bin b has variance ``V_b``, close to
    ``n_b m_b (1 - m_b)`` with the mean prediction ``m_b``, and is nearly normal. Then
    ``E[error] = sqrt(2/pi) sum_b sqrt(V_b) / n`` and
    ``Var[error] = (1 - 2/pi) sum_b V_b / n^2``. Good to a few per cent while ``V_b`` is well above
    1, within a fifth down to 0.2 (on either side), and far too large for bins that hardly expect an
    event. The bins must not follow the labels, as `calibkit.Pava` does. Lesson 04.

    Parameters
    ----------
    table : BinTable
        Without weights: what chance adds to weighted rows depends on what a weight stands for.

    Returns
    -------
    mean, sd : float
        Of the error of a calibrated model with these predictions.

    Examples
    --------
    >>> from calibkit import reliability_table
    >>> mean, sd = null_moments(reliability_table([0, 1] * 50, [.5] * 100, bins=1))
    >>> round(mean, 4), round(sd, 4)
    (0.0399, 0.0301)
    """
    if table.mass is not None:
        raise ValueError("null_moments knows whole rows only: pass a table without weights.")
    used, n = table.occupied, table.n
    mean = table.mean_prob[used]
    variance = table.count[used] * mean * (1 - mean)
    expected = np.sqrt(2 / np.pi) * np.sqrt(variance).sum() / n
    spread = np.sqrt((1 - 2 / np.pi) * variance.sum()) / n
    return float(expected), float(spread)


def calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = 15,
    norm: float = 1,
    weights: str = "mass",
    name: str | None = None,
    positive: Any = None,
    sample_weight: Any = None,
) -> CalibrationError:
    """Take a norm of the gaps between prediction and frequency: the general binned error.

    ``error = (sum_b w_b |m_b - f_b|^p)^(1/p)``, in [0, 1], with mean prediction ``m_b``, frequency
    ``f_b`` and ``w_b = n_b / n``; over K classes ``(sum_k error_k^p / K)^(1/p)``. Empty bins count
    nothing; a class that never occurs gives a `CalibrationWarning`. Matsubara et al. (2023),
    Definition 1; Kumar et al. (2019), section 2; Panchenko (2021), section 3.1. Lessons 04 to 06.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise", "confidence"}, int or list of int, optional
        Which event, as in `binary_problem`, or each class in turn; needed when `y_prob` has
        columns.
    bins : int, Binning or edges
        A number of equal-width bins, or a binning such as `EqualMass`.
    norm : float
        1 (mean), 2 (root mean square), any number from 1 on, or ``numpy.inf`` (maximum).
    weights : {"mass", "equal"}
        Weight a bin by its share of predictions, or all used bins alike.
    name : str, optional
        What the result calls itself.
    positive : label, optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``; by default 1.
    sample_weight : array-like of shape (n,), optional
        What each row counts, at least 0: a row of weight 2 is that row twice.

    Returns
    -------
    CalibrationError
        The error (``float(result)``), its bin tables, what chance would show, and `describe()`.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    See Also
    --------
    expected_calibration_error, debiased_calibration_error, smooth_ece

    Examples
    --------
    >>> error = calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2, norm=2)
    >>> round(float(error), 4)
    0.2062
    """
    as_number(norm, "norm", "a number from 1 on, or numpy.inf", lambda norm: norm >= 1)
    as_choice(weights, "weights", ("mass", "equal"))
    tables = reliability_tables(
        y_true, y_prob, view=view, bins=bins, positive=positive, sample_weight=sample_weight
    )
    return error_of_tables(tables, norm=norm, weights=weights, name=name)


def name_of(norm: float, weights: str = "mass") -> str:
    """Return what an error of this norm is called."""
    if np.isinf(norm):
        return "maximum calibration error"
    if weights == "equal":
        return "average calibration error" if norm == 1 else f"unweighted l{norm:g} error"
    kinds: dict[float, str] = {1: "expected", 2: "root mean square"}
    return f"{kinds.get(norm, f'l{norm:g}')} calibration error"


def expected_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = 15,
    positive: Any = None,
    sample_weight: Any = None,
) -> CalibrationError:
    """Mean gap between prediction and frequency (ECE): norm 1, equal-width bins.

    ``sum_b (n_b / n) |m_b - f_b|``. With ``view="top-label"`` it is what the literature on
    networks calls ECE or confidence calibration error (Kängsepp et al. 2022, sections 3.2, 3.3). A
    calibrated model does not score 0: see `null_moments`. Lesson 04.

    Parameters
    ----------
    y_true, y_prob, view, bins, positive, sample_weight
        As in `calibration_error`.

    Returns
    -------
    CalibrationError
        As in `calibration_error`, also in what is refused.

    Examples
    --------
    >>> round(float(expected_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2)), 4)
    0.2
    """
    tables = reliability_tables(
        y_true, y_prob, view=view, bins=bins, positive=positive, sample_weight=sample_weight
    )
    return error_of_tables(tables, name="expected calibration error")
