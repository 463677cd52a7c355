"""The form of the tables that lesson 13 prints."""

from collections.abc import Iterable
from typing import Any


def table(heads: Iterable[str], rows: Iterable[Iterable[Any]], digits: int = 2) -> str:
    """Return rows below their heads: text to the left, numbers to the right.

    >>> print(table(("beds", "won"), [("ten", 0.25)]))
    beds   won
    ten   0.25
    """
    names, found = list(heads), [list(row) for row in rows]
    cells = [[_cell(value, digits) for value in row] for row in found]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    left = [isinstance(value, str) for value in found[0]]
    lines = (
        "  ".join(
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in [names, *cells]
    )
    return "\n".join(lines)


def _cell(value: Any, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)
