"""What stands in the kernel of a student's workbook: its limits, and the judge of its variables."""

import contextlib
import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from IPython.display import display

from calibkit_course import open_lesson
from calibkit_course.learn import Check
from calibkit_course.learn.exercises import MISSING

LARGEST_FILE = 256 * 2**20
WORDS = 300  # characters of a message that are kept
TEXT = 20 * WORDS  # and of a free text
CHECKS: dict[str, Check] = {}  # as they were before the first cell of the student


def begin(lesson: str, memory: float) -> None:
    """Take in the checks of a lesson; limit memory and files, where the platform can; be silent."""
    CHECKS.update(open_lesson(lesson, keep=False).checks)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        wanted = {resource.RLIMIT_AS: int(memory * 2**30), resource.RLIMIT_FSIZE: LARGEST_FILE}
        for limit, most in wanted.items():
            resource.setrlimit(limit, (most, most))
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        setattr(socket, name, refuse)
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, refuse)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def refuse(*_: object, **__: object) -> Any:
    """Make every attempt to reach another computer fail at once, with a sentence."""
    raise OSError("there is no network while a workbook is graded")


def judge(cid: str, namespace: Mapping[str, Any]) -> None:
    """Show what the check of an exercise says to the variable that it asks for."""
    check = CHECKS[cid]
    answer = namespace.get(check.variable, MISSING)
    said = check.look_at(cid, answer)
    found = {"state": str(said.state), "says": said.text[:WORDS]}
    text = answer[:TEXT] if check.rubric and isinstance(answer, str) else ""
    display({"application/json": found | {"text": text}}, raw=True)
