"""Redraws of many rows in lots, and bars of long runs."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit import progress
from calibkit.chance import redraws
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import adaptive_test

ECE = ck.expected_calibration_error


def sample(n: int) -> tuple[Any, Any]:
    drawn = LogitDistortion(slope=0.7).sample(n, 5)
    return drawn.y_true, drawn.y_prob


@pytest.mark.long
def test_lots_show_what_rows_show(monkeypatch, subtests) -> None:
    """Mean and spread of redraws, give or take four standard errors of 2000 draws each."""
    data = sample(3000)

    def both() -> list[Any]:
        interval = ck.bootstrap_interval(ECE, *data, n_draws=2000, rng=1)
        return [interval.draws, ck.null_level(ECE, *data, n_draws=2000, rng=2).draws]

    rows = both()
    monkeypatch.setattr(redraws, "MANY_ROWS", 1000)
    for one, other in zip(rows, both(), strict=True):
        with subtests.test(one=one, other=other):
            assert not np.array_equal(one, other)
            assert other.mean() == pytest.approx(one.mean(), abs=4 * one.std() * np.sqrt(2 / 2000))
            assert other.std() == pytest.approx(one.std(), rel=4 / np.sqrt(2000))


def test_lots_add_up_to_the_table() -> None:
    labels, prob = sample(5000)
    table = ck.reliability_table(labels, prob, bins=7)
    problem = ck.binary_problem(labels, prob)
    count, bounds, columns = redraws._lots(problem, table, by_label=True)
    sums = np.add.reduceat(count[:, np.newaxis] * columns, bounds[:-1])
    assert sums[:, 0].tolist() == table.count.tolist()
    assert sums[:, 1] == pytest.approx(table.count * table.mean_prob, rel=1e-12)
    assert sums[:, 2] == pytest.approx(table.count * table.frequency, rel=1e-12)
    assert len(count) < 5000


# --- who sees a bar ------------------------------------------------------------------------------


def test_nothing_is_said_before_the_delay(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert list(progress.track([1, 2], 2, show=True, label="x", delay=60)) == [1, 2]
    assert capsys.readouterr().err == ""
    times = iter([0.0, 7.0, 8.0, 30.0])
    monkeypatch.setattr(progress, "perf_counter", lambda: next(times))
    assert list(progress.track([1, 2, 3], 3, show=True, label="x", delay=5)) == [1, 2, 3]
    said = capsys.readouterr().err.splitlines()
    assert said == ["x: 1/3, 0:00:14 to go", "x: 3/3, 0:00:00 to go"]


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
        lambda y, p: ck.null_level(ECE, y, p, n_draws=20, rng=0),
        lambda y, p: ck.bootstrap_interval(ECE, y, p, n_draws=20, rng=0),
        lambda y, p: adaptive_test(y, p, n_draws=20, rng=0),
        lambda y, p: ck.hypothesis_tests.test_based_calibration_error(y, p, n_draws=20, rng=0),
    ],
)
def test_long_runs_have_a_bar_and_scripts_have_none(run: Any, monkeypatch, capsys) -> None:
    data = sample(200)
    run(*data)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(progress, "interactive", lambda: True)
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    run(*data)
    assert "to go" in capsys.readouterr().err
