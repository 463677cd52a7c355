"""Guess together in a room: `python dev.py class 04` on a laptop, phones by link or QR code.

The wall asks the guesses of a lesson's core one by one. Phones answer with a confidence; the wall
shows how many have, how the room split, what happens, and the room's reliability diagram.
Only this computer is served unless ``--lan`` is given; ``--address`` names another address of it
than the one that is found, ``--port`` a certain port. The wall opens on this computer alone.
Nothing is kept but `class_04_….csv`, here or in the folder of ``--out``; `dev.py grade` reads it.
"""

import argparse
import contextlib
import csv
import io
import json
import os
import re
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from typing import Any

from calibkit.reliability import reliability_table
from calibkit_course import open_lesson
from calibkit_course.learn import Drawing
from calibkit_course.learn.calibration import BINS, calibration_of
from calibkit_course.learn.forecasts import Forecast, as_forecasts, least_sure, read_sure
from tools.grade_class import ANSWERS
from tools.lesson_pages import lesson_pages

PAGE, ALONE = Path(__file__).with_name("room.html"), re.compile(r"http://127\.0\.0\.1:")
MOST_PHONES, LONGEST_NAME, MOST_CALLS, SILENT = 200, 40, 400, 30.0
ASKED = re.compile(r"\.predict\(\s*\"(\w+)\"")
HEAD = {"Content-Security-Policy": "default-src 'unsafe-inline'; connect-src 'self'; img-src data:"}
HEAD |= {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
Said = dict[str, Any]


class Refused(ValueError):
    """What cannot be done; the message is for whoever asked."""


class Room:
    """Who is there, what was answered (guess and confidence, by phone), which question is asked."""

    def __init__(self, lesson: str, path: Path) -> None:
        core = lesson_pages(lesson)[0].read_text(encoding="utf-8")
        known = open_lesson(lesson).predictions
        asked = [pid for pid in ASKED.findall(core) if not isinstance(known[pid], Drawing)]
        self.asked = {pid: known[pid] for pid in asked}  # a phone has no place for a line
        self.path, self.trouble = path, ""  # where answers are kept, and why they cannot be
        self.now, self.shown = next(iter(self.asked)), set[str]()
        self.answers = {pid: dict[str, tuple[str | float, float]]() for pid in self.asked}
        self.names, self.seen = dict[str, str](), dict[str, float]()  # by phone
        self.lock = threading.Lock()

    def phone(self, sent: Said) -> Said:
        """Take a name or a guess from a phone, if it sends one; return what it shows."""
        phone = str(sent["phone"])[:40]
        if "name" in sent:
            self.join(phone, str(sent["name"]))
        if phone not in self.names:
            return {}
        if "guess" in sent:
            self.answer(phone, str(sent["pid"]), sent["guess"], sent["sure"])
        self.seen[phone] = time.monotonic()
        asked, mine = self.asked[self.now], self.answers[self.now].get(phone)
        said = {"name": self.names[phone], "mine": mine, **self.question()}
        if self.now in self.shown:
            said["says"] = f"{asked.compare(mine[0] if mine else None, asked.outcome)} {asked.why}"
        return said

    def join(self, phone: str, name: str) -> None:
        """Let a phone in under a name that nobody else has, and no spreadsheet takes for more."""
        name = " ".join(name.split())
        if not (name[:1].isalnum() and len(name) <= LONGEST_NAME and name.isprintable()):
            raise Refused(f"Type a name of 1 to {LONGEST_NAME} characters, first a letter.")
        others = [known.casefold() for who, known in self.names.items() if who != phone]
        if name.casefold() in others:
            raise Refused(f"Somebody is here as {name}. Add a letter to yours.")
        if len(others) >= MOST_PHONES:
            raise Refused(f"The room is full: {MOST_PHONES} phones are in it.")
        self.names[phone] = name

    def answer(self, phone: str, pid: str, guess: Any, sure: Any) -> None:
        """Note a guess with its confidence, or a new one in its place, until it is shown."""
        if pid not in self.asked or pid in self.shown:
            raise Refused("What happens was shown before your guess came. It does not count.")
        asked = self.asked[pid]
        plain = isinstance(guess, str if asked.options else int | float)  # "1e999999" takes hours
        read = asked.read(guess) if plain else None
        value, problem = read_sure(sure, len(asked.options))
        if read is None or value is None:
            raise Refused((asked.refusal(guess) if read is None else problem).replace("`", ""))
        self.answers[pid][phone] = (read, value)
        self.write()

    def question(self) -> Said:
        """Return the question that is asked, with its outcome once that is shown."""
        asked, k = self.asked[self.now], len(self.asked[self.now].options)
        said = {"pid": self.now, "place": [*self.asked].index(self.now) + 1, "of": len(self.asked)}
        said |= {"question": asked.question, "options": asked.options, "unit": asked.unit}
        outcome = asked.shown(asked.outcome) if self.now in self.shown else None
        return said | {"least": round(100 * least_sure(k)) if k else 1, "outcome": outcome}

    def wall(self, sent: Said) -> Said:
        """Ask another question or show what happens, if the wall says so; return what it shows."""
        if "place" in sent:
            if sent["place"] not in range(1, len(self.asked) + 1):
                raise Refused(f"The questions have the numbers 1 to {len(self.asked)}.")
            self.now = [*self.asked][sent["place"] - 1]
            if sent.get("show") is True:
                self.shown.add(self.now)
                self.write()
        asked, given, late = self.asked[self.now], self.answers[self.now], time.monotonic() - SILENT
        here = given.keys() | {phone for phone, seen in self.seen.items() if seen > late}
        said = {**self.question(), "trouble": self.trouble, "answered": len(given)}
        said |= {"here": len(here), "silent": len(self.names) - len(here)}
        said["split"] = [(option, None) for option in asked.options]
        if self.now in self.shown:
            said |= {"split": self.split(), "says": asked.why, **self.diagram()}
        return said

    def split(self) -> list[tuple[str, int]]:
        """Return how many gave each answer; numbers are close, or too low, or too high."""
        asked, guesses = self.asked[self.now], [one for one, _ in self.answers[self.now].values()]
        if asked.options:
            return [(option, guesses.count(option)) for option in asked.options]
        far = [float(one) for one in guesses if not asked.is_right(one, asked.outcome)]
        low, close = sum(one < float(asked.outcome) for one in far), len(guesses) - len(far)
        return [("too low", low), ("close", close), ("too high", len(far) - low)]

    def diagram(self) -> Said:
        """Return the reliability diagram of all answers whose outcome was shown, and its ECE."""
        known = as_forecasts({f"{pid} {phone}": row for pid, phone, _, row in self.rows()})
        if not known.n:
            return {}
        bins, whole = reliability_table(known.right, known.sure, bins=BINS), calibration_of(known)
        columns = (bins.mean_prob, bins.frequency, bins.count)
        points = [column[bins.occupied].tolist() for column in columns]
        sure, right = (100 * part.mean() for part in (known.sure, known.right))
        words = (f"Answers so far: {known.n}; {sure:.0f} % sure on average, {right:.0f} % right. "
                 f"ECE {whole.ece:.3f}; luck alone would make {whole.null:.3f} of independent "
                 "answers. Those to one question are not: it makes more of them.")  # fmt: skip
        return {"points": list(zip(*points, strict=True)), "room": words}

    def rows(self) -> Iterator[tuple[str, str, str | float, Forecast]]:
        """Yield question, phone, guess and forecast of each answer."""
        for pid, asked in self.asked.items():
            for phone, (guess, sure) in self.answers[pid].items():
                right = asked.is_right(guess, asked.outcome) if pid in self.shown else None
                yield pid, phone, guess, Forecast(len(asked.options) or 2, sure, right)

    def text(self) -> str:
        """Return the file of all answers; `right` is empty where what happens was not shown."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(ANSWERS)
        for pid, phone, guess, row in self.rows():
            right = "" if row.right is None else int(row.right)
            writer.writerow([self.names[phone], pid, row.options, f"{row.sure:g}", right, guess])
        return text.getvalue()

    def write(self) -> None:
        """Write all answers to the file, at one blow; the wall says why where that fails."""
        new, self.trouble = self.path.with_suffix(".new"), ""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(self.text(), encoding="utf-8-sig", newline="")
            new.replace(self.path)
        except OSError as error:
            self.trouble = f"{self.path} cannot be written ({error.strerror})."


class Server(ThreadingTCPServer):
    """Serves one room, so many calls at a time and no more."""

    daemon_threads, request_queue_size = True, MOST_PHONES
    allow_reuse_address = os.name == "posix"  # elsewhere two could share a port

    def __init__(self, address: tuple[str, int], room: Room) -> None:
        super().__init__(address, Handler)
        self.room, self.code, self.key = room, secrets.token_hex(4), secrets.token_urlsafe(12)
        self.link = "http://{}:{}/".format(*self.server_address)

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002
        """Take a call where there is room for one; else hang up, and the phone calls again."""
        return threading.active_count() <= MOST_CALLS

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over a phone that leaves in the middle."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers `/CODE` for phones and, on this computer, `/KEY` for the wall."""

    server: Server
    protocol_version, timeout = "HTTP/1.1", 20

    def do_GET(self) -> None:
        """Return the page; that of the wall has the link in it."""
        wall, page = self.is_for(self.server.key), PAGE.read_text(encoding="utf-8")
        if wall:
            page = page.replace("<!--link-->", invitation(self.server.link + self.server.code))
        if wall or self.is_for(self.server.code):
            return self.send(page, kind="text/html")
        return self.send("This is not the link of the room. Scan the code on the wall.", 404)

    def do_POST(self) -> None:
        """Take what a phone or the wall says, and return what it shows now."""
        room, length = self.server.room, self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,4}", length):
            self.close_connection = True
            return self.send("That is too long.", 413)
        raw, wall = self.rfile.read(int(length)), self.is_for(self.server.key)
        if not wall and not self.is_for(self.server.code):
            return self.send("The room has a new link. Scan the code on the wall.", 404)
        try:
            sent = json.loads(raw)
            with room.lock:
                said = room.wall(sent) if wall else room.phone(sent)
        except Refused as refused:
            return self.send(str(refused), 409)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return self.send("This is no message of the page.", 400)
        return self.send(json.dumps(said), kind="application/json")

    def is_for(self, secret: str) -> bool:
        """Tell whether the path has the code of phones, or the key of the wall on this computer."""
        here = self.client_address[0] == self.server.server_address[0]
        asked = self.path.partition("?")[0].strip("/").encode()
        may = here or secret == self.server.code
        return may and secrets.compare_digest(asked, secret.encode())

    def send(self, text: str, status: int = 200, kind: str = "text/plain") -> None:
        """Send a text; no other host is asked for anything."""
        raw = text.encode()
        head = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(raw))}
        self.send_response(status)
        for name, value in (HEAD | head).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *words: Any) -> None:
        """Be silent: a class makes thousands of calls."""


def invitation(link: str) -> str:
    """Return the link of the phones as HTML, with a QR code where `segno` is installed."""
    if ALONE.match(link):
        return f"<p>A rehearsal, on this computer alone:<br>{link}<br>--lan lets phones in.</p>"
    said = f"<p>In the same network:<br>{link}</p>"
    with contextlib.suppress(ImportError):
        import segno

        said += segno.make(link, error="m").svg_inline(omitsize=True, title="QR code of the link")
    return said


def own_address() -> str:
    """Return this computer's address in its network, or nothing; nothing is sent to find it."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(("192.0.2.1", 9))
        return str(way.getsockname()[0])
    return ""


def main(arguments: list[str]) -> int:
    """Open the room and serve it until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="dev.py class", description=__doc__)
    lessons = [path.stem[:2] for path in lesson_pages() if path.parent.name == "notebooks"]
    parser.add_argument("lesson", choices=lessons, metavar="NN", help="two digits, e.g. 04")
    parser.add_argument("--lan", action="store_true", help="let phones of this network in")
    parser.add_argument("--address", default="", help="this computer's, where phones find it")
    parser.add_argument("--port", type=int, default=0, help="a certain port")
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the answers (here)")
    chosen = parser.parse_args(arguments)
    day = time.strftime("%Y-%m-%d_%H-%M-%S")
    room = Room(chosen.lesson, chosen.out / f"class_{chosen.lesson}_{day}.csv")
    host = chosen.address or (own_address() if chosen.lan else "127.0.0.1")
    if not host:
        parser.error("this computer is in no network. Join one, or name its --address.")
    try:
        server = Server((host, chosen.port), room)
    except (OSError, OverflowError) as error:
        parser.error(f"{host}, port {chosen.port}, cannot be used ({error}). Try another --port.")
    with server, contextlib.suppress(KeyboardInterrupt):
        room.write()
        if room.trouble:
            parser.error(f"{room.trouble} Name a folder of yours by --out.")
        whose = "A phone's page, on this computer alone (--lan lets phones in)"
        whose = whose if ALONE.match(server.link) else "For phones"
        print(f"The wall, here: {server.link}{server.key}\n{whose}: {server.link}{server.code}")
        print(f"Answers go to {room.path}. Ctrl-C ends the class.", flush=True)
        server.serve_forever()
    with room.lock:
        room.write()
    print(f"{room.trouble} Here it is:\n{room.text()}" if room.trouble else f"See {room.path}.")
    return 1 if room.trouble else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
