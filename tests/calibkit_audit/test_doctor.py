"""The doctor of the package: versions and extras."""

import sys
from typing import Any

import pytest

from calibkit_audit import doctor as room
from calibkit_audit.doctor import Diagnosis, doctor


def states(found: Diagnosis) -> dict[str, Any]:
    return {finding.what: finding for finding in found.findings}


def test_missing_packages_and_missing_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "installed_version", lambda name: "1.0" * (name in room.CORE[1:]))
    found = states(doctor())
    assert found["numpy"].state == "missing; run: pip install numpy" and not found["numpy"].good
    assert found["torch"].state == "not installed (small networks: pip install 'calibkit[nets]')"
    assert found["torch"].good and found["scipy"].number == "1.0"


def test_what_is_installed_but_cannot_be_imported_is_ill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # its import raises
    monkeypatch.setattr(room, "installed_version", lambda name: "99")
    found = doctor()
    assert states(found)["matplotlib"].state.startswith("cannot be imported: ")
    assert not (found.healthy or room.package_finding("matplotlib", needed=False).good)
    monkeypatch.undo()
    assert room.package_finding("matplotlib").good
