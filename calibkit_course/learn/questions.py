"""The questions at the end of a lesson, from the file `questions.toml` in its folder."""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibkit_course.learn import answers, messages

COURSE = Path(__file__).resolve().parents[1]
# What an expression in a file may use beside the numbers that are given.
KNOWN = {name: getattr(math, name) for name in ("exp", "hypot", "log", "sqrt")} | {"round": round}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option, or one number: what a learner may answer, and what is said to it."""

    text: str
    says: str
    right: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with options, or with a number and slips; `tolerance` is None without numbers.

    Examples
    --------
    >>> five = Option(text="5", says="So many.", right=True)
    >>> Question(id="1", text="2 + 3?", options=(five,), tolerance=0).verdict("5")
    'Right. So many.'
    """

    id: str
    text: str
    options: tuple[Option, ...]
    tolerance: float | None = None
    unit: str = ""
    solution: str = ""

    def __post_init__(self) -> None:
        if sum(option.right for option in self.options) != 1:
            raise ValueError(messages.NOT_ONE_RIGHT.format(id=self.id))

    @property
    def right(self) -> Option:
        """The one right answer."""
        return next(option for option in self.options if option.right)

    @property
    def number(self) -> str:
        """Its number in the lesson; exercises have the other half of the id, too."""
        return self.id.rpartition(".")[2]

    @property
    def lines(self) -> tuple[str, ...]:
        """The question and its lettered options, as they are read."""
        asked = messages.IN_UNIT if self.unit else "{text}"
        text = asked.format(text=self.text, unit=self.unit)
        question = messages.QUESTION.format(number=self.number, text=text)
        return (question, *(f"{letter}. {one.text}" for letter, one in self._lettered().items()))

    def verdict(self, answer: Any) -> str:
        """Say how an answer stands; a letter or a number is read. Never raises."""
        try:
            chosen = self._chosen(answer)
        except Exception:  # whatever was typed instead
            wanted = messages.LETTER if self.tolerance is None else messages.NUMBER
            return messages.WANTED.format(found=answers.found(answer), wanted=wanted)
        if chosen is None:
            return messages.ANOTHER_NUMBER
        if not chosen.right:
            return messages.QUESTION_WRONG.format(says=chosen.says)
        said = messages.QUESTION_RIGHT.format(says=chosen.says)
        return f"{said} {self.solution}".replace("**", "").strip()

    def _lettered(self) -> dict[str, Option]:
        return {} if self.tolerance is not None else dict(zip("abcdef", self.options, strict=False))

    def _chosen(self, answer: Any) -> Option | None:
        if self.tolerance is None:
            return self._lettered()[answers.as_option(answer, self._lettered())]
        given = answers.as_probability(answer)
        near = [o for o in self.options if answers.same(given, float(o.text), self.tolerance)]
        return next(iter(sorted(near, key=lambda option: not option.right)), None)


def read_questions(lesson: str, rng: np.random.Generator | None = None) -> tuple[Question, ...]:
    """Return the questions of a lesson, e.g. of ``"04"``, in order.

    By `rng` other numbers are drawn; then those alone are returned that have any to draw.
    """
    text = (COURSE / f"lesson{lesson}" / "questions.toml").read_text(encoding="utf-8")
    entries = [one for one in tomllib.loads(text)["question"] if rng is None or "given" in one]
    return tuple(question(**filled(entry, numbers_of(entry, rng))) for entry in entries)


def numbers_of(entry: dict[str, Any], rng: np.random.Generator | None = None) -> dict[str, float]:
    """Return what stands under `given`, and the answer: the first of each list, or another.

    What is no list is computed from the numbers above it.
    """
    numbers: dict[str, float] = {}
    for name, given in entry.get("given", {}).items():
        place = 0 if rng is None else int(rng.integers(1, len(given)))
        numbers[name] = computed(given, numbers) if isinstance(given, str) else given[place]
    return numbers | ({"answer": computed(entry["answer"], numbers)} if numbers else {})


def computed(expression: str, numbers: dict[str, float]) -> float:
    """Return the value of an expression of our files, without the dust of binary fractions."""
    value = float(f"{eval(expression, {'__builtins__': {}} | KNOWN | numbers):.9g}")
    return int(value) if value.is_integer() else value


def filled(part: Any, numbers: dict[str, float], key: str = "") -> Any:
    """Return an entry with numbers for their names; nothing changes where none are given."""
    if isinstance(part, dict):
        return {name: filled(one, numbers, name) for name, one in part.items() if name != "given"}
    if isinstance(part, list):
        return [filled(one, numbers) for one in part]
    if not isinstance(part, str) or not numbers:
        return part
    return computed(part, numbers) if key in ("answer", "value") else part.format(**numbers)


def question(
    *,
    id: str,
    text: str,
    solution: str = "",
    options: list[dict[str, Any]] | None = None,
    answer: float | None = None,
    tolerance: float | None = None,
    unit: str = "",
    right: str = "",
    slips: list[dict[str, Any]] | None = None,
) -> Question:
    """Return a question as it stands in a file; an unknown or missing entry raises."""
    if options is not None:
        if answer is not None:
            raise ValueError(messages.OPTIONS_AND_NUMBER.format(id=id))
        given = [Option(**option) for option in options]
    else:
        if answer is None or tolerance is None:
            raise ValueError(messages.NO_ANSWER_GIVEN.format(id=id))
        given = [Option(text=f"{answer:g}", says=right, right=True)]
        given += [Option(text=f"{slip['value']:g}", says=slip["says"]) for slip in slips or []]
    return Question(id=id, text=text, options=tuple(given), tolerance=tolerance, unit=unit,
                    solution=solution)  # fmt: skip
