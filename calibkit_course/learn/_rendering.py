"""How a message looks: plain text in a terminal, a box with words and a symbol in a page."""

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from html import escape

from calibkit_course.learn import messages
from calibkit_course.learn.messages import State

_WIDTH = 92
_CODE = re.compile(r"`([^`]+)`")

# Mid-tones: every border has a contrast of at least 3 against white and against a dark page.
_BORDERS = {
    State.NOT_DEFINED: "#5b8db8",
    State.NOT_ATTEMPTED: "#8a8a8a",
    State.WRONG_KIND: "#d9534f",
    State.ALMOST: "#c9780a",
    State.CORRECT: "#2e9e6b",
    State.COMPARE: "#5b8db8",
    State.SELF_ASSESSED: "#2e9e6b",
}
_NOTE_BORDER = "#5b8db8"
_BOX = "border-left: 0.35em solid {border}; padding: 0.3em 0.9em; margin: 0.3em 0; color: inherit"
_LEFT = 'style="text-align: left; padding: 0.2em 1.2em 0.2em 0"'
# A page's own colour for code may vanish on the background that the page gives to an output.
_INLINE = '<code style="color: inherit; background: none; border: 0; padding: 0">'


@dataclass(frozen=True, slots=True, repr=False)
class Message:
    """A heading and one or more paragraphs."""

    heading: str  # who speaks, e.g. "Prediction 1a"
    paragraphs: tuple[str, ...]  # what is said; text in backticks is code
    symbol: str  # what HTML shows before the heading

    @property
    def text(self) -> str:
        """All paragraphs as one text."""
        return " ".join(self.paragraphs)

    def __repr__(self) -> str:
        first, *others = self.paragraphs
        fill = partial(textwrap.fill, break_long_words=False, break_on_hyphens=False)
        parts = [(f"{self.heading}: {first}", ""), *((part, "  ") for part in others)]
        return "\n".join(
            fill(part, _WIDTH, initial_indent=indent, subsequent_indent="  ")
            for part, indent in parts
        )

    def _repr_html_(self) -> str:
        return _box(self.symbol, self.heading, self.paragraphs, _NOTE_BORDER, "note")


@dataclass(frozen=True, slots=True, repr=False)
class Feedback(Message):
    """What a check says about an answer: a message with one of the states as its heading."""

    state: State
    points: tuple[int, ...] | None = None  # what learners find in their own text, once they say so

    def _repr_html_(self) -> str:
        return _box(self.symbol, self.heading, self.paragraphs, _BORDERS[self.state], "status")


def feedback(state: State, *paragraphs: str, points: tuple[int, ...] | None = None) -> Feedback:
    """Return feedback; empty paragraphs are left out."""
    kept = tuple(paragraph for paragraph in paragraphs if paragraph)
    return Feedback(state.value, kept, messages.SYMBOLS[state], state, points)


def _box(symbol: str, heading: str, paragraphs: tuple[str, ...], border: str, role: str) -> str:
    first, *others = [_CODE.sub(rf"{_INLINE}\1</code>", escape(part)) for part in paragraphs]
    title = f'<span aria-hidden="true">{symbol}</span> <strong>{escape(heading)}:</strong>'
    body = "".join(f"<br>{part}" for part in others)
    return f'<div role="{role}" style="{_BOX.format(border=border)}">{title} {first}{body}</div>'


def _html_rows(rows: Iterable[tuple[str, ...]]) -> str:
    """Return the rows of an HTML table."""
    lines = ("".join(f"<td {_LEFT}>{escape(cell)}</td>" for cell in row) for row in rows)
    return "".join(f"<tr>{line}</tr>" for line in lines)


@dataclass(frozen=True, slots=True, repr=False)
class Progress:
    """The exercises of a lesson with their states: one row of id, state and task each.

    Each sentence of the summary names what it counts, which a page counts again. In place of the
    state of an exercise, `notes` may say how far it is.
    """

    title: str
    summary: Mapping[str, list[str]]
    rows: tuple[tuple[str, State, str], ...]
    notes: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        lines = [f"{name:<10}{said:<17}{task}" for name, said, task in self._table()]
        return "\n".join([self.title, *lines, *self.summary])

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        headings = "".join(f'<th scope="col" {_LEFT}>{name}</th>' for name in head)
        counts = "".join(
            f'<p data-counts="{" ".join(ids)}">{escape(said)}</p>'
            for said, ids in self.summary.items()
        )
        return (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{headings}</tr></thead>"
            f"<tbody>{_html_rows(rows)}</tbody></table>{counts}"
        )

    def _table(self) -> list[tuple[str, str, str]]:
        marked = [
            (name, f"{messages.SYMBOLS[state]} {self.notes.get(name, state)}", task)
            for name, state, task in self.rows
        ]
        heads = messages.PROGRESS_EXERCISE, messages.PROGRESS_STATE, messages.PROGRESS_TASK
        return [heads, *marked]
