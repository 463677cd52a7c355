"""The doctor of the package: versions and extras."""

import sys
from typing import Any

import pytest

from calibkit_audit import doctor as room
from calibkit_audit.doctor import Diagnosis, doctor


def with_versions(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], other: str) -> None:
    """Pretend that these versions are installed, and that numpy 1.26 is asked for."""
    monkeypatch.setattr(room, "installed_version", lambda name: versions.get(name, other))
    monkeypatch.setattr(room, "lowest_version", lambda name: "1.26" if name == "numpy" else "")


def states(found: Diagnosis) -> dict[str, Any]:
    return {finding.what: finding for finding in found.findings}


def test_old_packages_and_missing_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    with_versions(monkeypatch, {"torch": ""}, "1.0")
    found = states(doctor())
    assert found["numpy"].state == "too old; 1.26 or later is needed"
    assert found["torch"].state == "not installed (small networks: pip install 'calibkit[nets]')"
    assert found["torch"].good and not found["numpy"].good


def test_bounds_are_read_from_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["numpy>=1.26", "scipy-x>=9", "scipy<2,>=1.12", 'torch>=2.2; extra == "nets"']
    monkeypatch.setattr(room, "requires", lambda name: lines)
    found = [room.lowest_version(name) for name in ("numpy", "scipy", "torch", "pandas")]
    assert found == ["1.26", "1.12", "2.2", ""]


def test_what_is_installed_but_cannot_be_imported_is_ill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # its import raises
    monkeypatch.setattr(room, "installed_version", lambda name: "99")
    found = doctor()
    assert states(found)["matplotlib"].state.startswith("cannot be imported: ")
    assert not (found.healthy or room.package_finding("matplotlib", needed=False).good)
    monkeypatch.undo()
    assert room.package_finding("matplotlib").good
