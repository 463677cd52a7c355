"""Files of a running study: one per data set, whole or absent, never half."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORMAT = 1
Rows = dict[str, dict[str, Any]]


def write(folder: Path, key: str, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the rows of a data set in one step: a reader sees the old file or the new one."""
    text = json.dumps({"format": FORMAT, "key": key, "digest": _digest(key, rows), "rows": rows})
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, _path(folder, key))
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read(folder: Path, key: str) -> Rows:
    """Return the rows of a data set; none if the file is absent, cut short or altered."""
    try:
        content = json.loads(_path(folder, key).read_text(encoding="utf-8"))
        whole = (
            content["format"] == FORMAT
            and content["key"] == key
            and content["digest"] == _digest(key, content["rows"])
        )
        rows: Rows = content["rows"] if whole else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return rows


def _path(folder: Path, key: str) -> Path:
    return folder / f"{key}.json"


def _digest(key: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    text = json.dumps([key, rows], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
