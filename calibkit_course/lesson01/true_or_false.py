"""Twenty statements whose truth is certain, to forecast and be scored on. Lesson 01.

They stand in `statements.toml`.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.results import read_only
from calibkit_course.learn import answers
from calibkit_course.learn.forecasts import note_statements
from calibkit_course.learn.words import read_words

SAY = read_words("01").say
_FILE = Path(__file__).with_name("statements.toml")
_SHEET = tomllib.loads(_FILE.read_text(encoding="utf-8"))["statements"]
STATEMENTS = tuple(row["says"] for row in _SHEET)
TRUTH: NDArray[np.int64] = read_only(np.array([row["true"] for row in _SHEET], dtype=np.int64))
SAMPLE: NDArray[np.float64] = read_only(np.array([row["sample"] for row in _SHEET]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sheet:
    """Answered statements: whose, 1 where each is true, and the stated probability of it."""

    who: str
    y_true: NDArray[np.int64]
    y_prob: NDArray[np.float64]

    def describe(self) -> str:
        """Say whose answers these are and how many statements they cover."""
        return SAY["described"].format(
            who=self.who[0].upper() + self.who[1:],
            count=len(self.y_true),
            total=len(STATEMENTS),
            true=int(self.y_true.sum()),
        )

    def __repr__(self) -> str:
        return f"<Sheet: {self.describe()}>"


def statements() -> str:
    """Return the statements as a numbered list."""
    return "\n".join(f"{number:>2}  {text}" for number, text in enumerate(STATEMENTS, start=1))


def sheet(mine: Any = ...) -> Sheet:
    """Put probabilities beside the truth, and note them among the learner's forecasts."""
    stated = np.array([]) if mine is ... else _stated(mine)
    rows = np.flatnonzero(~np.isnan(stated))
    if len(rows) == 0:
        return Sheet(who=SAY["sample"], y_true=TRUTH, y_prob=SAMPLE)
    note_statements("01", zip(rows + 1, stated[rows], TRUTH[rows] == 1, strict=True))
    return Sheet(who=SAY["yours"], y_true=read_only(TRUTH[rows]), y_prob=read_only(stated[rows]))


def _stated(mine: Any) -> NDArray[np.float64]:
    """Return 20 probabilities, NaN where the statement was skipped."""
    n = len(STATEMENTS)
    try:
        entries = answers.as_list(mine, "")
    except answers.WrongKind:
        found = answers.found(mine)
        raise ValueError(SAY["not a list"].format(count=n, found=found)) from None
    if len(entries) != n:
        raise ValueError(SAY["length"].format(count=n, found=len(entries)))
    stated = np.full(n, np.nan)
    for row, entry in enumerate(entries):
        if entry is not ...:
            stated[row] = _probability(entry, row + 1)
    return stated


def _probability(entry: Any, number: int) -> float:
    try:
        value = answers.as_probability(entry)
    except answers.WrongKind:
        value = float("nan")
    if not 0 <= value <= 1:
        remedy = f" {SAY['per cent sign']}" if 1 < value <= 100 else ""
        shown = entry if isinstance(entry, int | float | str) else answers.found(entry)
        words = SAY["range"].format(number=number, value=shown, remedy=remedy)
        raise ValueError(words)
    return value
