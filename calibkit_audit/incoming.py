"""What audits alone must read: one value per row, names of columns, weights by Kish."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatArray, as_array, is_missing, row_sum_tolerance, unwrapped
from calibkit.results import spell

_BLANK = ("", "NaT", "nan", "None")
AS_PROBABILITIES = "pass y_prob= (command line: --prob)"
_ROUNDED = 0.1 + 1e-9  # sums of classes that miss 1 by more are not just rounded
Changes = Counter[str]  # what was done to how many rows
LEFT_OUT = "without label or prediction left out"
RESCALED = "divided by their sum, which was not 1"
PERCENT = "with predictions in per cent, divided by 100"


def changes_in_words(changes: Changes) -> str:
    """Say what was done to how many rows; empty where nothing was.

    >>> changes_in_words(Changes({LEFT_OUT: 2}))
    '2 rows without label or prediction left out'
    """
    return "; ".join(f"{spell(count, 'row')} {what}" for what, count in changes.items() if count)


def rescale_rows(table: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Divide rows by their sum that miss 1 by rounding, at most 0.1; and tell which they are.

    >>> rescale_rows(np.array([[0.5, 0.49], [0.5, 0.5], [0.0, 0.0]]))[0].round(3).tolist()
    [[0.505, 0.495], [0.5, 0.5], [0.0, 0.0]]
    """
    table = as_array(table, "the table")
    total = table.sum(axis=1, dtype=np.float64)
    off = np.abs(total - 1)
    off = (off > row_sum_tolerance(table.dtype, table.shape[1])) & (off <= _ROUNDED)
    divided = table / np.where(off, total, 1)[:, np.newaxis]
    return divided.astype(table.dtype, copy=False), off


def one_per_row(values: Any, name: str, n: int, remedy: str) -> tuple[NDArray[Any], list[Any]]:
    """Return an array of shape (n,) and its values as Python has them, none of them missing."""
    array = unwrapped(values, name)
    if array.ndim != 1 or len(array) != n:
        raise ValueError(
            f"{name} has shape {array.shape}; it needs one value for each of {n} rows."
        )
    # NumPy would turn the 1 of [1, "a"] into a word.
    given = list(values) if isinstance(values, list | tuple) else array.tolist()
    for row, value in enumerate(given):
        if is_blank(value):
            raise ValueError(f"{name}[{row}] is missing; {remedy}, or drop the row.")
    return array, given


def kish(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale weights so that they, and their squares, sum to Kish's number ``(sum w)^2 / sum w^2``.

    That many rows of equal weight tell as much (Kish, 1965, section 11.7).
    >>> kish(np.array([3.0, 1.0])).round(9).tolist()
    [1.2, 0.4]
    """
    share = weight / weight.max()
    return np.asarray(share * (share.sum() / (share @ share)))


def column_names(values: Any) -> list[Any] | None:
    """Return the names of the columns of a table of pandas, polars or arrow; else None."""
    names = getattr(values, "column_names", None)
    names = getattr(values, "columns", None) if names is None else names
    return None if names is None else list(names)


def is_blank(value: Any) -> bool:
    """Tell whether a value is missing, or a text that says so."""
    return is_missing(value) or (isinstance(value, str) and value.strip() in _BLANK)
