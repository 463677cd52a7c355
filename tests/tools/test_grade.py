"""The grader: every workbook is judged by its variables, and a bad one costs its own rows only."""

import csv
import os
import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest

from tests import copies as made
from tools import grade, grade_points, grade_run, notebook_files as files, workbook

linux = pytest.mark.skipif(os.name != "posix", reason="limits and signals of POSIX")


def write(folder: Path, contents: dict[str, bytes]) -> Path:
    """Put workbooks into a folder."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def rows_of(folder: Path) -> list[dict[str, str]]:
    """Read what was written for a spreadsheet."""
    with (folder / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def by_file(folder: Path) -> dict[str, list[dict[str, str]]]:
    """Return the rows of each workbook."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows_of(folder):
        found.setdefault(row["file"].removeprefix("'"), []).append(row)
    return found


def complaints(rows: list[dict[str, str]], wanted: made.Copy) -> list[str]:
    """Return in what the rows of a workbook differ from what is wanted."""
    states = {row["item"]: row["state"] for row in rows if row["kind"] == "exercise"}
    guesses = {row["item"]: row["state"] for row in rows if row["kind"] == "guess"}
    raised = [row["detail"] for row in rows if row["kind"] == "cell"]
    (whole,) = (row for row in rows if row["kind"] == "workbook")
    found = []
    if whole["state"] != ("not graded" if wanted.problem else "graded"):
        found.append(f"{whole['state']}: {whole['detail']}")
    if wanted.problem not in whole["detail"]:
        found.append(whole["detail"])
    if {cid: states.get(cid) for cid in wanted.states} != wanted.states:
        found.append(str(states))
    if guesses != wanted.guesses:
        found.append(str(guesses))
    pairs = zip(wanted.raised, raised, strict=False)
    if len(raised) != len(wanted.raised) or not all(word in said for word, said in pairs):
        found.append(str(raised))
    return found


def tags_and_text(path: Path) -> tuple[list[str], str]:
    """Read a page."""
    page = path.read_text("utf-8")
    return re.findall(r"<(\w+)", page), unescape(re.sub("<[^>]*>", "", page))


# --- without a kernel ----------------------------------------------------------------------------


def test_students_are_told_apart_by_folder_or_by_file(tmp_path: Path) -> None:
    moodle = "bob_48213_assignsubmission_file/week 1/01.ipynb"
    names = ("ann/01.ipynb", "eve/week 1/01.ipynb", moodle, "04_carl.ipynb")
    moodles_other = "week2/Ivy Möller_7_assignsubmission_file/04.ipynb"
    names += (".ipynb_checkpoints/x.ipynb", "week2/ivy/04.ipynb", "lesson 05/ivy 04.ipynb")
    canvas = ("boola_LATE_8_48214_04.ipynb", "möllerivy_7_48213_read_a_diagram-1.ipynb")
    names += (*canvas, "desktop.ini")
    write(tmp_path, dict.fromkeys((*names, moodles_other, "ann/note.py", "ola_04.zip"), b""))
    write(tmp_path, {"grades.csv": b"", "points.csv": b"", "._04.ipynb": b""})
    found = grade.workbooks(tmp_path)
    assert [(book.student, book.file) for book in found] == [
        ("04_carl", "04_carl.ipynb"),
        ("ann", "ann/01.ipynb"),
        ("ann", "ann/note.py"),
        ("bob", moodle),
        ("boola #8", canvas[0]),
        ("eve", "eve/week 1/01.ipynb"),
        ("ivy 04", "lesson 05/ivy 04.ipynb"),
        ("möllerivy #7", canvas[1]),
        ("ola_04", "ola_04.zip"),
        ("Ivy Möller", moodles_other),
        ("ivy", "week2/ivy/04.ipynb"),
    ]
    assert [book.student for book in found if grade.is_late(book, None)] == ["boola #8"]
    assert grade.moment("2026-12-01") > grade.moment("2026-12-01T18:00")
    due = datetime.now(UTC)
    os.utime(tmp_path / "ann" / "01.ipynb", times=(0, due.timestamp() + 60))
    late = [book.file for book in found if grade.is_late(book, due)]
    assert late == ["ann/01.ipynb", canvas[0]]
    problems = [grade.grade(book, tmp_path, 1, 1).problem for book in found if "zip" in book.file]
    assert problems[0].startswith("This is no notebook")


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
    right = [{"kind": "exercise", "item": str(k), "state": "Correct", "says": ""} for k in range(3)]
    handed_in = [(student, "04", right[:1], False), (student, "04", right, True)]
    handed_in += [("Bo, Ola", "05", right[:2], True), ("Bo, Ola", "05", right[:2], False)]
    handed_in += [("mia", "04", right, False), ("Bo, Ola", "04_further", right[:1], True)]
    grades = [grade.Grade(grade.Workbook(Path("x"), "x", name), lesson, "", rows, late=late)
              for name, lesson, rows, late in handed_in]  # fmt: skip
    rows = grade_points.read_roster(tmp_path / "class.csv")
    assert grade.write_points(rows, grades, tmp_path / "points.csv") == ["mia"]
    with (tmp_path / "points.csv").open(encoding="utf-8-sig", newline="") as file:
        found = [[*row.values()][len(rows[0]) :] for row in csv.DictReader(file)]
    assert found == [["3", "", "", "04_further 05", "04"], ["", "1", "2", "04", "04_further"]]


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
        grade_points.read_roster(tmp_path / "class.csv")


@pytest.mark.parametrize(
    ("stem", "student"),
    [
        ("04_carl", "carl"),
        ("carl-04", "carl"),
        ("04_read_a_reliability_diagram_carl", "carl"),
        ("s1104", "s1104"),
        ("04_read_a_reliability_diagram_carl (2)", "carl"),
        ("04_read_a_reliability_diagram", "04_read_a_reliability_diagram"),
    ],
)
def test_a_student_in_a_file_name_is_what_does_not_name_the_lesson(stem: str, student: str) -> None:
    book = grade.Workbook(Path(f"{stem}.ipynb"), f"{stem}.ipynb", stem)
    assert grade.Grade(book, lesson="04").student == student


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
    assert grade_run.lesson_of([(cell, []) for cell in cells], name, known) == lesson


def test_what_goes_further_is_a_workbook_of_its_own() -> None:
    for path in files.sources(["04"]):
        cells = files.read_source(path).cells
        code = [(cell.source, []) for cell in cells if cell.cell_type == "code"]
        assert grade_run.page_of(code, "04")[0] == workbook.name_of(path)


def test_solutions_are_known_by_their_text_without_tags_and_below_the_given_code():
    page = made.source("05")
    for start, wanted in (("", []), ("print()\n", ["5.1"])):
        cells = [(start + cell.source, []) for cell in page.cells if cell.cell_type == "code"]
        assert grade_run.copied(grade_run.own_cells(cells, page), page) == wanted


MINE = "def f(x):\n    y = 2 * x\n    return y"
YOURS = "def g(a):  # mine\n    b = 2 * a\n\n    return b"
ANOTHER = "def f(x):\n    y = 2 * x\n    return x"


def test_statements_that_differ_in_names_alone_are_found_in_two_workbooks() -> None:
    assert grade_run.shapes([MINE]) == grade_run.shapes(["x = 1", YOURS]) != set()
    assert grade_run.shapes([MINE]) != grade_run.shapes([ANOTHER])
    handed_in = [("kim", "05", MINE), *[("leo", "05", YOURS)] * 2, ("mia", "05", ANOTHER)]
    grades = []
    for name, lesson, code in [*handed_in, ("nan", "04", MINE)]:
        rows = [{"kind": "shape", "item": one} for one in grade_run.shapes([code])]
        grades.append(grade.Grade(grade.Workbook(Path("x"), "x", name), lesson, "", rows))
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
        ("0.5 = half", "0.5 = half"),
    ],
)
def test_no_spreadsheet_takes_a_text_for_a_formula(text: str, safe: str) -> None:
    assert grade.harmless(text) == safe


def test_the_page_shows_texts_and_runs_none(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\"'&"
    book = grade.Workbook(Path(f"{evil[:8]}.ipynb"), evil, evil)
    row = {"kind": "exercise", "item": "0.1", "state": "Almost", "says": evil, "task": evil}
    grade.write_page([grade.Grade(book, "00", "", [row], [(1, evil)])], tmp_path / "grades.html")
    tags, text = tags_and_text(tmp_path / "grades.html")
    assert "script" not in tags and "alert(1)" in text
    assert tags.count("h1") == 1


def test_a_student_gets_back_what_is_his_own_and_nothing_about_copies(tmp_path: Path) -> None:
    row = {"kind": "exercise", "item": "0.1", "state": "Correct", "says": "Well.", "task": "<b>"}
    slip = row | {"item": "0.2", "state": "Almost", "says": "the columns of `y` are swapped."}
    text = row | {"item": "0.3", "state": "Not attempted", "says": "", "is_text": True}
    grades = []
    for name in ("ann", "Ann", "b/o:b"):
        rows = [row | {"copied": " Copied."}, slip, text, row | {"kind": "guess", "item": "0a"}]
        book = grade.Workbook(Path("04.ipynb"), "x", name)
        grades.append(grade.Grade(book, "00", "", [dict(one) for one in rows], late=True))
        grades[-1].rows.append({"kind": "shape", "item": MINE, "state": ""})
    grade.note_alike(grades)
    grade.feedback(grades, tmp_path / "back")
    assert {path.name for path in (tmp_path / "back").iterdir()} == {
        "ann.html", "Ann_1.html", "b_o_b.html"
    }  # fmt: skip
    tags, text = tags_and_text(tmp_path / "back" / "ann.html")
    assert "Points: 1 of 2. Your teacher" in text and "swapped" in text
    assert "It came late" in text and "code" in tags and "`" not in text
    assert "the folded solution in 0.1" in grades[0].in_words
    assert "b" not in tags and "<b>" in text
    for word in ("Copied", "shares", "Ann", "b/o"):
        assert word not in text
    grade.write_page(grades, tmp_path / "grades.html")
    page = (tmp_path / "grades.html").read_text("utf-8")
    for cells in ("0.2</td><td>Almost</td><td>3", "0a</td><td>Well. (Correct)</td><td>3"):
        assert f"{cells}</td><td>Ann, ann, b/o:b</td>" in page


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


# --- with kernels --------------------------------------------------------------------------------


@linux
@pytest.mark.long
def test_a_good_a_wrong_and_a_broken_workbook_without_a_fence(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(grade, "fence", tuple)  # as where there is no `unshare`
    wanted = {name: made.copies(tmp_path)[name] for name in ("edited_00.ipynb", "empty.ipynb")}
    sure = made.short('lesson.predict("0a", "70", sure=0.5)', 'lesson.reveal("0a")')
    wanted["good_00.ipynb"] = made.Copy(sure, made.RIGHT, guesses={"0a": "typed in, wrong"})
    write(tmp_path, {name: copy.content() for name, copy in wanted.items()})
    out = tmp_path / "out"
    assert grade.main([str(tmp_path), "--out", str(out)]) == 1
    found = by_file(out)
    assert {name: complaints(found[name], wanted[name]) for name in found} == {
        name: [] for name in wanted
    }
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said if "/3 " in line] == ["1/3", "2/3", "3/3"]
    assert said[-1].startswith("2 graded, 1 not.")
    tags, text = tags_and_text(out / "grades.html")
    assert "1 forecast of 1 student" in text and tags.count("img") == 1
    assert "cannot take the network" in said[0]


@linux
@pytest.mark.long
def test_without_its_set_up_cell_a_workbook_shows_texts_guesses_and_quiz(tmp_path: Path) -> None:
    text = "The model is over-confident, and the null level stands beside the error."
    guess, quiz = 'lesson.predict("14c", "no")', 'lesson.quiz(..., "a", chr(98), "what")'
    code = (f"my_report = {text!r}\nnp.pi", 'lesson.check("14.2")', guess, quiz)
    folder, back = tmp_path / "class", tmp_path / "back"
    write(folder, {"ann/homework.ipynb": made.of_code(*code)})
    assert grade.main([str(folder), "--feedback", str(back)]) == 0
    whole, *rows = by_file(folder)["ann/homework.ipynb"]
    assert whole["lesson"] == "14" and "the lesson's own was run" in whole["detail"]
    assert {row["kind"] for row in rows} == {"exercise", "text", "rubric", "guess", "quiz"}
    found = {(row["kind"], row["item"]): row for row in rows}
    assert found["text", "14.2"]["detail"] == text
    assert found["rubric", "14.2"]["detail"].startswith("1. ")
    assert found["guess", "14c"]["state"].startswith("typed in, ")
    states = [found["quiz", f"14.{place}"]["state"] for place in (2, 3, 4)]
    assert states == ["right", "wrong", "wrong"] and ("quiz", "14.1") not in found
    _, words = tags_and_text(back / "ann.html")
    assert "You guessed" in words and "the lesson's own was run" in words


@linux
@pytest.mark.long
def test_an_endless_cell_costs_its_own_answer_and_so_does_an_endless_check(tmp_path: Path) -> None:
    """The only tests that a time limit decides; what is not endless takes far less."""
    setup = made.SETUP.replace("00", "04")
    loop = "def bin_statistics(*_):\n    while True:\n        pass"
    stubborn = "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass"
    write(tmp_path, {"a_04.ipynb": made.of_code(setup, "while True: pass", loop, "my_null = 3")})
    write(tmp_path, {"b_00.ipynb": made.of_code(made.SETUP, stubborn, made.GOOD)})
    assert grade.main([str(tmp_path), "--seconds", "40"]) == 0
    found = by_file(tmp_path)
    (cell,) = (row for row in found["a_04.ipynb"] if row["kind"] == "cell")
    assert cell["item"] == "2" and cell["detail"].startswith("TimeUp: stopped after")
    states = {row["item"]: row for row in found["a_04.ipynb"] if row["kind"] == "exercise"}
    assert "did not end within 8 s" in states["4.1"]["detail"]
    assert states["4.2"]["state"] not in ("Not defined", "Not attempted")
    assert "the process ended here" in next(
        row["detail"] for row in found["b_00.ipynb"] if row["kind"] == "cell"
    )
    assert "Correct" in [row["state"] for row in found["b_00.ipynb"] if row["kind"] == "exercise"]


@linux
@pytest.mark.long
def test_made_copies_with_typical_slips_cost_their_own_rows_only(tmp_path: Path) -> None:
    wanted = made.copies(tmp_path, fenced=bool(grade.fence()))
    write(tmp_path, {name: copy.content() for name, copy in wanted.items()})
    (tmp_path / "folder.ipynb").mkdir()
    wanted["folder.ipynb"] = made.Copy(bytes, problem="not a file")
    assert grade.main([str(tmp_path), "--memory", "3"]) == 1
    found = by_file(tmp_path)
    assert set(found) == set(wanted)
    wrong = {name: complaints(found[name], copy) for name, copy in wanted.items()}
    assert {name: words for name, words in wrong.items() if words} == {}
    rows = rows_of(tmp_path)
    keys = [(row["student"], row["lesson"], row["file"]) for row in rows]
    students = {row["file"]: row["student"] for row in rows}
    assert (
        students["ann/01_what.ipynb"] == "ann"
        and students["Zoë Ñandú 学生_00.ipynb"] == "Zoë Ñandú 学生"
    )
    assert not [word for row in rows for word in row.values() if word.startswith(("=", "@", "+"))]
    assert len(set(keys)) == len(wanted)
    tags, _ = tags_and_text(tmp_path / "grades.html")
    assert not {"script", "b"} & set(tags)
    assert not (grade.ROOT / "spoilt.txt").exists()
    assert not strays()
    copied = next(row for row in found["ann/01_what.ipynb"] if row["item"] == "1.1")
    assert "Statement by statement the folded solution" in copied["detail"]


def strays() -> list[str]:
    """Return the processes that a workbook has left behind."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(path.read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return [command for command in commands if re.search(rf"sleep {made.STRAY}", command)]


@linux
@pytest.mark.long
def test_an_answer_that_ends_the_process_when_it_is_checked(tmp_path: Path) -> None:
    ends = "import os\ndef bin_statistics(*_):\n    os._exit(1)"
    setup = made.SETUP.replace("00", "04")
    write(tmp_path, {"ends_04.ipynb": made.of_code(setup, ends, "my_null = 3")})
    assert grade.main([str(tmp_path)]) == 0
    states = {row["item"]: row for row in rows_of(tmp_path) if row["kind"] == "exercise"}
    assert "the process ended while this answer was checked" in states["4.1"]["detail"]
    assert len(states) == 2


def test_a_class_is_pooled_by_student_and_what_is_no_forecast_is_left_out() -> None:
    rows = [*[("<b>", "4a", "2", "0.9", "0")] * 2, ("x", "4a", "2", "1", "1")]
    page = grade.class_section([*rows, ("y", "4a", "2", "70", "1"), ("y", "=1", "", "", "")])
    assert "2 forecasts of 2 students" in page and "<b>" not in page
    assert grade.class_section([]) == ""
