"""The lines of a long run."""

from calibkit_audit import progress


def test_a_plain_line_says_how_many_have_come(monkeypatch, capsys) -> None:
    times = iter([0.0, 7.0, 14.0, 16.0, 30.0])
    monkeypatch.setattr(progress, "perf_counter", lambda: next(times))
    assert list(progress.track([1, 2, 3, 4], 4, show=True, label="x")) == [1, 2, 3, 4]
    said = capsys.readouterr().err.splitlines()
    assert said == ["x: 2/4, 0:00:14 to go", "x: 4/4, 0:00:00 to go"]
