"""Parquet files, block by block. pyarrow is imported only here, inside functions."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from calibkit_audit.counts.blocks import (
    Block,
    Column,
    Place,
    Texts,
    quoted,
    reading,
    rows_of_a_block,
)

_TEXT = ("string", "large_string", "string_view")


def arrow(place: Place) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"{place.path!r} needs pyarrow. Install it: pip install 'calibkit[parquet]'."
        ) from error
    return pyarrow


def open_file(path: str) -> Any:
    place = Place(path)
    pa = arrow(place)
    from pyarrow import parquet

    try:
        with reading(place, pa.ArrowException):
            return parquet.ParquetFile(path, page_checksum_verification=True)
    except UnicodeEncodeError:
        raise place.error("pyarrow needs a name in UTF-8; rename the file.") from None


def names(path: str) -> list[str]:
    with open_file(path) as file:
        return list(file.schema_arrow.names)


def row_groups(path: str) -> list[int]:
    """Return the numbers of rows of the row groups."""
    with open_file(path) as file:
        return [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]


def blocks(path: str, wanted: Sequence[str], groups: range | None = None) -> Iterator[Block]:
    """Yield the rows of some row groups (all by default), a block at a time."""
    with open_file(path) as file:
        pa = arrow(Place(path))
        rows = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        first = int(np.sum(rows[: groups.start])) if groups else 0
        for group in groups or range(len(rows)):
            place = Place(path, first, f"row group {group}")
            batches = file.iter_batches(
                rows_of_a_block(len(wanted)),
                row_groups=[group],
                columns=list(wanted),
                use_threads=False,
            )
            seen = 0
            while True:
                with reading(place, pa.ArrowException):
                    batch = next(batches, None)
                if batch is None:
                    break
                here = Place(path, first + seen, place.part)
                yield Block(here, {key: _column(batch.column(key), here, key) for key in wanted})
                seen += len(batch)
            if seen != rows[group]:
                raise place.error(f"has {seen:,} rows, but {rows[group]:,} are announced.")
            first += rows[group]


def _column(values: Any, place: Place, name: str) -> Column:
    """Turn an Arrow array into a column; numbers of floating type stay as they are."""
    pa = arrow(place)
    kind = values.type
    if pa.types.is_nested(kind) or str(kind).endswith("binary"):
        raise place.error(
            f"column {quoted(name)} holds {quoted(kind)}; one number or text per row is needed. "
            "Store it as such, a list of probabilities as one column per class."
        )
    if pa.types.is_dictionary(kind) or str(kind) in _TEXT:
        return _texts(values)
    if pa.types.is_null(kind):
        return np.full(len(values), np.nan)
    if pa.types.is_decimal(kind) or (values.null_count and not pa.types.is_floating(kind)):
        if not (pa.types.is_decimal(kind) or pa.types.is_integer(kind)):
            return _texts(values.cast(pa.string()))
        values = values.cast(pa.float64(), safe=False)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _texts(values: Any) -> Texts:
    """Turn an Arrow array of texts into a column."""
    coded = values if hasattr(values, "indices") else values.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    words = tuple("" if word is None else str(word) for word in coded.dictionary.to_pylist())
    return Texts(words, codes)
