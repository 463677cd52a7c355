"""The count table: all that calibration needs of a billion predictions, in a few megabytes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import EqualWidth
from calibkit.errors.family import CalibrationError, error_of_tables
from calibkit.inputs import FloatMatrix, FloatVector, as_array, as_count
from calibkit.reliability import BinTable
from calibkit.results import Described, spell
from calibkit_audit.incoming import column_names

CELLS = 25_200  # 2^4 * 3^2 * 5^2 * 7: a multiple of every usual number of bins
_LOOSE = 1e-6  # what the mean of many predictions may be off by rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CountTable(Described):
    """Predictions and events of one problem, counted in the G = 25,200 cells of a fine grid.

    A database or a cluster counts, by one query, and `from_counts` takes what it has counted:
    the rows stay where they are.

    Parameters
    ----------
    counts, sums : ndarray of shape (G, 2)
        Rows in each cell, without and with the event, and sums of their predictions.
    view : str
        The event in words.

    Notes
    -----
    In bins whose number divides G counts are those of `calibkit.reliability_table`, and means are
    its own but for rounding.

    Examples
    --------
    >>> table = CountTable.from_counts({"cell": [5040, 20160], "n": [4, 4], "events": [1, 1]})
    >>> table.n, round(table.expected_calibration_error(bins=2).value, 4)
    (8, 0.3)
    """

    counts: NDArray[np.int64]
    sums: FloatMatrix
    view: str = "positive class"

    @property
    def n(self) -> int:
        """Number of predictions counted."""
        return int(self.counts.sum())

    @classmethod
    def from_counts(cls, frame: Any, *, view: str = "positive class") -> "CountTable":
        """Return the table of rows that a database has counted.

        Parameters
        ----------
        frame : table of pandas, polars or arrow, or mapping from names to arrays
            Each row stands for some rows of one cell, which may come again: ``cell``, ``n``,
            ``events`` and, where the middle of a cell is not exact enough, ``sum_p``, the sum of
            their predictions. Cell G holds predictions of 1.
        view : str
            The event in words.

        Returns
        -------
        CountTable
            Without `sum_p` every prediction is moved to the middle of its cell, by up to
            1 / (2 G), 2e-5.

        Raises
        ------
        ValueError
            If a column is missing, or a cell, count or sum cannot be: the query leaves nothing
            out, so what is no label or no probability in the database is found here.

        Notes
        -----
        In DuckDB (which reads CSV and Parquet files, too: ``FROM 'log*.parquet'``), Spark, BigQuery
        and others, with P(y = 1) in ``p`` and 0 or 1 in ``y`` (1e-12 is
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
        cell, n, events, sum_p = _count_columns(frame)
        place = np.minimum(cell, CELLS - 1).astype(np.intp)
        mean = sum_p / n
        parts = n - events, events
        counts = [np.bincount(place, rows, CELLS) for rows in parts]
        sums = [np.bincount(place, mean * rows, CELLS) for rows in parts]
        return cls(counts=np.transpose(counts).astype(int), sums=np.transpose(sums), view=view)

    def bin_table(self, bins: int = 15) -> BinTable:
        """Return the reliability table in equal-width bins, for errors, parts and diagrams.

        Parameters
        ----------
        bins : int
            How many; the number divides 25,200.
        """
        if CELLS % as_count(bins, "bins"):
            some = ", ".join(str(k) for k in range(1, 101) if CELLS % k == 0)
            raise ValueError(
                f"bins={bins} does not divide {CELLS:,}, so an edge would lie inside a cell of the "
                f"table, which holds no single predictions; up to 100 these do: {some}."
            )
        first = np.arange(0, CELLS, CELLS // bins)
        parts = (self.counts.sum(axis=1), self.sums.sum(axis=1), self.counts[:, 1])
        count, total, events = (np.add.reduceat(values, first) for values in parts)
        with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: the mark of an empty bin
            mean_prob, frequency = total / count, events / count
        return BinTable(
            edges=EqualWidth(bins).edges(np.empty(0)),
            count=count,
            mean_prob=mean_prob,
            frequency=frequency,
            view=self.view,
            binning=EqualWidth(bins),
        )

    def expected_calibration_error(self, bins: int = 15) -> CalibrationError:
        """Return the mean gap (ECE); `bins` as in `bin_table`."""
        return error_of_tables((self.bin_table(bins),), name="expected calibration error")

    def describe(self) -> str:
        """Say how much was counted, and on which grid."""
        return f"{spell(self.n, 'prediction')} ({self.view}) counted in {CELLS:,} cells."


def _count_columns(frame: Any) -> tuple[FloatVector, FloatVector, FloatVector, FloatVector]:
    """Return cell, n, events and sum_p (if need be of the middles) of rows counted elsewhere."""
    names = column_names(frame) or list(frame)
    if missing := [name for name in ("cell", "n", "events") if name not in names]:
        raise ValueError(f"column {missing[0]!r} is not there; the columns are {names!r}.")
    known = [name for name in ("cell", "n", "events", "sum_p") if name in names]
    cell, n, events, *sums = (as_array(frame[name], name).astype(np.float64) for name in known)
    least, middle, most = (np.minimum((cell + part) / CELLS, 1.0) for part in (0, 0.5, 1))
    sum_p = sums[0] if sums else middle * n
    least, most = n * (least - _LOOSE), n * (most + _LOOSE)
    for name, values, low, high, what in (
        ("cell", cell, 0, CELLS, f"floor(p * {CELLS}) of a probability in [0, 1]"),
        ("n", n, 1, np.inf, "a number of rows"),
        ("events", events, 0, n, "a number of labels 1, from 0 to n"),
        ("sum_p", sum_p, least, most, "the sum of n predictions p of its cell"),
    ):
        good = (values >= low) & (values <= high) & ((values % 1 == 0) | (name == "sum_p"))
        if not good.all():
            row = int(np.flatnonzero(~good)[0])
            raise ValueError(
                f"{name}[{row}] = {values[row]:.9g} is not {what}. Drop or repair such rows of the "
                "log; labels are 0 and 1, and none is missing."
            )
    return cell, n, events, sum_p
