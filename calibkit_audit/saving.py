"""What leaves the house: text that cannot steer a terminal, numbers for JSON, whole files."""

import math
import os
import stat
import uuid
from pathlib import Path
from typing import Any

import numpy as np


def printable(text: str) -> str:
    """Write characters that control a terminal or a page as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def finite(value: Any) -> Any:
    """Return what JSON can hold: a number that is not finite becomes None, also in a list."""
    if isinstance(value, list):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def place_for(path: str | Path) -> Path:
    """Return where a file can be written: no folder, no device, and in a folder that exists."""
    target = Path(path)
    other = target.exists() and not target.is_file()  # a folder, a device
    if str(path) == "-" or other or not target.parent.is_dir():
        raise ValueError(f"{str(path)!r} names no file in a folder that exists.")
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"nothing may be written beside {str(path)!r}.")
    return target


def plain(text: str) -> str:
    """Return text on one line, without characters that are not printed."""
    return "".join(c for c in " ".join(str(text).split()) if c.isprintable())


def format_cell(value: Any) -> str:
    """Return a value as it stands in a table.

    >>> [format_cell(v) for v in (0.12345, float("nan"), True, 12000, 2e-9, -2e-9)]
    ['0.1235', '–', 'yes', '12,000', '< 0.0001', '0.0000']
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if 0 < value < 5e-5:
            return "< 0.0001"
        return "–" if math.isnan(value) else four_digits(value)
    return f"{value:,}" if isinstance(value, int) else plain(value)


def four_digits(value: float) -> str:
    """Return a number with four digits, of a small one two that differ from 0; or "infinite".

    >>> [four_digits(v) for v in (0.5, -0.000531, -2e-9, float("-inf"))]
    ['0.5000', '-0.00053', '0.0000', '-infinite']
    """
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    size = 0 if abs(value) < 1e-8 else abs(value)  # what is smaller may be rounding
    digits = max(4, 1 - math.floor(math.log10(size))) if size > 0 else 4
    return f"{value if size else 0:.{digits}f}"


def as_rows(table: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names of the columns of a table, and its rows."""
    columns = {name: np.asarray(column).tolist() for name, column in table._columns().items()}
    return list(columns), list(zip(*columns.values(), strict=True))


def write_whole(path: str | Path, text: str) -> Path:
    """Write a text file under a temporary name and move it: whole or not at all."""
    target = place_for(path)
    part = target.with_name(f".calibkit-{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if target.exists():  # who may read the old file may read the new one, and nobody else
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return target
