"""Files of predictions, block by block: the ending of a name says what kind of file it is.

Numbers keep their type, so that float32 stays small; a missing one is NaN. pyarrow is imported
only where a Parquet file is read. Pickled Python objects are refused, never unpickled.
"""

import csv
import gzip
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from os import PathLike
from os.path import isdir, isfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit_audit.counts.places import Place, file_errors, quote, quotes

FilePath = str | PathLike[str]
LONGEST_LINE = 4 * 2**20  # characters of a line of text
LARGEST_ARCHIVE = 2**31  # bytes of all arrays of an .npz file, unpacked
CSV_VALUES = 2**18  # values of a block
_SWALLOWED = 4  # a row of more lines may have swallowed others
NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s*", re.IGNORECASE)

# By name: numbers, or texts of the type object, None where one is missing.
Columns = dict[str, NDArray[Any]]
# What a file holds: the names of its columns, and what yields some of them, a block at a time.
Content = tuple[list[str], Callable[[Sequence[str]], Iterator[Columns]]]


class Block(NamedTuple):
    """Some rows of a file, by columns; `decimal`: the mark in numbers that are still texts."""

    place: Place
    columns: Columns
    decimal: str = "."

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def take(self, kept: NDArray[np.bool_]) -> "Block":
        """Return some of the rows; they keep their numbers."""
        columns = {name: column[kept] for name, column in self.columns.items()}
        place = self.place._replace(rows=self.place.rows[kept])
        return self._replace(place=place, columns=columns)


class Dialect(NamedTuple):
    """How a CSV file is written: what separates columns (None: by its name), and decimals."""

    delimiter: str | None = None
    decimal: str = "."

    def of(self, path: str) -> str:
        """Return what separates the columns of this file."""
        usual = "\t" if Path(path.removesuffix(".gz")).suffix.lower() == ".tsv" else ","
        mark = {None: usual, "tab": "\t"}.get(self.delimiter, str(self.delimiter))
        decimal = self.decimal
        if len(mark) != 1 or mark in '"\r\n._' or decimal not in (".", ",") or mark == decimal:
            needed = "must be two different marks: one character, e.g. ';', and a point or comma"
            raise Place(path).error(f"delimiter={mark!r} and decimal={decimal!r} {needed}.")
        return mark


USUAL = Dialect()


def column_names(path: FilePath, dialect: Dialect = USUAL) -> list[str]:
    """Return the names of a file's columns; those of a table in an .npz file are ``name[k]``."""
    place = Place(str(path))
    with file_errors(place):
        return _reader_of(place)(place, dialect)[0]


def blocks_of(path: FilePath, names: Sequence[str], *, dialect: Dialect = USUAL) -> Iterator[Block]:
    """Yield the rows of these columns, a block at a time."""
    place, first = Place(str(path)), 0
    with file_errors(place):
        reader = _reader_of(place)
        decimal = dialect.decimal if reader is _csv else "."
        for columns in reader(place, dialect)[1](names):
            n = len(columns[names[0]])
            yield Block(place._replace(rows=np.arange(first, first + n)), columns, decimal)
            first += n


def _reader_of(place: Place) -> Callable[[Place, Dialect], Content]:
    name = Path(place.path).name.lower()
    reader = _READERS.get(Path(name.removesuffix(".gz")).suffix)
    if reader is None or (name.endswith(".gz") and reader not in (_csv, _json)):
        kinds = f"{', '.join(_READERS)}, or .csv.gz or .jsonl.gz"
        raise place.error(f"the name must end in {kinds}, to say what kind of file it is.")
    if not isfile(place.path):
        folder = isdir(place.path)
        raise place.error("is a folder, not a file." if folder else "there is no such file.")
    return reader


# --- CSV and JSON lines ---------------------------------------------------------------------------


def _csv(place: Place, dialect: Dialect) -> Content:
    rows = _csv_rows(place, dialect)
    head = next(rows, [])
    if not head:
        raise place.error("is empty; a first row with the names of the columns is needed.")
    return head, partial(_text_blocks, head, rows)


def _json(place: Place, _: Dialect) -> Content:
    head = list(dict.fromkeys(chain.from_iterable(_json_rows(place))))
    rows = ([row.get(name) for name in head] for row in _json_rows(place))
    return head, partial(_text_blocks, head, rows)


def _text_blocks(
    head: Sequence[str], rows: Iterator[Sequence[Any]], names: Sequence[str]
) -> Iterator[Columns]:
    places = [(name, head.index(name)) for name in names]
    while part := list(islice(rows, max(1, CSV_VALUES // len(head)))):
        yield {name: _as_texts([row[k] for row in part]) for name, k in places}


def _as_texts(values: Sequence[Any]) -> NDArray[Any]:
    texts = [None if value is None or value == "" else str(value) for value in values]
    return np.array(texts, dtype=object)


def _lines(place: Place) -> Iterator[str]:
    """Yield lines; one that does not end is refused before it fills the memory."""
    opened: Any = gzip.open if place.path.lower().endswith(".gz") else open
    with opened(place.path, "rt", encoding="utf-8-sig", newline="") as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), ""), start=1):
            if len(line) == LONGEST_LINE and not line.endswith("\n"):
                more = f"line {number:,} has more than {LONGEST_LINE:,} characters"
                raise place.error(f"{more}. Is a quote not closed?")
            yield line


def _csv_rows(place: Place, dialect: Dialect) -> Iterator[list[str]]:
    """Yield the names, and rows of as many values; a quote that is not closed is refused."""
    lines, delimiter = _lines(place), dialect.of(place.path)
    if delimiter == " ":  # blanks of any number stand between columns
        lines = (" ".join(line.split()) for line in lines)
    rows, number, begun = csv.reader(lines, delimiter=delimiter, strict=True), None, 0
    head: list[str] = []
    usual = csv.field_size_limit(LONGEST_LINE)  # of the whole process, until the rows are read
    try:
        for row in rows:
            if rows.line_num - begun > _SWALLOWED and _holds_rows(row, delimiter):
                raise csv.Error("a value holds lines that look like rows")
            begun = rows.line_num
            if not row:
                continue
            head = head or row
            if len(row) != len(head):
                short = f"a row has {len(row)} values, but there are {len(head)} columns"
                remedy = "Put quotes around values that hold what separates columns."
                raise place.error(f"{short}: {quote(','.join(row))}. {remedy}", number)
            yield row
            number = 0 if number is None else number + 1
    except csv.Error as error:
        where = f"from line {begun + 1:,} to {rows.line_num:,}: {error}"
        raise place.error(f"{where}. Is a quote not closed?", number) from None
    finally:
        csv.field_size_limit(usual)


def _holds_rows(row: list[str], delimiter: str) -> bool:
    """Tell whether all inner lines of a value are as long as rows, and hold a number."""
    inner = [line.split(delimiter) for value in row for line in value.splitlines()[1:-1]]
    return all(len(parts) == len(row) and any(map(NUMBER.fullmatch, parts)) for parts in inner)


def _json_rows(place: Place) -> Iterator[dict[str, Any]]:
    """Yield the values of each object; of nested ones the names are paths, such as ``a.0.b``."""
    for number, line in enumerate(filter(str.strip, _lines(place))):
        try:
            row = json.loads(line, object_pairs_hook=_once)
            values = _once([*_leaves(row.items(), "")])
        except (ValueError, AttributeError, RecursionError) as error:
            raise place.error(f"is no object in JSON, {{…}} ({error}).", number) from None
        yield values


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return values by name; of two of one name the last would hide the first."""
    if len(values := dict(pairs)) < len(pairs):
        raise ValueError(f"a name comes twice: {quotes([name for name, _ in pairs])}")
    return values


def _leaves(pairs: Iterable[tuple[Any, Any]], path: str) -> Iterator[tuple[str, Any]]:
    for key, part in pairs:
        if isinstance(part, dict | list):
            inner = part.items() if isinstance(part, dict) else enumerate(part)
            yield from _leaves(inner, f"{path}{key}.")
        else:
            yield f"{path}{key}", part


# --- Parquet and NumPy ----------------------------------------------------------------------------


def _rows_of_a_block(n_columns: int) -> int:
    return max(2**14, 2**21 // n_columns)  # some megabytes


def _parquet(place: Place, _: Dialect) -> Content:
    try:
        from pyarrow import parquet
    except ImportError as error:
        needed = "needs pyarrow. Install it: pip install 'calibkit[parquet]'."
        raise ImportError(f"{place.path!r} {needed}") from error
    file = parquet.ParquetFile(place.path, page_checksum_verification=True)

    def blocks(names: Sequence[str]) -> Iterator[Columns]:
        first, announced = 0, file.metadata.num_rows
        only = {"columns": [*names], "use_threads": False}
        for batch in file.iter_batches(_rows_of_a_block(len(names)), **only):
            yield {name: _from_arrow(batch.column(name), place, name) for name in names}
            first += len(batch)
        if first != announced:
            raise place.error(f"has {first:,} rows of {announced:,} that are announced.")

    return list(file.schema_arrow.names), blocks


def _from_arrow(values: Any, place: Place, name: str) -> NDArray[Any]:
    """Turn an Arrow array into a column; numbers of floating type stay as they are."""
    from pyarrow import float64, string, types

    kind = values.type
    if types.is_nested(kind) or str(kind).endswith("binary"):
        needed = "one number or text per row is needed, of a list one column per class"
        raise place.error(f"column {quote(name)} holds {quote(kind)}; {needed}.")
    if types.is_decimal(kind) or types.is_null(kind):
        values = values.cast(float64(), safe=False)
    elif types.is_temporal(kind):
        values = values.cast(string())
    return _as_column(np.asarray(values.to_numpy(zero_copy_only=False)))


def _as_column(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.dtype.kind in "buif" else _as_texts(array.tolist())


def _numpy(place: Place, _: Dialect) -> Content:
    columns = _arrays(place)

    def blocks(names: Sequence[str]) -> Iterator[Columns]:
        length = len(columns[names[0]])
        for name in names:
            kind, shape = columns[name].dtype, columns[name].shape
            if kind.kind not in "buifU" or shape != (length,):
                raise place.error(
                    f"{name!r} holds {kind} in the shape {shape}; one number or text per row is "
                    f"needed, {length:,} as in {names[0]!r}."
                )
        size = _rows_of_a_block(len(names))
        for start in range(0, length, size):
            yield {name: _as_column(columns[name][start : start + size]) for name in names}

    return list(columns), blocks


def _arrays(place: Place) -> dict[str, NDArray[Any]]:
    """Return the columns of a file by name: of a table alone ``0``, ``1``, ..., or its fields."""
    if zipfile.is_zipfile(place.path):
        with zipfile.ZipFile(place.path) as archive:
            unpacked = sum(item.file_size for item in archive.infolist())
        if unpacked > LARGEST_ARCHIVE:
            raise place.error(f"unpacks to more than {LARGEST_ARCHIVE:,} bytes. Store Parquet.")
    # NumPy believes no header that promises too much.
    content = np.load(place.path, mmap_mode="r", allow_pickle=False)
    if isinstance(content, np.ndarray):
        if content.dtype.names:
            return {name: content[name] for name in content.dtype.names}
        if content.ndim == 2:
            return {str(k): column for k, column in enumerate(content.T)}
        table = "a table with one row per prediction is needed. Two arrays belong into an .npz file"
        raise place.error(f"has the shape {content.shape}; {table}: numpy.savez(path, y=…, p=…).")
    columns: dict[str, NDArray[Any]] = {}
    with content:
        for name, array in content.items():
            if not isinstance(array, np.ndarray):  # a note beside the arrays is none
                continue
            if array.ndim == 2 and array.shape[1] != 1:
                columns |= {f"{name}[{k}]": column for k, column in enumerate(array.T)}
            else:
                columns[name] = array[:, 0] if array.ndim == 2 else array
    return columns


_READERS: dict[str, Callable[[Place, Dialect], Content]] = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".csv": _csv,
    ".tsv": _csv,
    ".txt": _csv,
    ".jsonl": _json,
    ".npz": _numpy,
    ".npy": _numpy,
}
