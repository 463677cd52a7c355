"""The grader: every workbook is judged by its variables, and a bad one costs its own rows only."""

import csv
import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tools import grade, grade_class, grade_run, grade_tables, notebook_files as files, workbook
from tools.grade_run import Grade, Row
from tools.notebook_solved import with_solutions

SETUP = 'from calibkit_course import open_lesson\nlesson = open_lesson("{}")'


def write(folder: Path, contents: dict[str, bytes]) -> Path:
    """Put workbooks into a folder."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def graded(student: str, lesson: str = "00", rows: Iterable[Row] = (), **more: Any) -> Grade:
    """Return what was found in a workbook."""
    return Grade(Path("x"), "x", student, lesson, rows=[*rows], **more)


def source(lesson: str) -> NotebookNode:
    """Return a lesson's core as students get it."""
    return files.read_source(files.sources([lesson])[0])


def of_code(*sources: str) -> bytes:
    """Return a workbook of these cells alone."""
    return nbformat.writes(new_notebook(cells=[new_code_cell(one) for one in sources])).encode()


def tags_and_text(page: str) -> tuple[list[str], str]:
    """Return the tags and the words of a page."""
    return re.findall(r"<(\w+)", page), unescape(re.sub("<[^>]*>", "", page))


# --- without a kernel ----------------------------------------------------------------------------


STUDENTS = {  # of lesson 04: folders, Moodle's and Canvas's names, and files
    "04_carl.ipynb": "carl",
    "04_read_a_reliability_diagram.ipynb": "04_read_a_reliability_diagram",
    "04_read_a_reliability_diagram_eve (2).ipynb": "eve",
    "ann/04.ipynb": "ann",
    "ann/note.py": "ann",
    "bob_48213_assignsubmission_file/week 1/04.ipynb": "bob",
    "boola_LATE_8_48214_04.ipynb": "boola #8",
    "lesson 05/ivy-04.ipynb": "ivy",
    "möllerivy_7_48213_read_a_diagram-1.ipynb": "möllerivy #7",
    "ola_04.zip": "ola",
    "s1104.ipynb": "s1104",
    "week2/Ivy Möller_7_assignsubmission_file/04.ipynb": "Ivy Möller",
    "week2/eve/week 1/04.ipynb": "eve",
}
NO_WORK = (".ipynb_checkpoints/x.ipynb", "desktop.ini", "grades.csv", "points.csv", "._04.ipynb")


def test_students_are_told_apart_by_folder_or_by_file(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys((*STUDENTS, *NO_WORK), b""))
    found = grade.workbooks(tmp_path)
    for book in found:
        book.lesson = "04"
    assert {book.file: book.student for book in found} == STUDENTS
    assert [book.student for book in found if grade.is_late(book, None)] == ["boola #8"]
    assert grade.moment("2026-12-01") > grade.moment("2026-12-01T18:00")
    due = datetime.now(UTC)
    os.utime(tmp_path / "ann" / "04.ipynb", times=(0, due.timestamp() + 60))
    late = [book.student for book in found if grade.is_late(book, due)]
    assert late == ["ann", "boola #8"]


MOODLES = (
    "First name,Last name,ID number,Email address\nIvy,Möller,7,ivy@x.org\nOla,Bo,8,ola@x.org\n"
)
CANVAS = 'Student,ID,SIS Login ID\n"Möller, Ivy",7,ivy@x.org\n"Bo, Ola",8,ola@x.org\n'


@pytest.mark.parametrize("roster", [MOODLES, CANVAS])
@pytest.mark.parametrize("student", ["Ivy Möller", "möller_ivy", "ivy@x.org", "7", "möllerivy #7"])
def test_a_roster_gets_one_row_per_student_with_points_and_what_is_missing(
    roster: str, student: str, tmp_path: Path
) -> None:
    write(tmp_path, {"class.csv": roster.encode("utf-8-sig")})
    right = [Row("exercise", str(k), "Correct") for k in range(3)]
    handed_in = [(student, "04", right[:1], False), (student, "04", right, True)]
    handed_in += [("Bo, Ola", "05", right[:2], True), ("Bo, Ola", "05", right[:2], False)]
    handed_in += [("mia", "04", right, False), ("Bo, Ola", "04_further", right[:1], True)]
    rows = grade_class.read_roster(tmp_path / "class.csv")
    found, strangers = grade_class.points(
        rows, [graded(name, lesson, rows, late=late) for name, lesson, rows, late in handed_in]
    )
    assert (
        strangers == ["mia"] and [row | had for row, had in zip(found, rows, strict=True)] == found
    )
    assert [[*row.values()][len(rows[0]) :] for row in found] == [
        ["3", "", "", "04_further 05", "04"],
        ["", "1", "2", "04", "04_further"],
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "row of titles"),
        ("a,a\n1,2\n", "titles that are the same"),
        ("a\n", "no row"),
        ("a,b\n1\n", "row 2: 1 fie"),
    ],
)
def test_a_roster_that_is_no_table_is_refused(text: str, words: str, tmp_path: Path) -> None:
    write(tmp_path, {"class.csv": text.encode()})
    with pytest.raises(ValueError, match=words):
        grade_class.read_roster(tmp_path / "class.csv")


@pytest.mark.parametrize(
    ("cells", "name", "lesson"),
    [
        (['lesson = open_lesson("04")'], "01_x", "04"),
        (["x = open_lesson( '4' )", 'open_lesson("05")'], "x", "04"),
        (["lesson = open_lesson(id=4)"], "x", "04"),
        (["pass"], "ann_04_x", "04"),
        (["pass"], "2024_04", "04"),
        (['lesson.predict("5a", ...)'], "homework", "05"),
        (["lesson.check('4.1')", 'lesson.check("77.1")'], "05_x", "04"),
    ],
)
def test_the_setup_cell_names_the_lesson_or_else_the_file(cells, name, lesson) -> None:
    known = ("01", "04", "05")
    assert grade_run.lesson_of(cells, name, known) == lesson


def test_what_goes_further_is_a_workbook_of_its_own() -> None:
    for path in files.sources(["04"]):
        code = [cell.source for cell in files.read_source(path).cells if cell.cell_type == "code"]
        assert grade_run.page_of(code, "04")[0] == workbook.name_of(path)


def test_solutions_are_known_by_their_text_without_tags_and_below_the_given_code():
    page = source("05")
    code = [cell.source for cell in page.cells if cell.cell_type == "code"]
    for start, wanted in (("", []), ("print()\n", ["5.1"])):
        own, lost = grade_run.own_code([new_code_cell(start + one) for one in code], page)
        assert grade_run.copied(own, page) == wanted
        assert (lost > 0) == (start == "")
    assert (
        grade_run.own_code([cell for cell in page.cells if cell.cell_type == "code"], page)[1] == 0
    )


MINE = "def f(x):\n    y = 2 * x\n    return y"
YOURS = "def g(a):  # mine\n    b = 2 * a\n\n    return b"
ANOTHER = "def f(x):\n    y = 2 * x\n    return x"


def test_statements_that_differ_in_names_alone_are_found_in_two_workbooks() -> None:
    assert grade_run.shapes([MINE]) == grade_run.shapes(["x = 1", YOURS]) != set()
    assert grade_run.shapes([MINE]) != grade_run.shapes([ANOTHER])
    handed_in = [("kim", "05", MINE), *[("leo", "05", YOURS)] * 2, ("mia", "05", ANOTHER)]
    handed_in += [("nan", "04", MINE)]
    grades = [graded(name, lesson, shapes=grade_run.shapes([code]))
              for name, lesson, code in handed_in]  # fmt: skip
    grade.note_alike(grades)
    shared = [one.in_words.partition("shares statements with ")[2] for one in grades]
    assert shared == ["leo", "kim", "kim", "", ""]


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=cmd()", "'=cmd()"),
        ("-1", "'-1"),
        ("a\nb", "a\ufffdb"),
        ("\udcff", "\ufffd"),
        (" =1", "' =1"),
        ("0.5 = half", "0.5 = half"),
    ],
)
def test_no_spreadsheet_takes_a_text_for_a_formula(text: str, safe: str) -> None:
    assert grade_tables.harmless(text) == safe


def test_a_student_gets_back_what_is_his_own_and_nothing_about_copies(tmp_path: Path) -> None:
    rows = [
        Row("exercise", "0.1", "Correct", "Well.", "<b>"),
        Row("exercise", "0.2", "Almost", "the columns of `y` are swapped."),
        Row("exercise", "0.3", "Not attempted"),
        Row("rubric", "0.3"),
        Row("guess", "0a", "no guess"),
        Row("doubt", says="the folded solution: 0.1"),
    ]
    had = {"rows": rows, "late": True, "again": 2, "shapes": {MINE}}
    grades = [graded(name, **had) for name in ("ann", "Ann", "b/o:b")]
    grade.note_alike(grades)
    grade_tables.write_feedback(grades, tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {"ann.html", "Ann_1.html", "b_o_b.html"}
    tags, text = tags_and_text((tmp_path / "ann.html").read_text("utf-8"))
    assert "Points: 1 of 2. Your teacher" in text and "swapped" in text
    assert "It came late. Of several files" in text and "code" in tags and "`" not in text
    assert "b" not in tags and "<b>" in text
    for word in ("folded", "shares", "Ann", "b/o"):
        assert word not in text
    page = "".join(grade_tables.teachers_page(grades, {}))
    for cells in (
        "0.1</td><td>exercise</td><td>Correct</td><td>Well.",
        "0a</td><td>guess</td><td>no guess</td><td>",
    ):
        assert f"{cells}</td><td>3</td><td>Ann, ann, b/o:b</td>" in page


def test_the_page_has_the_commonest_first_and_a_text_by_its_exercise() -> None:
    handed_in = [("b", "text", "", "Mine."), *[(who, "exercise", "Wrong", "") for who in "cbb"]]
    handed_in += [("a", "exercise", "Almost", ""), ("a", "rubric", "", "1. It says.")]
    rows = [(who, "04", "x", kind, "4.1", *rest, "") for who, kind, *rest in handed_in]
    _, text = tags_and_text(grade_tables.overview(rows))
    found = ["044.1exerciseWrong3b, c", "044.1exerciseAlmost1a"]
    found += ["044.1rubric1. It says.1a", "044.1textMine.1b"]
    assert text.splitlines()[1:] == found


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing"], "there is no folder missing"),
        ([".", "--jobs", "0"], "--jobs is not above 0"),
        ([".", "--seconds", "-1"], "is not above 0"),
        ([".", "--feedback", "back"], "lies among the workbooks"),
        ([".", "--due", "tomorrow"], "'tomorrow' is no date such as"),
    ],
)
def test_wrong_usage_is_code_2(tmp_path, arguments, words, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        grade.main(arguments)
    assert stop.value.code == 2
    assert words in capsys.readouterr().err


def test_a_class_is_pooled_by_student(tmp_path: Path) -> None:
    lines = (",".join(grade_class.ANSWERS), "<b>,4a,2,0.9,0,x", "x,4a,2,0.9,1,x", "y,4b,2,.6,,x")
    write(tmp_path, {"class_04.csv": "\n".join(lines).encode()})
    answers, taken = grade_class.guessed_in(tmp_path, None)
    page = grade_tables.class_section(answers)
    assert [path.name for path in taken] == ["class_04.csv"]
    assert "2 forecasts of 2 students" in page and "<b>" not in page
    assert grade_tables.class_section({}) == ""


# --- with kernels --------------------------------------------------------------------------------


def solved() -> bytes:
    """Return lesson 01 with every solution in place of its exercise, and spoilt at the end."""
    notebook = with_solutions(source("01"))
    for cell in notebook.cells:
        cell.metadata["tags"] = [tag for tag in files.tags(cell) if tag != "solution"]
    notebook.cells.append(new_code_cell("frequencies = six = None"))
    return nbformat.writes(notebook).encode()


def untouched() -> bytes:
    """Return lesson 00 without tags, with a guess and how sure it was."""
    notebook = source("00")
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
        cell.source = cell.source.replace('predict("0a", ...', 'predict("0a", "70", sure=0.5')
    return nbformat.writes(notebook).encode()


PRAISE = """from calibkit_course.learn import Lesson
from calibkit_course.lesson00 import checks
class Praise:
    state, text = "Correct", "well done."
Lesson.check = lambda *a, **k: print("Correct: well done.") or Praise()
checks.JUDGES.clear()"""
MISCHIEF = {
    "raise ValueError('=cmd() <script>alert(1)</script>')": "ValueError: =cmd() <script>",
    "hog = bytearray(2**34)": "MemoryError",
    "with open('big.bin', 'wb') as file:\n    file.truncate(2**29)": "OSError",
    "import socket\nsocket.create_connection(('203.0.113.1', 80))": "there is no network",
    "open('ann/01_what.ipynb')": "FileNotFoundError",
    "import os\nos._exit(1)": "this ended the process",
    "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass  # endless":
    "this did not end within",
}  # fmt: skip
ENDLESS = "def bin_statistics(*_):\n    while True: pass"
TEXT = "The model is over-confident, and the null level stands beside the error."
UNSET = (f"my_report = {TEXT!r}\nnp.pi", 'lesson.check("14.2", contains=[1, 3])',
         'lesson.predict("14c", "no")', 'lesson.reveal("14c")', 'lesson.predict("14c", "yes")',
         'lesson.quiz("a")', 'lesson.quiz(..., "a", "b", "what")')  # fmt: skip
Wanted = dict[tuple[str, str], tuple[str, str]]
NOT_GRADED: dict[str, tuple[bytes, str]] = {
    "empty.ipynb": (b"", "not a notebook"),
    "bob/x.ipynb": (b"{'cells': [", "not a notebook"),
    "bob/y.ipynb": (b"\xff", "not a notebook"),
    "lesson_77.ipynb": (of_code('open_lesson("77")'), "no lesson 77"),
    "which.ipynb": (of_code("1 + 1"), "No cell opens a lesson"),
    "ola_04.zip": (b"PK", "not in an archive"),
}
GRADED: dict[str, tuple[bytes, Wanted]] = {
    "ann/01_what.ipynb": (solved(), {
        ("exercise", "1.1"): ("Correct", "each of the five"),
        ("exercise", "1.2"): ("Correct", ""),
        ("guess", "1a"): ("no guess", ""),
        ("doubt", ""): ("", "the folded solution, statement by statement: 1.1"),
    }),
    "<b>_00.ipynb": (untouched(), {
        ("exercise", "0.1"): ("Not attempted", "replace the `...`"),
        ("guess", "0a"): ("typed in, wrong", "70"),
        ("note", ""): ("", "lost their tag, left out: 1"),
    }),
    "=cmd()_00.ipynb": (of_code(SETUP.format("00"), *MISCHIEF, PRAISE, "share = 5 / 36",
                                'lesson.check("0.1")'), {
        ("exercise", "0.1"): ("Almost", "count the rainy days"),
        **{("cell", str(k)): ("raised", said) for k, said in enumerate(MISCHIEF.values(), 2)},
    }),
    "a_04.ipynb": (of_code(SETUP.format("04"), ENDLESS, "my_null = 3"), {
        ("exercise", "4.1"): ("Wrong kind", "this did not end within"),
        ("exercise", "4.2"): ("Wrong kind", "this is a number"),
    }),
    "ann/homework.ipynb": (of_code(*UNSET), {
        ("exercise", "14.2"): ("Self-assessed", "by its writer: 1, 3"),
        ("text", "14.2"): ("", TEXT),
        ("rubric", "14.2"): ("", "1. It says how many"),
        ("guess", "14c"): ("typed in, ", "no"),
        ("quiz", "14.2"): ("right", "Right."),
        ("quiz", "14.3"): ("wrong", ""),
        ("quiz", "14.4"): ("wrong", ""),
        ("note", ""): ("", "the lesson's own was run"),
    }),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="limits and signals of POSIX")
def test_a_bad_workbook_costs_its_own_rows_only(tmp_path, monkeypatch, capsys, subtests) -> None:
    """What is endless gets a second; whatever else gets ten minutes, so no clock decides."""

    def patience(cell: NotebookNode) -> int:
        return 1 if "# endless" in cell.source or "_judge('4.1'" in cell.source else 600

    impatient = partial(grade_run.NotebookClient, timeout_func=patience)
    monkeypatch.setattr(grade_run, "NotebookClient", impatient)
    folder, back = tmp_path / "class", tmp_path / "back"
    write(folder, {name: content for name, (content, _) in (GRADED | NOT_GRADED).items()})
    roster = write(tmp_path, {"class.csv": b"name\nann\n"}) / "class.csv"
    assert grade.main([str(folder), "--feedback", str(back), "--roster", str(roster)]) == 1
    *said, strangers, last = capsys.readouterr().out.splitlines()
    assert last.startswith("5 graded, 6 not.") and len(said) == 11
    assert strangers == "Not one row of the roster, or several: <b>, =cmd(), a."
    assert (folder / "points.csv").read_text("utf-8-sig").splitlines() == [
        "name,lesson 00,lesson 01,lesson 04,lesson 14,missing,late",
        "ann,,2,,0,00 04,",
    ]
    with (folder / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert not [word for row in rows for word in row.values() if word.startswith(("=", "@", "+"))]
    found: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
    for row in rows:
        found.setdefault(row["file"].removeprefix("'"), {})[row["kind"], row["item"]] = row
    for name, (_, words) in NOT_GRADED.items():
        with subtests.test(name):
            ((_, whole),) = found[name].items()
            assert whole["state"] == "not graded" and words in whole["detail"]
    for name, (_, wanted) in GRADED.items():
        for key, (state, words) in wanted.items():
            with subtests.test(name, key=key):
                assert found[name][key]["state"].startswith(state)
                assert words in found[name][key]["detail"]
        raised = {key for key in wanted if key[0] == "cell"}
        assert raised == {key for key in found[name] if key[0] == "cell"}
    assert ("quiz", "14.1") not in found["ann/homework.ipynb"]
    assert {row["student"] for row in found["ann/homework.ipynb"].values()} == {"ann"}
    tags, text = tags_and_text((folder / "grades.html").read_text("utf-8"))
    assert "1 forecast of 1 student" in text and tags.count("img") == tags.count("h1") == 1
    assert not {"script", "b"} & set(tags) and "alert(1)" in text
    _, text = tags_and_text((back / "ann.html").read_text("utf-8"))
    assert "You guessed" in text and "the lesson's own was run" in text
