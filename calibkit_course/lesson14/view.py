"""One state of the audit board: six verdicts on a file, and the numbers behind them. Lesson 14."""

from dataclasses import dataclass, replace
from functools import lru_cache

from calibkit.inputs import as_choice, as_count
from calibkit.results import Described
from calibkit_audit.auditing import Answer, AuditReport, AuditSettings, audit
from calibkit_course.lesson14.sample_files import sample_file

FILES = (
    "screening",
    "file in the mail",
    "small clinic",
    "language model",
    "three animals",
    "thirty patients",
)
SIZES = (30, 60, 120, 250, 500, 1000, ALL := 2500)  # rows; the last one holds every file
EVERY = "every view"
VIEWS = (EVERY, "top-label", "class-wise")
UNKNOWN = "unknown"
COSTS = {UNKNOWN: None, "1 : 1": (1.0, 1.0), "1 : 5": (1.0, 5.0), "1 : 20": (1.0, 20.0)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditBoard(Described):
    """One state of the audit board."""

    report: AuditReport
    details: tuple[str, ...]  # the main numbers behind each of the six answers
    title: str  # what the file claims to be

    @property
    def topics(self) -> tuple[str, ...]:
        """What each answer is about."""
        return tuple(answer.topic for answer in self.report.answers)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdict of each answer."""
        return tuple(answer.verdict for answer in self.report.answers)

    def describe(self) -> str:
        """Say the verdicts and the numbers behind them."""
        rows = zip(self.topics, self.verdicts, self.details, strict=True)
        parts = "; ".join(f"{topic}: {verdict} ({detail})" for topic, verdict, detail in rows)
        return f"{self.report.headline} {parts[0].upper()}{parts[1:]}. {self.promise}"

    @property
    def promise(self) -> str:
        """The test behind p, and how often it errs."""
        return f"p: level-slope-bins test. {self.report.promise}"


def board_of(report: AuditReport) -> AuditBoard:
    """Return the board of a report."""
    details = tuple(_DETAILS[answer.topic](answer, report) for answer in report.answers)
    return AuditBoard(report=report, details=details, title=report.title)


def audit_board_view(
    *,
    rows: int = ALL,
    file: str = FILES[0],
    view: str = EVERY,
    bins: int = 15,
    costs: str = UNKNOWN,
) -> AuditBoard:
    """Audit the first rows of a bundled file, or all where it has no more."""
    as_count(rows, "rows", minimum=SIZES[0])
    as_choice(file, "file", FILES)
    as_choice(view, "view", VIEWS)
    as_choice(costs, "costs", COSTS)
    report = _report(rows, file, view, bins, costs)
    board = board_of(report)
    if costs == UNKNOWN or len(report.class_names) == 2:
        return board
    details = dict(zip(board.topics, board.details, strict=True)) | {"costs": _TWO_ONLY}
    return replace(board, details=tuple(details.values()))


@lru_cache(maxsize=128)
def _report(n: int, file: str, view: str, bins: int, costs: str) -> AuditReport:
    rows = sample_file(file)
    return audit(
        rows.y_true[:n],
        rows.y_prob[:n],
        view=None if view == EVERY else view,
        costs=COSTS[costs] if rows.y_prob.ndim == 1 else None,
        class_names=rows.class_names,
        title=rows.title,
        settings=AuditSettings(bins=bins),  # all else as in the text: one file has one p-value
    )


# --- the numbers behind a light ------------------------------------------------------------------


def _alignment(answer: Answer, _: AuditReport) -> str:
    return "accuracy {accuracy:.3f}, commonest class {majority:.3f}".format(**answer.numbers)


def _data(answer: Answer, _: AuditReport) -> str:
    found = answer.numbers
    return f"{found['n']:,.0f} rows; ±0.01 takes {found['needed_for_0.01']:,.0f}"


def _calibration(answer: Answer, _: AuditReport) -> str:
    found = answer.numbers
    p_value = f"p = {found['p_value']:.3f}" if found["p_value"] else "p = 0"
    return f"ECE {found['error']:.3f}, calibrated {found['null_error']:.3f}; {p_value}"


def _direction(answer: Answer, _: AuditReport) -> str:
    return "said {mean_prob:.3f}, observed {frequency:.3f}".format(**answer.numbers)


def _costs(answer: Answer, _: AuditReport) -> str:
    found = answer.numbers
    if "cost" not in found:
        if "saving" not in found:
            return "at no costs more than chance"
        return f"another cut-off saves up to {found['saving']:.3f} per row"
    return f"trust {found['cost']:.3f}, no model {found['ignoring']:.3f}"


def _repair(answer: Answer, report: AuditReport) -> str:
    found, name = answer.numbers, report.repair
    if name is None or "gain" not in found:
        return "nothing gained beyond chance" if answer.verdict == "no repair" else "data first"
    temperature = getattr(report.calibrator, "temperature_", None)
    words = name if temperature is None else f"{name} {temperature:.2f}"
    return f"{words}, gain {found['gain']:.3f} nats"


_TWO_ONLY = "these prices are for two classes only"
_DETAILS = {
    "alignment": _alignment,
    "data": _data,
    "calibration": _calibration,
    "direction": _direction,
    "costs": _costs,
    "repair": _repair,
}
