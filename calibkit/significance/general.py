"""The general calibration error of source 002: a loss per bin, bins, and a norm."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._result import Result, read_only, spell
from calibkit._validation import IntArray
from calibkit.bins import Binning, as_bins
from calibkit.errors.family import bin_weights, check_options, combine_views, weighted_norm
from calibkit.reliability import BinTable
from calibkit.significance._groups import Groups, group, hits_of
from calibkit.significance.verdicts import rule_of
from calibkit.views import View, binary_problems

FloatVector = NDArray[np.float64]
Loss = Callable[[IntArray, FloatVector], float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GeneralError(Result):
    """A norm of one loss per bin.

    Parameters
    ----------
    value : float
        The norm of the losses.
    loss : str
        Name of the loss.
    norm : float
        Order of the norm, 1 to infinity.
    view : str
        Which event or events.
    tables : tuple of BinTable
        The bins, one table per class in the class-wise view.
    losses : tuple of ndarray
        The loss of each bin, NaN where a bin is empty.
    per_view : ndarray
        The norm in each view.
    """

    value: float
    loss: str
    norm: float
    view: str
    tables: tuple[BinTable, ...]
    losses: tuple[FloatVector, ...]
    per_view: FloatVector

    def __float__(self) -> float:
        return self.value

    @property
    def name(self) -> str:
        """What the number is called."""
        return f"general calibration error ({self.loss}, norm {self.norm:g})"

    @property
    def n(self) -> int:
        """Number of predictions."""
        return self.tables[0].n

    @property
    def bins(self) -> str:
        """The binning in words."""
        return self.tables[0].bins

    def describe(self) -> str:
        """Say the value, its three choices, the view and n."""
        return (
            f"{self.name[0].upper()}{self.name[1:]} {self.value:.4f} "
            f"({self.view}, {self.bins}, {spell(self.n, 'prediction')})."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "view": np.concatenate([[table.view] * table.n_bins for table in self.tables]),
            "count": np.concatenate([table.count for table in self.tables]),
            "loss": np.concatenate(self.losses),
        }


def general_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    loss: str | Loss = "gap",
    bins: Binning | int = 15,
    norm: float = 1,
    view: View | None = None,
    alpha: float = 0.05,
    test: str = "binomial",
) -> GeneralError:
    """Measure a loss in each bin and take a norm: the definition that contains the others.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    loss : {"gap", "rejected"} or callable
        ``"gap"``: frequency against mean prediction. ``"rejected"``: share of predictions that a
        test rejects. A callable gets the labels and the predictions of one bin, sorted by
        prediction, and returns a finite number.
    bins : int or Binning
        A number of equal-width bins, or a binning such as `PavaBC`.
    norm : float
        1 (mean), any number from 1 on, or ``numpy.inf`` (maximum).
    view : {"top-label", "class-wise"} or int, optional
        Which event; needed when `y_prob` has columns.
    alpha, test
        As in `test_based_calibration_error`; for the loss ``"rejected"`` only.

    Returns
    -------
    GeneralError
        ``float(result)`` is the number.

    Raises
    ------
    ValueError
        If labels, probabilities or options are not valid, or a loss is not a finite number.

    Notes
    -----
    ``(sum_b (n_b / n) |L_b|^p)^(1/p)`` with the loss ``L_b`` of bin b (source 002,
    Definition 1). Empty bins count nothing.

    ==========================  ==============  ==================  ========
    member                      loss            bins                norm
    ==========================  ==============  ==================  ========
    expected error              ``"gap"``       equal width         1
    adaptive error              ``"gap"``       `EqualMass`         1
    maximum error               ``"gap"``       equal width         infinity
    test-based error            ``"rejected"``  `PavaBC`            1
    ==========================  ==============  ==================  ========

    The source prints the test-based one in per cent. Taught in lessons 06 and 08.

    Examples
    --------
    >>> y_true, y_prob = [0, 1, 1, 1], [.1, .4, .8, .9]
    >>> round(float(general_calibration_error(y_true, y_prob, bins=2)), 4)
    0.2
    >>> def brier(label, prob):
    ...     return float(np.mean((label - prob) ** 2))
    >>> round(float(general_calibration_error(y_true, y_prob, loss=brier, bins=2)), 4)
    0.105
    """
    check_options(norm)
    binning = as_bins(bins)
    per_bin = _bin_losses(loss, test, alpha)
    problems = binary_problems(y_true, y_prob, view=view)
    tables, losses = [], []
    for problem in problems:
        part = group(problem, binning)
        bounds = part.cut(part.label)
        tables.append(part.table(part.label, bounds))
        losses.append(per_bin(part, tables[-1], bounds))
    per_view = np.array(
        [
            weighted_norm(values, bin_weights(table.count, "mass"), norm)
            for values, table in zip(losses, tables, strict=True)
        ]
    )
    several = len(problems) > 1
    return GeneralError(
        value=float(combine_views(per_view, norm)),
        loss=loss if isinstance(loss, str) else getattr(loss, "__name__", "loss"),
        norm=float(norm),
        view=f"class-wise, {len(problems)} classes" if several else problems[0].view,
        tables=tuple(tables),
        losses=tuple(read_only(values) for values in losses),
        per_view=read_only(per_view),
    )


BinLosses = Callable[[Groups, BinTable, NDArray[np.int64]], FloatVector]


def _bin_losses(loss: str | Loss, test: str, alpha: float) -> BinLosses:
    """Return the function that measures the loss of every bin of a view."""
    rule = rule_of(test, alpha)

    def gap(part: Groups, table: BinTable, bounds: NDArray[np.int64]) -> FloatVector:
        return np.abs(table.gap)

    def rejected(part: Groups, table: BinTable, bounds: NDArray[np.int64]) -> FloatVector:
        verdict = rule.rejections(hits_of(part.label, bounds), bounds, part.prob)
        with np.errstate(invalid="ignore"):  # NaN marks an empty bin
            return np.asarray(hits_of(verdict.astype(np.int64), bounds) / table.count)

    if callable(loss):
        return partial(_own_losses, loss)
    if loss not in ("gap", "rejected"):
        raise ValueError(f'loss must be "gap", "rejected" or a function, got {loss!r}.')
    return gap if loss == "gap" else rejected


def _own_losses(
    loss: Loss, part: Groups, table: BinTable, bounds: NDArray[np.int64]
) -> FloatVector:
    """Call the user's loss on a copy of each bin in use."""
    label, values = part.label.astype(np.int64), np.full(table.n_bins, np.nan)
    for b in np.flatnonzero(table.occupied):
        rows = slice(bounds[b], bounds[b + 1])
        values[b] = float(loss(label[rows].copy(), part.prob[rows].copy()))
        if not np.isfinite(values[b]):
            raise ValueError(f"The loss of bin {b} is {values[b]}; it must be finite.")
    return values
