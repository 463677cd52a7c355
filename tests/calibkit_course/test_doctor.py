"""The doctor of the course: what every lesson needs."""

import re

import pytest

from calibkit_audit import doctor as room
from calibkit_course.doctor import ILL, WELL, doctor
from tests.calibkit_audit.test_doctor import states, version_without

MISSING = ("scipy", "torch")


def test_this_machine_is_well() -> None:
    found = doctor()
    assert found.healthy and WELL in repr(found) and "numpy" in found._repr_html_()
    assert re.search(r"[/\\]", repr(found)) is None  # no path of this machine
    assert "00, 01" in states(found)["lessons"].state


def test_what_is_missing_for_the_lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "version", version_without(*MISSING))
    found = doctor()
    assert not found.healthy and ILL in repr(found)
    assert "✓ numpy               9           ok" in repr(found)
    assert states(found)["scipy"].state == "missing; run: pip install scipy"
    assert states(found)["torch"].state == "not installed (lesson 10 only)"
    assert states(found)["torch"].good
