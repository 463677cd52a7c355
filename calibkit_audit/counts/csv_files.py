"""CSV files: how they are written, and their rows, block by block."""

import csv
import gzip
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from calibkit.inputs import FloatVector
from calibkit_audit.counts.blocks import Block, Column, Place, Texts, quoted, reading

# A line of text may have this many characters.
LONGEST_LINE = 4 * 2**20
_VALUES = 2**18  # of a block
_MISSING = {"na", "n/a", "<na>", "null", "none"}  # where a number should stand


class Dialect(NamedTuple):
    """How a CSV file is written: what separates columns (None: by its name), and decimals."""

    delimiter: str | None = None
    decimal: str = "."

    @classmethod
    def checked(cls, delimiter: str | None, decimal: str) -> "Dialect":
        """Return a dialect in which numbers can be told from what separates them."""
        if decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ',', got {decimal!r}.")
        delimiter = "\t" if delimiter == "tab" else delimiter
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n._'):
            raise ValueError(
                f"delimiter must be one character, such as ';' or a tab, got {delimiter!r}."
            )
        if decimal == "," and delimiter in (None, ","):
            raise ValueError(
                "decimal=',' needs a delimiter that is no comma, e.g. delimiter=';' "
                "(command line: --delimiter ';')."
            )
        return cls(delimiter, decimal)

    def of(self, path: str) -> str:
        """Return what separates the columns of this file."""
        if self.delimiter is not None:
            return self.delimiter
        return "\t" if Path(path.removesuffix(".gz")).suffix.lower() == ".tsv" else ","


def _lines(file: IO[str], place: Place) -> Iterator[str]:
    """Yield lines; one that does not end is refused before it fills the memory."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith("\n"):
            raise place.error(
                f"line {number:,} has more than {LONGEST_LINE:,} characters. Is a quote not closed?"
            )
        yield line


def _open(path: str) -> IO[str]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def names(path: str, dialect: Dialect) -> list[str]:
    """Return the names of the columns, which stand in the first row."""
    place = Place(path)
    with reading(place, csv.Error), _open(path) as file:
        head = next(csv.reader(_lines(file, place), delimiter=dialect.of(path)), [])
    if not head:
        empty = "is empty" if Path(path).stat().st_size == 0 else "begins with an empty line"
        raise place.error(f"{empty}; a first row with the names of the columns is needed.")
    return head


def blocks(
    path: str, wanted: Sequence[str], numeric: Sequence[str], dialect: Dialect
) -> Iterator[Block]:
    """Yield the rows of the wanted columns, a block at a time; not numeric ones are texts."""
    place, seen = Place(path), 0
    with reading(place, csv.Error), _open(path) as file:
        rows = csv.reader(_lines(file, place), delimiter=dialect.of(path))
        head = next(rows)
        filled, size = filter(None, rows), max(1, _VALUES // len(head))
        while part := list(islice(filled, size)):
            here = Place(path, seen)
            for number, row in enumerate(part):
                if len(row) != len(head):
                    raise here.error(
                        f"a row has {len(row)} values, but there are {len(head)} columns: "
                        f"{quoted(','.join(row))}. Put quotes around values that hold what "
                        "separates columns.",
                        number,
                    )
            columns: dict[str, Column] = {}
            for name in wanted:
                k = head.index(name)
                cells = [row[k] or None for row in part]
                numbers = name in numeric
                columns[name] = (
                    _numbers(cells, here, name, dialect.decimal) if numbers else _texts(cells)
                )
            yield Block(here, columns)
            seen += len(part)


def _texts(cells: Sequence[str | None]) -> Texts:
    known: dict[str, int] = {}
    codes = [-1 if text is None else known.setdefault(text, len(known)) for text in cells]
    return Texts(tuple(known), np.array(codes, dtype=np.intp))


def _numbers(cells: Sequence[str | None], place: Place, name: str, decimal: str) -> FloatVector:
    """Turn texts into numbers, and name the first that is none; missing ones are NaN."""
    # Python alone would read 1_0 as 10, and a point beside a decimal comma separates thousands.
    marks = str.maketrans({"_": "?"} if decimal == "." else {"_": "?", ".": "?", ",": "."})
    numbers = np.empty(len(cells))
    for row, text in enumerate(cells):
        try:
            missing = text is None or text.strip().lower() in _MISSING
            numbers[row] = np.nan if missing else float(str(text).translate(marks))
        except ValueError:
            word, other = ("point", ",") if decimal == "." else ("comma", ".")
            raise place.error(
                f"{quoted(text)} in column {quoted(name)} is no number. Write numbers with a "
                f"decimal {word} (or choose decimal={other!r} or --decimal {other}) and without a "
                "percent sign.",
                row,
            ) from None
    return numbers
