"""Check an installation: versions, optional parts, and known numbers computed afresh."""

import platform
from collections.abc import Callable
from dataclasses import dataclass

from calibkit import __version__, expected_calibration_error
from calibkit._installed import (
    installed_version,
    lowest_version,
    requirements,
    version_parts,
)

CORE = ("numpy", "scipy", "scikit-learn", "joblib")
EXTRAS = {
    "lab": "lessons, figures, HTML reports",
    "parquet": "Parquet files, fast CSV",
    "nets": "small networks (lesson 10)",
    "maps": "structured matrix scaling",
    "cluster": "counting on a cluster",
    "book": "building the book",
    "test": "running the tests",
    "browser": "tests in a browser",
    "compare": "comparisons with other packages",
}
_DIGITS = 1e-12


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the examination.

    Parameters
    ----------
    what : str
        Package, extra or check.
    state : str
        What was found, in words.
    good : bool
        Whether it is as it must be; optional parts that are missing are.
    """

    what: str
    state: str
    good: bool = True


def doctor() -> tuple[Finding, ...]:
    """Look at the versions, the optional parts, and at numbers that are known.

    Returns
    -------
    tuple of Finding
        It differs from machine to machine; all are good where everything needed is there.

    Examples
    --------
    >>> all(finding.good for finding in doctor())
    True
    """
    own = [
        Finding("Python", platform.python_version()),
        Finding("calibkit", __version__),
    ]
    return (*own, *map(_core, CORE), *_extras(), *(_check(*one) for one in _CHECKS.items()))


def in_words(findings: tuple[Finding, ...]) -> str:
    """Return the findings for a terminal, with a verdict at the end.

    >>> print(in_words((Finding("numpy", "2.0"), Finding("scipy", "missing", good=False))))
    ✓ numpy               2.0
    ✗ scipy               missing
    Something is wrong: see the lines with ✗.
    """
    lines = [f"{'✓' if f.good else '✗'} {f.what:<19} {f.state}" for f in findings]
    good = all(finding.good for finding in findings)
    verdict = "All is well." if good else "Something is wrong: see the lines with ✗."
    return "\n".join([*lines, verdict])


def _core(name: str) -> Finding:
    number, bound = installed_version(name), lowest_version(name)
    if not number:
        return Finding(name, f"missing; run: pip install {name}", good=False)
    if bound and version_parts(number) < version_parts(bound):
        return Finding(name, f"{number} is too old; {bound} or later is needed", good=False)
    return Finding(name, number)


def _extras() -> list[Finding]:
    """Say of each extra whether it is complete, and otherwise how to install it."""
    wanted: dict[str, list[str]] = {}
    for package, _, extra in requirements():
        if extra in EXTRAS and package.partition("[")[0] != "calibkit":
            wanted.setdefault(extra, []).append(package)
    findings = []
    for extra, packages in wanted.items():
        missing = [package for package in packages if not installed_version(package)]
        state = "installed"
        if missing:
            state = f"without {', '.join(missing)}; run: pip install 'calibkit[{extra}]'"
        findings.append(Finding(f"extra {extra}", f"{state} ({EXTRAS[extra]})"))
    return findings


def _check(name: str, compute: Callable[[], tuple[float, float]]) -> Finding:
    try:
        value, known = compute()
    except Exception as error:  # whatever a broken installation does
        return Finding(name, f"failed: {type(error).__name__}: {error}", good=False)
    if not abs(value - known) <= _DIGITS:
        return Finding(name, f"gives {value!r}, but {known!r} is right", good=False)
    return Finding(name, f"{value:.6f}, as it must be")


def _example() -> tuple[list[int], list[float]]:
    """Return predictions .01 to .99 of which those from .5 on come true, the others never.

    In ten bins the gaps add up to .01 + ... + .49 below and .50 + ... + .01 above.
    """
    return [int(k >= 50) for k in range(1, 100)], [k / 100 for k in range(1, 100)]


_KNOWN = (12.25 + 12.75) / 99


def _error() -> tuple[float, float]:
    label, prob = _example()
    return float(expected_calibration_error(label, prob, bins=10)), _KNOWN


def _counted() -> tuple[float, float]:
    from calibkit.counts import CountTable

    label, prob = _example()
    return float(CountTable().update(label, prob).expected_calibration_error(10)), _KNOWN


def _verdict() -> tuple[float, float]:
    from calibkit.audit import AuditSettings, audit
    from calibkit.fakes import LogitDistortion

    data = LogitDistortion(slope=0.5).sample(600, rng=0)
    settings = AuditSettings(n_draws=99, n_resamples=50, repairs=())
    report = audit(data.y_true, data.y_prob, settings=settings)
    return float(report.verdicts["calibration"] == "miscalibrated"), 1.0


_CHECKS: dict[str, Callable[[], tuple[float, float]]] = {
    "calibration error": _error,
    "count table": _counted,
    "audit": _verdict,
}
