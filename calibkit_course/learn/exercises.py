"""What a lesson module declares: checks with their hints, and predictions."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calibkit.results import spell
from calibkit_course.learn import answers, messages
from calibkit_course.learn._rendering import Feedback, feedback
from calibkit_course.learn.messages import State

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<no answer>"})()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """What a text may contain. The learner compares and says so; nobody grades the text.

    >>> rubric = Rubric(points=("It names the axes.", "It says n.", "It ends with the verdict."),
    ...                 model="Confidence across, accuracy up, 40 forecasts: over-confident.")
    >>> rubric.assess([1, 3]).paragraphs
    ('2 of 3 points, by your own reading. These are still missing:', '2. It says n.')
    """

    points: tuple[str, ...]  # three to six short sentences
    model: str  # a text that makes all of them

    def __post_init__(self) -> None:
        if not 3 <= len(self.points) <= 6:
            raise ValueError(messages.NOT_A_RUBRIC.format(count=len(self.points)))

    def judge(self, text: Any) -> str | None:
        """Say what keeps a text from being compared: it is none yet, or hardly one."""
        if not isinstance(text, str):
            raise answers.wrong_kind(text, messages.TEXT_WANTED)
        count = len(text.split())
        if not count:
            raise answers.Unfinished(messages.NO_TEXT)
        return (
            messages.FEW_WORDS.format(count=spell(count, "word")) if count < _FEWEST_WORDS else None
        )

    def look_at(self, name: str, text: str, contains: Any = MISSING) -> Feedback:
        """Show the points and the model answer, or note which points the text makes."""
        tick = messages.TICK.format(id=name, last=len(self.points))
        if contains is MISSING:
            count = messages.COMPARE.format(count=len(text.split()))
            model = messages.MODEL.format(model=self.model)
            return feedback(State.COMPARE, count, *self._numbered(), model, tick)
        return self.assess(contains) or feedback(State.COMPARE, tick)

    def assess(self, contains: Any) -> Feedback | None:
        """Note which points a text makes, by its writer's own reading; None where that is blank."""
        count = len(self.points)
        try:
            made = answers.as_picks(contains, count)
        except answers.Unfinished:
            return None
        except answers.WrongKind as error:
            return feedback(State.WRONG_KIND, str(error))
        missing = self._numbered(left_out=made)
        words = messages.STILL_MISSING if missing else messages.SELF_ASSESSED
        said = words.format(made=len(made), count=count)
        return feedback(State.SELF_ASSESSED, said, *missing, points=made)

    def _numbered(self, left_out: tuple[int, ...] = ()) -> list[str]:
        return [
            messages.POINT.format(number=number, point=point)
            for number, point in enumerate(self.points, start=1)
            if number not in left_out
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """An exercise's check: a judge, or for a free text, which its writer compares, a rubric.

    ``judge(answer)`` returns None for a right answer and a pointed hint otherwise. It may also
    raise `Almost` or `WrongKind`; whatever else it raises becomes "wrong kind".

    >>> def judge(answer):
    ...     return None if answer == 0.5 else "think of a coin."
    >>> check = Check(task="Half", variable="half", judge=judge, hints=("one", "two"))
    >>> check.look_at("9.1", 0.4)
    Almost: think of a coin.
    """

    task: str  # the exercise in a few words
    variable: str  # what its cell assigns
    judge: Callable[[Any], str | None] | None = None
    rubric: Rubric | None = None
    hints: tuple[str, ...]  # at least two, from a nudge to nearly the answer
    praise: str = messages.DONE  # said after "Correct"
    tolerance: float | None = None  # named in the feedback where numbers are compared

    def __post_init__(self) -> None:
        if len(self.hints) < 2 or (self.judge is None) == (self.rubric is None):
            raise ValueError(messages.NOT_AN_EXERCISE)

    def look_at(self, name: str, answer: Any, contains: Any = MISSING) -> Feedback:
        """Return feedback on an answer, or on what its writer says it contains; never raises."""
        words = {"id": name, "variable": self.variable}
        if answer is MISSING:
            return feedback(State.NOT_DEFINED, messages.NO_ANSWER.format(**words))
        if answer is ...:
            return feedback(State.NOT_ATTEMPTED, messages.BLANK.format(**words))
        if contains is not MISSING and self.rubric is None:
            return feedback(State.WRONG_KIND, messages.NOTHING_TO_TICK.format(**words))
        state, text = self._verdict(answer)
        if state is State.CORRECT and self.rubric is not None:
            return self.rubric.look_at(name, answer, contains)
        if state is State.NOT_ATTEMPTED:
            text = text or messages.PARTLY_BLANK.format(**words)
        compared = self.tolerance is not None and state in (State.ALMOST, State.CORRECT)
        note = messages.TOLERANCE.format(tolerance=f"{self.tolerance:g}") if compared else ""
        return feedback(state, _ADDRESS.sub("", text), note)

    def _verdict(self, answer: Any) -> tuple[State, str]:
        judge: Any = self.judge or (self.rubric and self.rubric.judge)
        try:
            if answers.has_blank(answer):
                raise answers.Unfinished
            problem = judge(answer)
        except answers.Unfinished as error:
            return State.NOT_ATTEMPTED, str(error)
        except answers.Almost as error:
            return State.ALMOST, str(error)
        except answers.WrongKind as error:
            return State.WRONG_KIND, str(error)
        except (Exception, SystemExit) as error:
            kind, message = type(error).__name__, answers.told(error)
            return State.WRONG_KIND, messages.RAISED.format(kind=kind, message=message)
        return (State.CORRECT, self.praise) if problem is None else (State.ALMOST, problem)


def _bare(guess: Any) -> Any:
    """Return a guess without what need not be typed: 60 for "60 %", and 10 for "about 10"."""
    if not isinstance(guess, str):
        return guess
    return guess.strip().casefold().removeprefix("about").removesuffix("%").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A question to be guessed before an experiment answers it.

    >>> coin = Prediction(question="Which side?", options=("heads", "tails"), outcome="heads",
    ...                   why="It is bent.")
    >>> coin.compare(coin.read("Tails"), coin.outcome)
    'You guessed "tails": surprised?'
    """

    question: str
    why: str  # shown with the outcome
    outcome: str | float  # what happens: one of the options, or a number
    options: tuple[str, ...] = ()  # to choose from; empty where a number is asked, in `unit`
    unit: str = ""
    tells: tuple[str, ...] = ()  # patterns of words that would tell it before; `tools.spoilers`

    def __post_init__(self) -> None:
        if self.options and self.outcome not in self.options:
            raise ValueError(messages.NOT_AN_OUTCOME.format(outcome=self.outcome))

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
                bare = {_bare(option): option for option in self.options}
                return bare[answers.as_option(_bare(guess), bare)]
            return answers.as_number(guess)
        except Exception:  # whatever was typed instead
            return None

    def refusal(self, guess: Any) -> str:
        """Say what is wrong with a guess that could not be read."""
        number = type(guess) in (int, float)
        plain = type(guess) is str or number
        typed = f"`{guess!r:.42}`".replace("'", '"') if plain else answers.found(guess)
        if self.options:
            return messages.NOT_AN_OPTION.format(guess=typed, options=self.choices)
        form = messages.NOT_POSSIBLE if number else messages.NOT_A_NUMBER
        return form.format(guess=typed, unit=self.unit)

    def shown(self, value: str | float) -> str:
        """Return a guess or an outcome as it stands in a sentence."""
        return f'"{value}"' if isinstance(value, str) else f"{value:g} {self.unit}".strip()

    def is_right(self, guess: str | float, outcome: str | float) -> bool:
        """Tell whether a guess is right: the option, or a number that is close enough."""
        if isinstance(guess, str) or isinstance(outcome, str):
            return guess == outcome
        close = guess > 0 < outcome and 1 / _NEAR <= outcome / guess <= _NEAR
        return close or self.shown(guess) == self.shown(outcome)

    def compare(self, guess: str | float | None, outcome: str | float) -> str:
        """Put the guess beside the outcome."""
        if guess is None:
            return messages.NO_GUESS
        words = self.shown(guess)
        if isinstance(guess, str) or isinstance(outcome, str):
            right = self.is_right(guess, outcome)
            form = messages.GUESSED_RIGHT if right else messages.GUESSED_WRONG
            return form.format(guess=words)
        if words == self.shown(outcome):
            return messages.GUESSED_EXACT.format(guess=words)
        if guess <= 0 or outcome <= 0:
            return messages.GUESSED_WRONG.format(guess=words)
        if self.is_right(guess, outcome):
            return messages.GUESSED_NEAR.format(guess=words)
        factor = outcome / guess
        form = messages.GUESSED_LOW if factor > 1 else messages.GUESSED_HIGH
        return form.format(guess=words, factor=f"{max(factor, 1 / factor):.1f}")


_NEAR = 1.25
_FEWEST_WORDS = 5
