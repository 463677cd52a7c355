"""What a practitioner should use: the page's decision table, from the stored numbers."""

from collections.abc import Callable
from typing import NamedTuple

from book.experiments.compared import Keep, Table, at, everything
from book.experiments.pages import markdown
from book.experiments.pseudo_real.study import TITLES, Study

USUAL = "ES15"
# Whoever picks the best of five calibrators less often than this is of no use.
HALF = 0.5


class Decision(NamedTuple):
    """One row: a question, what to use, and the numbers behind it.

    `level` names the best evaluator and all that it does not beat by more than twice the standard
    error; `use` the one of them whose map is closest behind calibrators, since one map can answer
    several questions (None where even the best is of no use). `number` is that of `use`, or of the
    best, and `usual` that of fifteen equal-mass bins, each with its standard error.
    """

    question: str
    use: str | None
    level: tuple[str, ...]
    number: str
    usual: str


class Question(NamedTuple):
    """What is asked, and of which numbers."""

    text: str
    table: Callable[[Study], Table]
    keep: Callable[[Study], Keep]
    factor: float = 1000
    least: float | None = None


def _every(study: Study) -> Keep:
    return everything


def _few(study: Study) -> Keep:
    return at(study.sizes[0])


def _many(study: Study) -> Keep:
    return at(study.sizes[-1])


QUESTIONS = (
    Question("where a nearly calibrated model errs", lambda s: s.maps, _every),
    Question("where a network that nobody calibrated errs", lambda s: s.raw_maps, _every),
    Question("how much it errs, {few} predictions", lambda s: s.errors, _few),
    Question("how much it errs, {many} predictions", lambda s: s.errors, _many),
    Question("which calibrator is best, {few} predictions", lambda s: s.picks, _few, 1, HALF),
    Question("which calibrator is best, {many} predictions", lambda s: s.picks, _many, 1, HALF),
)


def decisions(study: Study) -> tuple[Decision, ...]:
    """Return the decision table of a study, one row per question."""
    return tuple(_decide(study, question) for question in QUESTIONS)


def _decide(study: Study, question: Question) -> Decision:
    part = question.table(study).where(question.keep(study))
    level, maps = part.leaders(), study.maps.where(everything)
    shown = min(set(level) & set(maps.names), key=maps.mean)
    useless = question.least is not None and part.mean(part.best()) < question.least
    shown = part.best() if useless else shown
    text = question.text.format(few=study.sizes[0], many=study.sizes[-1])
    number, usual = (_number(part, name, question.factor) for name in (shown, USUAL))
    return Decision(text, None if useless else shown, level, number, usual)


def _number(part: Table, name: str, factor: float) -> str:
    return f"{factor * part.mean(name):.2f} ± {factor * part.standard_error(name):.2f}"


def decision_table(study: Study) -> str:
    """Return the table as Markdown; what is level with the best stands beside it."""
    rows = []
    for question, use, level, number, usual in decisions(study):
        others = "; ".join(TITLES[name] for name in TITLES if name in level and name != use)
        if use is None:
            others = f"{len(level)} evaluators are level"
        rows.append([question, TITLES[use] if use else "none of these", others, number, usual])
    head = ["you want to know", "use", "level with it", "its number", "15 equal-mass bins"]
    return markdown(head, rows, ["use", "level with it"])
