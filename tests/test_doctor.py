"""The doctor: what a course needs, what the package needs, and numbers that are known."""

import re
from typing import Any

import pytest

from calibkit import doctor as room
from calibkit.doctor import SAY, Diagnosis, doctor


def with_versions(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], other: str) -> None:
    """Pretend that these versions are installed, and that numpy 1.26 is asked for."""
    monkeypatch.setattr(room, "installed_version", lambda name: versions.get(name, other))
    monkeypatch.setattr(room, "lowest_version", lambda name: "1.26" if name == "numpy" else "")


def states(found: Diagnosis) -> dict[str, Any]:
    return {finding.what: finding for finding in found.findings}


def test_this_machine_is_well() -> None:
    found = doctor()
    assert found.healthy and SAY["lessons good"] in repr(found)
    assert "numpy" in found._repr_html_()
    assert re.search(r"[/\\]", repr(found)) is None  # no path of this machine
    assert "00, 01" in states(found)["lessons"].state


def test_what_is_missing_for_the_lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    with_versions(monkeypatch, {"scipy": "", "numpy": "1.2.3", "torch": ""}, "9")
    found = doctor()
    assert not found.healthy and SAY["lessons bad"] in repr(found)
    assert "✗ numpy               1.2.3       too old; 1.26 or later is needed" in repr(found)
    assert states(found)["scipy"].state == "missing; run: pip install scipy"
    assert states(found)["torch"].state == "not installed (lesson 10 only)"
    assert states(found)["torch"].good


def test_old_packages_wrong_numbers_and_missing_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    with_versions(monkeypatch, {"torch": ""}, "1.0")
    wanted = [("torch", "2.2", "nets"), ("mnist1d", "", "nets"), ("calibkit[nets]", "", "all")]
    monkeypatch.setattr(room, "requirements", lambda: iter(wanted))
    monkeypatch.setattr(room, "CHECKS", {"sum": lambda: (2.0, 3.0), "boom": lambda: 1 / 0})
    found = states(doctor("package"))
    assert found["numpy"].state == "too old; 1.26 or later is needed"
    assert found["extra nets"].state.startswith("without torch; run: pip install 'calibkit[nets]'")
    assert found["extra nets"].good
    assert found["sum"].state == "gives 2.0, but 3.0 is right"
    assert "ZeroDivisionError" in found["boom"].state
    assert not (found["numpy"].good or found["sum"].good or found["boom"].good)
