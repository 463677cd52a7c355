"""Where a report comes from: files with their hashes, columns, the command, and the day."""

import hashlib
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


def today() -> str:
    """Return the date in universal time, as YYYY-MM-DD.

    Where the variable SOURCE_DATE_EPOCH is set (seconds since 1970, as in reproducible builds),
    it is the clock: the same input then gives the same report on every day.

    >>> len(today())
    10
    """
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return time.strftime("%Y-%m-%d", time.gmtime(int(given) if given.isdecimal() else None))


def source_of_files(
    paths: Sequence[str],
    columns: Mapping[str, Sequence[str]],
    command: Sequence[str],
    written: Sequence[str] = (),
) -> dict[str, str]:
    """Return files with their SHA-256, columns by their role, and the command that was given.

    Folders, also of what is `written`, stay out of it: they say nothing about the data, and
    something about the person.
    """
    found = {}
    for number, path in enumerate(paths, start=1):
        role = "file" if len(paths) == 1 else f"file {number}"
        found[role] = f"{file_name(path)}, SHA-256 {_sha256(path)}"
    found |= {role: list_names(names) for role, names in columns.items() if names}
    words = shlex.join(command)
    for path in (*paths, *written):
        words = words.replace(shlex.quote(path), shlex.quote(file_name(path)))
    return found | {"command": words}


def file_name(path: str) -> str:
    """Return the name of a file, which may be in any encoding, as text."""
    return os.fsencode(Path(path).name).decode("utf-8", "replace")


def list_names(names: Sequence[str]) -> str:
    """Return names in a row, at most eight of them.

    >>> list_names(["a", "b"]), list_names(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e, f, g, h')
    >>> list_names([f"p{k}" for k in range(10)])
    'p0, p1, p2, p3, p4, p5, p6, p7 and 2 more'
    """
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{', '.join(names[:8])}{more}"


def _sha256(path: str) -> str:
    if not Path(path).is_file():
        return "unknown: it is no regular file"
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
