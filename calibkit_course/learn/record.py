"""What a learner has done in one lesson, and the small file that keeps it over restarts.

The file is ``.progress/NN.json`` in the folder that the variable ``CALIBKIT_WORKBOOK`` names, or in
the drive of a notebook that runs in the browser; elsewhere nothing is stored. It holds four
tables: ``guesses`` by prediction; ``revealed``, the guess that stood when an outcome was first
shown, null where there was none; ``states`` by exercise; and ``points``, what learners find in
their own texts.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from calibkit_course.learn import messages
from calibkit_course.learn.messages import State

BROWSER_DRIVE = "/drive"  # where JupyterLite keeps a reader's files
_TABLES = ("guesses", "revealed", "states", "points")
_COMPLAINED: set[Path] = set()  # folders that could not be written
_T = TypeVar("_T")


class Store:
    """One file of a learner, which is read and written whole; without a path there is none.

    What nobody can read is set aside under a name that no file has yet, and named once. A place
    that cannot be written is named once, and then left alone.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def read(self, reader: Callable[[str], _T]) -> _T | None:
        """Return what a reader makes of the file, or None where there is no file for it."""
        if self.path is None:
            return None
        try:
            return reader(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except OSError as error:
            self._give_up(error)
        except (ValueError, KeyError, TypeError, RecursionError):
            self._set_aside(self.path)
        return None

    def write(self, text: str) -> None:
        """Replace the file at once, so that nobody reads half of it."""
        if self.path is None:
            return
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(exist_ok=True)
            draft.write_text(text, encoding="utf-8")
            draft.replace(self.path)
        except OSError as error:
            self._give_up(error)

    def _set_aside(self, path: Path) -> None:
        names = (f".damaged{number}{path.suffix}" for number in ("", *range(2, 1000)))
        free = (path.with_suffix(name) for name in names)
        other = next(other for other in free if not other.exists())
        try:
            path.rename(other)
        except OSError as error:
            self._give_up(error)
        else:
            print(messages.DAMAGED.format(path=path, other=other.name))

    def _give_up(self, error: OSError) -> None:
        assert self.path is not None
        if self.path.parent not in _COMPLAINED:
            print(messages.NOT_KEPT.format(path=self.path, reason=error.strerror or error))
        _COMPLAINED.add(self.path.parent)
        self.path = None


class Record:
    """The four tables of one lesson; with a path they are read from there and kept there."""

    def __init__(self, path: Path | None = None) -> None:
        self.guesses: dict[str, Any] = {}
        self.revealed: dict[str, Any] = {}
        self.states: dict[str, State] = {}
        self.points: dict[str, Any] = {}
        self._store = Store(path)
        self._load()

    def note(self, table: str, key: str, value: Any) -> None:
        """Put an entry into a table, and keep it; what another kernel kept stays."""
        self._load()
        getattr(self, table)[key] = value
        self._store.write(
            json.dumps({name: getattr(self, name) for name in _TABLES}, indent=1) + "\n"
        )

    def before(self, pid: str) -> bool:
        """Tell whether a guess stood when the outcome was shown, or still waits for it."""
        return pid in self.guesses and self.revealed.get(pid, ...) is not None

    def _load(self) -> None:
        for name, table in (self._store.read(_read_tables) or {}).items():
            getattr(self, name).update(table)


def _read_tables(text: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a file; a file that holds anything else raises."""
    tables = json.loads(text)
    found = {name: dict(tables[name]) for name in _TABLES}
    if not all(map(_is_guess, found["guesses"].values())):
        raise TypeError
    found["states"] = {cid: State(value) for cid, value in found["states"].items()}
    found["points"] = {cid: tuple(map(int, some)) for cid, some in found["points"].items()}
    return found


def _is_guess(found: Any) -> bool:
    """Tell whether something is an answer, or the heights of a line."""
    heights = found if isinstance(found, list) and found else [found]
    kinds = float | int if isinstance(found, list) else str | float | int
    return all(isinstance(one, kinds) for one in heights)


def workbook() -> Path | None:
    """Return the folder of a learner's progress, or None outside a workbook."""
    folder = os.environ.get("CALIBKIT_WORKBOOK", "")
    if not folder and sys.platform == "emscripten" and os.path.isdir(BROWSER_DRIVE):
        folder = BROWSER_DRIVE
    return Path(folder, ".progress") if folder else None


def kept(lesson: str) -> Record:
    """Return the record of a lesson, from its file where a workbook is open."""
    folder = workbook()
    return Record(folder / f"{lesson}.json" if folder else None)
