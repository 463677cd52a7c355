"""`dev.py`: installs once, says what it does, fails when a stage fails, and needs no package."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import dev
from tests.paths import ROOT
from tools import lesson_needs
from tools import virtual_environment as venv


@pytest.fixture
def installs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Replace the installers and the environment; return the extras of each installation."""
    asked: list[list[str]] = []

    def install(extras: list[str], *, quiet: bool = False) -> bool:
        asked.append(list(extras))
        return "impossible" not in extras

    python = venv.venv_python(tmp_path)

    def make_venv() -> None:
        python.parent.mkdir(exist_ok=True)
        python.touch()

    monkeypatch.setattr(venv, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(venv, "venv_python", lambda: python)
    monkeypatch.setattr(venv, "make_venv", make_venv)
    monkeypatch.setattr(venv, "install", install)
    monkeypatch.setattr(venv, "call", lambda *command: 0)
    return asked


def test_the_second_run_installs_nothing(installs: list[list[str]]) -> None:
    venv.prepare(("lab",))
    venv.prepare(("lab",))
    assert installs == [["lab"]]


def test_extras_add_up(installs: list[list[str]]) -> None:
    venv.prepare(("lab",))
    venv.prepare(("book", "lab"))
    venv.prepare(("lab",))
    assert installs == [["lab"], ["book", "lab"]]


def test_new_pins_install_again(installs: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    venv.prepare(("lab",))
    monkeypatch.setattr(venv, "fingerprint", lambda: "other")
    venv.prepare(("lab",))
    assert installs == [["lab"], ["lab"]]


def test_an_optional_extra_may_fail_once(
    installs: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    venv.prepare(("lab",), ("impossible",))
    assert "tests that need [impossible] are skipped" in capsys.readouterr().out
    venv.prepare(("lab",), ("impossible",))
    assert installs == [["lab"], ["impossible"]]
    assert json.loads(venv.STAMP.read_text())["refused"] == ["impossible"]


def test_a_failed_installation_leaves_no_stamp(installs: list[list[str]]) -> None:
    with pytest.raises(venv.Failure, match="could not be installed"):
        venv.prepare(("impossible",))
    assert not venv.STAMP.exists()


def test_torch_comes_last_and_its_failure_is_one_when_it_was_asked_for(
    installs: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.prepare(("lab",))
    venv.prepare(("nets", "parquet"))
    assert installs == [["lab"], ["lab", "parquet"], ["nets"]]
    monkeypatch.setattr(venv, "WITH_TORCH", ("impossible",))
    with pytest.raises(venv.Failure, match=r"calibkit\[impossible\] could not be installed"):
        venv.prepare(("impossible",))


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Note what is run to install."""
    noted: list[list[str]] = []

    def run(command: list[str], *, shown: bool) -> bool:
        noted.append([Path(command[0]).name, *map(str, command[1:])])
        return True

    monkeypatch.setattr(venv, "run", run)
    monkeypatch.setattr(venv, "uv", lambda: tmp_path / "uv")
    return noted


def test_uv_installs_and_pip_is_not_asked(commands: list[list[str]]) -> None:
    assert venv.install(["lab", "parquet"])
    (command,) = commands
    assert command[:3] == ["uv", "pip", "install"]
    assert command[-3:] == ["-c", "constraints.txt", "-e.[lab,parquet]"]
    assert str(venv.venv_python()) in command
    assert "--torch-backend" not in command


def test_torch_is_asked_for_without_graphics_cards(commands: list[list[str]]) -> None:
    assert venv.install(["nets"])
    assert commands[0][commands[0].index("--torch-backend") + 1] == "cpu"


@pytest.mark.parametrize("there", [True, False], ids=["uv fails", "no uv"])
def test_pip_does_what_uv_cannot(
    there: bool, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(venv, "run", lambda command, shown: commands.append(command) or False)
    if not there:
        monkeypatch.setattr(venv, "uv", lambda: None)
    assert not venv.install(["lab"])
    assert len(commands) == 1 + there
    assert list(commands[-1][1:4]) == ["-m", "pip", "install"]


def test_uv_hears_where_pip_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "one two")
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    assert venv.uv_environment()["UV_FIND_LINKS"] == "one,two"
    monkeypatch.setenv("UV_FIND_LINKS", "three")
    assert venv.uv_environment()["UV_FIND_LINKS"] == "three"


def test_the_lab_comes_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(dev, "prepare", lambda extras, optional=(): asked.extend(extras + optional))
    monkeypatch.setattr(dev, "settle_jupyterlab", lambda: None)
    monkeypatch.setattr(dev.os, "chdir", lambda folder: None)
    monkeypatch.setattr(dev.os, "execve", lambda *command: None)
    monkeypatch.setattr(dev, "call", lambda *command, **options: 0)
    monkeypatch.setattr(dev, "copies", lambda: ([], []))
    assert dev.main(["lab"]) == 0
    assert asked == ["lab", "parquet"]
    assert dev.main(["torch"]) == 0
    assert asked[2:] == ["lab", "parquet", "nets"]


def test_paths_of_each_platform() -> None:
    folder = Path("x")
    assert venv.venv_python(folder, "posix") == folder / "bin" / "python"
    assert venv.venv_python(folder, "nt") == folder / "Scripts" / "python.exe"


def test_lessons_run_in_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIBKIT_DATA", "somewhere")
    monkeypatch.setenv("CALIBKIT_BOOK", "1")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    without, with_data = (venv.kernel_environment(data=data) for data in (False, True))
    assert "CALIBKIT_DATA" not in without
    assert with_data["CALIBKIT_DATA"] == str(Path("somewhere").resolve())
    assert not {"CALIBKIT_BOOK", "MPLBACKEND"} & set(with_data)
    assert without["OMP_NUM_THREADS"] == "1"


def report(path: Path, **numbers: int) -> int:
    """Write what pytest would, and return its exit code."""
    words = " ".join(f'{key}="{value}"' for key, value in numbers.items())
    path.write_text(f"<testsuites><testsuite {words}/></testsuites>")
    return 1 if numbers["failures"] else 0


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(dev, "REPORTS", tmp_path)
    numbers = {"tests": 7, "errors": 0, "skipped": 2}
    stages = {
        "good": ("always passes", lambda: 0),
        "bad": ("never passes", lambda: 3),
        "tests": ("passes", lambda: report(tmp_path / "tests.xml", failures=0, **numbers)),
        "broken": ("fails", lambda: report(tmp_path / "broken.xml", failures=1, **numbers)),
    }
    monkeypatch.setattr(dev, "STAGES", stages)


@pytest.mark.usefixtures("stages")
@pytest.mark.parametrize(
    ("names", "code", "closing"),
    [
        (["good"], 0, "=== 1 passed in "),
        (["good", "tests"], 0, "=== 6 passed, 2 skipped in "),
        (["bad", "good"], 1, "=== 1 failed, 1 passed in "),
        (["broken", "tests"], 1, "=== 1 failed, 9 passed, 4 skipped in "),
    ],
)
def test_a_failing_stage_fails_the_whole(
    names: list[str], code: int, closing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.run_stages(names) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(closing)
    for name in names:
        result = "FAILED" if name in ("bad", "broken") else "passed"
        assert any(line.split()[:2] == [name, result] for line in lines)


def test_what_is_long_runs_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    commands: list[str] = []
    monkeypatch.setattr(dev, "prepare", lambda *extras: None)
    monkeypatch.setattr(dev, "pytest", lambda stage, *words: commands.append(words[1]) or 0)
    run_stages = dev.run_stages

    def only_unit(names: Iterable[str], ways: dict[str, Callable[[], int]] | None = None) -> int:
        seen.append(list(names))
        return run_stages(["unit"], ways)

    monkeypatch.setattr(dev, "run_stages", only_unit)
    for words in ([], ["--fast"], ["--long"]):
        assert dev.main(["test", *words]) == 0
    assert commands == [
        "not browser and not long",
        "not browser and not slow and not long",
        "not browser",
    ]
    usual, fast, everything = map(set, seen)
    assert fast < usual < everything == set(dev.STAGES)
    assert everything - usual == {"portable", "floors", "live"}
    assert "dev.py test --long" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        dev.main(["test", "--fast", "--long"])


def test_no_notebooks_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "notebook_paths", list)
    monkeypatch.setattr(dev, "runnable", list)  # which asks this copy's own environment
    assert dev.validate_notebooks() == 1


def test_the_book_is_built_anew_when_the_package_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(dev, "BOOK", tmp_path / "_build")
    dev.forget_outdated_book()
    page = tmp_path / "_build" / "page.html"
    page.touch()
    dev.forget_outdated_book()
    assert page.exists()
    monkeypatch.setenv("CALIBKIT_DATA", "elsewhere")
    dev.forget_outdated_book()
    assert not page.exists()


def test_every_notebook_is_found() -> None:
    sources = sorted((ROOT / "notebooks").glob("*.md"))
    assert [path.with_suffix(".md") for path in dev.notebook_paths()] == sources


def test_wrong_commands_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["tset"]) == 2
    assert "does not know 'tset'" in capsys.readouterr().err
    assert dev.main(["book", "now"]) == 1
    assert "dev.py book: unknown arguments: now" in capsys.readouterr().err
    assert dev.main([]) == 0
    assert all(f"  {name} " in capsys.readouterr().out for name in ["lab"])


def test_help_says_what_each_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    dev.main(["help"])
    shown = capsys.readouterr().out
    for name, command in dev.COMMANDS.items():
        assert command.__doc__ is not None
        assert name in shown
        assert command.__doc__.splitlines()[0] in shown


@pytest.mark.parametrize(
    "name", ["dev.py", "tools/__init__.py", "tools/virtual_environment.py", "tools/workbook.py"]
)
def test_setting_up_needs_only_the_standard_library(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    tops = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            tops |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            tops.add((node.module or "").partition(".")[0])
    assert tops - {"tools"} <= sys.stdlib_module_names


def test_an_old_python_is_told_so() -> None:
    text = (ROOT / "dev.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 7))  # an old interpreter gets as far as the message
    text = text.replace("import sys\n", "import sys\nsys.version_info = (3, 9, 1)\n", 1)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "calibkit needs Python 3.11 or newer; this is Python 3.9" in done.stderr


def test_a_lesson_names_its_extra_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    lessons = {path.stem[:2]: path for path in (dev.ROOT / "notebooks").glob("[0-9]*.md")}
    assert lesson_needs.extra_packages(lessons["10"]) == ["torch"]
    assert lesson_needs.extra_packages(lessons["04"]) == []
    monkeypatch.setattr(lesson_needs, "find_spec", lambda name: None if name == "torch" else name)
    assert lesson_needs.missing(lessons["10"]) == ["torch"]
    assert lesson_needs.missing(lessons["04"]) == []


def test_lessons_without_their_packages_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = subprocess.CompletedProcess([], 0, stdout="10_cool_a_network torch, mnist1d\n")
    monkeypatch.setattr(dev.subprocess, "run", lambda *_, **__: done)
    paths = [Path("04_read_a_reliability_diagram.ipynb"), Path("10_cool_a_network.ipynb")]
    assert dev.runnable(paths) == paths[:1]
    assert "lesson 10 needs torch, mnist1d" in capsys.readouterr().out
