"""Working copies: nothing spoiled, nothing of a learner's lost, every failure a sentence."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
import pytest

import dev
from tests.helpers import each_case
from tools import notebook_files as files, workbook
from tools.lesson_pages import lesson_pages
from tools.virtual_environment import Failure

LESSONS = lesson_pages(suffix=".ipynb")


@pytest.fixture
def course(tmp_path: Path) -> tuple[Path, Path]:
    """Return a folder with three lessons, and where the copies of them go."""
    notebooks = tmp_path / "notebooks"
    (notebooks / "further").mkdir(parents=True)
    for path in LESSONS[:3]:
        (notebooks / path.relative_to(files.NOTEBOOKS)).write_bytes(path.read_bytes())
    return notebooks, tmp_path / "workbook"


def change(lesson: Path) -> None:
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] += ["\n", "One more sentence."]
    lesson.write_text(json.dumps(notebook), encoding="utf-8")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.ipynb")}


@each_case("path", LESSONS)
def test_a_copy_has_everything_but_outputs_and_its_links_lead_to_copies(path: Path) -> None:
    copy: Any = nbformat.reads(json.dumps(workbook.without_outputs(path)), as_version=4)
    nbformat.validate(copy)
    stored = [c for c in files.read_stored(path).cells if "install" not in files.tags(c)]
    assert [cell.id for cell in copy.cells] == [cell.id for cell in stored]
    targets: list[str] = []
    for ours, theirs in zip(copy.cells, stored, strict=True):
        assert ours.metadata == theirs.metadata, ours.source
        if ours.cell_type == "code":
            assert ours.outputs == [] and ours.execution_count is None, ours.source
            assert ours.source == theirs.source
            folded = ours.metadata.get("jupyter", {}).get("source_hidden") is True
            assert ("solution" in files.tags(ours)) == folded, ours.source
        else:
            targets += re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", ours.source)
    assert "jupytext" not in copy.metadata and copy.metadata.kernelspec.name == "python3"
    for target in targets:
        assert (path.parent / target).exists(), target
        assert "../book/" in target or not target.endswith(".md"), target
    assert any(target.endswith(".ipynb") for target in targets)


def test_missing_copies_are_made_and_no_copy_is_overwritten(course: tuple[Path, Path]) -> None:
    done, found = workbook.copies((), *course)
    assert done == ["Working copies made in workbook/: 00, 01, 01_further."] and found == []
    mine = course[1] / LESSONS[1].name
    edited = json.loads(mine.read_text(encoding="utf-8"))
    edited["cells"][3]["source"] = ["answer = 42"]
    mine.write_text(json.dumps(edited), encoding="utf-8")
    (course[1] / "further" / LESSONS[2].name).unlink()
    before = content(course[1])
    assert workbook.copies((), *course) == (["Working copies made in workbook/: 01_further."], [])
    assert {name: content(course[1])[name] for name in before} == before
    assert workbook.copies((), *course) == ([], [])


def test_a_changed_lesson_is_reported_until_its_copy_is_fresh(course: tuple[Path, Path]) -> None:
    workbook.copies((), *course)
    change(course[0] / LESSONS[0].name)
    change(course[0] / "further" / LESSONS[2].name)
    before = content(course[1])
    for _ in range(2):
        done, (sentence,) = workbook.copies((), *course)
        assert done == [] and "Changed since your copies were made: 00, 01_further." in sentence
        assert "python dev.py workbook --fresh 00 01_further" in sentence
    assert content(course[1]) == before
    done, found = workbook.copies(["01_further", "0"], *course)
    assert found == [] and len(done) == 3
    old = re.findall(r"your old copy is now \w+/(\S+)\.$", "\n".join(done), re.MULTILINE)
    assert [content(course[1])[name] for name in old] == [
        before[LESSONS[number].name] for number in (0, 2)
    ]
    assert b"One more sentence" in content(course[1])[LESSONS[2].name]


def test_old_copies_never_overwrite_each_other(course: tuple[Path, Path]) -> None:
    workbook.copies((), *course)
    for number in range(4):
        (course[1] / LESSONS[0].name).write_text(f"{number}", encoding="utf-8")
        workbook.copies(["0"], *course)
    kept = {text for name, text in content(course[1]).items() if name.startswith("00_start_here_")}
    assert kept == {b"0", b"1", b"2", b"3"}


@pytest.mark.parametrize("broken", ["", "{", "[]", "{}", '{"metadata": 3}', '{"metadata": []}'])
def test_a_broken_copy_is_named_and_kept(course: tuple[Path, Path], broken: str) -> None:
    workbook.copies((), *course)
    (course[1] / LESSONS[0].name).write_text(broken, encoding="utf-8")
    done, (sentence,) = workbook.copies((), *course)
    assert done == [] and "00_start_here.ipynb cannot be read as a notebook" in sentence
    assert "--fresh 00" in sentence
    assert (course[1] / LESSONS[0].name).read_text(encoding="utf-8") == broken
    assert workbook.copies(["00"], *course)[1] == []


def test_a_place_that_cannot_be_written_gives_a_sentence(course, monkeypatch) -> None:
    course[1].write_text("mine")
    with pytest.raises(Failure, match="workbook is a file.*rename the file"):
        workbook.copies((), *course)
    assert course[1].read_text() == "mine"
    course[1].unlink()

    def refused(path: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    workbook.copies((), *course)
    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(Failure, match="cannot be written"):
        workbook.copies(["00"], *course)
    assert len(content(course[1])) == 3


# --- the commands ------------------------------------------------------------------------------


def test_what_is_handed_out_has_no_solutions(tmp_path: Path, capsys) -> None:
    for said in ("Working copies made in out/: 00", "All lessons are in"):
        assert dev.main(["workbook", "--without-solutions", str(tmp_path / "out")]) == 0
        assert said in capsys.readouterr().out  # the second time nothing has changed since
    handed_out = lesson_pages(suffix=".ipynb", folder=tmp_path / "out")
    assert [path.name for path in handed_out] == [path.name for path in LESSONS]
    for copy, path in zip(handed_out, LESSONS, strict=True):
        whole = workbook.without_outputs(path)["cells"]
        kept = [cell for cell in whole if "solution" not in cell["metadata"].get("tags", [])]
        assert json.loads(copy.read_text("utf-8"))["cells"] == kept != whole


@pytest.mark.parametrize("edit", [False, True])
def test_the_lab_opens_the_copies_and_names_the_workbook_to_the_kernels(
    course: tuple[Path, Path], edit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    monkeypatch.setattr(dev, "WORKBOOK", here := course[1])
    monkeypatch.setattr(dev, "copies", lambda names=(): workbook.copies(names, *course))
    monkeypatch.setattr(dev, "prepare", lambda *_: None)
    monkeypatch.setattr(dev, "settle_jupyterlab", lambda: None)

    def start(*words: Any, cwd: Path, env: dict[str, str]) -> int:
        seen.update(words=words, cwd=cwd, env=env)
        return 0

    def become(_: str, words: list[str], env: dict[str, str]) -> None:
        seen.update(words=words, env=env)
        raise SystemExit(0)

    monkeypatch.setattr(dev, "call", start)  # on Windows; elsewhere the command becomes the lab
    monkeypatch.setattr(dev.os, "chdir", lambda folder: seen.update(cwd=folder))
    monkeypatch.setattr(dev.os, "execve", become)
    with suppress(SystemExit):
        dev.main(["lab", *(["--edit"] if edit else []), "--no-browser"])
    assert "--edit" not in seen["words"] and "--no-browser" in seen["words"]
    assert seen["cwd"] == (dev.NOTEBOOKS if edit else here)
    assert seen["env"].get("CALIBKIT_WORKBOOK") == (None if edit else str(here))
    assert here.exists() != edit
