"""Who sees a bar of a long run."""

import sys
from types import SimpleNamespace

import pytest

from calibkit_audit import progress


def test_nothing_is_said_before_the_delay(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert list(progress.track([1, 2], 2, show=True, label="x", delay=60)) == [1, 2]
    assert capsys.readouterr().err == ""
    times = iter([0.0, 7.0, 8.0, 30.0])
    monkeypatch.setattr(progress, "perf_counter", lambda: next(times))
    assert list(progress.track([1, 2, 3], 3, show=True, label="x", delay=5)) == [1, 2, 3]
    said = capsys.readouterr().err.splitlines()
    assert said == ["x: 1/3, 0:00:14 to go", "x: 3/3, 0:00:00 to go"]


def test_a_bar_is_for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: False))
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert not progress.interactive()
    for asks in (False, True):  # a page that is built cannot be asked; a learner's notebook can
        shell = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=asks))
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda s=shell: s))
        assert progress.interactive() is asks
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert progress.interactive()
