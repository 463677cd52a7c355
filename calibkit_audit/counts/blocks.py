"""Blocks of a file of predictions, and what is wrong with one: file, place, row and value."""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LONGEST_QUOTE = 120
_UNREADABLE = (OSError, EOFError, UnicodeDecodeError, zlib.error)


class PredictionFileError(ValueError):
    """A file of predictions that cannot be used: file, row group of a Parquet file, row, value.

    Rows are counted from 1, without the header.
    """


@dataclass(frozen=True, slots=True)
class Texts:
    """A column of texts: the different ones, and for each row its place there; -1: missing."""

    values: tuple[str, ...]
    codes: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.codes)


# Numbers keep their type, so that float32 stays small; a missing one is NaN.
Column = Texts | NDArray[Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block comes from: file, rows before it, part of the file in words if it has any."""

    path: str
    first_row: int = 0
    part: str = ""

    def error(self, problem: str, row: int | None = None) -> PredictionFileError:
        """Return an error that says where the problem is; `row` counts from 0 in this block."""
        where = [quoted(self.path), self.part]
        if row is not None:
            where.append(f"row {self.first_row + row + 1:,}")
        return PredictionFileError(f"{', '.join(filter(None, where))}: {problem}")


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file, by columns."""

    place: Place
    columns: dict[str, Column]


def rows_of_a_block(n_columns: int) -> int:
    """Return how many rows of so many columns are read at a time."""
    return max(2**14, 2**21 // n_columns)  # some megabytes


def quoted(text: object) -> str:
    """Return a text from outside for a message: short, quoted, control characters spelled out."""
    shown = repr(str(text))
    return shown if len(shown) <= _LONGEST_QUOTE else f"{shown[:_LONGEST_QUOTE]}… (cut)"


def listed(names: Sequence[str]) -> str:
    """Return names for a message, the first fifty of them quoted."""
    more = f" and {len(names) - 50} more" if len(names) > 50 else ""
    return ", ".join(map(quoted, names[:50])) + more


@contextmanager
def reading(place: Place, *problems: type[BaseException]) -> Iterator[None]:
    """Turn what a library says about a bad file into an error that names file and place."""
    known: tuple[type[BaseException], ...] = (*_UNREADABLE, *problems)
    try:
        yield
    except PredictionFileError:
        raise
    except PermissionError as error:
        raise place.error("may not be read: its owner has to allow it.") from error
    except known as error:
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in str(error):
            raise place.error("is not UTF-8 text. Save it as CSV in UTF-8.") from error
        first_line = str(error).partition("\n")[0].strip() or type(error).__name__
        raise place.error(
            f"cannot be read ({quoted(first_line)}). It is cut short, damaged, or of another "
            "format than its name says."
        ) from error


def existing(path: str | PathLike[str]) -> Path:
    """Return the path of a file that is there."""
    place = Place(str(path))
    found = Path(path)
    try:
        if found.is_file():
            return found
        folder = found.is_dir()
    except (OSError, ValueError) as error:
        raise place.error(f"is no name of a file ({error}).") from error
    raise place.error("is a folder, not a file." if folder else "there is no such file.")
