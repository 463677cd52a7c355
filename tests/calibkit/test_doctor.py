"""The doctor of the package: versions, extras, and numbers that are known."""

import sys
from typing import Any

import pytest

from calibkit import doctor as room
from calibkit.doctor import Diagnosis, doctor


def with_versions(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], other: str) -> None:
    """Pretend that these versions are installed, and that numpy 1.26 is asked for."""
    monkeypatch.setattr(room, "installed_version", lambda name: versions.get(name, other))
    monkeypatch.setattr(room, "lowest_version", lambda name: "1.26" if name == "numpy" else "")


def states(found: Diagnosis) -> dict[str, Any]:
    return {finding.what: finding for finding in found.findings}


def test_old_packages_wrong_numbers_and_missing_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    with_versions(monkeypatch, {"torch": ""}, "1.0")
    wanted = [("torch", "2.2", "nets"), ("mnist1d", "", "nets"), ("calibkit[nets]", "", "all")]
    monkeypatch.setattr(room, "requirements", lambda: iter(wanted))
    monkeypatch.setattr(room, "CHECKS", {"sum": lambda: (2.0, 3.0), "boom": lambda: 1 / 0})
    found = states(doctor())
    assert found["numpy"].state == "too old; 1.26 or later is needed"
    assert found["extra nets"].state.startswith("without torch; run: pip install 'calibkit[nets]'")
    assert found["extra nets"].good and found["sum"].state == "gives 2.0, but 3.0 is right"
    assert "ZeroDivisionError" in found["boom"].state
    assert not (found["numpy"].good or found["sum"].good or found["boom"].good)


def test_what_is_installed_but_cannot_be_imported_is_ill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # its import raises
    monkeypatch.setattr(room, "requirements", lambda: iter([("matplotlib", "", "lab")]))
    monkeypatch.setattr(room, "CHECKS", {})
    monkeypatch.setattr(room, "installed_version", lambda name: "3.9")
    found = doctor()
    assert states(found)["extra lab"].state.startswith("matplotlib cannot be imported: ")
    assert not (found.healthy or room.package_finding("matplotlib", needed=False).good)
    monkeypatch.undo()
    assert room.package_finding("matplotlib").good
