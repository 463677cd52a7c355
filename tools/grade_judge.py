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
REVEALED = re.compile(r"\.reveal\(\s*(?:pid\s*=\s*)?[\"'](\w+)[\"']")
DIED = "the process ended"
WORDS = 300  # characters of a message that are kept
Said = dict[str, Any]


class TimeUp(BaseException):
    """A check that does not end; no `except Exception` stops it."""


class Judge:
    """Watch the cells of one lesson, and say how each exercise stands."""

    def __init__(self, lesson: str, seal: str, seconds: float, left_out: list[str]) -> None:
        from calibkit.lessons import open_lesson

        opened = open_lesson(lesson)
        self.kind, self.id = type(opened), opened.id
        self.checks, self.predictions = dict(opened.checks), dict(opened.predictions)
        self.seal, self.seconds, self.left_out = seal, seconds, left_out
        self.namespace: dict[str, Any] = {}
        self.states: dict[str, Said] = {}
        self.guesses: dict[str, Said] = {}
        self.assessed: dict[str, str] = {}
        self.revealed: set[str] = set()

    def after(self, result: Any) -> None:
        """Take note of a cell that has run; the cell with the seal asks for the verdict."""
        source = str(result.info.raw_cell)
        token, _, path = source.removeprefix("# ").partition(" ")
        if hashlib.sha256(token.encode()).hexdigest() == self.seal:
            self.write(path.strip())
            return
        self.note_guesses()
        self.revealed.update(REVEALED.findall(source))
        if result.success:
            for cid in ASKED.findall(source):
                if cid in self.checks:
                    self.look_at(cid)

    def note_guesses(self) -> None:
        """Note what the learner's lesson knows: guesses, and what was assessed by themselves."""
        found = [item for item in list(self.namespace.values()) if type(item) is self.kind]
        for lesson in (item for item in found if item.id == self.id):
            for pid, guess in list(lesson._guesses.items()):
                when = "after reveal" if pid in self.revealed else "before reveal"
                if when == "before reveal" or pid not in self.guesses:
                    self.guesses[pid] = {"state": when, "says": str(guess)}
            for cid, state in list(lesson._states.items()):
                if str(state) == "Self-assessed":
                    self.assessed[cid] = self_assessment(lesson, cid)

    def look_at(self, cid: str) -> Said:
        """Judge one exercise by the variable that it asks for; once correct, it stays so."""
        if self.states.get(cid, {}).get("state") == "Correct":
            return self.states[cid]
        from calibkit.learn.exercises import MISSING

        check = self.checks[cid]
        try:
            with time_limit(self.seconds):
                said = check.look_at(cid, self.namespace.get(check.variable, MISSING))
            state, says = str(said.state), said.text
        except TimeUp:
            state, says = "Wrong kind", f"the check did not end within {self.seconds:.0f} s."
        except BaseException as error:
            state, says = "Wrong kind", f"the check was stopped by {type(error).__name__}."
        if cid in self.assessed and state != "Correct":
            state, says = "Self-assessed", self.assessed[cid]
        self.states[cid] = {"state": state, "says": says[:WORDS]}
        return self.states[cid]

    def write(self, path: str) -> None:
        """Judge all exercises; each verdict is written before the next check runs."""
        with open(path, "w", encoding="utf-8") as file:
            for kind, notes in (("guess", self.guesses), ("exercise", {})):
                for name, note in notes.items():
                    file.write(json.dumps({"kind": kind, "item": name, **note}) + "\n")
            for cid in self.checks:
                if cid in self.left_out:
                    says = f"{DIED} while this answer was checked."
                    said = {"state": "Wrong kind", "says": says}
                else:
                    file.write(json.dumps({"kind": "judging", "item": cid}) + "\n")
                    file.flush()
                    said = self.look_at(cid)
                task = self.checks[cid].task
                file.write(json.dumps({"kind": "exercise", "item": cid, "task": task} | said))
                file.write("\n")
                file.flush()
            file.write(json.dumps({"kind": "predictions", "item": str(len(self.predictions))}))


def self_assessment(lesson: Any, cid: str) -> str:
    """Return how many points of a rubric a learner has ticked, in words."""
    ticked = getattr(lesson, "_ticked", {}).get(cid)
    return "" if ticked is None else f"ticked {', '.join(map(str, ticked)) or 'nothing'}."


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
