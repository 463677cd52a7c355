"""What is installed, and what calibkit's own metadata ask for."""

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

_NAME = re.compile(r"[\w.-]+")
_BOUND = re.compile(r">=\s*([\w.]+)")
_EXTRA = re.compile(r"extra\s*==\s*[\"']([\w.-]+)")


def installed_version(name: str) -> str:
    """Return the version of a package, or an empty text where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def lowest_version(name: str) -> str:
    """Return the lowest version that calibkit's own metadata ask for."""
    for package, bound, _ in requirements():
        if package == name and bound:
            return bound
    return ""


def requirements() -> Iterator[tuple[str, str, str]]:
    """Yield package, lowest version and extra (empty for the core) of each requirement."""
    try:
        lines = requires("calibkit") or []
    except PackageNotFoundError:  # run from the sources, not installed
        return
    for line in lines:
        needed, _, marker = line.partition(";")
        name, bound = _NAME.match(needed.strip()), _BOUND.search(needed)
        extra = _EXTRA.search(marker)
        found = (name and name[0], bound and bound[1], extra and extra[1])
        yield (found[0] or "", found[1] or "", found[2] or "")


def version_parts(number: str) -> tuple[int, ...]:
    """Return the leading whole numbers of a version, for comparison.

    >>> version_parts("2.13.0+cpu"), version_parts("1.0rc1")
    ((2, 13, 0), (1, 0))
    """
    parts = []
    for part in number.split(".")[:3]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        parts.append(int(digits))
    return tuple(parts)
