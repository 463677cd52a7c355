"""What audits alone must read: one value per row, names of columns, weights by Kish."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import unwrapped

_BLANK = ("", "NaT", "nan", "None")


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
        if is_missing(value) or (isinstance(value, str) and value.strip() in _BLANK):
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


def is_missing(word: Any) -> bool:
    """Recognise None, NaN, NaT, and pandas.NA, which refuses to be compared."""
    return word is None or type(word).__name__ in ("NAType", "NaTType") or bool(word != word)
