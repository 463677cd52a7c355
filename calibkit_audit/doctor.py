"""Look whether everything is here, and works: the command ``calibkit doctor``."""

import platform
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibkit import __version__, expected_calibration_error
from calibkit.results import Result

CORE = ("numpy", "scipy", "scikit-learn", "joblib")
# What is lost without an optional package, and the extra that brings it.
OPTIONAL = {
    "matplotlib": ("figures, HTML reports", "lab"),
    "ipywidgets": ("explorers", "lab"),
    "pyarrow": ("Parquet files", "parquet"),
    "dask": ("counting on a cluster", "cluster"),
    "torch": ("small networks", "nets"),
}
# What is imported to see whether it can be, where not the name; some would take seconds.
_IMPORTS = {"scikit-learn": "sklearn", "matplotlib": "matplotlib.pyplot"}
_SLOW = ("torch", "jupyterlab", "dask")
_DIGITS = 1e-12


class Finding(NamedTuple):
    """One line: package, extra or check; its version; what was found; whether that is well."""

    what: str
    number: str
    state: str
    good: bool = True


class Diagnosis(Result):
    """What was found, as a short table: `findings`, a tuple of `Finding`, and a sentence on each.

    Parameters
    ----------
    findings : tuple of Finding
    well, ill : str
        What `describe` says where all that is needed is there, and where something is not.
    """

    def __init__(self, findings: tuple[Finding, ...], well: str, ill: str) -> None:
        self.findings, self.well, self.ill = findings, well, ill

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
    """Look at the versions of all packages, and compute numbers that are known.

    Returns
    -------
    Diagnosis
        Healthy where every package that is needed is there and every number comes out right.

    Examples
    --------
    >>> doctor().healthy
    True
    """
    optional = (
        package_finding(name, use=f"{use}: pip install 'calibkit[{extra}]'", needed=False)
        for name, (use, extra) in OPTIONAL.items()
    )
    checks = (_check(*one) for one in CHECKS.items())
    findings = (*core_findings(), *optional, *checks)
    return Diagnosis(findings, "All is well.", "Something is wrong: see the lines with ✗.")


def core_findings() -> Iterator[Finding]:
    """Yield the versions of Python, calibkit and the packages it cannot do without."""
    yield Finding("Python", platform.python_version(), "ok")
    yield Finding("calibkit", __version__, "ok")
    yield from map(package_finding, CORE)


def package_finding(name: str, *, use: str = "", needed: bool = True) -> Finding:
    """Return whether a package is installed and new enough; `use` says what it is for."""
    number, bound = installed_version(name), lowest_version(name)
    if not number:
        state = f"not installed ({use})" if use else f"missing; run: pip install {name}"
        return Finding(name, "", state, not needed)
    if bound and version_parts(number) < version_parts(bound):
        return Finding(name, number, f"too old; {bound} or later is needed", not needed)
    broken = trouble(name)
    return Finding(name, number, broken or "ok", not broken)


def trouble(name: str) -> str:
    """Return why an installed package cannot be imported; empty where it can, or is not tried."""
    try:
        import_module("calibkit" if name in _SLOW else _IMPORTS.get(name, name))
    except Exception as error:  # whatever a broken installation does
        return f"cannot be imported: {type(error).__name__}: {error}"
    return ""


def installed_version(name: str) -> str:
    """Return the version of a package, or an empty text where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def lowest_version(name: str) -> str:
    """Return the lowest version that calibkit's own metadata ask for, empty if they do not."""
    try:
        needed = requires("calibkit") or []
    except PackageNotFoundError:  # run from the sources, not installed
        return ""
    bounds = (re.match(rf"{name}[<,.\d]*>=\s*([\w.]+)", line) for line in needed)
    return next((bound[1] for bound in bounds if bound), "")


def version_parts(number: str) -> tuple[int, ...]:
    """Return the leading whole numbers of a version, for comparison.

    >>> version_parts("2.13.0+cpu"), version_parts("1.26")
    ((2, 13, 0), (1, 26))
    """
    return tuple(map(int, re.findall(r"\d+", number)[:3]))


# Predictions .01 to .99, of which those from .5 on come true and the others never: in ten bins
# the gaps add up to .01 + ... + .49 below and .50 + ... + .01 above.
_LABEL, _PROB = np.arange(1, 100) >= 50, np.arange(1, 100) / 100
_KNOWN = (12.25 + 12.75) / 99


def _check(name: str, compute: Callable[[], tuple[float, float]]) -> Finding:
    try:
        value, known = compute()
    except Exception as error:  # whatever a broken installation does
        return Finding(name, "", f"failed: {type(error).__name__}: {error}", good=False)
    if abs(value - known) > _DIGITS:
        return Finding(name, "", f"gives {value!r}, but {known!r} is right", good=False)
    return Finding(name, "", f"{value:.6f}, as it must be")


def _error() -> tuple[float, float]:
    return float(expected_calibration_error(_LABEL, _PROB, bins=10)), _KNOWN


def _counted() -> tuple[float, float]:
    from calibkit_audit.counts import CountTable

    return float(CountTable().update(_LABEL, _PROB).expected_calibration_error(10)), _KNOWN


def _verdict() -> tuple[float, float]:
    from calibkit.fakes import LogitDistortion
    from calibkit_audit.auditing import audit

    data = LogitDistortion(slope=0.5).sample(600, rng=0)
    report = audit(data.y_true, data.y_prob, n_draws=99, n_resamples=50, repairs=())
    return float(report.verdicts["calibration"] == "miscalibrated"), 1.0


CHECKS: dict[str, Callable[[], tuple[float, float]]] = {
    "calibration error": _error,
    "count table": _counted,
    "audit": _verdict,
}
