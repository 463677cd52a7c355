"""What an audit and a comparison have in common, and what both become: JSON, a file.

The page in HTML, with its figures, is made in `calibkit_audit.auditing.html`.
"""

import json
import math
import os
import platform
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from calibkit._version import __version__
from calibkit.results import Result, spell
from calibkit_audit.auditing.settings import QUESTIONS, SYMBOLS
from calibkit_audit.incoming import LEFT_OUT, Changes, changes_in_words
from calibkit_audit.saving import as_rows, finite, four_digits, write_whole


def today() -> str:
    """Return the date in universal time, as YYYY-MM-DD.

    >>> len(today())
    10
    """
    return time.strftime("%Y-%m-%d", time.gmtime())


def command_in_words(command: Sequence[str], paths: Sequence[str]) -> str:
    """Return a command without the folders of these files: they say nothing about the data."""
    words = shlex.join(command)
    for path in paths:
        words = words.replace(shlex.quote(path), shlex.quote(file_name(path)))
    return words


def file_name(path: str) -> str:
    """Return the name of a file, which may be in any encoding, as text."""
    return os.fsencode(Path(path).name).decode("utf-8", "replace")


def list_names(names: Sequence[str], most: int = 8) -> str:
    """Return names in a row, so many of them at most.

    >>> list_names(["a", "b"]), list_names(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e, f, g, h')
    >>> list_names([f"p{k}" for k in range(10)])
    'p0, p1, p2, p3, p4, p5, p6, p7 and 2 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def as_columns(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, NDArray[Any]]:
    """Return rows as columns by their names."""
    return dict(zip(heads, map(np.array, zip(*rows, strict=True)), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Listing(Result):
    """A table with a sentence: `sentence`, and `columns`, a mapping from names to arrays."""

    sentence: str
    columns: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, sentence: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> "Listing":
        """Return a table of rows."""
        return cls(sentence=sentence, columns=as_columns(heads, rows))

    def describe(self) -> str:
        """Return the sentence."""
        return self.sentence

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return self.columns


COUNTED = "counted from 0"  # how rows are named


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One question of the audit with its answer.

    Parameters
    ----------
    topic : str
        The question, e.g. ``"data"``.
    verdict, sentence : str
        The answer as a code, e.g. ``"miscalibrated"``, and in words, with its uncertainty.
    light : {"good", "caution", "bad", "unknown"}
    numbers : mapping from str to float
        The numbers in the sentence.
    also : str
        A second code, as of a model that is over-forecast and over-confident; else empty.
    """

    topic: str
    verdict: str
    light: str
    sentence: str
    numbers: Mapping[str, float]
    also: str = ""

    @property
    def question(self) -> str:
        """The question in words."""
        return QUESTIONS[self.topic]

    @property
    def symbol(self) -> str:
        """The symbol of the light."""
        return SYMBOLS[self.light]

    def line(self) -> str:
        """Return symbol, verdict and sentence."""
        return f"{self.symbol} {self.verdict}: {self.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for JSON; NaN and infinity become None."""
        texts = ("topic", "question", "verdict", "light", "sentence")
        numbers = {name: finite(value) for name, value in self.numbers.items()}
        return {name: getattr(self, name) for name in texts} | {"numbers": numbers}


def _versions() -> dict[str, str]:
    """Return the versions of what computes."""
    others = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"calibkit": __version__, **others, "Python": platform.python_version()}


def _pages() -> Any:
    """Return what draws figures and makes pages: the one part that needs matplotlib."""
    try:
        from calibkit_audit.auditing import html
    except ImportError as error:
        raise ImportError(
            "figures need matplotlib (pip install matplotlib); text() works without it."
        ) from error
    return html


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Report(Result):
    """What an audit and a comparison have in common: enough for every page.

    Parameters
    ----------
    title, headline, light : str
        What was looked at, and the verdict in one line with its light (as in `Answer`).
    n, n_classes, view : int, int and str
        Predictions, classes, and the events in words.
    notes : tuple of str
        Methods, and what went wrong on the way.
    versions : mapping from str to str
    answers, findings : tuple of Answer
        Of an audit the six answers, in order, and what was found beside them.
    promise, advice : str
        What the level of the test means, and what the findings mean for a person who decides.
    command, date : str
        The command that was given, if there was one, and the day of the report.
    """

    further: ClassVar[tuple[str, ...]]  # names of what else stands in `to_dict`

    title: str = ""
    headline: str = ""
    light: str = "unknown"
    n: int
    n_classes: int
    view: str
    notes: tuple[str, ...]
    versions: Mapping[str, str] = field(default_factory=_versions)
    answers: tuple[Answer, ...] = ()
    findings: tuple[Answer, ...] = ()
    promise: str = ""
    advice: str = ""
    command: str = ""
    date: str = field(default_factory=today)

    def __bool__(self) -> bool:
        raise TypeError(
            "a report is neither true nor false; ask for what you mean: "
            "'miscalibrated' in report.codes."
        )

    @property
    def symbol(self) -> str:
        """The symbol of the light."""
        return SYMBOLS[self.light]

    @property
    def size(self) -> str:
        """How much was looked at, in two sentences."""
        return f"{spell(self.n, 'prediction')}, {self.n_classes} classes. Events: {self.view}."

    def with_changes(self, changes: Changes) -> Self:
        """Return a report that says, at its head and in its notes, what was done to rows."""
        said = changes_in_words(changes)
        among = f"{COUNTED} among those that are left" if changes[LEFT_OUT] else COUNTED
        found = [replace(a, sentence=a.sentence.replace(COUNTED, among)) for a in self.findings]
        title, notes = f"{self.title} ({said})", (f"Rows: {said}.", *self.notes)
        return replace(self, title=title, notes=notes, findings=tuple(found)) if said else self

    @property
    def origin(self) -> list[str]:
        """Where the report comes from, in lines: date, command, versions."""
        known = [f"command: {self.command}"] if self.command else []
        software = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return [f"date: {self.date}", *known, f"versions: {software}"]

    @property
    def codes(self) -> frozenset[str]:
        """What a pipeline can act on."""
        raise NotImplementedError

    @property
    def tables(self) -> dict[str, Result]:
        """The tables of the report, by name; groups only where they were given."""
        raise NotImplementedError

    @property
    def numbered(self) -> list[tuple[str, Answer]]:
        """Findings, which have no number, and the answers behind theirs."""
        answers = [(f"{number}. ", one) for number, one in enumerate(self.answers, start=1)]
        return [("", one) for one in self.findings] + answers

    def figures(self) -> dict[str, Any]:
        """Return fresh figures by name; their alt texts come from `calibkit.plot.alt_text`."""
        return dict(_pages().figures_of(self))

    def to_dict(self) -> dict[str, Any]:
        """Return verdicts, sentences and numbers for JSON; NaN and infinity become None."""
        names = ("title", "headline", "light", "n", "n_classes", "view", "promise", "advice")
        given = {name: getattr(self, name) for name in (*names, *self.further)}
        found = {k: list(one) if isinstance(one, tuple) else one for k, one in given.items()}
        found |= {"codes": sorted(self.codes), "notes": list(self.notes)}
        found |= {"answers": [one.to_dict() for one in self.answers]}
        found |= {"findings": [one.to_dict() for one in self.findings]}
        found |= {name.lower(): _records(table) for name, table in self.tables.items()}
        return found | {"date": self.date, "command": self.command, "versions": self.versions}

    def to_json(self) -> str:
        """Return the report as JSON in ASCII; NaN and infinity become null."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=True, allow_nan=False)

    def to_html(self) -> str:
        """Return one self-contained page, figures included."""
        return str(_pages().page(self))

    def save(self, path: str | Path) -> Path:
        """Write the report to a file: .html or .json, whole or not at all.

        The folder must exist; a file that is there is replaced and keeps its permissions.

        Raises
        ------
        ValueError
            If the name ends otherwise, or names a folder, a device, or a folder that is not there.
        """
        kinds = {".html": self.to_html, ".json": self.to_json}
        suffix = Path(path).suffix.lower()
        if suffix not in kinds:
            raise ValueError(f"{str(path)!r} must end in .html or .json, to say what it becomes.")
        return write_whole(path, kinds[suffix]())


def _records(table: Result) -> list[dict[str, Any]]:
    names, rows = as_rows(table)
    return [dict(zip(names, map(finite, row), strict=True)) for row in rows]


def in_digits(value: float) -> str:
    """Return a mean in [0, 1] with three digits, near 0 or 1 with two that differ from it.

    >>> [in_digits(mean) for mean in (0.5, 0.00056, 0.99944, 1.0)]
    ['0.500', '0.00056', '0.99944', '1.000']
    """
    rest = min(value, 1 - value)
    least = 1 - math.floor(math.log10(rest)) if rest > 0 else 0
    return f"{value:.{max(3, min(least, 12))}f}"


def interval_in_words(level: float, low: float, high: float) -> str:
    """Return an interval with its content in per cent, or that there is none."""
    if math.isnan(low):
        return "too few rows, or clusters, decide for an interval"
    return f"{100 * level:g} % interval {four_digits(low)} to {four_digits(high)}"
