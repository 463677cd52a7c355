"""`dev.py`: installs once, says what it does, fails when a stage fails, and needs no package."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import dev
from tests.paths import ROOT
from tools import virtual_environment as venv

# --- the environment -----------------------------------------------------------------------------


def test_lessons_run_in_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIBKIT_DATA", "somewhere")
    for name in ("CALIBKIT_BOOK", "CALIBKIT_WORKBOOK", "MPLBACKEND"):
        monkeypatch.setenv(name, "mine")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    without, with_data = (venv.kernel_environment(data=data) for data in (False, True))
    assert "CALIBKIT_DATA" not in without
    assert with_data["CALIBKIT_DATA"] == str(Path("somewhere").resolve())
    assert "mine" not in with_data.values()
    assert without["OMP_NUM_THREADS"] == "1"


def test_the_lab_comes_without_torch() -> None:
    assert not {*dev.LAB, *dev.READER, *dev.EVERYTHING} & venv.WITH_TORCH


# --- stages --------------------------------------------------------------------------------------


def report(path: Path, **numbers: int) -> int:
    """Write what pytest would, and return its exit code."""
    words = " ".join(f'{key}="{value}"' for key, value in numbers.items())
    path.write_text(f"<testsuites><testsuite {words}/></testsuites>")
    return 1 if numbers["failures"] else 0


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
    names: list[str],
    code: int,
    closing: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    numbers = {"tests": 7, "errors": 0, "skipped": 2}
    stages = {
        "good": ("always passes", lambda: 0),
        "bad": ("never passes", lambda: 3),
        "tests": ("passes", lambda: report(tmp_path / "tests.xml", failures=0, **numbers)),
        "broken": ("fails", lambda: report(tmp_path / "broken.xml", failures=1, **numbers)),
    }
    monkeypatch.setattr(dev, "REPORTS", tmp_path)
    monkeypatch.setattr(dev, "STAGES", stages)
    assert dev.run_stages(names) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(closing)
    for name in names:
        result = "FAILED" if name in ("bad", "broken") else "passed"
        assert any(line.split()[:2] == [name, result] for line in lines), name


def test_what_is_long_runs_only_when_asked_for(tmp_path, monkeypatch) -> None:
    seen: list[set[str]] = []
    markers: list[str] = []
    monkeypatch.setattr(dev, "prepare", lambda *extras: None)
    monkeypatch.setattr(dev, "REPORTS", tmp_path)  # the real ones are those of this run
    monkeypatch.setattr(dev, "pytest", lambda stage, *words: markers.append(words[1]) or 0)
    run_stages = dev.run_stages

    def only_unit(names: Iterable[str], ways: dict[str, Callable[[], int]] | None = None) -> int:
        seen.append({*names})
        return run_stages(["unit"], ways)

    monkeypatch.setattr(dev, "run_stages", only_unit)
    for words in ([], ["--fast"], ["--long"]):
        assert dev.main(["test", *words]) == 0
    usual, fast, everything = seen
    kept = "not browser"
    assert markers == [f"{kept} and not long", f"{kept} and not slow and not long", kept]
    assert fast < usual < everything == {*dev.STAGES}
    assert everything - usual == {"portable", "floors", "live"}
    assert "dev.py test --long" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        dev.main(["test", "--fast", "--long"])


def test_the_book_is_built_anew_when_the_package_changes(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(dev, "BOOK", tmp_path / "_build")
    dev.forget_outdated_book()
    page = tmp_path / "_build" / "page.html"
    page.touch()
    dev.forget_outdated_book()
    assert page.exists()
    monkeypatch.setenv("CALIBKIT_DATA", "elsewhere")
    dev.forget_outdated_book()
    assert not page.exists()


# --- commands ------------------------------------------------------------------------------------


def bare(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `dev.py` in a Python that has the standard library and nothing else."""
    command = [sys.executable, "-S", "dev.py", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", [*dev.COMMANDS, *dev.MODULES, "help"])
def test_help_needs_no_environment(name: str, subtests: pytest.Subtests) -> None:
    done = bare(name, "--help")
    assert done.returncode == 0, done.stderr
    module = dev.MODULES.get(name)
    for option in options_of(module.path) if module else ():
        with subtests.test(option):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", done.stdout)


def options_of(path: Path) -> list[str]:
    """Return the options that a module reads."""
    return re.findall(r"add_argument\(\s*\"(--[\w-]+)", path.read_text(encoding="utf-8"))


def test_the_overview_names_every_command() -> None:
    shown = bare().stdout
    assert all(f"\n  {name} " in shown for name in (*dev.COMMANDS, *dev.MODULES, "help"))
    assert shown == bare("help").stdout == bare("--help").stdout


def test_wrong_commands_and_arguments_are_named(capsys, subtests) -> None:
    assert dev.main(["tset"]) == 2
    assert "does not know 'tset'" in capsys.readouterr().err
    for words in (["book", "now"], ["lint", "--fxi"], ["torch", "2"]):
        with subtests.test(str(words)):
            with pytest.raises(SystemExit, match="2"):
                dev.main(words)
            assert f"unrecognized arguments: {words[1]}" in capsys.readouterr().err


def test_a_command_of_a_module_gets_its_words_where_they_were_typed(tmp_path, monkeypatch) -> None:
    seen: list[tuple[tuple[str, ...], Path]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dev, "prepare", lambda *_: None)
    monkeypatch.setattr(dev, "call", lambda *args, **how: seen.append((args[1:], how["cwd"])) or 2)
    assert dev.main(["grade", "work", "--jobs", "1"]) == dev.main(["solved", "04"]) == 2
    assert seen == [
        (("-m", "tools.grade", "work", "--jobs", "1"), tmp_path),
        (("-m", "tools.notebooks", "solved", "04"), ROOT),
    ]


def test_an_old_python_is_told_so() -> None:
    text = (ROOT / "dev.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 7))  # an old interpreter gets as far as the message
    text = text.replace("import sys\n", "import sys\nsys.version_info = (3, 9, 1)\n", 1)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "calibkit needs Python 3.11 or newer; this is Python 3.9" in done.stderr
