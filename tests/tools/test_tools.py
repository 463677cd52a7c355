"""The notebook tools: what they write, what they refuse, and that their checks can fail."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from calibkit_course import open_lesson
from calibkit_course.learn import Check, Lesson, Rubric
from tools import notebook_files, notebook_solved, notebooks, portable
from tools.notebook_check import drift_problems, pair_problems
from tools.notebook_files import NotebookProblem, normalise, read_source, source_text, text_of
from tools.notebook_hints import BLOCK, with_hints
from tools.notebook_solved import with_solutions

pytestmark = pytest.mark.filterwarnings("default")  # the kernel clients warn about themselves


def read(name: str) -> str:
    """Return a page that these tests change."""
    return (Path(__file__).parent / "pages" / f"{name}.md").read_text(encoding="utf-8")


LESSON = read("90_halve")


def write_lesson(folder: Path, text: str = LESSON) -> Path:
    path = folder / "90_halve.md"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_lesson(tmp_path_factory.mktemp("lesson"))
    assert notebooks.run(path).startswith(".ipynb written")
    return path


@pytest.fixture
def pair(executed: Path, tmp_path: Path) -> Path:
    for suffix in (".md", ".ipynb"):
        shutil.copy(executed.with_suffix(suffix), tmp_path)
    return tmp_path / executed.name


def stored(path: Path) -> NotebookNode:
    return nbformat.read(path.with_suffix(".ipynb"), as_version=4)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def rewrite(path: Path, notebook: NotebookNode) -> None:
    path.with_suffix(".ipynb").write_text(text_of(notebook), encoding="utf-8")


@pytest.mark.slow
def test_drift_of_the_source_is_seen_line_by_line(pair: Path, subtests: pytest.Subtests) -> None:
    lines = LESSON.splitlines(keepends=True)
    places = [
        k for k in range(10, len(lines)) if lines[k] not in ("---\n", "mystnb:\n", "  image:\n")
    ]
    shorter = ["".join([*lines[:k], *lines[k + 1 :]]) for k in places]
    for text in (*shorter, LESSON.replace("name: python3", "name: other")):
        write_lesson(pair.parent, text)
        with subtests.test(text):
            assert any("run `python dev.py run 90_halve`" in one for one in pair_problems(pair))


def forget_count(notebook: NotebookNode) -> None:
    code_cells(notebook)[1].execution_count = None


def forget_outputs(notebook: NotebookNode) -> None:
    for cell in code_cells(notebook):
        cell.outputs = []


def add_widget_state(notebook: NotebookNode) -> None:
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {}}


def answer_a_check(notebook: NotebookNode) -> None:
    check = next(cell for cell in notebook.cells if "check" in cell.metadata.get("tags", []))
    check.outputs[0].data["text/plain"] = "Correct. Half of ten."


def change_id(notebook: NotebookNode) -> None:
    notebook.cells[0].id = "abcdef"


def adding(kind: str, **output: object) -> Callable[[NotebookNode], None]:
    """Return what adds an output to a notebook."""
    new = nbformat.from_dict({"output_type": kind, **output})
    return lambda notebook: notebook.cells[4].outputs.append(new)


IMAGE = {"image/png": "AAAA", "text/plain": "<Figure>"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (forget_count, "not in its canonical form"),
        (forget_outputs, "would compare nothing"),
        (add_widget_state, "not in its canonical form"),
        (answer_a_check, "does not answer 'Not attempted'"),
        (change_id, "not in its canonical form"),
        (
            adding("error", ename="ValueError", evalue="no", traceback=[]),
            "an error: ValueError: no",
        ),
        (adding("display_data", data=IMAGE, metadata={}), "not in its canonical form"),
        (adding("stream", name="stderr", text="UserWarning: old"), "stores a warning"),
        (adding("stream", name="stdout", text="<Thing at 0x7f3a5c2b10>"), "a memory address"),
        (adding("stream", name="stdout", text="read /home/me/file.csv"), "a path of the machine"),
    ],
)
def test_a_spoilt_notebook_is_refused(pair: Path, spoil, message: str) -> None:
    notebook = stored(pair)
    spoil(notebook)
    rewrite(pair, notebook)
    with pytest.raises(NotebookProblem, match=message):
        notebooks.check(pair)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('display("shown")', 'display("shown");', "ends in a semicolon"),
        ("# Halve a number", "<details><summary>a</summary>\n\n$x$\n\n</details>", "formula in a"),
        ("# Halve a number", "</details>\n<details>", "without an empty line between"),
    ],
)
def test_a_risky_source_is_refused(pair: Path, old: str, new: str, message: str) -> None:
    write_lesson(pair.parent, LESSON.replace(old, new))
    notebook, source = stored(pair), read_source(pair)
    for cell, ours in zip(notebook.cells, source.cells, strict=True):
        cell.source, cell.metadata = ours.source, ours.metadata
    rewrite(pair, normalise(notebook))
    assert any(message in problem for problem in pair_problems(pair))


@pytest.mark.long
def test_a_source_is_written_as_jupyterlab_would_save_it(pair: Path) -> None:
    assert source_text(pair) == LESSON
    write_lesson(pair.parent, LESSON.replace("code-cell} ipython3", "code-cell}"))
    assert pair_problems(pair) == [
        "the .md is not as JupyterLab would save it, with the hints of the package: "
        "run `python dev.py run 90_halve`"
    ]
    assert notebooks.run(pair).startswith(".md written")
    assert pair.read_text() == LESSON


def test_a_missing_notebook_is_named(tmp_path: Path) -> None:
    assert pair_problems(write_lesson(tmp_path)) == ["it has no .ipynb; run `python dev.py run`"]


@pytest.mark.long
def test_the_solved_build_says_correct_and_keeps_figures(executed, tmp_path) -> None:
    assert notebooks.solve(executed, tmp_path).startswith("1 checks correct")
    solved = nbformat.read(tmp_path / "90_halve.ipynb", as_version=4)
    code = [cell.source for cell in code_cells(solved)]
    assert code[-3:] == ["half = ...", "half = 10 / 2", 'lesson.check("1.1", half)']
    assert "image/png" in solved.cells[2].outputs[0].data


@pytest.mark.long
def test_a_raising_lesson_fails_with_its_error(tmp_path: Path) -> None:
    path = write_lesson(tmp_path, LESSON.replace("half = ...", "half = 1 / 0"))
    with pytest.raises(NotebookProblem, match="ZeroDivisionError"):
        notebooks.run(path)
    assert not path.with_suffix(".ipynb").exists()


def test_a_check_without_solution_is_refused(tmp_path: Path) -> None:
    text = LESSON.replace(":tags: [solution, hide-cell]\n", "")
    with pytest.raises(NotebookProblem, match="the last check has no solution"):
        with_solutions(read_source(write_lesson(tmp_path, text)))
    text = LESSON.replace(":tags: [check]\n", "")
    with pytest.raises(NotebookProblem, match="a solution without a check above"):
        with_solutions(read_source(write_lesson(tmp_path, text)))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that keeps what the book shows, in a folder of its own."""
    pytest.importorskip("jupyter_cache")
    from tools import notebook_nbval

    monkeypatch.setattr(notebook_nbval, "EXECUTED", tmp_path / "kept")
    return notebook_nbval


@pytest.mark.slow
def test_the_book_takes_what_nbval_has_executed(pair: Path, kept) -> None:
    outputs = [cell.outputs for cell in code_cells(stored(pair))]
    error = nbformat.from_dict(
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
    )
    for shown in (outputs[:-1], [*outputs[:-1], [error]], outputs):
        assert kept.cache().list_cache_records() == []
        kept.shown(pair.with_suffix(".ipynb"), shown)
    source = read_source(pair)
    merged = kept.cache().merge_match_into_notebook(source)[1]
    assert [cell.outputs for cell in code_cells(merged)] == outputs
    source.cells[-1].source += "\n# another text"
    with pytest.raises(KeyError):
        kept.cache().merge_match_into_notebook(source)


# --- hints, and texts that their writers tick ----------------------------------------------------


def test_hints_are_written_where_they_lack_and_where_they_differ(tmp_path: Path) -> None:
    path = tmp_path / "00_page.md"
    bare = read("hints").replace("HINTS\n", "")
    path.write_text(bare, encoding="utf-8")
    filled = with_hints(path, bare)
    wanted = list(open_lesson("00").checks["0.1"].hints)
    assert [" ".join(words.split()) for words in BLOCK.findall(filled)] == wanted
    folded = "".join(found[0] + "\n" for found in BLOCK.finditer(filled))
    assert filled == read("hints").replace("HINTS\n", folded) == with_hints(path, filled)
    worse = filled.replace(BLOCK.findall(filled)[0], "Another hint.")
    assert with_hints(path, worse) == filled
    path.write_text(worse, encoding="utf-8")
    path.write_text(source_text(path), encoding="utf-8")
    assert "with the hints of the package" in next(drift_problems(path, *[read_source(path)] * 2))
    broken = filled.replace(wanted[0], wanted[0].replace(" ", "\n", 1))
    assert with_hints(path, broken) == broken  # line breaks are the page's
    assert with_hints(tmp_path / "77_page.md", worse) == worse


def test_the_solved_build_ticks_all_points_of_a_text(tmp_path, monkeypatch) -> None:
    rubric = Rubric(points=("One.", "Two.", "Three."), model="m")
    check = Check(task="t", variable="my_text", rubric=rubric, hints=("a", "b"))
    lesson = Lesson("00", "Toy", {"0.7": check}, {})
    monkeypatch.setattr(notebook_solved, "open_lesson", lambda number: lesson)
    path = tmp_path / "00_page.md"
    path.write_text(read("two_checks"), encoding="utf-8")
    source = read_source(path)
    assert [notebook_files.called_ids(cell, "check") for cell in source.cells] == [["0.7"], [], []]
    solved = with_solutions(source)
    text, first, second = solved.cells
    assert "sentence" in text.source and second.source.endswith("contains=[1, 2, 3])")
    names: dict[str, Any] = {"lesson": lesson}
    exec(text.source, names)
    for cell in (first, second):
        said = repr(eval(cell.source, names))
        cell.outputs = [NotebookNode(output_type="stream", name="stdout", text=said)]
    assert notebook_solved.state_problems(solved) == []
    assert notebook_solved.count_checks(solved) == 1
    second.outputs = []
    assert len(notebook_solved.state_problems(solved)) == 2


@pytest.mark.slow
def test_a_solved_lesson_names_what_is_wrong(tmp_path: Path) -> None:
    """A wrong solution, and a cell that says something else when it runs again."""
    page = notebook_files.sources()[0]
    text = page.read_text(encoding="utf-8")
    spoiled = text.replace("share = 6 / 36", "share = 7 / 36")
    spoiled = spoiled.replace('lesson.hint("0.1", 2)', "turns = vars().get('turns', 0) + 1\nturns")
    assert len(spoiled) > len(text)
    copy = tmp_path / page.name
    copy.write_text(spoiled, encoding="utf-8")
    shutil.copy(page.with_suffix(".ipynb"), tmp_path)
    with pytest.raises(NotebookProblem, match="check..0.1.. answers: (?s:.*)something else: turns"):
        notebooks.solve(copy, tmp_path / "solved")


# --- other processors, other packages ------------------------------------------------------------


def test_other_processors_are_asked_for_by_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portable, "numpy_code", lambda: ["X86_V3", "X86_V4", "AVX512_SPR"])
    old, usual, own = (portable.processor(name, 2) for name in ("Nehalem", "Haswell", "SkylakeX"))
    assert (old["OPENBLAS_CORETYPE"], old["OMP_NUM_THREADS"]) == ("Nehalem", "2")
    assert old["NPY_DISABLE_CPU_FEATURES"] == "X86_V3 X86_V4 AVX512_SPR"
    assert "-AVX2" in old["GLIBC_TUNABLES"] and "GLIBC_TUNABLES" not in usual
    assert usual["NPY_DISABLE_CPU_FEATURES"] == "X86_V4 AVX512_SPR"
    assert "NPY_DISABLE_CPU_FEATURES" not in own


def test_kernels_are_those_that_openblas_takes_the_own_one_last(monkeypatch, capsys) -> None:
    taken = {"Zen": "Haswell", "Sandybridge": "", "": "Haswell"}
    monkeypatch.setattr(portable.platform, "machine", lambda: "AMD64")
    monkeypatch.setattr(
        portable, "answer", lambda code, OPENBLAS_CORETYPE: taken.get(*[OPENBLAS_CORETYPE] * 2)
    )
    assert portable.kernels() == ["Nehalem", "SkylakeX", "Haswell"]
    monkeypatch.setattr(portable.platform, "machine", lambda: "arm64")
    assert portable.main([]) == 0
    assert capsys.readouterr().out.startswith("skipped: numpy uses no OpenBLAS")


def test_a_number_of_another_processor_fails(tmp_path: Path, monkeypatch) -> None:
    def call(*words: object, env: dict[str, str]) -> int:
        assert {"--nbval", tmp_path / "90_halve.ipynb"} <= {*words}
        seen.append((env["OPENBLAS_CORETYPE"], env["OMP_NUM_THREADS"]))
        return len(seen) % 2

    seen: list[tuple[str, str]] = []
    monkeypatch.setattr(portable, "kernels", lambda: ["Nehalem", "Haswell"])
    monkeypatch.setattr(portable, "numpy_code", list)
    monkeypatch.setattr(portable, "call", call)
    monkeypatch.setattr(portable, "sources", lambda names: [tmp_path / "90_halve.md"])
    assert portable.main(["--all"]) == 1
    assert seen == [(name, count) for name in ("Nehalem", "Haswell") for count in "12"]
