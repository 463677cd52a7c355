"""Look whether everything is here that the lessons need."""

import os
import platform
from dataclasses import dataclass
from html import escape
from pathlib import Path

from calibkit import __version__
from calibkit._installed import installed_version as _version
from calibkit._installed import lowest_version as _lowest
from calibkit._installed import version_parts as _parts
from calibkit.learn import messages
from calibkit.learn._feedback import html_rows

_CORE = ("numpy", "scipy", "scikit-learn")
_OPTIONAL = tuple(messages.DOCTOR_USES)


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """What was found.

    Parameters
    ----------
    rows : tuple of (what, version, finding)
        One per package, then the optional data and the lessons.
    healthy : bool
        Whether all that every lesson needs is there.
    """

    rows: tuple[tuple[str, str, str], ...]
    healthy: bool

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        return messages.DOCTOR_GOOD if self.healthy else messages.DOCTOR_BAD

    def __repr__(self) -> str:
        lines = [f"{what:<20}{number:<12}{finding}".rstrip() for what, number, finding in self.rows]
        return "\n".join([*lines, self.verdict])

    def _repr_html_(self) -> str:
        return f"<table><tbody>{html_rows(self.rows)}</tbody></table><p>{escape(self.verdict)}</p>"


def doctor() -> Diagnosis:
    """Look for the packages, the optional data and the lessons.

    Returns
    -------
    Diagnosis
        A short table. It shows versions, so it differs from machine to machine.

    Examples
    --------
    >>> from calibkit import learn
    >>> learn.doctor().healthy
    True
    """
    rows = [("Python", platform.python_version(), messages.DOCTOR_FOUND)]
    rows += [("calibkit", __version__, messages.DOCTOR_FOUND)]
    rows += [_package(name) for name in (*_CORE, *_OPTIONAL)]
    # JupyterLab itself may be replaced by another front end, and torch serves one lesson.
    needed = {*_CORE, "matplotlib", "ipywidgets"}
    healthy = all(finding == messages.DOCTOR_FOUND for name, _, finding in rows if name in needed)
    folder = os.environ.get("CALIBKIT_DATA", "")
    is_set = bool(folder) and Path(folder).is_dir()
    data = messages.DOCTOR_DATA_SET if is_set else messages.DOCTOR_DATA_UNSET
    rows += [(messages.DOCTOR_DATA, "", data)]
    return Diagnosis(tuple(rows), healthy)


def _package(name: str) -> tuple[str, str, str]:
    number = _version(name)
    if not number:
        use = messages.DOCTOR_USES.get(name)
        missing = messages.DOCTOR_MISSING
        return name, "", missing if use is None else messages.DOCTOR_OPTIONAL.format(use=use)
    bound = _lowest(name)
    if bound and _parts(number) < _parts(bound):
        return name, number, messages.DOCTOR_OLD.format(bound=f">= {bound}")
    return name, number, messages.DOCTOR_FOUND
