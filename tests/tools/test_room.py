"""A room that guesses together: nothing that was answered is lost, and what cannot be is said."""

import contextlib
import csv
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from calibkit_course.learn import Drawing, Prediction
from tests.browser_pages import DESK, TELEPHONE
from tests.paths import ROOT
from tools import grade, grade_class, room
from tools.room import Refused, Room, Server

PHONES = 60


@pytest.fixture
def lesson(tmp_path: Path) -> Room:
    """Return the room of lesson 01, with two questions of options, and one more of a number."""
    found = Room("01", tmp_path / "class_01_x.csv")
    found.asked["1c"] = Prediction(
        question="After how many days?", outcome=183, unit="days", why="So it is."
    )
    found.answers["1c"] = {}
    return found


@pytest.fixture
def server(lesson: Room) -> Iterator[Server]:
    """Serve a room to this computer."""
    with Server(("127.0.0.1", 0), lesson) as served:
        threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
        yield served
        served.shutdown()


def rows_of(path: Path) -> list[dict[str, str]]:
    """Read the file of a class."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def answer(guess: Any, sure: Any = 0.7, pid: str = "1a", phone: str = "p") -> dict[str, Any]:
    """Return what a phone sends."""
    return {"phone": phone, "pid": pid, "guess": guess, "sure": sure}


Call = Callable[..., tuple[int, str]]


@pytest.fixture
def call(server: Server) -> Call:
    """Return what asks for a page, or sends a message, and returns what comes back."""

    def call(path: str, body: Any = None, **how: Any) -> tuple[int, str]:
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        wire = http.client.HTTPConnection(*server.server_address, timeout=60, **how)
        with contextlib.closing(wire):
            wire.request("GET" if raw is None else "POST", f"/{path}", raw)
            answer = wire.getresponse()
            return answer.status, answer.read().decode()

    return call


@pytest.fixture
def say(call: Call) -> Callable[..., Any]:
    """Return what sends a message that is taken, and returns what is shown."""

    def say(path: str, **body: Any) -> Any:
        status, text = call(path, body)
        assert status == 200, text
        return json.loads(text)

    return say


# --- the rules -----------------------------------------------------------------------------------


@pytest.mark.long
def test_every_lesson_with_a_core_can_be_guessed_together(tmp_path: Path) -> None:
    for number in range(16):
        found = Room(f"{number:02}", tmp_path / "x.csv")
        assert found.asked, number
        assert not any(isinstance(asked, Drawing) for asked in found.asked.values())
        assert all(pid.startswith(str(number)) for pid in found.asked)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "1 to 40"),
        ("a" * 41, "1 to 40"),
        ("=2+5", "first a letter"),
        ("a\u202eb", "1 to 40"),
        ("\ud800", "1 to 40"),
        ("ANA", "Somebody is here as ANA"),
        (" ana ", "Somebody is here as ana"),
    ],
)
def test_a_name_is_short_plain_and_ones_own(lesson: Room, name: str, words: str) -> None:
    lesson.phone({"phone": "first", "name": "Ana"})
    with pytest.raises(Refused, match=words):
        lesson.phone({"phone": "p", "name": name})
    assert lesson.names == {"first": "Ana"}


def test_the_same_phone_may_come_again_and_change_its_name(lesson: Room) -> None:
    for name in ("Zoë O'Neill-Møller", "李", "Ana  B", "Ana B"):
        assert lesson.phone({"phone": "p", "name": name})["name"] == " ".join(name.split())
    assert len(lesson.names) == 1


def test_a_full_room_says_so_and_keeps_who_is_in_it(lesson: Room) -> None:
    for k in range(room.MOST_PHONES):
        lesson.phone({"phone": f"p{k}", "name": f"n{k}"})
    with pytest.raises(Refused, match="200 phones"):
        lesson.phone({"phone": "late", "name": "late"})
    assert lesson.phone({"phone": "p7", "name": "another"})["name"] == "another"


BAD: list[tuple[dict[str, Any], str]] = [
    (answer("perhaps"), "not among the answers"),
    (answer(None), "not among the answers"),
    (answer("yes", 0.4), "less than pure guessing"),
    (answer("yes", "0.7"), "no probability"),
    (answer("yes", float("nan")), "no probability"),
    (answer("yes", pid="9z"), "does not count"),
    (answer("1e999999999", pid="1c"), "not a number"),
    (answer(float("inf"), pid="1c"), "cannot be"),
    (answer(True, pid="1c"), "not a number"),
    (answer(10**400, pid="1c"), "cannot be"),
]


@pytest.mark.parametrize(("sent", "words"), BAD)
def test_what_is_no_answer_is_told_so_and_the_earlier_one_stands(lesson, sent, words) -> None:
    lesson.phone({"phone": "p", "name": "Ana"})
    lesson.phone(answer("no", 0.6))
    with pytest.raises(Refused, match=words) as refused:
        lesson.phone(sent)
    assert "`" not in str(refused.value)
    (row,) = rows_of(lesson.path)
    assert row == {"student": "Ana", "forecast": "1a", "options": "2", "sure": "0.6", "right": "",
                   "guess": "no"}  # fmt: skip


def test_a_guess_counts_until_the_outcome_is_shown_and_not_after(lesson: Room) -> None:
    lesson.phone({"phone": "p", "name": "Ana"})
    lesson.phone({"phone": "late", "name": "Ben"})
    lesson.phone(answer("no"))
    assert "says" not in lesson.phone(answer("yes", 0.8))
    lesson.wall({"place": 2})
    lesson.phone(answer("yes", 0.9))  # the first question was left, but not shown
    said = lesson.wall({"place": 1, "show": True})
    assert said["split"] == [("yes", 1), ("no", 0)]
    with pytest.raises(Refused, match="does not count"):
        lesson.phone(answer("no", phone="late"))
    assert "You made no guess" in lesson.phone({"phone": "late"})["says"]
    assert 'guessed "yes": right' in lesson.phone({"phone": "p"})["says"]
    assert [(row["sure"], row["right"]) for row in rows_of(lesson.path)] == [("0.9", "1")]


def test_nobody_is_told_an_outcome_before_it_is_shown(lesson: Room) -> None:
    lesson.phone({"phone": "p", "name": "Ana"})
    for place, asked in enumerate(lesson.asked.values(), start=1):
        for said in (lesson.wall({"place": place}), lesson.phone({"phone": "p"})):
            assert said["outcome"] is None
            assert asked.why not in json.dumps(said)
            assert said.get("split", []) == [(option, None) for option in said["options"]] * (
                "split" in said
            )
    assert lesson.phone({"phone": "stranger"}) == {}


def test_numbers_are_close_or_too_low_or_too_high(lesson: Room) -> None:
    truth = float(lesson.asked["1c"].outcome)
    for k, factor in enumerate([0.1, 0.79, 0.81, 1, 1.24, 1.26, 9, 10]):
        lesson.phone({"phone": f"p{k}", "name": f"n{k}"})
        lesson.phone(answer(factor * truth, 0.5, "1c", f"p{k}"))
    said = lesson.wall({"place": 3, "show": True})
    assert said["split"] == [("too low", 2), ("close", 3), ("too high", 3)]
    assert [row["right"] for row in rows_of(lesson.path)] == list("00111000")


def test_the_wall_shows_the_diagram_of_all_that_was_shown(lesson: Room) -> None:
    for k, (guess, sure) in enumerate([("yes", 0.6), ("yes", 0.7), ("no", 0.7), ("no", 0.9)]):
        lesson.phone({"phone": f"p{k}", "name": f"n{k}"})
        lesson.phone(answer(guess, sure, phone=f"p{k}"))
        lesson.phone(answer("about 50", 0.5, "1b", f"p{k}"))
    assert "points" not in lesson.wall({"place": 2})
    said = lesson.wall({"place": 1, "show": True})
    # Bins of a fifth: 0.6, 0.7 and 0.7 with two of three right, 0.9 with none.
    assert [round(part, 9) for point in said["points"] for part in point] == [
        *(round(2 / 3, 9), round(2 / 3, 9), 3), 0.9, 0, 1]  # fmt: skip
    assert "Answers so far: 4; 72 % sure on average, 50 % right. ECE 0.225;" in said["room"]
    assert "so far: 8" in lesson.wall({"place": 2, "show": True})["room"]


def test_a_phone_that_leaves_is_told_and_its_answer_counts(lesson, monkeypatch) -> None:
    for name in ("p", "q", "r"):
        lesson.phone({"phone": name, "name": name})
    lesson.phone(answer("yes"))
    monkeypatch.setattr(room, "SILENT", 0.0)  # all have left
    said = lesson.wall({})
    assert (said["answered"], said["here"], said["silent"]) == (1, 1, 2)
    monkeypatch.undo()
    said = lesson.wall({})
    assert (said["answered"], said["here"], said["silent"]) == (1, 3, 0)


@pytest.mark.parametrize("place", [0, 4, -1, 2.5, "2", None])
def test_the_wall_has_so_many_questions(lesson: Room, place: Any) -> None:
    with pytest.raises(Refused, match="1 to 3"):
        lesson.wall({"place": place})
    assert lesson.now == "1a"


def test_a_file_that_cannot_be_written_is_said_and_nothing_is_lost(lesson: Room) -> None:
    lesson.path.mkdir()  # a folder stands where the file should
    lesson.phone({"phone": "p", "name": "Ana"})
    lesson.phone(answer("yes"))
    assert "cannot be written" in lesson.wall({})["trouble"]
    lesson.path.rmdir()
    lesson.wall({"place": 1, "show": True})
    assert lesson.wall({})["trouble"] == ""
    assert [row["right"] for row in rows_of(lesson.path)] == ["1"]


# --- over the network ----------------------------------------------------------------------------


@pytest.mark.slow
def test_sixty_phones_answer_at_once_and_nothing_is_lost(server: Server, call, say) -> None:
    """Half of them answer twice, some try a name that is taken, and all ask for the state."""
    phone, wall = partial(say, server.code), partial(say, server.key)
    given = dict[tuple[str, str], tuple[str, float]]()

    def at_once(act: Callable[[int], Any]) -> None:
        with ThreadPoolExecutor(PHONES) as pool:
            list(pool.map(act, range(PHONES)))

    def come_in(k: int) -> None:
        assert phone(phone=f"id{k}") == {}
        if k % 10 == 0:
            call(server.code, {"phone": f"other{k}", "name": f"n{k}"})
        status, text = call(server.code, {"phone": f"id{k}", "name": f"n{k}"})
        if status == 409:  # the other one was quicker
            assert "Somebody" in text
            phone(phone=f"id{k}", name=f"n{k} too")

    def guess(k: int) -> None:
        said = phone(phone=f"id{k}")
        sure = (said["least"] + (k * 7) % (100 - said["least"])) / 100
        for one in [said["options"][0], said["options"][k % 2]] if said["options"] else [k + 150]:
            said = phone(**answer(one, sure, said["pid"], f"id{k}"))
            assert said["mine"] == [one, sure]
        given[said["name"], said["pid"]] = (str(said["mine"][0]).removesuffix(".0"), sure)

    at_once(come_in)
    for place in (1, 2, 3):
        assert wall(place=place)["answered"] == 0
        at_once(guess)
        assert wall()["answered"] == PHONES
        shown = wall(place=place, show=True)
        assert sum(point[2] for point in shown["points"]) == PHONES * place
        at_once(lambda k: phone(phone=f"id{k}")["says"])
    rows = rows_of(server.room.path)
    found = {(row["student"], row["forecast"]): (row["guess"], float(row["sure"])) for row in rows}
    assert len(rows) == len(found) == 3 * PHONES
    assert {key: (guess.removesuffix(".0"), sure) for key, (guess, sure) in found.items()} == given


def test_a_wrong_link_gets_nothing(server: Server, call: Call) -> None:
    wrong = ["", "x", "%C3%A9", f"{server.code}x", f"{server.code}/{server.key}", "../room.py"]
    for path in (*wrong, server.key[:-1]):
        for body in (None, {"phone": "p", "name": "Ana"}, {"place": 1, "show": True}):
            status, text = call(path, body)
            assert (status, "link" in text) == (404, True), path
    assert (server.room.names, server.room.shown) == ({}, set())


def test_phones_of_the_room_get_a_code_to_scan_and_a_rehearsal_does_not() -> None:
    in_network = room.invitation("http://192.0.2.1:8000/abc")
    assert "http://192.0.2.1:8000/abc" in in_network
    assert ("<svg" in in_network) == (importlib.util.find_spec("segno") is not None)
    alone = room.invitation("http://127.0.0.1:8000/abc")
    assert "--lan lets phones in" in alone and "<svg" not in alone


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.2 is no address")
def test_the_wall_opens_on_this_computer_alone(server: Server, call: Call) -> None:
    assert call(server.key)[0] == 200
    assert server.link + server.code in call(server.key)[1]
    elsewhere = partial(call, source_address=("127.0.0.2", 0))
    for body in (None, {"place": 1, "show": True}):
        assert elsewhere(server.key, body)[0] == 404
    status, page = elsewhere(f"{server.code}/?from=chat")
    assert (status, server.code in page, server.key in page) == (200, False, False)
    assert server.room.shown == set()


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"7", b"null", b'"x"', b"\xff", b"[" * 5000, b'{"phone": "p", "guess": 1}',
     b'{"guess": 1}', b"{}", b'{"phone": "p", "guess": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_nonsense_is_refused_and_the_room_goes_on(server: Server, call, say, raw: bytes) -> None:
    say(server.code, phone="p", name="Ana")
    assert call(server.code, raw) == (400, "This is no message of the page.")
    assert say(server.code, **answer("yes"))["mine"] == ["yes", 0.7]


@pytest.mark.parametrize("length", ["10000", "-1", "x", "", "9" * 5000, "²"])
def test_what_is_too_long_is_not_read(server: Server, length: str) -> None:
    with socket.create_connection(server.server_address) as wire:
        wire.sendall(f"POST /{server.code} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
        said = wire.makefile("rb").read()
    assert said.startswith(b"HTTP/1.1 413") and said.endswith(b"That is too long.")


def test_a_phone_that_leaves_in_the_middle_disturbs_nobody(server, say, capfd) -> None:
    head = f"POST /{server.code} HTTP/1.1\r\nContent-Length: 500\r\n\r\n".encode()
    for sent in (b"", b"POST", head, head + b'{"phone"', b"\x16\x03\x01\x02\x00"):
        with socket.create_connection(server.server_address) as wire:
            wire.sendall(sent)
    assert say(server.code, phone="p", name="Ana")["name"] == "Ana"
    assert "Traceback" not in "".join(capfd.readouterr())


def test_so_many_calls_at_a_time_and_no_more(server, call, monkeypatch) -> None:
    monkeypatch.setattr(room, "MOST_CALLS", 0)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        call(server.code)
    monkeypatch.undo()
    assert call(server.code)[0] == 200


# --- the command ---------------------------------------------------------------------------------


def test_what_stops_a_class_from_beginning_is_one_sentence(tmp_path, monkeypatch, capsys) -> None:
    def told(*words: object) -> str:
        with pytest.raises(SystemExit, match="2"):
            room.main(["01", *map(str, words)])
        return capsys.readouterr().err.splitlines()[-1]

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port}, cannot be used" in told("--port", port, "--out", tmp_path)
    assert "cannot be used" in told("--port", 99999, "--out", tmp_path)
    assert "cannot be used" in told("--address", "192.0.2.7", "--out", tmp_path)
    (tmp_path / "file").touch()
    assert "cannot be written" in told("--out", tmp_path / "file" / "folder")
    monkeypatch.setattr(room, "own_address", str)
    assert "in no network" in told("--lan", "--out", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal of POSIX")
def test_the_command_serves_until_ctrl_c_and_keeps_the_answers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.room", "04", "--out", str(tmp_path / "new")]
    done = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert done.stdout is not None
    _, link = (done.stdout.readline().split()[-1] for _ in range(2))
    for body in ({"phone": "p", "name": "Ana"}, answer("about 10", pid="4c")):
        with urllib.request.urlopen(link, json.dumps(body).encode()) as taken:
            assert taken.read()
    done.send_signal(signal.SIGINT)
    said, _ = done.communicate(timeout=60)
    assert done.returncode == 0
    (path,) = (tmp_path / "new").iterdir()
    assert path.name.startswith("class_04_")
    assert str(path) in said
    assert [row["guess"] for row in rows_of(path)] == ["about 10"]


# --- the teacher's page --------------------------------------------------------------------------

GOOD = "Ana,1a,2,0.7,1,yes\nBen,1a,2,0.6,0,no\nBen,1b,3,0.5,,none\n"


@pytest.mark.parametrize("line", ["Ana,1b", "", "Ana,1b,3,5,1,x", "Ana,1b,3,0.5,2,x", '"'])
def test_a_damaged_line_is_named(line, tmp_path) -> None:
    path = tmp_path / "class_01.csv"
    path.write_text(f"{','.join(grade_class.ANSWERS)}\n{GOOD}{line}\n", encoding="utf-8-sig")
    with pytest.raises(ValueError, match="line 5 is damaged; mend or delete it"):
        grade_class.read_answers(path)


def test_grade_reads_what_a_class_answered(tmp_path, capsys) -> None:
    head = ",".join(grade_class.ANSWERS)
    files = {"class_04_1.csv": f"{head}\n{GOOD}", "class_list.csv": "a,b\n1,2\n"}
    files |= {"ben/class_04_1.csv": f"{head}\nAna,1b,3,0.9,0,forged\n"}
    files |= {"class_x.csv": "\0", "class_y.csv": ""}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "class_z.csv").write_bytes(b"\xff")
    assert grade.main([str(tmp_path)]) == 1  # for what is no workbook
    said, page = capsys.readouterr().out, (tmp_path / "grades.html").read_text(encoding="utf-8")
    for name in ("list", "x", "y", "z"):
        assert f"class_{name}.csv is no file of `dev.py class`: " in said
    assert "0 graded, 5 not" in said
    _, taken = grade_class.guessed_in(tmp_path, tmp_path / "class_list.csv")
    assert [path.name for path in taken] == ["class_list.csv", "class_04_1.csv"]
    assert "2 forecasts" in page
    assert "2 students" in page
    assert "class_04_1.csv" not in page.replace("ben/class_04_1.csv", "")


# --- in a browser --------------------------------------------------------------------------------


@pytest.mark.browser
def test_two_phones_and_the_wall(server: Server, browser: Any, tmp_path: Path) -> None:
    def page(path: str, **options: Any) -> Any:
        found = browser.new_context(**options).new_page()
        found.on("pageerror", lambda error: pytest.fail(str(error)))
        found.goto(f"{server.link}{path}")
        return found

    def fits(one: Any) -> bool:
        return bool(one.evaluate("document.documentElement.scrollWidth <= innerWidth"))

    def guess(one: Any, name: str, sure: int) -> None:
        one.get_by_role("slider", name="How sure are you").fill(str(sure))
        one.get_by_role("button", name=name, exact=True).click()
        one.get_by_role("status").get_by_text("Noted: ").wait_for()

    wall = page(server.key, viewport=DESK)
    assert "rehearsal" in wall.inner_text("aside")
    assert server.link + server.code in wall.inner_text("aside")
    phones = [page(server.code, viewport=TELEPHONE, color_scheme=how) for how in ("light", "dark")]
    for one, name in zip(phones, ("Ana", "ana"), strict=True):
        one.get_by_label("Your name").fill(name)
        one.keyboard.press("Enter")
        one.get_by_text("Ana, question 1").or_(one.get_by_text("Somebody is")).wait_for()
    ana, ben = phones
    ben.get_by_role("alert").get_by_text("Somebody is here as ana").wait_for()
    ben.get_by_label("Your name").fill("<b>Ben</b>")
    ben.keyboard.press("Enter")
    ben.get_by_role("alert").get_by_text("first a letter").wait_for()
    ben.get_by_label("Your name").fill("Ben <img src=x>")
    ben.keyboard.press("Enter")
    ben.get_by_text("Ben <img src=x>, question 1").wait_for()
    ana.get_by_role("button", name="yes").click()
    assert "First move the slider" in ana.get_by_role("alert").inner_text()
    guess(ana, "yes", 80)
    assert ana.get_by_role("button", name="yes").get_attribute("aria-pressed") == "true"
    assert ana.evaluate("document.activeElement.textContent") == "yes"
    wall.get_by_text("1 of 2 have answered").wait_for()
    # The network leaves; what was answered goes when it is back.
    ben.context.set_offline(True)
    ben.get_by_role("alert").get_by_text("does not answer").wait_for()
    ben.get_by_role("slider").fill("60")
    ben.get_by_role("button", name="no", exact=True).click()
    ben.get_by_role("alert").get_by_text("is kept and sent again").wait_for()
    ben.context.set_offline(False)
    ben.get_by_text("Noted: no, 60 % sure").wait_for()
    assert ben.get_by_role("alert").inner_text() == ""
    wall.get_by_text("2 of 2 have answered").wait_for()
    wall.get_by_role("button", name="Show what happens").click()
    ana.get_by_text('You guessed "yes": right.').wait_for()
    ben.get_by_text('You guessed "no": surprised?').wait_for()
    assert wall.get_by_role("img", name="Reliability diagram").locator("circle").count() == 2
    for place in (2, 3):
        wall.get_by_role("button", name="Next").click()
        ana.get_by_text(f"question {place} of 3").first.wait_for()
    ana.get_by_role("slider", name="within a factor of 1.25").fill("30")
    ana.get_by_role("button", name="Send").click()
    assert ana.get_by_role("alert").inner_text() == "Type a number."
    ana.get_by_label("Your number").fill("183,5")
    ana.get_by_role("button", name="Send").click()
    ana.get_by_text("Noted: 183.5 days, 30 % sure").wait_for()
    ana.reload()
    ana.get_by_text("Noted: 183.5 days").wait_for()  # the phone is known again
    assert all(fits(one) for one in (wall, *phones))
    assert [row["guess"] for row in rows_of(server.room.path)] == ["yes", "no", "183.5"]
    for one in (wall, *phones):
        one.context.close()
