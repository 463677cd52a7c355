"""Files of predictions, block by block: the ending of a name says what kind of file it is.

Numbers keep their type, so that float32 stays small; a missing one is NaN. pyarrow is imported
only where a Parquet file is read. Pickled Python objects are refused, never unpickled.
"""

import csv
import gzip
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from itertools import chain, compress, islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit_audit.counts.places import Place, file_errors, quote, refuse_absent

FilePath = str | PathLike[str]
LONGEST_LINE = 4 * 2**20  # characters of a line of text
LARGEST_ARCHIVE = 2**31  # bytes of all arrays of an .npz file, unpacked
CSV_VALUES = 2**18  # values of a block
_KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv"}
_KINDS |= {".jsonl": "json", ".npz": "arrays", ".npy": "arrays"}
_SWALLOWED = 4  # a row of more lines may have swallowed others
NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s*", re.IGNORECASE)


# Numbers as an array; texts as a list, None where one is missing.
Column = NDArray[Any] | list[str | None]


class Block(NamedTuple):
    """Some rows of a file, by columns; `decimal`: the mark in numbers that are still texts."""

    place: Place
    columns: dict[str, Column]
    decimal: str = ""

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def take(self, kept: NDArray[np.bool_]) -> "Block":
        """Return some of the rows; they keep their numbers."""
        columns = {
            name: list(compress(column, kept)) if isinstance(column, list) else column[kept]
            for name, column in self.columns.items()
        }
        return self._replace(place=self.place.take(kept), columns=columns)


class Dialect(NamedTuple):
    """How a CSV file is written: what separates columns (None: by its name), and decimals."""

    delimiter: str | None = None
    decimal: str = "."

    @classmethod
    def checked(cls, delimiter: str | None, decimal: str) -> "Dialect":
        """Return a dialect in which numbers can be told from what separates them."""
        delimiter = "\t" if delimiter == "tab" else delimiter
        if decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ',', got {decimal!r}.")
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n._'):
            raise ValueError(f"delimiter must be one character, such as ';', got {delimiter!r}.")
        if decimal == "," and delimiter in (None, ","):
            raise ValueError("decimal=',' needs a delimiter that is no comma, e.g. ';'.")
        return cls(delimiter, decimal)

    def of(self, path: str) -> str:
        """Return what separates the columns of this file."""
        if self.delimiter is not None:
            return self.delimiter
        return "\t" if Path(path.removesuffix(".gz")).suffix.lower() == ".tsv" else ","


USUAL = Dialect()


def column_names(path: FilePath, dialect: Dialect = USUAL) -> list[str]:
    """Return the names of a file's columns; those of a table in an .npz file are ``name[k]``."""
    kind, place = _kind_of(path), Place(str(path))
    refuse_absent(place)
    if kind == "parquet":
        with _parquet(place) as file:
            return list(file.schema_arrow.names)
    if kind == "arrays":
        return list(_arrays(place))
    if kind == "json":
        return list(dict.fromkeys(chain.from_iterable(_json_rows(place))))
    head: list[str] = next(_csv_rows(place, dialect), [])
    if not head:
        raise place.error("is empty; a first row with the names of the columns is needed.")
    return head


def blocks_of(path: FilePath, names: Sequence[str], *, dialect: Dialect = USUAL) -> Iterator[Block]:
    """Yield the rows of these columns, a block at a time."""
    kind, place = _kind_of(path), Place(str(path))
    if kind == "parquet":
        return _parquet_blocks(place, names)
    if kind == "arrays":
        return _array_blocks(place, names)
    if kind == "json":
        values = ([row.get(name) for name in names] for row in _json_rows(place))
        texts = (["" if value is None else str(value) for value in row] for row in values)
        return _text_blocks(place, names, names, texts, ".")
    rows = _csv_rows(place, dialect)
    return _text_blocks(place, names, next(rows), rows, dialect.decimal)


def _kind_of(path: FilePath) -> str:
    name = Path(path).name.lower()
    kind = _KINDS.get(Path(name.removesuffix(".gz")).suffix, "")
    if not kind or (name.endswith(".gz") and kind not in ("csv", "json")):
        raise Place(str(path)).error(
            f"the name must end in {', '.join(_KINDS)}, or .csv.gz or .jsonl.gz, to say what kind "
            "of file it is."
        )
    return kind


# --- CSV and JSON lines ---------------------------------------------------------------------------


def _lines(place: Place) -> Iterator[str]:
    """Yield lines; one that does not end is refused before it fills the memory."""
    opened: Any = gzip.open if place.path.lower().endswith(".gz") else open
    with file_errors(place), opened(place.path, "rt", encoding="utf-8-sig", newline="") as file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE and not line.endswith("\n"):
                more = f"line {number:,} has more than {LONGEST_LINE:,} characters"
                raise place.error(f"{more}. Is a quote not closed?")
            yield line


def _csv_rows(place: Place, dialect: Dialect) -> Iterator[list[str]]:
    """Yield the values of rows that are not empty; a quote that is not closed is refused."""
    lines, delimiter = _lines(place), dialect.of(place.path)
    if delimiter == " ":  # blanks of any number stand between columns
        lines = (" ".join(line.split()) for line in lines)
    rows, number = csv.reader(lines, delimiter=delimiter, strict=True), -1
    begun, problem = 0, ""
    usual = csv.field_size_limit(LONGEST_LINE)  # of the whole process, until the rows are read
    try:
        for row in rows:
            if rows.line_num - begun > _SWALLOWED and _holds_rows(row, delimiter):
                problem = "a value holds lines that look like rows"
                break
            begun = rows.line_num
            if row:
                yield row
                number += 1
    except csv.Error as error:
        problem = str(error)
    finally:
        csv.field_size_limit(usual)
    if problem:
        where = f"from line {begun + 1:,} to {rows.line_num:,}: {problem}"
        raise place.error(f"{where}. Is a quote not closed?", number if number >= 0 else None)


def _holds_rows(row: list[str], delimiter: str) -> bool:
    """Tell whether all inner lines of a value are as long as rows, and hold a number."""
    inner = [line.split(delimiter) for value in row for line in value.splitlines()[1:-1]]
    return all(len(parts) == len(row) and any(map(NUMBER.fullmatch, parts)) for parts in inner)


def _text_blocks(
    place: Place, names: Sequence[str], head: Sequence[str], rows: Iterator[Any], decimal: str
) -> Iterator[Block]:
    """Yield rows of texts, whose values stand in the order of `head`."""
    first_row, size = 0, max(1, CSV_VALUES // len(head))
    places = [(name, head.index(name)) for name in names]
    while part := list(islice(rows, size)):
        here = Place(place.path, first_row)
        for number, row in enumerate(part):
            if len(row) != len(head):
                short = f"a row has {len(row)} values, but there are {len(head)} columns"
                remedy = "Put quotes around values that hold what separates columns."
                raise here.error(f"{short}: {quote(','.join(row))}. {remedy}", number)
        yield Block(here, {n: [row[k] or None for row in part] for n, k in places}, decimal)
        first_row += len(part)


def _json_rows(place: Place) -> Iterator[dict[str, Any]]:
    """Yield the values of each object; of nested ones the names are paths, such as ``a.0.b``."""
    for number, line in enumerate(filter(str.strip, _lines(place))):
        try:
            row = json.loads(line)
            values = dict(_leaves(row, "")) if isinstance(row, dict) else None
        except (ValueError, RecursionError) as error:
            raise place.error(f"is no JSON ({error}).", number) from None
        if values is None:
            raise place.error("is no object: {…} with names and values is needed.", number)
        yield values


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        if isinstance(part, dict | list):
            yield from _leaves(part, f"{path}{key}.")
        else:
            yield f"{path}{key}", part


# --- Parquet --------------------------------------------------------------------------------------


def _parquet(place: Place) -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        needed = "needs pyarrow. Install it: pip install 'calibkit[parquet]'."
        raise ImportError(f"{place.path!r} {needed}") from error
    with file_errors(place):
        return parquet.ParquetFile(place.path, page_checksum_verification=True)


def _rows_of_a_block(n_columns: int) -> int:
    return max(2**14, 2**21 // n_columns)  # some megabytes


def _parquet_blocks(place: Place, names: Sequence[str]) -> Iterator[Block]:
    with file_errors(place), _parquet(place) as file:
        first, announced = 0, file.metadata.num_rows
        only = {"columns": [*names], "use_threads": False}
        for batch in file.iter_batches(_rows_of_a_block(len(names)), **only):
            here = Place(place.path, first)
            yield Block(here, {n: _from_arrow(batch.column(n), here, n) for n in names})
            first += len(batch)
        if first != announced:
            raise place.error(f"has {first:,} rows of {announced:,} that are announced.")


def _from_arrow(values: Any, place: Place, name: str) -> Column:
    """Turn an Arrow array into a column; numbers of floating type stay as they are."""
    import pyarrow as pa

    kind, types = values.type, pa.types
    if types.is_nested(kind) or str(kind).endswith("binary"):
        needed = "one number or text per row is needed, of a list one column per class"
        raise place.error(f"column {quote(name)} holds {quote(kind)}; {needed}.")
    if types.is_null(kind):
        return np.full(len(values), np.nan)
    if types.is_dictionary(kind):
        values = values.dictionary_decode().cast(pa.string())
    elif types.is_decimal(kind) or (types.is_integer(kind) and values.null_count):
        values = values.cast(pa.float64(), safe=False)
    elif values.null_count and not types.is_floating(kind):
        values = values.cast(pa.string())
    array = np.asarray(values.to_numpy(zero_copy_only=False))
    return array.tolist() if "string" in str(values.type) else array


# --- NumPy ----------------------------------------------------------------------------------------


def _array_blocks(place: Place, names: Sequence[str]) -> Iterator[Block]:
    columns = _arrays(place)
    arrays = {name: columns[name] for name in names}
    length = len(arrays[names[0]])
    for name, array in arrays.items():
        if array.dtype.kind not in "buifU" or array.shape != (length,):
            raise place.error(
                f"{name!r} holds {array.dtype} in the shape {array.shape}; one number or text per "
                f"row is needed, {length:,} as in {names[0]!r}."
            )
    size = _rows_of_a_block(len(names))
    for start in range(0, length, size):
        part = {name: _from_numpy(array[start : start + size]) for name, array in arrays.items()}
        yield Block(Place(place.path, start), part)


def _from_numpy(array: NDArray[Any]) -> Column:
    return [text or None for text in array.tolist()] if array.dtype.kind == "U" else array


def _arrays(place: Place) -> dict[str, NDArray[Any]]:
    """Return the columns of a file by name; NumPy believes no header that promises too much."""
    with file_errors(place):
        if not place.path.lower().endswith(".npz"):
            array = np.lib.format.open_memmap(place.path, mode="r")
            if array.dtype.names:
                return {name: np.asarray(array[name]) for name in array.dtype.names}
            if array.ndim == 2:
                return {str(k): np.asarray(column) for k, column in enumerate(array.T)}
            raise place.error(
                f"has the shape {array.shape}; a table with one row per prediction is needed. Two "
                "arrays belong into an .npz file: numpy.savez(path, y=…, p=…)."
            )
        with zipfile.ZipFile(place.path) as archive:
            unpacked = sum(item.file_size for item in archive.infolist())
        if unpacked > LARGEST_ARCHIVE:
            raise place.error(f"unpacks to more than {LARGEST_ARCHIVE:,} bytes. Store Parquet.")
        columns: dict[str, NDArray[Any]] = {}
        with np.load(place.path, allow_pickle=False) as content:
            for name, array in content.items():
                if not isinstance(array, np.ndarray):  # a note beside the arrays is none
                    continue
                if array.ndim == 2 and array.shape[1] != 1:
                    columns |= {f"{name}[{k}]": column for k, column in enumerate(array.T)}
                else:
                    columns[name] = array[:, 0] if array.ndim == 2 else array
        return columns
