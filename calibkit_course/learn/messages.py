"""The catalogue: every word that the machinery of `calibkit_course.learn` says to a learner.

The sentences stand in the file `words.toml` beside it, and those of a lesson in the file of that
name in its folder; a translation replaces these files. ``messages.DONE`` is the sentence `DONE`.
No module of this room holds a sentence. Texts in backticks become code in HTML.
"""

import re
import tomllib
from enum import StrEnum
from pathlib import Path


class State(StrEnum):
    """The answers of a check, in words; the last two belong to exercises in free text."""

    NOT_DEFINED = "Not defined"
    NOT_ATTEMPTED = "Not attempted"
    WRONG_KIND = "Wrong kind"
    ALMOST = "Almost"
    CORRECT = "Correct"
    COMPARE = "Compare"
    SELF_ASSESSED = "Self-assessed"


SYMBOLS = {
    State.NOT_DEFINED: "∅",
    State.NOT_ATTEMPTED: "…",
    State.WRONG_KIND: "≠",
    State.ALMOST: "≈",
    State.CORRECT: "✓",
    State.COMPARE: "☐",
    State.SELF_ASSESSED: "☑",
}
NOTE_SYMBOLS = {"guess": "?", "outcome": "→", "hint": "☞"}


def one_line(text: str) -> str:
    """Return a sentence of a file on one line: each of its line breaks is a blank."""
    return re.sub("\n *", " ", text).lstrip(" ")


WORDS = {
    name: one_line(text)
    for name, text in tomllib.loads(
        Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
    ).items()
}


def __getattr__(name: str) -> str:
    """Return a sentence by its name."""
    if name not in WORDS:
        raise AttributeError(name)
    return WORDS[name]
