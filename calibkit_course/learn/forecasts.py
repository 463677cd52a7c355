"""A learner's forecasts: guesses that say how sure they are, in one small CSV file.

Each line has a name, e.g. ``4a``; the number of options k; how sure the learner was, from 1/k to 1;
and whether the guess came true, empty until the outcome is shown. A number counts as right within a
factor of 1.25, and its k is 2: within or not. The file is ``.progress/forecasts.csv`` in a
workbook; outside of one forecasts last as long as the session. The book keeps the same lines in the
reader's browser.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.results import Result, spell
from calibkit_course.learn import messages
from calibkit_course.learn.record import Store, workbook

COLUMNS = ("forecast", "options", "sure", "right")
STAND_IN = Path(__file__).with_name("stand_in.csv")
LARGEST = 0.99  # who says 1 and is wrong once pays without limit
_MOST_OPTIONS = 20


@dataclass(frozen=True, slots=True)
class Forecast:
    """One guess: how many options it had, how sure its maker was, whether it came true."""

    options: int
    sure: float
    right: bool | None = None


def least_sure(options: int) -> float:
    """Return the smallest confidence in one of several options: 1/k, in whole per cent below.

    >>> least_sure(3)
    0.33
    """
    return 100 // options / 100


def read_sure(sure: Any, options: int) -> tuple[float | None, str]:
    """Return a stated confidence, or None and what is wrong with it; `options` is 0 for a number.

    >>> read_sure(0.7, 2), read_sure(70, 2)[1][:31]
    ((0.7, ''), '`sure=70` looks like per cent; ')
    """
    shown = f"`sure={sure!r:.20}`" if isinstance(sure, str | int | float) else "`sure`"
    number = not isinstance(sure, bool | np.bool_ | str | bytes)
    try:
        value = float(sure) if number else float("nan")
    except Exception:  # whatever was typed instead
        value = float("nan")
    least = least_sure(options) if options else 0.01
    if least <= value <= LARGEST:
        return value, ""
    said = messages.SURE_NO_NUMBER
    if least <= value / 100 <= LARGEST:
        said = messages.SURE_PER_CENT
    elif value > LARGEST:
        said = messages.SURE_TOO_LARGE
    elif 0 <= value < least:
        said = messages.SURE_BELOW_CHANCE if options else messages.SURE_TOO_SMALL
    words = {"sure": shown, "share": f"{value / 100:g}", "options": options, "least": least}
    return None, said.format(**words, largest=LARGEST)


class Log:
    """Forecasts by name, in the order in which they were made; with a path they are kept there."""

    def __init__(self, path: Path | None = None) -> None:
        self.rows: dict[str, Forecast] = {}
        self._store = Store(path)
        self.load()

    def load(self) -> None:
        """Take in what the file holds by now: another lesson may have added to it."""
        found = self._store.read(read_rows)
        self.rows.update(found or {})

    def note(self, rows: Mapping[str, Forecast | None]) -> None:
        """Note forecasts by name, or take those back that are None. What is decided, stands."""
        self.load()
        before = dict(self.rows)
        for name, row in rows.items():
            if name in before and before[name].right is not None:
                continue
            if row is None:
                self.rows.pop(name, None)
            else:
                self.rows[name] = row
        if self.rows != before or any(rows.values()):
            self._store.write(as_csv(self.rows))

    def decide(self, name: str, right: bool) -> None:
        """Note whether a forecast that still waits came true."""
        row = self.rows.get(name)
        if row is not None and row.right is None:
            self.note({name: Forecast(row.options, row.sure, right)})


_LOGS: dict[Path | None, Log] = {}


def kept_log() -> Log:
    """Return the log of the workbook, or that of this session."""
    folder = workbook()
    path = folder / "forecasts.csv" if folder else None
    return _LOGS.setdefault(path, Log(path))


def as_csv(rows: Mapping[str, Forecast]) -> str:
    """Return the text of a file of forecasts."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, row in rows.items():
        right = "" if row.right is None else int(row.right)
        writer.writerow([name, row.options, f"{row.sure:g}", right])
    return text.getvalue()


def read_rows(text: str) -> dict[str, Forecast]:
    """Return the forecasts of a file.

    Raises
    ------
    ValueError
        If it is none; the message names the line, what stands there and what should.
    """
    lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    if not lines or tuple(lines[0]) != COLUMNS:
        found = ",".join(lines[0])[:60] if lines else ""
        raise ValueError(messages.CSV_HEAD.format(found=found, wanted=",".join(COLUMNS)))
    rows: dict[str, Forecast] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        problem = _problem(line, rows)
        if problem:
            raise ValueError(messages.CSV_LINE.format(line=number, problem=problem))
        name, options, sure, right = line
        rows[name] = Forecast(int(options), float(sure), bool(int(right)) if right else None)
    return rows


def _problem(line: list[str], rows: Mapping[str, Forecast]) -> str:
    """Say what is wrong with a line of a file; nothing if it is right."""
    if len(line) != len(COLUMNS):
        return messages.CSV_FIELDS.format(count=len(line), wanted=len(COLUMNS))
    name, options, sure, right = line
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,20}", name) or name in rows:
        return messages.CSV_NAME.format(name=name[:30])
    if not re.fullmatch(r"[0-9]{1,2}", options) or not 2 <= int(options) <= _MOST_OPTIONS:
        return messages.CSV_OPTIONS.format(found=options[:30], most=_MOST_OPTIONS)
    if not re.fullmatch(r"[01]|[01]?\.[0-9]{1,6}", sure) or not 0 < float(sure) <= 1:
        return messages.CSV_SURE.format(found=sure[:30])
    return "" if right in ("", "0", "1") else messages.CSV_RIGHT.format(found=right[:30])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Forecasts(Result):
    """Forecasts with known outcomes, in the order in which they were made.

    Parameters
    ----------
    name : ndarray of shape (n,)
        Of the prediction or statement, e.g. ``"4a"``.
    options : ndarray of shape (n,)
        Number of options k.
    sure : ndarray of shape (n,)
        The stated probability that the guess is right, in (0, 1].
    right : ndarray of shape (n,)
        1 where it was, else 0.
    stand_in : bool
        Whether these are the forecasts of a simulated learner.
    """

    name: NDArray[np.str_]
    options: NDArray[np.int64]
    sure: NDArray[np.float64]
    right: NDArray[np.int64]
    stand_in: bool = False

    @property
    def n(self) -> int:
        """Number of forecasts."""
        return len(self.name)

    @property
    def lesson(self) -> NDArray[np.str_]:
        """Number of each forecast's lesson, in two digits; empty where the name says none."""
        found = [re.match(r"\d+", name) for name in self.name.tolist()]
        return np.array([one.group().zfill(2) if one else "" for one in found], dtype=np.str_)

    def describe(self) -> str:
        """Say whose they are, and how many were right."""
        whose = messages.OWN_STAND_IN if self.stand_in else messages.OWN_YOURS
        return whose.format(n=spell(self.n, "forecast"), right=int(self.right.sum()))

    def to_csv(self, path: str | Path) -> None:
        """Write them to a file, which `import_forecasts` and the book's page can read."""
        rows = zip(self.options.tolist(), self.sure.tolist(), self.right.tolist(), strict=True)
        named = zip(self.name.tolist(), (Forecast(*row) for row in rows), strict=True)
        Path(path).write_text(as_csv(dict(named)), encoding="utf-8")

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in ("name", "options", "sure", "right")}


def as_forecasts(rows: Mapping[str, Forecast], *, stand_in: bool = False) -> Forecasts:
    """Return those of several forecasts whose outcome is known."""
    known = {name: row for name, row in rows.items() if row.right is not None}
    return Forecasts(
        name=np.array(list(known), dtype=np.str_),
        options=np.array([row.options for row in known.values()], dtype=np.int64),
        sure=np.array([row.sure for row in known.values()], dtype=np.float64),
        right=np.array([bool(row.right) for row in known.values()], dtype=np.int64),
        stand_in=stand_in,
    )


def my_forecasts(path: str | Path | None = None) -> Forecasts:
    """Return your forecasts: each guess that you gave with `sure`, once its outcome is known.

    The twenty statements of lesson 01 are among them. The arrays ``right`` and ``sure`` are what a
    measure takes as labels and probabilities. Lessons 04, 06, 08, 10, 11, 13 and 14 use them.

    Parameters
    ----------
    path : str or Path, optional
        A file of forecasts instead, from ``to_csv`` or from the book's page "Your calibration".

    Returns
    -------
    Forecasts
        Those of a simulated learner, marked as a stand-in, as long as you have none.

    Raises
    ------
    ValueError
        If the file is no file of forecasts; the message names the line.

    Examples
    --------
    >>> from calibkit_course.learn import STAND_IN
    >>> own = my_forecasts(STAND_IN)
    >>> own.n, int(own.right.sum()), own.sure[:3].tolist()
    (40, 24, [0.4, 0.95, 0.9])
    """
    if path is not None:
        return as_forecasts(read_rows(_text(path)), stand_in=Path(path) == STAND_IN)
    log = kept_log()
    log.load()
    mine = as_forecasts(log.rows)
    return mine if mine.n else my_forecasts(STAND_IN)


def import_forecasts(path: str | Path) -> str:
    """Add the forecasts of a file to yours, and say how many came; what you have stands.

    Raises
    ------
    ValueError
        If the file is no file of forecasts; the message names the line, and nothing is added.
    """
    log, found = kept_log(), read_rows(_text(path))
    log.load()
    new = {name: row for name, row in found.items() if name not in log.rows}
    log.note(new)
    return messages.IMPORTED.format(new=len(new), known=len(found) - len(new))


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(messages.CSV_NO_TEXT.format(path=path)) from None


def note_statements(lesson: str, said: Iterable[tuple[int, float, bool]]) -> None:
    """Note forecasts about numbered statements: how probable each was called, and whether it holds.

    The confidence is the probability of the likelier side; at one half that is "false", as in the
    view "top-label".
    """
    rows = {}
    for number, prob, truth in said:
        rows[f"{int(lesson)}-{number:02}"] = Forecast(2, max(prob, 1 - prob), (prob > 0.5) == truth)
    kept_log().note(rows)
