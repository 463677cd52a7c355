"""Twenty statements whose truth is certain, to forecast and be scored on. Lesson 01.

They are arithmetic, geography and physics that does not go out of date, half of them true.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.results import read_only
from calibkit_course.learn import answers
from calibkit_course.learn.forecasts import note_statements

SHEET_YOURS = "your answers"
SHEET_SAMPLE = "the sample forecaster's answers"
SHEET_NOT_A_LIST = (
    "give a list of {count} probabilities, one per statement, each from 0 to 1 "
    "(`...` skips a statement); this is {found}."
)
SHEET_LENGTH = "give {count} probabilities, one per statement; there are {found}."
SHEET_RANGE = "statement {number} has the answer {value}; give a probability from 0 to 1{remedy}."
SHEET_PERCENT = " (70 % is 0.70)"
SHEET_DESCRIBE = "{who}: {count} of {total} statements answered, {true} of them true."

# Statement, whether it is true, and what a fairly typical, too confident forecaster said.
_SHEET: tuple[tuple[str, bool, float], ...] = (
    ("Canberra is the capital of Australia.", True, 0.60),
    ("The Nile flows into the Red Sea.", False, 0.30),
    ("A square kilometre is 100 hectares.", True, 0.80),
    ("Venus is farther from the Sun than Earth is.", False, 0.10),
    ("91 is a prime number.", False, 0.90),
    ("Sound travels faster in water than in air.", True, 0.30),
    ("Reykjavik lies farther north than Oslo.", True, 0.70),
    ("A spider has six legs.", False, 0.10),
    ("The chemical symbol of potassium is P.", False, 0.70),
    ("A regular hexagon has angles of 120 degrees.", True, 0.90),
    ("The Amazon flows into the Pacific Ocean.", False, 0.20),
    ("Two to the power of ten is more than a thousand.", True, 0.90),
    ("Lisbon lies farther west than London.", True, 0.90),
    ("A year on Mars is shorter than a year on Earth.", False, 0.30),
    ("Diamond is a form of carbon.", True, 1.00),
    ("There are more than a million seconds in two weeks.", True, 0.40),
    ("The Great Barrier Reef lies off the coast of Brazil.", False, 0.00),
    ("Four fair coins are more likely than not to show exactly two heads.", False, 0.80),
    ("The speed of light is about 300,000 kilometres per second.", True, 0.80),
    ("Lead is lighter than aluminium, volume for volume.", False, 0.10),
)
STATEMENTS = tuple(statement for statement, _, _ in _SHEET)
TRUTH: NDArray[np.int64] = read_only(np.array([truth for _, truth, _ in _SHEET], dtype=np.int64))
SAMPLE: NDArray[np.float64] = read_only(np.array([said for _, _, said in _SHEET]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sheet:
    """Answered statements: whose, 1 where each is true, and the stated probability of it."""

    who: str
    y_true: NDArray[np.int64]
    y_prob: NDArray[np.float64]

    def describe(self) -> str:
        """Say whose answers these are and how many statements they cover."""
        return SHEET_DESCRIBE.format(
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
        return Sheet(who=SHEET_SAMPLE, y_true=TRUTH, y_prob=SAMPLE)
    note_statements("01", zip(rows + 1, stated[rows], TRUTH[rows] == 1, strict=True))
    return Sheet(who=SHEET_YOURS, y_true=read_only(TRUTH[rows]), y_prob=read_only(stated[rows]))


def _stated(mine: Any) -> NDArray[np.float64]:
    """Return 20 probabilities, NaN where the statement was skipped."""
    n = len(STATEMENTS)
    try:
        entries = answers.as_list(mine, "")
    except answers.WrongKind:
        found = answers.found(mine)
        raise ValueError(SHEET_NOT_A_LIST.format(count=n, found=found)) from None
    if len(entries) != n:
        raise ValueError(SHEET_LENGTH.format(count=n, found=len(entries)))
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
        remedy = SHEET_PERCENT if 1 < value <= 100 else ""
        shown = entry if isinstance(entry, int | float | str) else answers.found(entry)
        words = SHEET_RANGE.format(number=number, value=shown, remedy=remedy)
        raise ValueError(words)
    return value
