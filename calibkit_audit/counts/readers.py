"""Files of predictions, block by block: the ending of a name says what kind of file it is.

Numbers keep their type, so that float32 stays small; a missing one is NaN. pyarrow is imported
only where a Parquet file is read. Pickled Python objects are refused, never unpickled.
"""

import csv
import gzip
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit_audit.counts.places import Place, file_errors, quote, refuse_absent

FilePath = str | PathLike[str]
LONGEST_LINE = 4 * 2**20  # characters of a line of text
LARGEST_ARCHIVE = 2**31  # bytes of all arrays of an .npz file, unpacked
CSV_VALUES = 2**18  # values of a block
_KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
_KINDS |= {".npz": "arrays", ".npy": "arrays"}
_PIECES = 64  # a Parquet file is shared in at most so many: enough for even loads


# Numbers as an array; texts as a list, None where one is missing.
Column = NDArray[Any] | list[str | None]


class Block(NamedTuple):
    """Some rows of a file, by columns; `decimal`: the mark in numbers that are still texts."""

    place: Place
    columns: dict[str, Column]
    decimal: str = ""


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
    with file_errors(place), _csv_rows(place, dialect) as rows:
        head: list[str] = next(rows, [])
    if not head:
        empty = "is empty" if Path(path).stat().st_size == 0 else "begins with an empty line"
        raise place.error(f"{empty}; a first row with the names of the columns is needed.")
    return head


def pieces_of(path: FilePath) -> list[range | None]:
    """Share the row groups of a Parquet file; other files are one piece, None."""
    if _kind_of(path) != "parquet":
        return [None]
    with _parquet(Place(str(path))) as file:
        groups = range(file.num_row_groups)
    size = max(1, -(-len(groups) // _PIECES))
    return [groups[start : start + size] for start in groups[::size]]


def blocks_of(
    path: FilePath, names: Sequence[str], *, dialect: Dialect = USUAL, piece: range | None = None
) -> Iterator[Block]:
    """Yield the rows of these columns, a block at a time.

    `piece`: row groups of a Parquet file, by default all.
    """
    kind, place = _kind_of(path), Place(str(path))
    if kind == "parquet":
        return _parquet_blocks(place, names, piece)
    return _csv_blocks(place, names, dialect) if kind == "csv" else _array_blocks(place, names)


def _kind_of(path: FilePath) -> str:
    name = Path(path).name.lower()
    kind = _KINDS.get(Path(name.removesuffix(".gz")).suffix, "")
    if not kind or (name.endswith(".gz") and kind != "csv"):
        raise Place(str(path)).error(
            f"the name must end in {', '.join(_KINDS)} or .csv.gz, to say what kind of file it is."
        )
    return kind


# --- CSV ------------------------------------------------------------------------------------------


@contextmanager
def _csv_rows(place: Place, dialect: Dialect) -> Iterator[Iterator[list[str]]]:
    opened = gzip.open if place.path.lower().endswith(".gz") else open
    with opened(place.path, "rt", encoding="utf-8-sig", newline="") as file:
        yield csv.reader(_lines(file, place), delimiter=dialect.of(place.path))


def _lines(file: IO[Any], place: Place) -> Iterator[str]:
    """Yield lines; one that does not end is refused before it fills the memory."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith("\n"):
            more = f"line {number:,} has more than {LONGEST_LINE:,} characters"
            raise place.error(f"{more}. Is a quote not closed?")
        yield line


def _csv_blocks(place: Place, names: Sequence[str], dialect: Dialect) -> Iterator[Block]:
    with file_errors(place), _csv_rows(place, dialect) as rows:
        head, first_row = next(rows), 0
        filled, size = filter(None, rows), max(1, CSV_VALUES // len(head))
        while part := list(islice(filled, size)):
            here = Place(place.path, first_row)
            for number, row in enumerate(part):
                if len(row) != len(head):
                    short = f"a row has {len(row)} values, but there are {len(head)} columns"
                    remedy = "Put quotes around values that hold what separates columns."
                    raise here.error(f"{short}: {quote(','.join(row))}. {remedy}", number)
            columns: dict[str, Column] = {}
            for name in names:
                place_in_row = head.index(name)
                columns[name] = [row[place_in_row] or None for row in part]
            yield Block(here, columns, dialect.decimal)
            first_row += len(part)


# --- Parquet --------------------------------------------------------------------------------------


def _parquet(place: Place) -> Any:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        needed = "needs pyarrow. Install it: pip install 'calibkit[parquet]'."
        raise ImportError(f"{place.path!r} {needed}") from error
    with file_errors(place, pa.ArrowException):
        return parquet.ParquetFile(place.path, page_checksum_verification=True)


def _rows_of_a_block(n_columns: int) -> int:
    return max(2**14, 2**21 // n_columns)  # some megabytes


def _parquet_blocks(place: Place, names: Sequence[str], piece: range | None) -> Iterator[Block]:
    with _parquet(place) as file:
        from pyarrow import ArrowException

        rows = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        for group in range(len(rows)) if piece is None else piece:
            here = Place(place.path, sum(rows[:group]), f"row group {group}")
            size, only = _rows_of_a_block(len(names)), {"row_groups": [group], "columns": [*names]}
            with file_errors(here, ArrowException):
                for batch in file.iter_batches(size, **only, use_threads=False):
                    yield Block(here, {n: _from_arrow(batch.column(n), here, n) for n in names})
                    here = Place(place.path, here.first_row + len(batch), here.part)
            if here.first_row != sum(rows[: group + 1]):
                raise here.error(f"has not the {rows[group]:,} rows that are announced.")


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
                if getattr(array, "ndim", 1) == 2:
                    columns |= {f"{name}[{k}]": column for k, column in enumerate(array.T)}
                elif isinstance(array, np.ndarray):  # a note beside the arrays is none
                    columns[name] = array
        return columns
