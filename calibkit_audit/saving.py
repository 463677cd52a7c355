"""What leaves the house: text that cannot steer a terminal, numbers for JSON, whole files."""

import os
import stat
import uuid
from pathlib import Path
from typing import Any

import numpy as np


def printable(text: str) -> str:
    """Write characters that control a terminal or a page as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def finite(value: Any) -> Any:
    """Return what JSON can hold: a number that is not finite becomes None, also in a list."""
    if isinstance(value, list):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def place_for(path: str | Path) -> Path:
    """Return where a file can be written: no folder, no device, and in a folder that exists."""
    target = Path(path)
    other = target.exists() and not target.is_file()  # a folder, a device
    if str(path) == "-" or other or not target.parent.is_dir():
        raise ValueError(f"{str(path)!r} names no file in a folder that exists.")
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"nothing may be written beside {str(path)!r}.")
    return target


def write_whole(path: str | Path, text: str) -> Path:
    """Write a text file under a temporary name and move it: whole or not at all."""
    target = place_for(path)
    part = target.with_name(f".calibkit-{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if target.exists():  # who may read the old file may read the new one, and nobody else
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return target
