"""Keep a count table in a file: one .npz, read without pickle and checked before it is believed."""

import os
import stat
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from calibkit.counts._arrays import LARGEST, PROBLEMS

_FORMAT = 1
_FIELDS = {"format", "cells", "view", "n_classes", "counts", "steps", "squares", "impossible"}


@contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """Give a file under another name and move it in the end: `target` is there whole or not."""
    part = target.with_name(f".calibkit-{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():  # who may read the old file may read the new one, and nobody else
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write(path: str | PathLike[str], content: dict[str, Any]) -> Path:
    """Write a file, whole or not at all; ``.npz`` is added to a name without it."""
    target = Path(path)
    if target.suffix != ".npz":
        target = target.with_name(target.name + ".npz")
    with whole_file(target) as file:
        np.savez_compressed(file, format=_FORMAT, **content)
    return target


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what `write` has written; Python objects in it are never unpickled."""
    name = repr(str(path))
    if not Path(path).is_file():
        raise ValueError(f"There is no file {name}.")
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > LARGEST:
            raise ValueError(f"it unpacks to {size:,} bytes, more than a count table has")
        with np.load(path, allow_pickle=False) as stored:
            content = {key: stored[key] for key in stored.files}
    except (OSError, EOFError, zlib.error, *PROBLEMS) as error:
        raise ValueError(f"{name} is not a readable count table: {error}.") from error
    if set(content) != _FIELDS:
        raise ValueError(f"{name} is not a count table: it holds {', '.join(sorted(content))}.")
    if int(content.pop("format")) != _FORMAT:
        raise ValueError(f"{name} was written by another version of calibkit; count again.")
    _check(content, name)
    return content


def _check(content: dict[str, Any], name: str) -> None:
    """Check types, shapes and ranges, so that a damaged table cannot give a number."""
    cells, counts, steps = content["cells"], content["counts"], content["steps"]
    fits = (
        cells.shape == ()
        and counts.ndim == 3
        and (len(counts) == 0 or counts.shape[1:] == (int(cells), 2))
        and counts.shape == steps.shape
        and content["squares"].shape == content["impossible"].shape == counts.shape[:1]
        and counts.dtype == steps.dtype == np.int64
        and content["view"].dtype.kind == "U"
    )
    if not fits:
        raise ValueError(f"{name} is not a count table: shapes or types do not fit.")
    within = (counts >= 0).all() and (steps >= 0).all() and (steps >> 30 <= counts).all()
    if not within or len(set(counts.sum(axis=(1, 2)).tolist())) > 1:
        raise ValueError(f"{name} is damaged: its sums contradict its counts.")
