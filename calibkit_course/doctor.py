"""Look whether every lesson can run: the first cell of the course."""

import os
from collections.abc import Iterator
from pathlib import Path

from calibkit_audit.doctor import Diagnosis, Finding, core_findings, package_finding
from calibkit_course import lessons

# What each package is for, and whether every lesson needs it: other front ends will do.
LAB = {
    "matplotlib": ("figures", True),
    "ipywidgets": ("explorers", True),
    "jupyterlab": ("the lab", False),
    "torch": ("lesson 10 only", False),
}
WELL = "All is well: every lesson listed here can run."
ILL = "Something is missing. Run the set-up command again (see the README)."


def doctor() -> Diagnosis:
    """Look at the versions, at the optional data, and at the lessons that exist.

    Returns
    -------
    Diagnosis
        Healthy where every lesson can run.

    Examples
    --------
    >>> doctor().healthy
    True
    """
    return Diagnosis(findings=(*core_findings(), *_lab()), well=WELL, ill=ILL)


def _lab() -> Iterator[Finding]:
    for name, (use, needed) in LAB.items():
        yield package_finding(name, use=use, needed=needed)
    folder = os.environ.get("CALIBKIT_DATA", "")
    found = bool(folder) and Path(folder).is_dir()
    missing = "CALIBKIT_DATA is not set; lessons use what is in the package"
    yield Finding("optional real data", "", "CALIBKIT_DATA names a folder" if found else missing)
    yield Finding("lessons", "", ", ".join(lessons()))
