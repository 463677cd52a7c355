"""What a lesson module declares: checks with their hints, and predictions."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calibkit.learn import answers, messages
from calibkit.learn._feedback import Feedback, feedback
from calibkit.learn.messages import State

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<no answer>"})()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """An exercise's check.

    Parameters
    ----------
    task, variable : str
        The exercise in a few words, and the variable that its cell assigns.
    judge : callable
        ``judge(answer)`` returns None for a right answer and a pointed hint otherwise. It may
        also raise `Almost` or `WrongKind`; whatever else it raises becomes "wrong kind".
    hints : tuple of str
        At least two, from a nudge to nearly the answer.
    praise : str
        Said after "Correct".
    tolerance : float, optional
        Named in the feedback where numbers are compared.

    Examples
    --------
    >>> def judge(answer):
    ...     return None if answer == 0.5 else "think of a coin."
    >>> check = Check(task="Half", variable="half", judge=judge, hints=("one", "two"))
    >>> check.look_at("9.1", 0.4)
    Almost: think of a coin.
    """

    task: str
    variable: str
    judge: Callable[[Any], str | None]
    hints: tuple[str, ...]
    praise: str = messages.DONE
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if len(self.hints) < 2:
            raise ValueError(self.task)

    def look_at(self, name: str, answer: Any) -> Feedback:
        """Return feedback on an answer; never raises."""
        words = {"id": name, "variable": self.variable}
        if answer is MISSING:
            return feedback(State.NOT_DEFINED, messages.NO_ANSWER.format(**words))
        if answer is ...:
            return feedback(State.NOT_ATTEMPTED, messages.BLANK.format(**words))
        state, text = self._verdict(answer)
        if state is State.NOT_ATTEMPTED:
            text = messages.PARTLY_BLANK.format(**words)
        compared = self.tolerance is not None and state in (State.ALMOST, State.CORRECT)
        note = messages.TOLERANCE.format(tolerance=f"{self.tolerance:g}") if compared else ""
        return feedback(state, _ADDRESS.sub("", text), note)

    def _verdict(self, answer: Any) -> tuple[State, str]:
        try:
            if answers.has_blank(answer):
                raise answers.Unfinished
            problem = self.judge(answer)
        except answers.Unfinished:
            return State.NOT_ATTEMPTED, ""
        except answers.Almost as error:
            return State.ALMOST, str(error)
        except answers.WrongKind as error:
            return State.WRONG_KIND, str(error)
        except (Exception, SystemExit) as error:
            kind, message = type(error).__name__, answers.told(error)
            return State.WRONG_KIND, messages.RAISED.format(kind=kind, message=message)
        return (State.CORRECT, self.praise) if problem is None else (State.ALMOST, problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A question to be guessed before an experiment answers it.

    Parameters
    ----------
    question, why : str
        What is asked, and the explanation that is shown with the outcome.
    outcome : str or float
        What happens: one of the options, or a number.
    options : tuple of str
        The answers to choose from; empty where a number is asked, in `unit`.

    Examples
    --------
    >>> coin = Prediction(question="Which side?", options=("heads", "tails"), outcome="heads",
    ...                   why="It is bent.")
    >>> coin.compare(coin.read("Tails"), coin.outcome)
    'You guessed "tails": surprised?'
    """

    question: str
    why: str
    outcome: str | float
    options: tuple[str, ...] = ()
    unit: str = ""

    def __post_init__(self) -> None:
        if self.options and self.outcome not in self.options:
            raise ValueError(self.outcome)

    @property
    def choices(self) -> str:
        """The options as a learner types them."""
        return messages.OPTION_SEPARATOR.join(f'`"{option}"`' for option in self.options)

    @property
    def invitation(self) -> str:
        """What to do with the blank."""
        if self.options:
            return messages.REPLACE_BY_OPTION.format(options=self.choices)
        return messages.REPLACE_BY_NUMBER.format(unit=self.unit)

    def read(self, guess: Any) -> str | float | None:
        """Return a guess in plain form, or None where it is not one."""
        try:
            if self.options:
                return answers.as_option(guess, self.options)
            return answers.as_number(guess)
        except Exception:  # whatever was typed instead
            return None

    def refusal(self, guess: Any) -> str:
        """Say what is wrong with a guess that could not be read."""
        typed = f'`"{guess[:40]}"`' if type(guess) is str else answers.found(guess)
        if self.options:
            return messages.NOT_AN_OPTION.format(guess=typed, options=self.choices)
        return messages.NOT_A_NUMBER.format(guess=typed, unit=self.unit, example=10)

    def shown(self, value: str | float) -> str:
        """Return a guess or an outcome as it stands in a sentence."""
        return f'"{value}"' if isinstance(value, str) else f"{value:g} {self.unit}".strip()

    def compare(self, guess: str | float | None, outcome: str | float) -> str:
        """Put the guess beside the outcome."""
        if guess is None:
            return messages.NO_GUESS
        words = self.shown(guess)
        if isinstance(guess, str) or isinstance(outcome, str):
            right = guess == outcome
            form = messages.GUESSED_RIGHT if right else messages.GUESSED_WRONG
            return form.format(guess=words)
        if guess <= 0 or outcome <= 0:
            form = messages.GUESSED_RIGHT if guess == outcome else messages.GUESSED_SIDE
            return form.format(guess=words)
        factor = outcome / guess
        if 1 / _NEAR <= factor <= _NEAR:
            return messages.GUESSED_NEAR.format(guess=words)
        form = messages.GUESSED_LOW if factor > 1 else messages.GUESSED_HIGH
        return form.format(guess=words, factor=f"{max(factor, 1 / factor):.1f}")


_NEAR = 1.25
