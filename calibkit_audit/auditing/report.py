"""What an audit gives back: six answers, the numbers behind them, figures, and pages."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from numpy.typing import NDArray

from calibkit.inputs import warn
from calibkit.results import Result, spell
from calibkit_audit.auditing.costs import Consequences
from calibkit_audit.auditing.evidence import TEST, Measurements, directions
from calibkit_audit.auditing.pages import Answer, Listing, Report, as_columns, list_names
from calibkit_audit.auditing.redraws import TOP, ViewTest
from calibkit_audit.auditing.repairs import RepairTable
from calibkit_audit.segments import SegmentTable

_WIDTH = 88  # of a line in a terminal
_NAMED = 6  # views that a sentence names; the table has all
_NUMBERS = ("events", "mean_prob", "frequency", "z_level", "z_slope", "p_value")


def views_in_words(views: Sequence[ViewTest], names: Sequence[str], alpha: float) -> Listing:
    """Return the tests of all views, and say in which the labels contradict the predictions.

    `names` are the views in words; a direction is named where the p-value, adjusted for all views
    together, is at most `alpha`.
    """
    ways = [directions(one)[0] if one.p_value <= alpha else "" for one in views]
    rows = [
        (name, *(getattr(one, number) for number in _NUMBERS), way)
        for name, one, way in zip(names, views, ways, strict=True)
    ]
    found = [f"{name} ({way})" for name, way in zip(names, ways, strict=True) if way]
    many = f"{len(found) or 'none'} of {spell(len(views), 'view')} ({TEST})"
    which = f": {list_names(found, _NAMED)}" if found else ""
    said = f"The labels contradict {many}{which}."
    return Listing.of(said, ("view", *_NUMBERS, "direction"), rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditReport(Report):
    """Six answers about predictions and labels, with everything behind them.

    Parameters
    ----------
    title, headline, light : str
        What was audited, and the verdict in one line with its light (as in `Answer`).
    answers, findings : tuple of Answer
        The six answers, in order, and what was found beside them: impossible statements.
    n, n_classes, class_names, view : int, int, tuple of str, str
        Predictions, classes with their names, and the view that comes first, in words.
    views, evidence, consequences, repairs, groups, times, weak
        What is behind the answers: the tests of all views; error, null level and band (answers 2
        to 4); costs (5); candidates (6); groups, or None; O/E, calibration in the large and slope
        of the view in question.
    candidate : estimator or None
        The best repair, fitted to all rows; see `calibrator`.
    notes : tuple of str
        Methods, and what went wrong on the way.
    versions : mapping from str to str
    """

    further = ("class_names", "repair", "verdicts")

    class_names: tuple[str, ...]
    views: Listing
    evidence: Measurements
    consequences: Consequences
    repairs: RepairTable
    candidate: Any
    groups: SegmentTable | None
    times: Listing | None
    weak: Listing

    @property
    def tables(self) -> dict[str, Result]:
        """The tables behind the answers, by name; groups and times only where they were given."""
        tables: dict[str, Result | None] = {"Views": self.views, "Repairs": self.repairs}
        tables |= {"Weak calibration": self.weak, "Groups": self.groups, "Time": self.times}
        return {name: table for name, table in tables.items() if table is not None}

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each topic."""
        return {answer.topic: answer.verdict for answer in self.answers}

    @property
    def codes(self) -> frozenset[str]:
        """All verdicts, for conditions in a pipeline."""
        answers = [answer for _, answer in self.numbered]
        return frozenset({one.verdict for one in answers} | {one.also for one in answers} - {""})

    @property
    def repair(self) -> str | None:
        """Name of the recommended repair, or None."""
        chosen = self.repairs.chosen
        return str(self.repairs.name[chosen]) if chosen >= 0 else None

    @property
    def calibrator(self) -> Any:
        """The best repair, fitted to all rows: recommended, or with a `CalibrationWarning`.

        A ValueError where none could be fitted, or labels must be aligned first.
        """
        if self.candidate is None:
            raise ValueError(f"There is no calibrator. {self['repair'].sentence}")
        if self.repair is None:
            warn(f"This repair is not recommended. {self['repair'].sentence}")
        return self.candidate

    @property
    def size(self) -> str:
        """How much was looked at."""
        first, rows = self.evidence.first, spell(self.n, "prediction")
        events = f"{first.events:,} right" if first.view == TOP else spell(first.events, "event")
        classes = f" of {self.n_classes} classes" * (len(self.evidence.names) > 1)
        return f"{rows}{classes}, {events} ({self.view})."

    def __getitem__(self, topic: str) -> Answer:
        found = {answer.topic: answer for _, answer in self.numbered}
        if topic not in found:
            raise KeyError(f"{topic!r}; topics: {', '.join(found)}")
        return found[topic]

    def describe(self) -> str:
        """Say the verdict, how sure it is, and the calibration error beside its null level."""
        return f"{self.headline} {self.promise} {self.size} {self.evidence.describe()}"

    def text(self) -> str:
        """Return all six answers for a terminal."""
        lines = [f"{self.symbol} {self.headline}", f"  {self.promise}"]
        lines += [f"  {self.title}: {self.size}", "", *_wrapped(self.advice), ""]
        for one in self.findings:
            lines += [f"{one.symbol} {one.verdict}", *_wrapped(one.sentence, "   "), ""]
        for number, answer in self.numbered[len(self.findings) :]:
            lines += [f"{number}{answer.question}", f"   {answer.symbol} {answer.verdict}"]
            lines += _wrapped(answer.sentence, "   ")
        lines += ["", *_wrapped(f"Weak calibration: {self.weak.describe()}")]
        if self.command:
            lines += ["", *chain.from_iterable(_wrapped(line) for line in self.origin)]
        return "\n".join(lines)

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("symbol", "topic", "question", "verdict", "sentence")
        rows = [[getattr(answer, name) for name in names] for _, answer in self.numbered]
        return as_columns(("light", "topic", "question", "verdict", "answer"), rows)


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Break text into lines; a number stays with its per cent sign."""
    lines = textwrap.wrap(
        text.replace(" %", "\xa0%"),
        _WIDTH - len(indent),
        initial_indent=indent,
        subsequent_indent=indent,
    )
    return [line.replace("\xa0", " ") for line in lines]
