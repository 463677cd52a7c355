"""Judge a student's answers from inside the kernel in which the workbook was executed.

The judge takes lesson and checks from the installed package before the first cell of the student,
and learns where to write only after the last one. What cells print, which checks they delete, edit
or overwrite plays no part. It shares a process with the student's code, so it withstands slips and
simple tricks; code written to deceive it can change the package in memory.
"""

import contextlib
import hashlib
import json
import re
import signal
from collections.abc import Iterator
from typing import Any

ASKED = re.compile(r"\.check\(\s*(?:cid\s*=\s*)?[\"'](\d+\.\d+)[\"']")
DIED = "the process ended"
WORDS = 300  # characters of a message that are kept
Said = dict[str, Any]


class TimeUp(BaseException):
    """A check that does not end; no `except Exception` stops it."""


class Judge:
    """Watch the cells of one lesson, and say how each exercise stands."""

    def __init__(self, lesson: str, seal: str, seconds: float, left_out: list[str]) -> None:
        from calibkit_course import open_lesson
        from calibkit_course.learn.exercises import MISSING

        self.missing = MISSING
        opened = open_lesson(lesson)
        self.kind, self.id = type(opened), opened.id
        self.checks, self.predictions = dict(opened.checks), dict(opened.predictions)
        self.seal, self.seconds, self.left_out = seal, seconds, left_out
        self.namespace: dict[str, Any] = {}
        self.states: dict[str, Said] = {}
        self.guesses: dict[str, Said] = {}
        self.assessed: dict[str, str] = {}

    def after(self, result: Any) -> None:
        """Take note of a cell that has run; the cell with the seal asks for the verdict."""
        source = str(result.info.raw_cell)
        token, _, path = source.removeprefix("# ").partition(" ")
        if hashlib.sha256(token.encode()).hexdigest() == self.seal:
            self.write(path.strip())
            return
        self.note_guesses()
        if result.success:
            for cid in ASKED.findall(source):
                if cid in self.checks:
                    self.look_at(cid)

    def note_guesses(self) -> None:
        """Note what the learner's lesson knows: guesses, and texts that were self-assessed."""
        found = [item for item in list(self.namespace.values()) if type(item) is self.kind]
        for lesson in (item for item in found if item.id == self.id):
            record: Any = getattr(lesson, "record", None)
            if record is None:
                continue
            for pid in self.predictions:
                if pid in record.guesses:
                    when = "before reveal" if record.before(pid) else "after reveal"
                    guess = record.revealed.get(pid) if record.before(pid) else None
                    says = str(record.guesses[pid] if guess is None else guess)
                    self.guesses[pid] = {"state": when, "says": says[:WORDS]}
            for cid, points in list(record.points.items()):
                made = ", ".join(map(str, points)) or "none"
                self.assessed[str(cid)] = f"points that the text makes, by its writer: {made}"

    def look_at(self, cid: str) -> Said:
        """Judge one exercise by the variable that it asks for; once correct, it stays so."""
        if self.states.get(cid, {}).get("state") == "Correct":
            return self.states[cid]
        check = self.checks[cid]
        try:
            with time_limit(self.seconds):
                said = check.look_at(cid, self.namespace.get(check.variable, self.missing))
            state, says = str(said.state), said.text
        except TimeUp:
            state, says = "Wrong kind", f"the check did not end within {self.seconds:.0f} s."
        except BaseException as error:
            state, says = "Wrong kind", f"the check was stopped by {type(error).__name__}."
        if cid in self.assessed and self.checks[cid].rubric and state == "Compare":
            state, says = "Self-assessed", self.assessed[cid]
        self.states[cid] = {"state": state, "says": says[:WORDS]}
        return self.states[cid]

    def write(self, path: str) -> None:
        """Judge all exercises; each verdict is written before the next check runs."""
        from calibkit_course.learn.forecasts import kept_log

        with open(path, "w", encoding="utf-8") as file:

            def say(kind: str, item: str, **more: str) -> None:
                file.write(json.dumps({"kind": kind, "item": item, **more}) + "\n")
                file.flush()

            say("predictions", str(len(self.predictions)))
            for pid, note in self.guesses.items():
                say("guess", pid, **note)
            for name, row in kept_log().rows.items():
                if row.right is not None:
                    right = f"{row.right:d}"
                    say("forecast", name, state=right, says=f"{row.sure:g}", task=f"{row.options}")
            for cid, check in self.checks.items():
                ended = {"state": "Wrong kind", "says": f"{DIED} while this answer was checked."}
                if cid not in self.left_out:
                    say("judging", cid)
                said = ended if cid in self.left_out else self.look_at(cid)
                say("exercise", cid, task=check.task, **said)
            say("end", "")


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop what runs longer, where the platform has alarms."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def without_network() -> None:
    """Make every attempt to reach another computer fail at once, with a sentence."""
    import socket

    def refuse(*_: object, **__: object) -> Any:
        raise OSError("there is no network while a workbook is graded")

    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        setattr(socket, name, refuse)
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, refuse)


def start(options: Said) -> None:
    """Begin to watch; the first thing that the kernel executes."""
    from IPython import get_ipython

    judge = Judge(**options)
    shell = get_ipython()
    judge.namespace = shell.user_ns
    without_network()
    shell.events.register("post_run_cell", judge.after)
