"""The count table: all that calibration needs of a billion predictions, in a few megabytes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Bins, as_bins
from calibkit.errors.family import CalibrationError, check_options, error_of_tables
from calibkit.inputs import BinaryProblem, View, binary_problems
from calibkit.reliability import BinTable
from calibkit.results import Result, spell
from calibkit_audit.counts.grid import (
    CELLS,
    CellSums,
    Counts,
    bin_table,
    sums_of_counts,
    sums_of_rows,
)

MOST_CLASSES = 100
_ARRAYS = ("counts", "sums", "impossible")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CountTable(Result):
    """Predictions and events counted in the G = 25,200 cells of a fine grid.

    Start with an empty table, ``CountTable()``. `update` counts rows in; ``+`` joins tables of
    different rows. Neither changes a table: both return a new one.

    Parameters
    ----------
    view : {"top-label", "class-wise"} or int, optional
        Which events are counted. Needed when rows have one column per class.
    n_classes : int
        0, like the following not to be given, as long as nothing was counted.
    counts, sums : ndarray of shape (V, G, 2)
        Rows in each cell, without and with the event, and sums of their predictions. V = K for
        ``"class-wise"``, else 1.
    impossible : ndarray of shape (V,)
        Number of rows whose prediction was exactly 0 or 1, and wrong.

    Notes
    -----
    A row with prediction p is counted in cell ``floor(p G)``, the last one closed, and in the cell
    above where p is its edge up to the precision of its type: the rule of `EqualWidth`. The counts
    are the same in every order of rows and however they are shared; sums may differ in their last
    digits. How accurate the measures are stands at the head of `calibkit_audit.counts`.

    Examples
    --------
    >>> table = CountTable().update([0, 1, 1], [.1, .4, .8])
    >>> table = table + CountTable().update([1], [.9])
    >>> table.n, round(float(table.expected_calibration_error(bins=2)), 4)
    (4, 0.2)
    """

    view: View = None
    n_classes: int = 0
    counts: Counts = field(default_factory=lambda: np.zeros((0, 0, 2), np.int64))
    sums: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0, 2)))
    impossible: Counts = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def n(self) -> int:
        """Number of predictions counted."""
        return int(self.counts[0].sum()) if len(self.counts) else 0

    @property
    def views(self) -> tuple[str, ...]:
        """The events in words, one per table of cells; none for an empty table."""
        if self.view == "class-wise":
            return tuple(f"class {k}" for k in range(len(self.counts)))
        name = "positive class" if self.view is None else f"class {self.view}"
        return ("top-label" if self.view == "top-label" else name,) * len(self.counts)

    def update(self, y_true: Any, y_prob: Any) -> "CountTable":
        """Return a table that has counted these rows too.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels: 0 and 1, or ``0 .. K-1``.
        y_prob : array-like of shape (n,) or (n, K)
            P(y = 1), or one column per class with rows that sum to 1.
        """
        return self.count([binary_problems(y_true, y_prob, view=self.view)])

    def count(self, blocks: Iterable[tuple[BinaryProblem, ...]]) -> "CountTable":
        """Return a table that has counted blocks of rows too, as `binary_problems` returns them.

        Parameters
        ----------
        blocks : iterable of tuple of BinaryProblem
            Of this table's view.
        """
        table = self
        for block in blocks:
            if len(block) > MOST_CLASSES:
                raise ValueError(
                    f'view="class-wise" keeps a grid per class, for at most {MOST_CLASSES} '
                    f'classes; here are {len(block)}. Use view="top-label".'
                )
            sums = [sums_of_rows(one.prob, one.label, one.precision) for one in block]
            table += self._table_of(sums, block[0].n_classes)
        return table

    @classmethod
    def from_counts(cls, frame: Any, *, view: View = None, n_classes: int = 2) -> "CountTable":
        """Return the table of rows that a database has counted; they stay where they are.

        Parameters
        ----------
        frame : table of pandas, polars or arrow, or mapping from names to arrays
            Each row stands for some rows of one cell: ``cell``, ``n``, ``events`` and, where the
            middle of a cell is not exact enough, ``sum_p``, the sum of their predictions.
        view
            As for the class: which event was counted. No ``"class-wise"``.
        n_classes : int
            Of the problem.

        Returns
        -------
        CountTable
            With the query below that of `count_files`, but events with p = 0 count as called
            impossible only where no other event shares the first cell. Grouped by the cell alone,
            its events have the mean prediction of all its rows; without `sum_p` every prediction is
            moved to the middle of its cell, by up to 1 / (2 G), 2e-5.

        Raises
        ------
        ValueError
            If a column is missing, or a cell, count or sum cannot be: the query leaves nothing
            out, so what is no label or no probability in the database is found here.

        Notes
        -----
        In DuckDB, Spark, BigQuery and others, with P(y = 1) in ``p`` and 0 or 1 in ``y`` (1e-12 is
        what rounding takes off at most; write 6e-8 where ``p`` is of single precision)::

            SELECT floor((CAST(p AS DOUBLE) + 1e-12) * 25200) AS cell, count(*) AS n,
                   sum(y) AS events, sum(CAST(p AS DOUBLE)) AS sum_p
            FROM log GROUP BY 1, y

        For the top label, with one column per class, ``log`` is made by the first of these, and
        with a predicted class and its confidence by the second::

            WITH best AS (SELECT *, greatest(p0, p1, p2) AS p FROM answers),
                 log AS (SELECT p, CAST(label = CASE p WHEN p0 THEN 0 WHEN p1 THEN 1 ELSE 2 END
                                        AS INTEGER) AS y FROM best)
            WITH log AS (SELECT confidence AS p, CAST(label = predicted AS INTEGER) AS y
                         FROM answers)

        Examples
        --------
        >>> counted = {"cell": [5040, 20160], "n": [50, 30], "events": [12, 24]}
        >>> table = CountTable.from_counts(counted)
        >>> table.n, round(table.expected_calibration_error(bins=2).value, 4)
        (80, 0.025)
        """
        if view == "class-wise":
            raise ValueError("from_counts takes one event: make a table of each class.")
        empty = cls(view=view)
        return empty + empty._table_of([sums_of_counts(frame)], n_classes)

    def _table_of(self, sums: Sequence[CellSums], n_classes: int) -> "CountTable":
        arrays: dict[str, Any] = dict(
            zip(_ARRAYS, map(np.array, zip(*sums, strict=True)), strict=True)
        )
        return replace(self, n_classes=n_classes, **arrays)

    def __add__(self, other: object) -> "CountTable":
        if not isinstance(other, CountTable):
            return NotImplemented
        if self.view != other.view:
            raise ValueError(f"Tables of {self.view!r} and of {other.view!r} cannot be added.")
        if not self.n or not other.n:
            return self if other.n == 0 else other
        if self.n_classes != other.n_classes:
            raise ValueError(
                f"Tables of {self.n_classes} and of {other.n_classes} classes cannot be added."
            )
        return replace(self, **{a: getattr(self, a) + getattr(other, a) for a in _ARRAYS})

    def tables(self, bins: Bins = 15) -> tuple[BinTable, ...]:
        """Return the bin table of each event: K of them for the class-wise view.

        Parameters
        ----------
        bins : int or Binning
            A number of equal-width bins that divides 25,200, or `FixedEdges` that are multiples
            of 1/25,200.
        """
        if not self.n:
            raise ValueError("The table is empty: count rows with update() first.")
        binning, parts = as_bins(bins), zip(self.counts, self.sums, self.views, strict=True)
        return tuple(bin_table(counts, sums, binning, view) for counts, sums, view in parts)

    def calibration_error(
        self, bins: Bins = 15, *, norm: float = 1, weights: str = "mass", name: str | None = None
    ) -> CalibrationError:
        """Return the general binned error: a norm of the gaps.

        Parameters
        ----------
        bins : int or Binning
            A number of equal-width bins that divides 25,200, or `FixedEdges` that are multiples
            of 1/25,200.
        norm : float
            1 (mean), 2 (root mean square), any number from 1 on, or ``numpy.inf`` (maximum).
        weights : {"mass", "equal"}
            Weight a bin by its share of predictions, or all used bins alike.
        name : str, optional
            What the result calls itself.
        """
        check_options(norm, weights)
        return error_of_tables(self.tables(bins), norm=norm, weights=weights, name=name)

    def expected_calibration_error(self, bins: Bins = 15) -> CalibrationError:
        """Return the mean gap (ECE); over classes, the mean of theirs; `bins` as in `tables`."""
        name = "class-wise calibration error" if self.view == "class-wise" else None
        return self.calibration_error(bins, name=name)

    def describe(self) -> str:
        """Say how much was counted, and on which grid."""
        event = ", ".join(self.views) if len(self.views) < 4 else f"{len(self.views)} classes"
        what = f"{spell(self.n, 'prediction')} ({event})" if self.n else "Nothing"
        return f"{what} counted in {CELLS:,} cells."

    def _columns(self) -> dict[str, NDArray[Any]]:
        rows = self.counts.sum(axis=2)
        used = rows > 0
        mean = self.sums.sum(axis=2)[used] / rows[used]
        cells = {"prediction": mean, "events": self.counts[used, 1], "rows": rows[used]}
        return {"view": np.repeat(np.array(self.views, dtype=np.str_), used.sum(axis=1))} | cells
