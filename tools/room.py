"""Guess together in a room: `python dev.py class 04` on a laptop, phones by link or QR code.

The wall asks the guesses of a lesson's core one by one. Phones answer with a confidence; the wall
shows how many have, how the room split, what happens, and the reliability diagram of the whole
room. Pictures that a guess speaks of stand on the lesson's page: show that beside it.

Only this computer is served unless ``--lan`` is given; ``--port`` asks for a certain port. The link
holds a code that is new each time. Nothing is kept but `class_04_….csv` in this folder (``--out``
names another), which `dev.py grade` reads. Ctrl-C ends the class.
"""

import argparse
import contextlib
import csv
import json
import re
import secrets
import socket
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from calibkit.reliability import reliability_table
from calibkit_course import open_lesson
from calibkit_course.learn import Drawing, Prediction
from calibkit_course.learn.calibration import BINS, calibration_of
from calibkit_course.learn.forecasts import Forecast, as_forecasts, least_sure, read_sure
from tools.lesson_pages import lesson_pages

PAGE = Path(__file__).with_name("room.html")
MOST_PHONES, LONGEST_NAME, LARGEST_BODY, MOST_CALLS = 200, 40, 2_000, 400
COLUMNS = ("student", "forecast", "options", "sure", "right", "guess")
ASKED = re.compile(r"\.predict\(\s*\"(\w+)\"")
Said = dict[str, Any]


class Refused(ValueError):
    """What cannot be done; the message is for whoever asked."""


@dataclass
class Room:
    """The guesses of a room: who is there, what was answered, which question is asked."""

    lesson: str
    path: Path  # where answers are kept
    asked: dict[str, Prediction] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # by phone
    answers: dict[str, dict[str, tuple[str | float, float]]] = field(default_factory=dict)
    shown: set[str] = field(default_factory=set)
    place: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        core = lesson_pages(self.lesson)[0].read_text(encoding="utf-8")
        known = open_lesson(self.lesson).predictions
        asked = {pid: known[pid] for pid in ASKED.findall(core)}  # no lines: a phone has no room
        self.asked = {pid: one for pid, one in asked.items() if not isinstance(one, Drawing)}
        self.answers = {pid: {} for pid in self.asked}

    @property
    def now(self) -> str:
        """The name of the question that is asked."""
        return list(self.asked)[self.place]

    # --- what a phone does -------------------------------------------------------------------

    def join(self, phone: str, name: str) -> None:
        """Let a phone in under a name that nobody else has."""
        name = " ".join(name.split())
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise Refused(f"Type a name of 1 to {LONGEST_NAME} characters.")
        others = [known.casefold() for who, known in self.names.items() if who != phone]
        if name.casefold() in others:
            raise Refused(f"Somebody is here as {name}. Add a letter to yours.")
        if len(others) >= MOST_PHONES:
            raise Refused(f"The room is full: {MOST_PHONES} phones are in it.")
        self.names[phone] = name

    def answer(self, phone: str, pid: str, guess: Any, sure: Any) -> None:
        """Note a guess with its confidence, or a new one in its place, until it is shown."""
        if phone not in self.names:
            raise Refused("The room does not know this phone any more. Type your name again.")
        asked = self.asked.get(pid)
        if asked is None or pid in self.shown:
            raise Refused("What happens was shown before your guess came. It does not count.")
        read = asked.read(guess)
        if read is None:
            raise Refused(asked.refusal(guess))
        value, problem = read_sure(sure, len(asked.options))
        if value is None:
            raise Refused(problem)
        self.answers[pid][phone] = (read, value)
        self.write()

    def phone(self, phone: str) -> Said:
        """Return what a phone shows."""
        asked = self.asked[self.now]
        mine = self.answers[self.now].get(phone)
        said = {"name": self.names.get(phone), **self.question(), "mine": mine}
        if self.now in self.shown:
            said["verdict"] = asked.compare(mine[0] if mine else None, asked.outcome)
        return said

    def question(self) -> Said:
        """Return the question that is asked; once it is shown, with its outcome and why."""
        asked = self.asked[self.now]
        k = len(asked.options)
        said: Said = {"pid": self.now, "place": self.place + 1, "of": len(self.asked)}
        said |= {"question": asked.question, "options": asked.options, "unit": asked.unit}
        said |= {"least": round(100 * least_sure(k)) if k else 1}
        if self.now in self.shown:
            said |= {"outcome": asked.shown(asked.outcome), "why": asked.why}
        return said

    # --- what the wall does ------------------------------------------------------------------

    def step(self, place: Any, show: Any) -> None:
        """Ask another question, or show what happens."""
        if type(place) is not int or not 1 <= place <= len(self.asked):
            raise Refused(f"The questions have the numbers 1 to {len(self.asked)}.")
        self.place = place - 1
        if show is True:
            self.shown.add(self.now)
            self.write()

    def wall(self) -> Said:
        """Return what the wall shows: how many answered, and after the outcome how the room did."""
        asked, given = self.asked[self.now], self.answers[self.now]
        said = {**self.question(), "here": len(self.names), "answered": len(given)}
        if self.now in self.shown:
            guesses = [f"{guess:g}" if not asked.options else guess for guess, _ in given.values()]
            right = sum(asked.is_right(guess, asked.outcome) for guess, _ in given.values())
            said |= {"split": Counter(guesses)}
            said |= {"right": right, **self.diagram()}
        return said

    def diagram(self) -> Said:
        """Return the reliability diagram of all forecasts whose outcome was shown, and its ECE."""
        rows = {f"{pid} {phone}": row for pid, phone, row in self.rows()}
        known = as_forecasts(rows)
        if not known.n:
            return {}
        bins, whole = reliability_table(known.right, known.sure, bins=BINS), calibration_of(known)
        columns = (bins.mean_prob, bins.frequency, bins.count)
        points = [column[bins.occupied].tolist() for column in columns]
        said: Said = {"n": known.n, "sure": known.sure.mean(), "hits": known.right.mean()}
        said |= {"ece": whole.ece, "null": whole.null}
        return {"points": list(zip(*points, strict=True)), **said}

    # --- what is kept ------------------------------------------------------------------------

    def rows(self) -> list[tuple[str, str, Forecast]]:
        """Return question, phone and forecast of each answer."""
        found = []
        for pid, given in self.answers.items():
            asked = self.asked[pid]
            for phone, (guess, sure) in given.items():
                right = asked.is_right(guess, asked.outcome) if pid in self.shown else None
                found.append((pid, phone, Forecast(len(asked.options) or 2, sure, right)))
        return found

    def write(self) -> None:
        """Write all answers to the file, at one blow."""
        new = self.path.with_suffix(".new")
        with new.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for pid, phone, row in self.rows():
                right = "" if row.right is None else int(row.right)
                guess = self.answers[pid][phone][0]
                writer.writerow(
                    [self.names[phone], pid, row.options, f"{row.sure:g}", right, guess]
                )
        new.replace(self.path)


class Server(ThreadingHTTPServer):
    """Serves one room, so many calls at a time and no more."""

    daemon_threads, request_queue_size = True, 200

    def __init__(self, address: tuple[str, int], room: Room, host: str = "127.0.0.1") -> None:
        super().__init__(address, Handler)
        self.room, self.code, self.key = room, secrets.token_urlsafe(6), secrets.token_urlsafe(12)
        self.link = f"http://{host}:{self.server_port}/{self.code}/"
        self.places = threading.BoundedSemaphore(MOST_CALLS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a call where there is room for one; else hang up, and the phone asks again."""
        if self.places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a call and give its place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A phone that leaves in the middle is no error of ours."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers `/CODE/…` for phones and `/CODE/wall/KEY/…` for the wall."""

    server: Server
    protocol_version, timeout = "HTTP/1.1", 20

    def do_GET(self) -> None:
        """Return a page, or the state of the room."""
        room, (wall, rest) = self.server.room, self.way()
        if rest == "":
            page = PAGE.read_text(encoding="utf-8")
            link = invitation(self.server.link) if wall else ""
            return self.send("text/html", page.replace("<!--link-->", link))
        with room.lock:
            if wall and rest == "state":
                return self.send_json(room.wall())
            if rest.startswith("state/"):
                return self.send_json(room.phone(rest[6:]))
        return self.lost()

    def do_POST(self) -> None:
        """Take a name, a guess, or a step of the wall."""
        room, (wall, rest) = self.server.room, self.way()
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            self.close_connection = True
            return self.send_json({"problem": "That is too long."}, 413)
        try:
            sent = json.loads(self.rfile.read(int(length)))
            with room.lock:
                if wall and rest == "step":
                    room.step(sent.get("place"), sent.get("show"))
                elif rest == "join":
                    room.join(str(sent["phone"])[:40], str(sent["name"]))
                elif rest == "answer":
                    room.answer(str(sent["phone"])[:40], sent["pid"], sent["guess"], sent["sure"])
                else:
                    return self.lost()
        except Refused as refused:
            return self.send_json({"problem": str(refused)}, 409)
        except (ValueError, KeyError, TypeError, AttributeError):
            return self.send_json({"problem": "This is no message of the page."}, 400)
        return self.send_json({})

    def way(self) -> tuple[bool, str]:
        """Return whether the wall asks, and for what; "?" where the code is another."""
        for start in (f"/{self.server.code}/wall/{self.server.key}/", f"/{self.server.code}/"):
            if self.path.startswith(start):
                return "/wall/" in start, self.path.removeprefix(start)
        return False, "?"

    def lost(self) -> None:
        """Say that there is nothing here."""
        self.send("text/plain", "This is not the link of the room. Scan the code on the wall.", 404)

    def send_json(self, said: Said, status: int = 200) -> None:
        """Send what is said."""
        self.send("application/json", json.dumps(said), status)

    def send(self, kind: str, text: str, status: int = 200) -> None:
        """Send a text; no other host is asked for anything."""
        raw = text.encode()
        self.send_response(status)
        rules = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
        self.send_header("Content-Security-Policy", f"{rules}; connect-src 'self'; img-src data:")
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *words: Any) -> None:
        """Be silent: a class makes thousands of calls."""


def invitation(link: str) -> str:
    """Return the link of the phones as HTML, with a QR code where `segno` is installed."""
    with contextlib.suppress(ImportError):
        import segno

        code = segno.make(link, error="m").svg_inline(border=2, omitsize=True)
        return f"<p>{link}</p>{code}"
    return f"<p>{link}</p>"


def own_address() -> str:
    """Return this computer's address in its network; nothing is sent to find it."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(("192.0.2.1", 9))
        return str(way.getsockname()[0])
    return "127.0.0.1"


def main(arguments: list[str]) -> int:
    """Open the room and serve it until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="dev.py class", description=__doc__)
    lessons = [path.stem[:2] for path in lesson_pages() if path.parent.name == "notebooks"]
    parser.add_argument("lesson", choices=lessons, metavar="NN", help="two digits, e.g. 04")
    parser.add_argument("--lan", action="store_true", help="let phones of this network in")
    parser.add_argument("--port", type=int, default=0, help="a certain port")
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the answers (here)")
    chosen = parser.parse_args(arguments)
    name = f"class_{chosen.lesson}_{time.strftime('%Y-%m-%d_%H-%M')}.csv"
    chosen.out.mkdir(parents=True, exist_ok=True)
    room = Room(chosen.lesson, chosen.out / name)
    host = own_address() if chosen.lan else "127.0.0.1"
    with Server(("" if chosen.lan else host, chosen.port), room, host) as server:
        print(f"The wall, for you:   {server.link}wall/{server.key}/")
        print(f"The link for phones: {server.link}")
        print(f"Answers go to {room.path}. Ctrl-C ends the class.", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
