"""The family of binned calibration errors: a norm of the gaps between prediction and frequency."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Bins
from calibkit.inputs import (
    BinaryProblem,
    FloatVector,
    Rows,
    View,
    as_choice,
    as_number,
    as_weights,
    refuse_weights,
    shows_rows,
    warn,
)
from calibkit.reliability import BinTable, reliability_tables
from calibkit.results import Number, spell


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
    class_weights : ndarray of shape (K,) or None
        What the classes count, with sum 1; None where they count alike.
    """

    value: float
    name: str
    norm: float
    weights: str
    view: str
    tables: tuple[BinTable, ...]
    per_view: FloatVector
    class_weights: FloatVector | None = None

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
        """Both, by `errors.null_moments`; NaN for other members than the mean gap."""
        if (self.norm, self.weights) != (1, "mass") or self.tables[0].mass is not None:
            return float("nan"), float("nan")
        means, spreads = zip(*map(null_moments, self.tables), strict=True)
        mean = float(np.average(means, weights=self.class_weights))
        return mean, spreads[0] if len(spreads) == 1 else float("nan")

    def describe(self) -> str:
        """Say the error, its view and bins, and what a calibrated model would show."""
        text = (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.4f} "
            f"({self.view}, {self.bins}, {spell(self.n, 'prediction')})"
        )
        mean, sd = self.null_moments
        if np.isnan(mean):
            return text + "."
        spread = "" if np.isnan(sd) else f" ± {sd:.4f}"
        shown = f"a calibrated model with these predictions would show about {mean:.4f}{spread}"
        return f"{text}; {shown}."

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {**OfTables._columns(self), "error": self.per_view}


def weighted_norm(gap: FloatVector, weight: FloatVector, norm: float) -> FloatVector:
    """Return ``(sum_b w_b |gap_b|^norm)^(1/norm)`` along the last axis; NaN gaps count 0."""
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


def combine_views(
    per_view: FloatVector, norm: float, class_weights: FloatVector | None = None
) -> FloatVector:
    """Join the errors of several views: ``(mean_k e_k^norm)^(1/norm)``, the maximum for inf."""
    n_views = per_view.shape[-1]
    if n_views == 1:
        return np.asarray(per_view[..., 0])
    weight = np.full(n_views, 1 / n_views) if class_weights is None else class_weights
    return weighted_norm(per_view, weight, norm)


def bin_weights(count: NDArray[Any], weights: str) -> FloatVector:
    """Return the weight of each bin: its share of predictions, or equal over used bins."""
    mass = count if weights == "mass" else (count > 0)
    return np.asarray(mass / mass.sum(axis=-1, keepdims=True))


def null_moments(table: BinTable) -> tuple[float, float]:
    """Mean and standard deviation of the expected calibration error of a calibrated model.

    If the predictions are right, the number of events in bin b has variance ``V_b``, close to
    ``n_b m_b (1 - m_b)`` with the mean prediction ``m_b``, and is nearly normal. Then
    ``E[error] = sqrt(2/pi) sum_b sqrt(V_b) / n`` and
    ``Var[error] = (1 - 2/pi) sum_b V_b / n^2``. Good to a few per cent while ``V_b`` is above 1,
    too large for bins that expect less than one event. Taught in lesson 04.

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
    refuse_weights({"sample_weight": table.mass})
    used, n = table.occupied, table.n
    mean = table.mean_prob[used]
    variance = table.count[used] * mean * (1 - mean)
    expected = np.sqrt(2 / np.pi) * np.sqrt(variance).sum() / n
    spread = np.sqrt((1 - 2 / np.pi) * variance.sum()) / n
    return float(expected), float(spread)


@shows_rows
def calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins = 15,
    norm: float = 1,
    weights: str = "mass",
    class_weights: Any = None,
    name: str | None = None,
    **rows: Unpack[Rows],
) -> CalibrationError:
    """Take a norm of the gaps between prediction and frequency: the general binned error.

    ``error = (sum_b w_b |m_b - f_b|^p)^(1/p)``, in [0, 1], with mean prediction ``m_b``, frequency
    ``f_b`` and ``w_b = n_b / n``; over classes ``(sum_k v_k error_k^p)^(1/p)``. Empty bins count
    nothing; a class that never occurs gives a `CalibrationWarning`. Matsubara et al. (2023),
    Definition 1; Kumar et al. (2019), section 2; Panchenko (2021), section 3. Taught in lessons
    04 to 06.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`.
    norm : float
        1 (mean), 2 (root mean square), any number from 1 on, or ``numpy.inf`` (maximum).
    weights : {"mass", "equal"}
        Weight a bin by its share of predictions, or all used bins alike.
    class_weights : array-like of shape (K,), optional
        For ``view="class-wise"``, how much each class matters: at least 0, and divided by their
        sum to be the ``v_k``. By default ``v_k = 1/K``. The norm infinity asks only which are 0.
    name : str, optional
        What the result calls itself.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``; by default 1.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row, whose confidence `y_prob` is: see `binary_problem`.
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

    Examples
    --------
    >>> error = calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], bins=2, norm=2)
    >>> round(float(error), 4)
    0.2062
    """
    check_options(norm, weights)
    tables = reliability_tables(y_true, y_prob, view=view, bins=bins, **rows)
    if class_weights is not None:
        if view != "class-wise":
            raise ValueError(f'class_weights go with view="class-wise", not with view={view!r}.')
        class_weights = as_weights(class_weights, len(tables), "class_weights", "classes")
        class_weights = class_weights / class_weights.sum()
    if len(tables) > 1:
        _warn_of_absent_classes(tables)
    return error_of_tables(
        tables, norm=norm, weights=weights, class_weights=class_weights, name=name
    )


def error_of_tables(
    tables: tuple[BinTable, ...],
    *,
    norm: float = 1,
    weights: str = "mass",
    class_weights: FloatVector | None = None,
    name: str | None = None,
) -> CalibrationError:
    """Do the work of `calibration_error` for bin tables that are there already."""
    per_view = np.empty(len(tables))
    for k, table in enumerate(tables):
        in_bin = table.count if table.mass is None else table.mass
        per_view[k] = weighted_norm(table.gap, bin_weights(in_bin, weights), norm)
    said = "" if class_weights is None else ", classes weighted"
    return CalibrationError(
        value=float(combine_views(per_view, norm, class_weights)),
        name=name or general_name(norm, weights),
        norm=float(norm),
        weights=weights,
        view=view_of(tables) + said,
        tables=tables,
        per_view=per_view,
        class_weights=class_weights,
    )


def view_of(parts: Sequence[BinTable | BinaryProblem]) -> str:
    """Say which event or events the parts are about."""
    return parts[0].view if len(parts) == 1 else f"class-wise, {len(parts)} classes"


def _warn_of_absent_classes(tables: Sequence[BinTable]) -> None:
    """Warn where a class never occurs: its column counts, but says little."""
    absent = [table.view for table in tables if not np.nansum(table.frequency) > 0]
    if absent:
        warn(
            f"Never seen in y_true: {', '.join(absent)}. The column is kept, with frequency 0 in "
            "every bin."
        )


def check_options(norm: float, weights: str = "mass") -> None:
    """Check the choices that make a calibration error."""
    as_number(norm, "norm", "a number from 1 on, or numpy.inf", lambda norm: norm >= 1)
    as_choice(weights, "weights", ("mass", "equal"))


def general_name(norm: float, weights: str = "mass") -> str:
    """Return what an error of this norm is called."""
    if np.isinf(norm):
        return "maximum calibration error"
    if weights == "equal":
        return "average calibration error" if norm == 1 else f"unweighted l{norm:g} error"
    kinds: dict[float, str] = {1: "expected", 2: "root mean square"}
    return f"{kinds.get(norm, f'l{norm:g}')} calibration error"
