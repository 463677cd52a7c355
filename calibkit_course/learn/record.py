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
from pathlib import Path
from typing import Any

from calibkit_course.learn import messages
from calibkit_course.learn.messages import State

BROWSER_DRIVE = "/drive"  # where JupyterLite keeps a reader's files
_TABLES = ("guesses", "revealed", "states", "points")


class Record:
    """The four tables of one lesson; with a path they are read from there and kept there."""

    def __init__(self, path: Path | None = None) -> None:
        self.guesses: dict[str, Any] = {}
        self.revealed: dict[str, Any] = {}
        self.states: dict[str, State] = {}
        self.points: dict[str, Any] = {}
        self.path = path
        self._load()

    def note(self, table: str, key: str, value: Any) -> None:
        """Put an entry into a table, and keep it; what another kernel kept stays."""
        self._load()
        getattr(self, table)[key] = value
        if self.path is None:
            return
        text = json.dumps({name: getattr(self, name) for name in _TABLES}, indent=1)
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(exist_ok=True)
            draft.write_text(text + "\n", encoding="utf-8")
            draft.replace(self.path)  # at once, so that nobody reads half a file
        except OSError as error:
            self._give_up(error)

    def before(self, pid: str) -> bool:
        """Tell whether a guess stood when the outcome was shown, or still waits for it."""
        return pid in self.guesses and self.revealed.get(pid, ...) is not None

    def _load(self) -> None:
        if self.path is None:
            return
        try:
            tables = json.loads(self.path.read_text(encoding="utf-8"))
            found = {name: dict(tables[name]) for name in _TABLES}
            if not all(isinstance(guess, str | float | int) for guess in found["guesses"].values()):
                raise TypeError
            found["states"] = {cid: State(value) for cid, value in found["states"].items()}
            found["points"] = {cid: tuple(map(int, some)) for cid, some in found["points"].items()}
        except FileNotFoundError:
            return
        except OSError as error:
            self._give_up(error)
        except (ValueError, KeyError, TypeError):
            self._set_aside(self.path)
        else:
            for name, table in found.items():
                getattr(self, name).update(table)

    def _set_aside(self, path: Path) -> None:
        """Keep a file that nobody can read under another name, and say so."""
        other = path.with_suffix(".damaged.json")
        try:
            path.replace(other)
        except OSError as error:
            self._give_up(error)
        else:
            print(messages.DAMAGED.format(path=path, other=other.name))

    def _give_up(self, error: OSError) -> None:
        print(messages.NOT_KEPT.format(path=self.path, reason=error.strerror or error))
        self.path = None


def kept(lesson: str) -> Record:
    """Return the record of a lesson, from its file where a workbook is open."""
    folder = os.environ.get("CALIBKIT_WORKBOOK", "")
    if not folder and sys.platform == "emscripten" and os.path.isdir(BROWSER_DRIVE):
        folder = BROWSER_DRIVE
    return Record(Path(folder, ".progress", f"{lesson}.json") if folder else None)
