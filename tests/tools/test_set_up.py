"""The set-up: broken off at any moment it is made good by the next, and what fails says why."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.paths import ROOT
from tools import virtual_environment as venv


class Killed(BaseException):
    """What ends a set-up at a moment."""


class Machine:
    """Pythons and installers that leave half of their work at each moment that they are killed.

    As uv does, the installer takes a package for installed that is there by half.
    """

    def __init__(self, root: Path, moment: float = float("inf")) -> None:
        self.folder, self.moment, self.passed = root / ".venv", moment, 0
        self.refuses: set[str] = set()

    def tick(self) -> None:
        self.passed += 1
        if self.passed > self.moment:
            raise Killed

    def put(self, name: str) -> None:
        path = self.folder / name
        if not path.exists():
            self.tick()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("half")
            self.tick()
            path.write_text("whole")

    def clear(self) -> None:
        for path in sorted(self.folder.rglob("*"), reverse=True):
            self.tick()
            path.rmdir() if path.is_dir() else path.unlink()

    def has(self, name: str) -> bool:
        path = self.folder / name
        return path.exists() and path.read_text() == "whole"

    def run(self, words: list[str], **_: Any) -> SimpleNamespace:
        self.tick()
        python, works = "bin/python", SimpleNamespace(returncode=0, stdout=b"", stderr=b"")
        if words[1:3] == ["-m", "venv"]:
            if "ensurepip" in self.refuses:
                (self.folder / "bin").mkdir()
                (self.folder / python).write_text("whole")
                return SimpleNamespace(returncode=1, stdout=b"", stderr=b"no ensurepip")
            self.clear()
            self.put(python)
            self.put("pip")
        elif words[1] == "-c":
            if not self.has(python):
                raise FileNotFoundError(words[0])
            works.returncode = int("pip" in words[2] and not self.has("pip"))
        else:
            names = [word for word in words if word == "uv" or word.startswith(("-e.[", "torch"))]
            if self.refuses & {*names}:
                return SimpleNamespace(returncode=2, stdout=b"", stderr=b"why it is refused")
            for name in names:
                self.put("bin/uv" if name == "uv" else f"site/{name.strip('-e.[]')}")
        return works


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of its own."""
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    for name, path in {"ROOT": ".", "VENV": ".venv", "STAMP": ".venv/stamp.json"}.items():
        monkeypatch.setattr(venv, name, tmp_path / path)
    monkeypatch.setattr(venv, "venv_python", lambda: tmp_path / ".venv" / "bin" / "python")
    return tmp_path


def set_up(machine: Machine, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(venv.subprocess, "run", machine.run)
    venv.prepare(names)


LAB, NETS = ("lab", "parquet"), ("lab", "nets")
MOMENTS = [*(((), moment) for moment in range(13)), *((LAB, moment) for moment in range(5))]


@pytest.mark.parametrize(("had", "moment"), MOMENTS)
def test_a_set_up_killed_at_any_moment_is_made_good(had, moment, root, monkeypatch) -> None:
    names = NETS if had else LAB
    if had:
        set_up(Machine(root), monkeypatch, *had)
    with pytest.raises(Killed):
        set_up(Machine(root, moment), monkeypatch, *names)
    set_up(Machine(root), monkeypatch, *names)
    files = {path.name: path for path in (root / ".venv").rglob("*") if path.is_file()}
    assert {*",".join(files).split(",")} >= {"python", "pip", "uv", *names}
    assert {path.read_text() for path in files.values() if not path.suffix} == {"whole"}
    assert {*names} <= {*venv.installed()}
    again = Machine(root, 1)  # a look at the interpreter, and nothing else
    set_up(again, monkeypatch, *names)


def test_without_ensurepip_the_advice_helps(root, monkeypatch) -> None:
    machine = Machine(root)
    machine.refuses = {"ensurepip"}
    monkeypatch.setattr(venv, "find_spec", lambda name: None)
    with pytest.raises(venv.Failure, match="install the package python3-venv"):
        set_up(machine, monkeypatch, *LAB)
    set_up(Machine(root), monkeypatch, *LAB)
    assert (root / ".venv" / "pip").read_text() == "whole"


def test_a_failed_torch_leaves_the_lab_as_it_was(root, monkeypatch) -> None:
    set_up(Machine(root), monkeypatch, *LAB)
    before = venv.installed()
    offline = Machine(root)
    offline.refuses = {*venv.requirements(["nets"])}
    with pytest.raises(venv.Failure, match=r"(?s)nets could not.*why it is refused.*uv pip ended"):
        set_up(offline, monkeypatch, *NETS)
    assert venv.installed() == before
    venv.prepare(LAB, optional=("nets",))  # said once, and not tried again
    assert venv.installed().keys() == {*LAB, "no nets"}
    passed = offline.passed
    venv.prepare(LAB, optional=("nets",))
    assert offline.passed == passed + 1


def test_a_checkout_that_cannot_be_written_is_told_so(root, monkeypatch) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(venv.Failure, match=r"\.venv cannot be written \(Permission denied\)") as no:
        set_up(Machine(root), monkeypatch, *LAB)
    assert "python3-venv" not in str(no.value)


def test_another_python_begins_anew(root, monkeypatch) -> None:
    set_up(Machine(root), monkeypatch, *LAB)
    (root / ".venv" / "bin" / "python").unlink()  # a link that leads nowhere any more
    set_up(Machine(root), monkeypatch, *LAB)
    assert (root / ".venv" / "bin" / "python").read_text() == "whole"
