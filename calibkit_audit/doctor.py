"""Look whether everything is here: the command ``calibkit doctor``."""

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit import __version__
from calibkit.results import Result

CORE = ("numpy", "scipy", "scikit-learn", "joblib")
# What is lost without an optional package, and the extra that brings it.
OPTIONAL = {
    "matplotlib": ("figures, HTML reports", "lab"),
    "ipywidgets": ("explorers", "lab"),
    "pyarrow": ("Parquet files", "parquet"),
    "torch": ("small networks", "nets"),
}
# What is imported to see whether it can be, where not the name; some would take seconds.
_IMPORTS = {"scikit-learn": "sklearn", "matplotlib": "matplotlib.pyplot"}
_SLOW = ("torch", "jupyterlab")


class Finding(NamedTuple):
    """One line: package or other part; its version; its state; whether that is well."""

    what: str
    number: str
    state: str
    good: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Diagnosis(Result):
    """The state of an installation: a line for each part, and a verdict.

    Parameters
    ----------
    findings : tuple of Finding
    well, ill : str
        What `describe` says where all that is needed is there, and where something is not.
    """

    findings: tuple[Finding, ...]
    well: str = "All is well."
    ill: str = "Something is wrong: see the lines with ✗."

    @property
    def healthy(self) -> bool:
        """Whether all that is needed is there; optional parts may be missing."""
        return all(finding.good for finding in self.findings)

    def describe(self) -> str:
        """Return the verdict in one sentence."""
        return self.well if self.healthy else self.ill

    def __repr__(self) -> str:
        lines = [f"{'✗✓'[f.good]} {f.what:<20}{f.number:<12}{f.state}" for f in self.findings]
        return "\n".join([*map(str.rstrip, lines), self.describe()])

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("what", "number", "state")
        return {name: np.array([getattr(f, name) for f in self.findings]) for name in names}


def doctor() -> Diagnosis:
    """Look at the versions of all packages, and whether each can be imported.

    Returns
    -------
    Diagnosis
        Healthy where every package that is needed is there, and no package is broken.

    Examples
    --------
    >>> doctor().healthy
    True
    """
    optional = (
        package_finding(name, use=f"{use}: pip install 'calibkit[{extra}]'", needed=False)
        for name, (use, extra) in OPTIONAL.items()
    )
    return Diagnosis(findings=(*core_findings(), *optional))


def core_findings() -> Iterator[Finding]:
    """Yield the versions of Python, calibkit and the packages it cannot do without."""
    yield Finding("Python", platform.python_version(), "ok")
    yield Finding("calibkit", __version__, "ok")
    yield from map(package_finding, CORE)


def package_finding(name: str, *, use: str = "", needed: bool = True) -> Finding:
    """Return whether a package is installed and can be imported; `use` says what it is for."""
    try:
        number = version(name)
        import_module("calibkit" if name in _SLOW else _IMPORTS.get(name, name))
    except PackageNotFoundError:
        state = f"not installed ({use})" if use else f"missing; run: pip install {name}"
        return Finding(name, "", state, not needed)
    except Exception as error:  # whatever a broken installation does
        problem = f"cannot be imported: {type(error).__name__}: {error}"
        return Finding(name, number, problem, good=False)
    return Finding(name, number, "ok")
