"""CSV files, block by block: with pyarrow where it is installed, else with the standard library."""

import csv
import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from calibkit.counts._blocks import (
    LONGEST_LINE,
    Block,
    Column,
    Dialect,
    Place,
    as_numbers,
    factorised,
    quoted,
    reading,
)
from calibkit.counts._parquet import texts

_ROWS = 20_000  # of a block without pyarrow
_WRONG_LENGTH = re.compile(r"Expected (\d+) columns, got (\d+): ?(.*)", re.DOTALL)


def _lines(file: IO[str], place: Place) -> Iterator[str]:
    """Yield lines; one that does not end is refused before it fills the memory."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith("\n"):
            raise place.error(_too_long(f"line {number:,}"))
        yield line


def _too_long(what: str) -> str:
    return f"{what} has more than {LONGEST_LINE:,} characters. Is a quote not closed?"


def _open(path: str) -> IO[str]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def names(path: str, dialect: Dialect) -> list[str]:
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
    try:
        import pyarrow  # noqa: F401

        path.encode()  # pyarrow knows no names in other encodings
    except (ImportError, UnicodeEncodeError):
        return _plain_blocks(path, wanted, numeric, dialect)
    return _arrow_blocks(path, wanted, numeric, dialect)


def _arrow_blocks(
    path: str, wanted: Sequence[str], numeric: Sequence[str], dialect: Dialect
) -> Iterator[Block]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    place = Place(path)
    options = {
        "read_options": arrow_csv.ReadOptions(block_size=LONGEST_LINE),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=dialect.of(path), newlines_in_values=True
        ),
        "convert_options": arrow_csv.ConvertOptions(
            include_columns=list(wanted),
            column_types=dict.fromkeys(wanted, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        ),
    }
    lengths = partial(_lengths, path, wanted, dialect)
    with reading(place, pa.ArrowException), lengths():
        reader = arrow_csv.open_csv(path, **options)
    with reader:
        seen = 0
        while True:
            here = Place(path, seen)
            after = Place(path, 0, f"after row {seen:,}")
            with reading(after, pa.ArrowException, KeyError), lengths():
                batch = next(reader, None)
            if batch is None:
                return
            columns: dict[str, Column] = {
                name: _arrow_numbers(batch.column(name), here, name, dialect.decimal)
                if name in numeric
                else texts(batch.column(name))
                for name in wanted
            }
            if len(batch):
                yield Block(here, columns)
            seen += len(batch)


@contextmanager
def _lengths(path: str, wanted: Sequence[str], dialect: Dialect) -> Iterator[None]:
    """Say in our own words that a row is too long or too short."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid as error:
        if "straddling" in str(error):  # a row that does not fit into a block
            raise Place(path).error(_too_long("a row")) from error
        found = _WRONG_LENGTH.search(str(error))
        if not found:
            raise
        # Whether pyarrow knows the row depends on its threads; our own reader names it.
        for _ in _plain_blocks(path, wanted, (), dialect):
            pass
        columns, values, text = found.groups()
        raise Place(path).error(_wrong_length(values, columns, text)) from error


def _wrong_length(values: object, columns: object, text: str) -> str:
    return (
        f"a row has {values} values, but there are {columns} columns: {quoted(text)}. Put quotes "
        "around values that hold what separates columns."
    )


def _arrow_numbers(
    values: Any, place: Place, name: str, decimal: str
) -> np.ndarray[Any, np.dtype[np.float64]]:
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(values)
    if decimal == ",":
        trimmed = compute.replace_substring(trimmed, ".", "?")  # no number, and so an error
        trimmed = compute.replace_substring(trimmed, ",", ".")
    try:
        numbers = compute.cast(trimmed, pa.float64())
    except pa.ArrowInvalid:
        return as_numbers(values.to_pylist(), place, name, decimal)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _plain_blocks(
    path: str, wanted: Sequence[str], numeric: Sequence[str], dialect: Dialect
) -> Iterator[Block]:
    place = Place(path)
    with reading(place, csv.Error), _open(path) as file:
        rows = csv.reader(_lines(file, place), delimiter=dialect.of(path))
        head = next(rows)
        where = [head.index(name) for name in wanted]
        seen = 0
        filled = (row for row in rows if row)
        while part := list(islice(filled, _ROWS)):
            here = Place(path, seen)
            for number, row in enumerate(part):
                if len(row) != len(head):
                    raise here.error(_wrong_length(len(row), len(head), ",".join(row)), number)
            columns: dict[str, Column] = {}
            for name, k in zip(wanted, where, strict=True):
                cells = [row[k] or None for row in part]
                numbers = name in numeric
                columns[name] = (
                    as_numbers(cells, here, name, dialect.decimal) if numbers else factorised(cells)
                )
            yield Block(here, columns)
            seen += len(part)
