"""NumPy files, block by block. Pickled objects in them are never unpickled."""

import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit_audit.counts.blocks import Block, Column, Place, Texts, reading, rows_of_a_block

# What NumPy raises for files that are not what they seem.
_PROBLEMS = (ValueError, zipfile.BadZipFile, SyntaxError, KeyError, NotImplementedError)
_LARGEST = 2**31  # bytes of all arrays of an .npz, unpacked
_KINDS = "buifU"
_REFUSED = (
    "holds pickled Python objects. They could run any program when read and are refused; store "
    "plain numbers or texts."
)


def names(path: str) -> list[str]:
    """Return the names of the columns: arrays, fields, or numbers of the columns of a table."""
    return list(_columns(path))


def blocks(path: str, wanted: Sequence[str]) -> Iterator[Block]:
    place, columns = Place(path), _columns(path)
    arrays = {name: columns[name] for name in wanted}
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


def _columns(path: str) -> dict[str, NDArray[Any]]:
    """Return the columns of a file by name; NumPy believes no header that promises too much."""
    place = Place(path)
    with reading(place, *_PROBLEMS, MemoryError):  # of an array that cannot be as large
        try:
            if path.lower().endswith(".npz"):
                return _of_archive(path, place)
            return _of_table(np.lib.format.open_memmap(path, mode="r"), place)
        except ValueError as error:
            if "objects in dtype" in str(error) or "Object arrays" in str(error):
                raise place.error(_REFUSED) from None  # without NumPy's advice to load them
            raise


def _of_archive(path: str, place: Place) -> dict[str, NDArray[Any]]:
    """Load the arrays of an .npz file; a table ``name`` has the columns ``name[k]``."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(item.file_size for item in archive.infolist())
    if unpacked > _LARGEST:
        raise place.error(
            f"its arrays unpack to more than {_LARGEST:,} bytes. Store them as Parquet."
        )
    found: dict[str, NDArray[Any]] = {}
    with np.load(path, allow_pickle=False) as content:
        for name, array in content.items():
            if getattr(array, "ndim", 1) == 2:
                found |= {f"{name}[{k}]": column for k, column in enumerate(array.T)}
            elif isinstance(array, np.ndarray):  # a note beside the arrays is none
                found[name] = array
    return found


def _of_table(array: NDArray[Any], place: Place) -> dict[str, NDArray[Any]]:
    """Return the columns of an .npy file: of a table of two dimensions, or fields."""
    fields = array.dtype.names
    if array.ndim != (1 if fields else 2):
        raise place.error(
            f"has the shape {array.shape}; a table with one row per prediction is needed. Two "
            "arrays belong into an .npz file: numpy.savez(path, y=…, p=…)."
        )
    if fields:
        return {name: np.asarray(array[name]) for name in fields}
    return {str(k): np.asarray(column) for k, column in enumerate(array.T)}


def _column(array: NDArray[Any]) -> Column:
    if array.dtype.kind != "U":
        return np.asarray(array)
    values, codes = np.unique(array, return_inverse=True)
    return Texts(tuple(values.tolist()), np.where(array == "", -1, codes))
