"""Short questions at the end of a lesson: something is said to each answer, at once."""

from dataclasses import dataclass
from typing import Any

from calibkit.learn import answers, messages


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
            raise ValueError(f"{self.id} needs one right answer")

    @property
    def right(self) -> Option:
        """The one right answer."""
        return next(option for option in self.options if option.right)

    @property
    def lines(self) -> tuple[str, ...]:
        """The question and its lettered options, as they are read."""
        unit = messages.IN_UNIT.format(unit=self.unit) if self.unit else ""
        question = messages.QUESTION.format(id=self.id, text=self.text + unit)
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
