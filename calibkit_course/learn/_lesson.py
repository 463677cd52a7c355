"""A lesson while it is being worked on: guesses, answers, hints, progress."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from calibkit_course.learn import answers, messages
from calibkit_course.learn._rendering import Feedback, Message, Progress, feedback
from calibkit_course.learn.drawing import Drawing, Sketch
from calibkit_course.learn.exercises import MISSING, Check, Prediction
from calibkit_course.learn.forecasts import Forecast, Log, read_sure
from calibkit_course.learn.messages import State
from calibkit_course.learn.questions import Question
from calibkit_course.learn.record import Record

_E = TypeVar("_E")
_NO_ATTEMPT = (State.NOT_DEFINED, State.NOT_ATTEMPTED)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lesson:
    """One lesson's predictions and checks, with what the learner has done so far."""

    id: str  # two digits, e.g. "04"
    title: str
    checks: Mapping[str, Check]  # by exercise, e.g. "4.1"
    predictions: Mapping[str, Prediction]  # by name, e.g. "4a"
    record: Record = field(default_factory=Record)  # by default a fresh one that is kept nowhere
    questions: tuple[Question, ...] = ()  # the quiz at the end
    log: Log = field(default_factory=Log)  # where forecasts go
    second: tuple[str, ...] = ()  # what the second notebook asks, e.g. "4.3" and "4d"

    def predict(self, pid: str, guess: Any = ..., sure: Any = ...) -> Message:
        """Note a guess for a prediction, e.g. ``"1a"``, before an experiment. Never raises.

        It is one of the options, or a number; ``...`` means no guess yet. A later guess replaces an
        earlier one; what is no guess leaves it.

        With `sure` the guess becomes a forecast, which `calibkit_course.my_calibration` looks at:
        the probability that the guess is right, from 1/k for k options to 0.99; for a number, that
        it lies within a factor of 1.25 of the outcome. What is no such probability gets a sentence,
        and the guess is kept.

        >>> from calibkit_course import open_lesson
        >>> open_lesson("00").predict("0a", "60").paragraphs[1]
        'Noted: "60". Run the next cells and compare.'
        """
        heading = messages.PREDICTION.format(id=pid)
        prediction = _entry(self.predictions, pid)
        if prediction is None:
            return _note(heading, "guess", _missing(messages.NO_PREDICTION, pid, self.predictions))
        read = None if guess is ... else prediction.read(guess)
        if read is None:
            blank = guess is ...
            said = prediction.invitation if blank else prediction.refusal(guess)
            stands = self._kept(pid, prediction)
            if stands is not None:
                said += " " + messages.STANDS.format(guess=prediction.shown(stands))
            return self._asked(pid, prediction, said)
        about_sure = self._forecast(pid, prediction, read, sure)
        self.record.note("guesses", pid, read)
        noted = messages.NOTED.format(guess=prediction.shown(read))
        return self._asked(pid, prediction, noted, *about_sure)

    def _kept(self, pid: str, prediction: Prediction) -> Any:
        """Return the guess that is kept, or None where there is none that can be read."""
        return prediction.read(self.record.guesses.get(pid))

    def _asked(self, pid: str, prediction: Prediction, *said: str) -> Message:
        note = _note(messages.PREDICTION.format(id=pid), "guess", prediction.question, *said)
        if not isinstance(prediction, Drawing):
            return note
        canvas = prediction.canvas(pid, self._kept(pid, prediction))
        return Sketch(
            note.heading, note.paragraphs, note.symbol, canvas, partial(self.predict, pid)
        )

    def _forecast(self, pid: str, asked: Prediction, guess: str | float, sure: Any) -> list[str]:
        """Note how sure a guess is, and return what is to be said about that."""
        if isinstance(asked, Drawing):
            return [] if sure is ... else [messages.SURE_OF_LINE]
        if sure is ...:
            if pid not in self.record.revealed and guess != self.record.guesses.get(pid):
                self.log.note({pid: None})  # it belonged to another guess
            others = [k for k, one in self.predictions.items() if not isinstance(one, Drawing)]
            return [messages.WHY_SURE] if pid == others[0] else []
        value, problem = read_sure(sure, len(asked.options))
        if value is None:
            return [problem]
        said = messages.SURE if asked.options else messages.SURE_OF_NUMBER
        if pid not in self.record.revealed:
            self.log.note({pid: Forecast(len(asked.options) or 2, value)})
        stands = self.log.rows.get(pid)
        is_noted = stands is not None and stands.sure == value
        return [said.format(sure=f"{100 * value:g}") if is_noted else messages.SURE_LATE]

    def reveal(self, pid: str, outcome: Any = None) -> Message:
        """Show the guess beside what happened, and say why. Never raises.

        `outcome` is what the experiment above has just shown, a text or a number; the lesson's own
        outcome when left out.

        >>> from calibkit_course import open_lesson
        >>> open_lesson("00").reveal("0a").paragraphs[0]
        '"60".'
        """
        heading = messages.OUTCOME.format(id=pid)
        prediction = _entry(self.predictions, pid)
        if prediction is None:
            return _note(
                heading, "outcome", _missing(messages.NO_PREDICTION, pid, self.predictions)
            )
        seen = None if outcome is None else prediction.read(outcome)
        happened = prediction.outcome if seen is None else seen
        guess = self._kept(pid, prediction)
        if pid not in self.record.revealed:
            self.record.note("revealed", pid, guess)
            if guess is not None:
                self.log.decide(pid, prediction.is_right(guess, happened))
        note = _note(
            heading,
            "outcome",
            messages.HAPPENED.format(outcome=prediction.shown(happened)),
            prediction.compare(guess, happened),
            prediction.why,
        )
        if not isinstance(prediction, Drawing) or happened is None:
            return note
        canvas = prediction.canvas(pid, guess, happened)
        return Sketch(note.heading, note.paragraphs, note.symbol, canvas)

    def check(self, cid: str, answer: Any = MISSING, *, contains: Any = MISSING) -> Feedback:
        """Say how an answer stands.

        Parameters
        ----------
        cid : str
            Name of the exercise, e.g. ``"1.1"``.
        answer : object
            The answer. Left out, it is looked up where `check` is called, under the name that
            the exercise uses; so ``lesson.check("1.1")`` works before the cell above was run.
        contains : int or sequence of int
            For a free text, which is not graded: the numbers of the points that the text makes,
            by your own reading. Left out, the check shows the points beside your text.

        Returns
        -------
        Feedback
            Its `state` is "Not defined", "Not attempted", "Wrong kind", "Almost" or "Correct";
            for a text "Compare", then "Self-assessed". Never raises, whatever the answer is.

        Examples
        --------
        >>> from calibkit_course import open_lesson
        >>> open_lesson("00").check("0.1")
        Not defined: there is no variable `share` yet. Run the cell of exercise 0.1 above, then
          this one again.
        """
        check = _entry(self.checks, cid)
        if check is None:
            return feedback(State.NOT_DEFINED, _missing(messages.NO_EXERCISE, cid, self.checks))
        if answer is MISSING:
            frame = sys._getframe(1)
            answer = {**frame.f_globals, **frame.f_locals}.get(check.variable, MISSING)
        said = check.look_at(cid, answer, contains)
        if said.points is not None:
            self.record.note("points", cid, said.points)
        earlier = self.record.states.get(cid, State.NOT_ATTEMPTED)
        looking = said.state is State.COMPARE and earlier is State.SELF_ASSESSED
        if not looking and (said.state not in _NO_ATTEMPT or earlier in _NO_ATTEMPT):
            self.record.note("states", cid, said.state)
        return said

    def hint(self, cid: str, level: int = 1) -> Message:
        """Give a hint to an exercise: 1 is a nudge, the last one nearly the answer. Never raises.

        >>> from calibkit_course import open_lesson
        >>> open_lesson("00").hint("0.1", 3)
        Hint 3 of 3 for 0.1: It is 6 / 36. Type `share = 6 / 36`.
        """
        check = _entry(self.checks, cid)
        if check is None:
            return _note(
                State.NOT_DEFINED.value, "hint", _missing(messages.NO_EXERCISE, cid, self.checks)
            )
        count = len(check.hints)
        nearest = min(max(level, 1), count) if isinstance(level, int) else 1
        note = () if nearest == level else (messages.NO_SUCH_LEVEL.format(count=count),)
        heading = messages.HINT.format(level=nearest, count=count, id=cid)
        return _note(heading, "hint", check.hints[nearest - 1], *note)

    def quiz(self, *given: Any) -> Message:
        """Ask the questions of the lesson, and say at once how each answer stands.

        One is given to each question, in order: a letter or a number; ``...`` for none yet. Never
        raises, and keeps nothing.

        >>> from calibkit_course import open_lesson
        >>> open_lesson("00").quiz(6).paragraphs[2][:57]
        '→ Not yet. This is what happened. Ask what was promised.'
        """
        said: list[str] = []
        for place, question in enumerate(self.questions):
            said += question.lines
            if given[place:] and given[place] is not ...:
                said.append(f"{messages.NOTE_SYMBOLS['outcome']} {question.verdict(given[place])}")
        return _note(messages.QUIZ, "guess", messages.QUIZ_INVITATION, *said)

    def progress(self) -> Progress:
        """Return a table of the exercises with their states, after a restart of the kernel too.

        >>> from calibkit_course import open_lesson
        >>> lesson = open_lesson("00")
        >>> said = lesson.check("0.1", 6 / 36)
        >>> lesson.progress()
        Lesson 00, Start here
        exercise  state            task
        0.1       ✓ Correct        The share of rainy days
        1 of 1 exercises correct, 0 of 1 guesses made.
        """
        known = self.record
        rows = tuple(
            (name, known.states.get(name, State.NOT_ATTEMPTED), form.format(task=check.task))
            for form, ids in self._parts()
            for name, check in self.checks.items()
            if name in ids
        )
        counts = {
            name: (len(known.points.get(name, ())), len(check.rubric.points))
            for name, check in self.checks.items()
            if check.rubric and known.states.get(name) is State.SELF_ASSESSED
        }
        whole = {name for name, (made, count) in counts.items() if made == count}
        done = whole | {name for name, state, _ in rows if state is State.CORRECT}
        summary = {form.format(task=self._count(ids, done)): ids for form, ids in self._parts()}
        notes = {
            name: messages.PROGRESS_POINTS.format(made=made, count=count)
            for name, (made, count) in counts.items()
        }
        title = messages.PROGRESS.format(id=self.id, title=self.title)
        return Progress(title, summary, rows, notes)

    def _parts(self) -> Iterator[tuple[str, list[str]]]:
        """Yield how the core, and then the second notebook, is called, with what it asks."""
        for form in (messages.PROGRESS_CORE, messages.PROGRESS_FURTHER):
            further = form == messages.PROGRESS_FURTHER
            ids = [
                name
                for name in (*self.checks, *self.predictions)
                if (name in self.second) == further
            ]
            if ids:
                yield form, ids

    def _count(self, ids: list[str], done: set[str]) -> str:
        """Say how much of one notebook is done."""
        guessed = [pid for pid in self.record.guesses if pid in ids and pid in self.predictions]
        late = sum(not self.record.before(pid) for pid in guessed)
        said = messages.PROGRESS_COUNT.format(
            correct=len(done.intersection(ids)),
            count=len(self.checks.keys() & ids),
            guesses=len(guessed),
            predictions=len(self.predictions.keys() & ids),
        )
        return said + (messages.PROGRESS_LATE.format(late=late) if late else "") + "."

    def __repr__(self) -> str:
        return f"<{messages.PROGRESS.format(id=self.id, title=self.title)}>"


def _entry(entries: Mapping[str, _E], name: Any) -> _E | None:
    return entries.get(name) if isinstance(name, str) else None


def _note(heading: str, kind: str, *paragraphs: str) -> Message:
    return Message(heading, paragraphs, messages.NOTE_SYMBOLS[kind])


def _missing(form: str, name: object, known: Mapping[str, Any]) -> str:
    """Say which names there are in place of an unknown one."""
    shown = name[:40] if isinstance(name, str) else answers.found(name)
    return form.format(id=shown, ids=", ".join(known) or messages.NONE_AT_ALL)
