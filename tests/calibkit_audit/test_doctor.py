"""The doctor of the package: versions and extras."""

import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from calibkit_audit import doctor as room
from calibkit_audit.doctor import Diagnosis, doctor


def states(found: Diagnosis) -> dict[str, Any]:
    return {finding.what: finding for finding in found.findings}


def version_without(*missing: str) -> Callable[[str], str]:
    """Return the version of every package, of some that they are not installed."""

    def version(name: str) -> str:
        if name in missing:
            raise PackageNotFoundError(name)
        return "9"

    return version


def test_missing_packages_and_missing_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "version", version_without("numpy", "torch"))
    found = states(doctor())
    assert found["numpy"].state == "missing; run: pip install numpy" and not found["numpy"].good
    assert found["torch"].state == "not installed (small networks: pip install 'calibkit[nets]')"
    assert found["torch"].good and found["scipy"].number == "9"


def test_what_is_installed_but_cannot_be_imported_is_ill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # its import raises
    found = doctor()
    assert states(found)["matplotlib"].state.startswith("cannot be imported: ")
    assert not (found.healthy or room.package_finding("matplotlib", needed=False).good)
    monkeypatch.undo()
    assert room.package_finding("matplotlib").good
