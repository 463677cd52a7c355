"""Bars of long runs."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import calibkit as ck
from calibkit import progress
from calibkit.fakes import LogitDistortion
from calibkit.significance import adaptive_test

ECE = ck.expected_calibration_error


def sample(n: int) -> tuple[Any, Any]:
    drawn = LogitDistortion(slope=0.7).sample(n, 5)
    return drawn.y_true, drawn.y_prob


# --- who sees a bar ------------------------------------------------------------------------------


def test_nothing_is_said_before_the_delay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert list(progress.track([1, 2], 2, show=True, label="x", delay=60)) == [1, 2]
    assert capsys.readouterr().err == ""
    times = iter([0.0, 7.0, 8.0, 30.0])
    monkeypatch.setattr(progress, "perf_counter", lambda: next(times))
    assert list(progress.track([1, 2, 3], 3, show=True, label="x", delay=5)) == [1, 2, 3]
    assert capsys.readouterr().err.splitlines() == [
        "x: 1/3, 0:07 gone, 0:14 to go",
        "x: 3/3, 0:30 gone, 0:00 to go",
    ]


def test_a_bar_is_for_a_person(monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests) -> None:
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: False))
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert not progress.interactive()
    for asks in (False, True):  # a page that is built cannot be asked; a learner's notebook can
        with subtests.test(asks=asks):
            shell = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=asks))
            monkeypatch.setitem(
                sys.modules, "IPython", SimpleNamespace(get_ipython=lambda s=shell: s)
            )
            assert progress.interactive() is asks
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert progress.interactive()


@pytest.mark.parametrize(
    "run",
    [
        lambda y, p: ck.null_level(ck.brier_score, y, p, n_draws=20, rng=0),
        lambda y, p: ck.null_level(ECE, y, p, n_draws=20, rng=0),
        lambda y, p: ck.bootstrap_interval(ck.brier_score, y, p, n_resamples=20, rng=0),
        lambda y, p: ck.bootstrap_interval(ECE, y, p, n_resamples=20, rng=0),
        lambda y, p: adaptive_test(y, p, null_draws=20, rng=0),
        lambda y, p: ck.significance.test_based_calibration_error(y, p, null_draws=20, rng=0),
    ],
)
def test_long_runs_have_a_bar_and_scripts_have_none(
    run: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = sample(200)
    run(*data)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(progress, "interactive", lambda: True)
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    run(*data)
    assert "to go" in capsys.readouterr().err
