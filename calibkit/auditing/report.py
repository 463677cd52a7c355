"""What an audit gives back: six answers, the numbers behind them, figures, and pages."""

import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.auditing._consequences import Consequences
from calibkit.auditing._evidence import TEST, Evidence, directions
from calibkit.auditing._html import draw, page, panel
from calibkit.auditing._redraws import ViewTest
from calibkit.auditing._rows import Impossible, told
from calibkit.auditing.groups import GroupTable
from calibkit.auditing.pages import as_dict, as_markdown, save
from calibkit.auditing.repairs import NoRepair, RepairTable
from calibkit.auditing.settings import AuditSettings
from calibkit.results import Result, spell
from calibkit.validation import CalibrationWarning

# Colour is never alone: each light has a symbol and a word.
LIGHTS = {
    "good": ("✓", "fine"),
    "caution": ("!", "take care"),
    "bad": ("✗", "problem"),
    "unknown": ("?", "cannot say"),
}

_WIDTH = 88  # of a line in a terminal
_NAMED = 6  # views that a sentence names; the table has all

QUESTIONS = {
    "alignment": "Do labels and predictions belong together?",
    "data": "Is there enough data?",
    "calibration": "Is it miscalibrated beyond chance?",
    "direction": "Where is it wrong, and which way?",
    "costs": "Does it matter for the costs?",
    "repair": "Which repair, and how much is gained?",
    "impossible": "Did anything happen that was called impossible?",
}
_WAYS = ("over-confident", "under-confident", "over-forecast", "under-forecast")
# Every verdict that an answer can have. No code belongs to two topics.
CODES = {
    "alignment": ("aligned", "not aligned", "alignment unclear"),
    "data": ("enough data", "too little data"),
    "calibration": ("miscalibrated", "no evidence", "cannot say"),
    "direction": (*_WAYS, "mixed", "no direction"),
    "costs": ("costly", "not costly", "worse than ignoring", "costs unknown"),
    "repair": ("repair", "no repair", "align first"),
}
# Verdicts beside the six answers, which only some reports have.
FINDINGS = {"impossible": ("impossible statements",)}
VIEW_NUMBERS = ("events", "mean_prob", "frequency", "z_level", "z_slope", "p_value")


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One question of the audit with its answer.

    Parameters
    ----------
    topic : str
        The question, e.g. ``"data"``.
    verdict, sentence : str
        The answer as a code, e.g. ``"miscalibrated"``, and in words, with its uncertainty.
    light : {"good", "caution", "bad", "unknown"}
    numbers : mapping from str to float
        The numbers in the sentence.
    """

    topic: str
    verdict: str
    light: str
    sentence: str
    numbers: Mapping[str, float]

    @property
    def question(self) -> str:
        """The question in words."""
        return QUESTIONS[self.topic]

    @property
    def symbol(self) -> str:
        """The symbol of the light."""
        return LIGHTS[self.light][0]

    def line(self) -> str:
        """Return symbol, verdict and sentence."""
        return f"{self.symbol} {self.verdict}: {self.sentence}"


def findings_of(gone: Impossible, log_loss: float) -> tuple[Answer, ...]:
    """Return what was found beside the answers; `log_loss` is that of the rows left, or NaN."""
    if not gone.count:
        return ()
    text, numbers = told(gone, log_loss)
    return (Answer("impossible", *FINDINGS["impossible"], "bad", text, numbers),)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ViewTable(Result):
    """All views that were tested together.

    Parameters
    ----------
    view, direction : ndarray of str, shape (V,)
        Which event, and which way it is off where its p-value is below `alpha`.
    events, mean_prob, frequency, z_level, z_slope, p_value : ndarray of shape (V,)
        Number of events, mean prediction, share of events, Cox's z (below 0: too high,
        over-confident), and the p-value, adjusted for all views together.
    n, alpha : int and float
    """

    view: NDArray[np.str_]
    events: NDArray[np.int64]
    mean_prob: NDArray[np.float64]
    frequency: NDArray[np.float64]
    z_level: NDArray[np.float64]
    z_slope: NDArray[np.float64]
    p_value: NDArray[np.float64]
    direction: NDArray[np.str_]
    n: int
    alpha: float

    @classmethod
    def of(cls, views: Sequence[ViewTest], names: Sequence[str], alpha: float) -> "ViewTable":
        """Return the table of these tests; `names` are the views in words."""
        numbers = {name: np.array([getattr(v, name) for v in views]) for name in VIEW_NUMBERS}
        ways = [directions(v)[0] if v.p_value <= alpha else "" for v in views]
        words: Any = {"view": np.array(names), "direction": np.array(ways)}
        return cls(n=views[0].n, alpha=alpha, **words, **numbers)

    def describe(self) -> str:
        """Say in which views the labels contradict the predictions."""
        pairs = zip(self.view, self.direction, strict=True)
        found = [f"{view} ({direction})" for view, direction in pairs if direction]
        if not found:
            return f"The labels contradict none of {spell(len(self.view), 'view')} ({TEST})."
        number = f"{len(found)} of {spell(len(self.view), 'view')}"
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        return f"The labels contradict {number} ({TEST}): {', '.join(found[:_NAMED])}{more}."

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in ("view", *VIEW_NUMBERS, "direction")}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditReport(Result):
    """Six answers about predictions and labels, with everything behind them.

    Parameters
    ----------
    title, headline, light : str
        What was audited, and the verdict in one line with its light (as in `Answer`).
    answers, findings : tuple of Answer
        The six answers, in order, and what was found beside them: impossible statements.
    n, n_classes, class_names : int, int and tuple of str
    views, evidence, consequences, repairs, groups
        What is behind the answers: the tests of all views; error, null level and band (answers 2
        to 4); costs (5); candidates (6); groups, or None.
    candidate : estimator or `NoRepair`
        The best repair, fitted to all rows; see `calibrator`.
    notes : tuple of str
        Methods, and what went wrong on the way.
    versions, settings : mapping from str to str, AuditSettings
    """

    title: str
    headline: str
    light: str
    answers: tuple[Answer, ...]
    findings: tuple[Answer, ...]
    n: int
    n_classes: int
    class_names: tuple[str, ...]
    views: ViewTable
    evidence: Evidence
    consequences: Consequences
    repairs: RepairTable
    candidate: Any
    groups: GroupTable | None
    notes: tuple[str, ...]
    versions: Mapping[str, str]
    settings: AuditSettings

    @property
    def symbol(self) -> str:
        """The symbol of the light."""
        return LIGHTS[self.light][0]

    @property
    def tables(self) -> dict[str, Result]:
        """The tables behind the answers, by name; groups only where they were given."""
        tables = {"Views": self.views, "Repairs": self.repairs}
        return tables if self.groups is None else tables | {"Groups": self.groups}

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each topic."""
        return {answer.topic: answer.verdict for answer in self.answers}

    @property
    def codes(self) -> frozenset[str]:
        """All verdicts, for conditions in a pipeline."""
        return frozenset(a.verdict for a in (*self.answers, *self.findings))

    @property
    def repair(self) -> str | None:
        """Name of the recommended repair, or None."""
        chosen = self.repairs.chosen
        if chosen < 0 or self.verdicts["repair"] != "repair":
            return None
        return str(self.repairs.name[chosen])

    @property
    def calibrator(self) -> Any:
        """The best repair, fitted to all rows: recommended, or with a `CalibrationWarning`.

        Where none could be fitted, or labels must be aligned first, an object that says why.
        """
        if self.repair is None and not isinstance(self.candidate, NoRepair):
            warnings.warn(
                f"This repair is not recommended. {self['repair'].sentence}",
                CalibrationWarning,
                stacklevel=2,
            )
        return self.candidate

    @property
    def view(self) -> str:
        """The view that comes first, in words."""
        return str(self.views.view[0])

    def __getitem__(self, topic: str) -> Answer:
        found = {answer.topic: answer for answer in (*self.answers, *self.findings)}
        if topic not in found:
            raise KeyError(f"{topic!r}; topics: {', '.join(found)}")
        return found[topic]

    def describe(self) -> str:
        """Say the verdict and the calibration error beside its null level."""
        error, null = self.evidence.error, self.evidence.null
        return (
            f"{self.headline} {self.n:,} predictions ({self.view}): expected calibration error "
            f"{error.value:.4f}, a calibrated model would show {null.mean:.4f}."
        )

    def text(self) -> str:
        """Return all six answers for a terminal."""
        classes = spell(self.n_classes, "class", "classes")
        size = f"{spell(self.n, 'prediction')}, {classes}, first view: {self.view}"
        lines = [f"{self.symbol} {self.headline}", f"  {self.settings.promise}"]
        lines += [f"  {self.title}: {size}", ""]
        for one in self.findings:
            lines += [f"{one.symbol} {one.verdict}", *_wrapped(one.sentence, "   "), ""]
        for number, answer in enumerate(self.answers, start=1):
            lines += [f"{number}. {answer.question}", f"   {answer.symbol} {answer.verdict}"]
            lines += _wrapped(answer.sentence, "   ")
        if self.groups is not None:
            lines += ["", *_wrapped(f"Groups: {self.groups.describe()}")]
        return "\n".join(lines)

    to_dict, to_markdown, to_html, figures = as_dict, as_markdown, page, draw
    _repr_html_, save = panel, save

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        fields = {name: name for name in ("topic", "question", "verdict")} | {"answer": "sentence"}
        columns = {
            name: [getattr(answer, f) for answer in self.answers] for name, f in fields.items()
        }
        return {name: np.array(column) for name, column in columns.items()}


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Break text into lines; a number stays with its per cent sign."""
    marks = {"initial_indent": indent, "subsequent_indent": indent}
    lines = textwrap.wrap(text.replace(" %", "\xa0%"), _WIDTH - len(indent), **marks)  # type: ignore[arg-type]
    return [line.replace("\xa0", " ") for line in lines]
