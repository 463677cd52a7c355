"""The general calibration error of Matsubara and others (2023): a loss, bins, and a norm."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Bins, as_bins
from calibkit.errors.family import (
    OfTables,
    bin_weights,
    check_options,
    combine_views,
    view_of,
    weighted_norm,
)
from calibkit.reliability import BinTable
from calibkit.results import read_only, spell
from calibkit.significance._binomial import BinomialTest
from calibkit.significance._sorted import SortedProblem, hits_of
from calibkit.types import FloatVector, IntArray, IntVector
from calibkit.views import Events, View, binary_problems, shows_rows

Loss = Callable[[IntArray, FloatVector], float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GeneralError(OfTables):
    """A norm of one loss per bin.

    Parameters
    ----------
    value, loss, norm, view
        The number, the name of its loss, the order of the norm, and which event or events.
    tables, losses, per_view
        Bins, losses (NaN where a bin is empty) and norm of each view.
    """

    value: float
    loss: str
    norm: float
    view: str
    tables: tuple[BinTable, ...]
    losses: tuple[FloatVector, ...]
    per_view: FloatVector

    @property
    def name(self) -> str:
        """What the number is called."""
        return f"general calibration error ({self.loss}, norm {self.norm:g})"

    def describe(self) -> str:
        """Say the value, its three choices, the view and n."""
        return (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.4f} "
            f"({self.view}, {self.bins}, {spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            "view": self._of_bins("view"),
            "count": self._of_bins("count"),
            "loss": np.concatenate(self.losses),
        }


@shows_rows
def general_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    loss: str | Loss = "gap",
    bins: Bins = 15,
    norm: float = 1,
    view: View = None,
    **rows: Unpack[Events],
) -> GeneralError:
    """Measure a loss in each bin and take a norm: the definition that contains the others.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    loss : {"gap", "rejected"} or callable
        Frequency against mean prediction; share of predictions that the exact binomial test rejects
        at the 5 % level; or a function of the labels and predictions of one bin, sorted by
        prediction, that returns a finite number.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `EqualMass`.
    norm : float
        1 (mean), 2 (root mean square), any number from 1 on, or ``numpy.inf`` (maximum).
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    positive : optional
        The label that a one-dimensional `y_prob` is about, e.g. ``"yes"``. Weights are refused.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row, whose confidence `y_prob` is: see `binary_problem`.

    Returns
    -------
    GeneralError
        The number, and the loss of each bin.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Notes
    -----
    ``(sum_b (n_b / n) |L_b|^p)^(1/p)`` with the loss ``L_b`` of bin b (Matsubara and
    others, 2023, Definition 1). Empty bins count nothing.

    ==========================  ==============  ==================  ========
    member                      loss            bins                norm
    ==========================  ==============  ==================  ========
    expected error              ``"gap"``       equal width         1
    adaptive error              ``"gap"``       `EqualMass`         1
    maximum error               ``"gap"``       equal width         infinity
    test-based error            ``"rejected"``  `PavaBC`            1
    ==========================  ==============  ==================  ========

    The source prints the test-based one in per cent. Taught in lesson 08.

    Examples
    --------
    >>> def brier(label, prob):
    ...     return float(np.mean((label - prob) ** 2))
    >>> error = general_calibration_error([0, 1, 1, 1], [.1, .4, .8, .9], loss=brier, bins=2)
    >>> round(float(error), 4)
    0.105
    """
    check_options(norm)
    binning = as_bins(bins)
    problems = binary_problems(y_true, y_prob, view=view, **rows)
    tables, losses, per_view = [], [], []
    for problem in problems:
        part = SortedProblem(problem, binning)
        bounds = part.cut(part.label)
        tables.append(part.table(bounds))
        losses.append(_losses(loss, part, tables[-1], bounds))
        per_view.append(weighted_norm(losses[-1], bin_weights(tables[-1].count, "mass"), norm))
    return GeneralError(
        value=float(combine_views(np.array(per_view), norm)),
        loss=loss if isinstance(loss, str) else getattr(loss, "__name__", "loss"),
        norm=float(norm),
        view=view_of(problems),
        tables=tuple(tables),
        losses=tuple(read_only(values) for values in losses),
        per_view=np.array(per_view),
    )


def _losses(
    loss: str | Loss, part: SortedProblem, table: BinTable, bounds: IntVector
) -> FloatVector:
    if loss == "gap":
        return np.abs(table.gap)
    if loss == "rejected":
        verdict = BinomialTest(0.05).rejections(hits_of(part.label, bounds), bounds, part.prob)
        with np.errstate(invalid="ignore"):  # NaN marks an empty bin
            return np.asarray(hits_of(verdict.astype(np.int64), bounds) / table.count)
    if not callable(loss):
        raise ValueError(f'loss must be "gap", "rejected" or a function, got {loss!r}.')
    label, values = part.label.astype(np.int64), np.full(table.n_bins, np.nan)
    for b in np.flatnonzero(table.occupied):
        rows = slice(bounds[b], bounds[b + 1])
        values[b] = float(loss(label[rows].copy(), part.prob[rows].copy()))  # theirs to change
        if not np.isfinite(values[b]):
            raise ValueError(f"The loss of bin {b} is {values[b]}; it must be finite.")
    return values
