"""Where in a file of predictions something is wrong, and how it is said."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

_LONGEST_QUOTE = 120
# What a library says of a bad file, and what that means.
_REASONS = {
    "Permission denied": "may not be read: its owner has to allow it.",
    "codec can't decode|invalid UTF8": "is not UTF-8 text. Save it as CSV in UTF-8.",
    "pickle|objects in dtype": "is of another format than its name says, or holds pickled Python "
    "objects, which could run any program; store plain numbers or texts.",
}


class PredictionFileError(ValueError):
    """A file of predictions that cannot be used: file, row, value.

    Rows are counted from 1, without the header.
    """


class Place(NamedTuple):
    """Where rows come from: a file, and the numbers in it, from 0, of those that are looked at."""

    path: str
    rows: Any = None

    def number(self, row: int) -> int:
        """Return the number of a row, from 1 in its file; `row` counts from 0 in this block."""
        return int(row if self.rows is None else self.rows[row]) + 1

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


@contextmanager
def file_errors(place: Place) -> Iterator[None]:
    """Turn what a library says about a bad file into an error that names file and place."""
    try:
        yield
    except (PredictionFileError, ImportError):
        raise
    except Exception as error:  # whatever a library meets in a file that is not what it seems
        said = str(error).partition("\n")[0].strip() or type(error).__name__
        reasons = [reason for words, reason in _REASONS.items() if re.search(words, said)]
        why = "It is cut short, damaged, or of another format than its name says."
        raise place.error((*reasons, f"cannot be read ({quote(said)}). {why}")[0]) from None
