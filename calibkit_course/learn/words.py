"""What a lesson says: the file `words.toml` in its folder, to be edited and translated.

It holds the title of the lesson, its guesses, and its exercises with their hints and, under `say`,
the sentences of their judges. A line break inside a sentence is read as one blank.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from calibkit_course.learn import messages
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction, Rubric

COURSE = Path(__file__).resolve().parents[1]
LISTS = {"second", "hints", "points", "options", "tells", "x", "axes"}


class Sentences(dict[str, str]):
    """Sentences by their keys; one that is missing is named with its file."""

    def __init__(self, file: str) -> None:
        self.file = file

    def __missing__(self, key: str) -> str:
        """Say which key is missing, and where."""
        raise KeyError(messages.NO_SENTENCE.format(file=self.file, key=key))

    def add(self, table: Mapping[str, str]) -> None:
        """Add the sentences of one exercise; no key may stand twice in a lesson."""
        for key, sentence in table.items():
            if key in self or not isinstance(sentence, str):
                raise ValueError(messages.NOT_ONE_SENTENCE.format(key=key))
            self[key] = sentence


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one lesson."""

    file: str
    title: str
    second: tuple[str, ...]  # what the second notebook asks, e.g. "4.3" and "4d"
    say: Sentences
    exercises: Mapping[str, Any]
    predictions: Mapping[str, Prediction]

    def checks(self, judges: Mapping[str, Callable[[Any], str | None]]) -> dict[str, Check]:
        """Return the exercises, each with its judge; one with points to tick has none."""
        found = {}
        for name in dict.fromkeys((*self.exercises, *judges)):
            with _naming(self.file, name):
                found[name] = _check(judge=judges.get(name), **self.exercises.get(name, {}))
        return found


@cache
def read_words(lesson: str) -> Words:
    """Return the words of a lesson, e.g. of ``"04"``; an error names the file and the key."""
    file = f"lesson{lesson}/words.toml"
    return words_of((COURSE / file).read_text(encoding="utf-8"), file)


def words_of(text: str, file: str) -> Words:
    """Return the words that a text in TOML holds; `file` is how errors call it."""
    with _naming(file):
        return _words(file, **_joined(tomllib.loads(text)))


def _words(
    file: str, *, title: str, second: Any, exercise: Any, guess: Any, say: Any = None
) -> Words:
    sentences, predictions = Sentences(file), {}
    _check_lists({"second": second})
    sentences.add(say or {})
    for name, entry in exercise.items():
        with _naming(name):
            sentences.add(entry.pop("say", {}))
            _check_lists(entry)
    for name, entry in guess.items():
        with _naming(name):
            _check_lists(entry)
            kind = Drawing if "x" in entry else Prediction
            predictions[name] = kind(**entry)
    return Words(file, title, second, sentences, exercise, predictions)


def _check(*, points: tuple[str, ...] = (), model: str = "", **entry: Any) -> Check:
    return Check(rubric=Rubric(points=points, model=model) if points else None, **entry)


def _check_lists(entry: Mapping[str, Any]) -> None:
    for key, value in entry.items():
        if isinstance(value, tuple) != (key in LISTS):
            words = messages.LIST_WANTED if key in LISTS else messages.NO_LIST_WANTED
            raise ValueError(words.format(key=key))


@contextmanager
def _naming(*where: str) -> Iterator[None]:
    """Put before an error the file, the exercise or the guess in which it is found."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(": ".join((*where, str(error)))) from None


def _joined(part: Any) -> Any:
    """Return a part of a file with each sentence on one line, and tuples for lists."""
    if isinstance(part, dict):
        return {name: _joined(one) for name, one in part.items()}
    if isinstance(part, list):
        return tuple(_joined(one) for one in part)
    return messages.one_line(part) if isinstance(part, str) else part
