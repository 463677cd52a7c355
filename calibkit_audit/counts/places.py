"""Where in a file of predictions something is wrong, and how it is said."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_LONGEST_QUOTE = 120


class PredictionFileError(ValueError):
    """A file of predictions that cannot be used: file, row, value.

    Rows are counted from 1, without the header.
    """


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows come from: file, rows before them, rows kept."""

    path: str
    first_row: int = 0
    kept: Any = None  # places of the rows that were not left out

    def take(self, kept: Any) -> "Place":
        """Return the place of the rows that a mask keeps."""
        return replace(self, kept=kept.nonzero()[0])

    def number(self, row: int) -> int:
        """Return the number of a row, from 1 in its file; `row` counts from 0 in this block."""
        return self.first_row + int(row if self.kept is None else self.kept[row]) + 1

    def error(self, problem: str, row: int | None = None) -> PredictionFileError:
        """Return an error that says where the problem is; `row` counts from 0 in this block."""
        where = quote(self.path) + ("" if row is None else f", row {self.number(row):,}")
        return PredictionFileError(f"{where}: {problem}")


def quote(text: object) -> str:
    """Return a text from outside for a message: short, quoted, control characters spelled out."""
    shown = repr(str(text))
    return shown if len(shown) <= _LONGEST_QUOTE else f"{shown[:_LONGEST_QUOTE]}… (cut)"


def quotes(names: Sequence[str]) -> str:
    """Return names for a message, the first fifty of them quoted."""
    more = f" and {len(names) - 50} more" if len(names) > 50 else ""
    return ", ".join(map(quote, names[:50])) + more


def refuse_absent(place: Place) -> None:
    """Refuse a file that is not there."""
    try:
        if Path(place.path).is_file():
            return
        folder = Path(place.path).is_dir()
    except (OSError, ValueError) as error:
        raise place.error(f"is no name of a file ({error}).") from error
    raise place.error("is a folder, not a file." if folder else "there is no such file.")


@contextmanager
def file_errors(place: Place) -> Iterator[None]:
    """Turn what a library says about a bad file into an error that names file and place."""
    try:
        yield
    except PredictionFileError:
        raise
    except PermissionError as error:
        raise place.error("may not be read: its owner has to allow it.") from error
    except Exception as error:  # whatever a library meets in a file that is not what it seems
        said = str(error).partition("\n")[0].strip() or type(error).__name__
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in said:
            raise place.error("is not UTF-8 text. Save it as CSV in UTF-8.") from error
        if re.search("pickle|objects in dtype", said):  # without NumPy's advice to load them
            refused = "which could run any program; store plain numbers or texts."
            raise place.error(f"holds pickled Python objects, {refused}") from None
        why = "It is cut short, damaged, or of another format than its name says."
        raise place.error(f"cannot be read ({quote(said)}). {why}") from error
