"""NumPy files, block by block. Pickled objects in them are never unpickled."""

import io
import math
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from calibkit.counts.blocks import Block, Column, Place, Texts, reading, rows_of_a_block

# What NumPy raises for files that are not what they seem.
_PROBLEMS = (ValueError, zipfile.BadZipFile, SyntaxError, KeyError, NotImplementedError)
_LARGEST = 2**30  # bytes of all arrays of an .npz, unpacked
_KINDS = "buifU"
_MAGIC = 8  # bytes that every array begins with
_PICKLE = b"\x80"
_REFUSED = (
    "holds pickled Python objects. They could run any program when read and are refused; store "
    "plain numbers or texts."
)


def names(path: str) -> list[str]:
    """Return the names of the columns: arrays, fields, or numbers of the columns of a table."""
    place = Place(path)
    if path.lower().endswith(".npz"):
        return list(_stored(path))
    table = _table(path, place)
    return list(table.dtype.names or map(str, range(table.shape[1])))


def blocks(path: str, wanted: Sequence[str]) -> Iterator[Block]:
    place = Place(path)
    arrays = _members(path, wanted, place)
    length = len(arrays[wanted[0]])
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise place.error(
                f"{name!r} holds {array.dtype}: neither numbers nor texts. Convert it, e.g. with "
                ".astype(float) or .astype(str)."
            )
        if array.ndim != 1 or len(array) != length:
            raise place.error(
                f"{name!r} has the shape {array.shape}; one value per row is needed, {length:,} "
                f"as in {wanted[0]!r}."
            )
    size = rows_of_a_block(len(wanted))
    for start in range(0, length, size):
        part = {name: _column(array[start : start + size]) for name, array in arrays.items()}
        yield Block(Place(path, start), part)


def _members(path: str, wanted: Sequence[str], place: Place) -> dict[str, NDArray[Any]]:
    if not path.lower().endswith(".npz"):
        table = _table(path, place)
        by_name = table.dtype.names is not None
        return {name: table[name] if by_name else table[:, int(name)] for name in wanted}
    stored = _stored(path)
    with reading(place, *_PROBLEMS):
        with zipfile.ZipFile(path) as archive:
            sizes = {item.filename: item.file_size for item in archive.infolist()}
        needed = {stored[name][0] for name in wanted}
        if sum(sizes[f"{array}.npy"] for array in needed) > _LARGEST:
            raise place.error(
                f"its arrays unpack to more than {_LARGEST:,} bytes. Store them as Parquet."
            )
        with np.load(path, allow_pickle=False) as content:
            loaded = {array: content[array] for array in needed}
    places = {name: stored[name] for name in wanted}
    return {name: loaded[array][part] for name, (array, part) in places.items()}


def _stored(path: str) -> dict[str, tuple[str, Any]]:
    """Return the columns of an .npz file without reading them: the array of each, its part there.

    A table ``name`` has the columns ``name[k]``.
    """
    found: dict[str, tuple[str, Any]] = {}
    with reading(Place(path), *_PROBLEMS), zipfile.ZipFile(path) as archive:
        for item in archive.infolist():
            if not item.filename.endswith(".npy"):
                continue  # a note beside the arrays is no array
            with archive.open(item) as file:
                shape = _header(file, item.file_size, Place(path), f"{item.filename!r} ")
            array = item.filename.removesuffix(".npy")
            if len(shape) == 2:
                found |= {f"{array}[{k}]": (array, np.s_[:, k]) for k in range(shape[1])}
            else:
                found[array] = array, np.s_[...]
    return found


def _header(file: IO[bytes], size: int, place: Place, what: str = "") -> tuple[int, ...]:
    """Return the shape of an array; pickles, and arrays that promise more than is there, end it."""
    start = file.read(_MAGIC)
    if start.startswith(_PICKLE):
        raise place.error(f"{what}{_REFUSED}")
    version = np.lib.format.read_magic(io.BytesIO(start))
    read = getattr(np.lib.format, f"read_array_header_{version[0]}_0")
    shape, _, kind = read(file)
    if kind.hasobject:
        raise place.error(f"{what}{_REFUSED}")
    promised = math.prod(shape) * kind.itemsize
    if promised > size:
        raise place.error(
            f"{what}promises {promised:,} bytes of numbers, but there are only {size:,}: it is cut "
            "short or forged. Write the file again."
        )
    return tuple(shape)


def _table(path: str, place: Place) -> NDArray[Any]:
    """Map an .npy file into memory: a table of two dimensions, or an array with fields."""
    with reading(place, *_PROBLEMS):
        with open(path, "rb") as file:
            _header(file, Path(path).stat().st_size, place)
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.ndim != (1 if array.dtype.names else 2):
        raise place.error(
            f"has the shape {array.shape}; a table with one row per prediction is needed. Two "
            "arrays belong into an .npz file: numpy.savez(path, y=…, p=…)."
        )
    return np.asarray(array)


def _column(array: NDArray[Any]) -> Column:
    if array.dtype.kind != "U":
        return np.asarray(array)
    values, codes = np.unique(array, return_inverse=True)
    return Texts(tuple(values.tolist()), np.where(array == "", -1, codes))
