"""`dev.py`: installs once, says what it does, fails when a stage fails, and needs no package."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dev
from tests.paths import ROOT
from tools import virtual_environment as venv

# --- the environment -----------------------------------------------------------------------------


def test_lessons_run_in_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CALIBKIT_BOOK", "CALIBKIT_DATA", "CALIBKIT_WORKBOOK", "MPLBACKEND"):
        monkeypatch.setenv(name, "mine")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    lesson = venv.kernel_environment()
    assert not {"CALIBKIT_DATA", "MPLBACKEND"} & {*lesson} and "mine" not in lesson.values()
    assert venv.environment()["CALIBKIT_DATA"] == str(Path("mine").resolve())
    assert "MPLBACKEND" not in venv.environment()  # a lab started in such a shell shows no figure
    assert lesson["OMP_NUM_THREADS"] == "1"


def test_the_lab_comes_without_torch() -> None:
    assert not {*dev.LAB, *dev.READER, *dev.EVERYTHING} & venv.WITH_TORCH


# --- stages --------------------------------------------------------------------------------------

REAL_STAGES = {*dev.STAGES}
CODES = {
    "good": "print('all is well')",
    "bad": "raise SystemExit(3)",
    "tests": "print('5 passed, 2 skipped, 9 subtests passed in 0.10s')",
    "broken": "print('1 failed, 4 passed, 2 skipped in 99.10s (0:01:39)'); raise SystemExit(1)",
    "refused": "print('2 passed, 1 error in 0.10s'); raise SystemExit(1)",
}


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Put five stages in the place of the real ones; return the program of each."""
    programs = {name: [sys.executable, "-c", code] for name, code in CODES.items()}
    monkeypatch.setattr(dev, "STAGES", {name: (f"is {name}", None) for name in programs})
    monkeypatch.setattr(dev, "program_of", lambda name, length: programs[name])
    return programs


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize(
    ("names", "code", "closing"),
    [
        (["good"], 0, "=== 1 passed in "),
        (["good", "tests"], 0, "=== 6 passed, 2 skipped in "),
        (["bad", "good"], 1, "=== 1 failed, 1 passed in "),
        (["broken", "tests"], 1, "=== 1 failed, 9 passed, 4 skipped in "),
        (["refused"], 1, "=== 1 failed, 2 passed in "),
    ],
)
def test_a_failing_stage_fails_the_whole(
    stages, names: list[str], code: int, closing: str, cores: int, monkeypatch, capfd
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert dev.run_stages(names) == code
    shown = capfd.readouterr().out
    assert shown.splitlines()[-1].startswith(closing)
    for name in names:
        result = "passed" if name in ("good", "tests") else "FAILED"
        assert re.search(rf"^{name} +{result} ", shown, re.MULTILINE), name
    assert "good     | all is well" in shown or "good" not in names


def test_a_stage_waits_for_what_it_needs(stages, tmp_path, monkeypatch) -> None:
    assert {*dev.AFTER}.union(*dev.AFTER.values()) <= REAL_STAGES
    monkeypatch.setattr(dev, "AFTER", {"good": {"bad", "tests"}})
    note = "import sys; open(sys.argv[1], 'a').write(sys.argv[2])"
    for name in stages:
        stages[name] = [sys.executable, "-c", note, str(tmp_path / "log"), f" {name}"]
    assert dev.run_stages(["good", "bad", "tests"]) == 0
    assert sorted((words := (tmp_path / "log").read_text().split())[:2]) == ["bad", "tests"]
    assert words[2:] == ["good"]


def test_what_is_long_runs_only_when_asked_for(monkeypatch) -> None:
    seen: list[set[str]] = []
    markers: list[str] = []
    monkeypatch.setattr(dev, "prepare", lambda *extras: None)
    monkeypatch.setattr(dev, "pytest", lambda stage, *words: markers.append(words[1]) or 0)

    def only_unit(names: list[str], length: str) -> int:
        seen.append({*names})
        return dev.STAGES["unit"][1](length)

    monkeypatch.setattr(dev, "run_stages", only_unit)
    for words in ([], ["--fast"], ["--long"]):
        assert dev.main(["test", *words]) == 0
    usual, fast, everything = seen
    kept = "not browser and not site"
    assert markers == [f"{kept} and not long", f"{kept} and not slow and not long", kept]
    assert fast < usual < everything == {*dev.STAGES}
    assert everything - usual == {"portable", "floors", "live", "dist"}
    assert "dev.py test --long" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        dev.main(["test", "--fast", "--long"])


def test_ten_days_try_every_lesson_and_as_many_as_there_are_one_each(monkeypatch) -> None:
    tried, alone, names = list[str](), list[str](), ["a", "b", "c"]
    for day in range(10):
        monkeypatch.setattr(dev.time, "time", lambda day=day: 86_400 * day)
        tried += dev.today()
        alone += dev.today(names, len(names))
    assert sorted(tried) == sorted(path.stem for path in dev.notebook_paths())
    assert alone == [*3 * names, "a"]


def test_the_book_is_built_anew_when_the_package_changes(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(dev, "BOOK", tmp_path / "_build")
    dev.forget_outdated_book()
    page = tmp_path / "_build" / "page.html"
    page.touch()
    dev.forget_outdated_book()
    assert page.exists()
    monkeypatch.setattr(dev, "package_files", list)
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
