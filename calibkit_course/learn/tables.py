"""The one way in which lessons print a table."""

from collections.abc import Iterable, Mapping
from numbers import Rational
from typing import Any

import numpy as np


def table(heads: Iterable[str], rows: Any, digits: int = 3) -> str:
    """Return rows below their heads: names in the first column to the left, all else to the right.

    Parameters
    ----------
    heads : iterable of str
        The names of the columns.
    rows : iterable of rows, or mapping
        Rows of entries; a mapping gives the first entry of each row and the others, or the other.
    digits : int
        Decimals of numbers that are no exact fractions; all else is written as it is.

    Examples
    --------
    >>> print(table(("map", "log loss", "pieces"), {"line": (0.5, 1), "bent": (0.25, 3)}, 2))
    map   log loss  pieces
    line      0.50       1
    bent      0.25       3
    """
    if isinstance(rows, Mapping):
        rows = [(name, *(row if _is_row(row) else (row,))) for name, row in rows.items()]
    found = [list(row) for row in rows]
    first = str.ljust if isinstance(found[0][0], str) else str.rjust
    lines = [list(heads), *([_text(entry, digits) for entry in row] for row in found)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            (str.rjust if column else first)(text, width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _is_row(entry: Any) -> bool:
    return isinstance(entry, Iterable) and not isinstance(entry, str)


def _text(entry: Any, digits: int) -> str:
    whole = isinstance(entry, Rational | np.bool_) or not hasattr(entry, "__float__")
    return str(entry) if whole else f"{float(entry):.{digits}f}"
