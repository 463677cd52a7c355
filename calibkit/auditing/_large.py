"""The audit of a file whose rows are not kept: counted in a stream, and sampled on the way.

What all rows can answer is answered from the count table: enough data, miscalibrated or not,
where and which way. Alignment, costs and repairs are answered from a random sample of rows, and
say so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit import _links
from calibkit._result import spell
from calibkit.auditing._evidence import directions, power_of
from calibkit.auditing._readers import Predictions, join
from calibkit.auditing._redraws import TOP, ViewTest
from calibkit.auditing.questions import audit
from calibkit.auditing.report import Answer, AuditReport
from calibkit.auditing.settings import AuditSettings
from calibkit.counts import CountTable
from calibkit.errors import CalibrationError
from calibkit.views import BinaryProblem, View, binary_problems

SAMPLE = 100_000
_TESTS = 2  # of each view: Cox's score test, and the range of the cumulative differences


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """One view of all rows."""

    words: str
    test: ViewTest
    error: CalibrationError


def audit_stream(
    blocks: Iterable[Predictions],
    *,
    view: View | None = None,
    settings: AuditSettings | None = None,
    sample: int = SAMPLE,
    rng: int = 0,
    **options: Any,
) -> AuditReport:
    """Audit rows that come in blocks and are not kept.

    Parameters
    ----------
    blocks : iterable of Predictions
        The rows, checked.
    view : {"top-label", "class-wise"} or int, optional
        As in `audit`. None looks at the predicted class only where there are several columns.
    settings : AuditSettings, optional
        As in `audit`; its bins must have edges on the grid of the count table.
    sample : int
        Number of rows of the random sample.
    rng : int
        Seed of the sample and of the audit of the sample.
    **options
        ``costs``, ``title`` of `audit`.

    Returns
    -------
    AuditReport
        Its figures, and the answers 1, 5 and 6, are those of the sample.
    """
    settings = AuditSettings() if settings is None else settings
    # Bins that do not fit the grid are refused before hours of reading, not after.
    CountTable().update([0, 1], [0.25, 0.75]).tables(settings.bins)
    keeper = _Sample(sample, rng)
    table, events = _count(blocks, view, keeper)
    rows = keeper.rows()
    if table.view is None and events == 0:
        raise ValueError("y = 1 never occurs. Is the positive label the right one?")
    names = dict(enumerate(rows.class_names or ()))
    report = audit(**rows.arguments, view=view, settings=settings, rng=rng, **options)
    if table.n == rows.n:
        return report
    return _with_all_rows(report, table, _look(table, settings, names), settings)


class _Sample:
    """A random sample without replacement: the rows with the smallest random keys."""

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.generator = size, np.random.default_rng([seed, size])
        self.kept: list[Predictions] = []
        self.keys = np.empty(0)

    def add(self, block: Predictions) -> None:
        """Draw a key for each row of a block and keep the smallest."""
        keys = self.generator.random(block.n)
        bound = self.keys.max() if len(self.keys) == self.size else 1.0
        small = np.flatnonzero(keys < bound)
        if not len(small):
            return
        self.kept.append(_take(block, small))
        self.keys = np.concatenate([self.keys, keys[small]])
        if len(self.keys) > self.size:
            smallest = np.sort(np.argpartition(self.keys, self.size)[: self.size])
            self.kept = [_take(join(self.kept), smallest)]
            self.keys = self.keys[smallest]

    def rows(self) -> Predictions:
        """Return the sample in the order of the file."""
        return join(self.kept)


def _take(block: Predictions, rows: NDArray[np.intp]) -> Predictions:
    return replace(
        block,
        y_true=block.y_true[rows],
        scores=block.scores[rows],
        groups=None if block.groups is None else block.groups[rows],
    )


def _count(
    blocks: Iterable[Predictions], view: View | None, keeper: _Sample
) -> tuple[CountTable, int]:
    """Count all rows, and keep a sample."""
    events = 0
    stream = iter(blocks)
    first = next(stream, None)
    if first is None:
        raise ValueError("There are no rows.")
    if view is None and first.scores.ndim == 2:
        view = "top-label"

    def problems() -> Iterator[tuple[BinaryProblem, ...]]:
        nonlocal events
        block: Predictions | None = first
        while block is not None:
            keeper.add(block)
            events += int(np.count_nonzero(block.y_true))
            yield binary_problems(block.y_true, _probabilities(block), view=view)
            block = next(stream, None)

    return CountTable(view=view).of(problems()), events


def _probabilities(block: Predictions) -> NDArray[np.float64]:
    if not block.logits:
        return block.scores
    if block.scores.ndim == 1:
        return np.asarray(special.expit(block.scores))
    return np.asarray(special.softmax(block.scores, axis=1))


def _look(table: CountTable, settings: AuditSettings, names: dict[int, str]) -> list[_Looked]:
    """Test each view of all rows."""
    tables = [table]
    if table.view == "class-wise":
        tables = [table.one_class(k) for k in range(table.n_classes)]
    looks = _TESTS * len(tables)
    found = []
    for one in tables:
        kind = one.view
        number = kind if isinstance(kind, int) else TOP if kind == "top-label" else 1
        words = one.views[0]
        if isinstance(kind, int) and kind in names:
            words = f"class {names[kind]}"
        error = one.calibration_error(settings.bins, name="expected calibration error")
        found.append(_Looked(words, _test(one, number, looks), error))
    return found


def _test(table: CountTable, view: int, looks: int) -> ViewTest:
    """Return Cox's z of level and slope, and a p-value that pays for all looks."""
    groups = table.groups()
    prob, rows = groups.prediction, groups.rows
    residual = groups.events - prob * rows
    weight = rows * prob * (1 - prob)
    logits = _links.logit(prob)
    total = float(weight.sum())
    lever = logits - (float(weight @ logits) / total if total > 0 else 0.0)
    spread = float(weight @ lever**2)
    z_level = float(residual.sum() / np.sqrt(total)) if total > 0 else 0.0
    z_slope = float(residual @ lever / np.sqrt(spread)) if spread > 1e-12 * total > 0 else 0.0
    sums = table.cumulative_differences()
    cox = float(special.chdtrc(2, z_level**2 + z_slope**2))
    n = table.n
    return ViewTest(
        view=view,
        n=n,
        events=int(groups.events.sum()),
        mean_prob=float(prob @ rows / n),
        frequency=float(groups.events.sum() / n),
        variance=total / n,
        z_level=z_level,
        z_slope=z_slope,
        p_value=min(1.0, looks * min(cox, sums.range_test.p_value)),
    )


def _with_all_rows(
    report: AuditReport, table: CountTable, looked: list[_Looked], settings: AuditSettings
) -> AuditReport:
    """Put what all rows say in the place of what the sample says."""
    first = looked[0]
    loudest = min(looked, key=lambda one: one.test.p_value)
    found = loudest.test.p_value <= settings.alpha
    enough = power_of(first.test, settings).enough
    focus = loudest if found else first
    answers = {answer.topic: _of_sample(answer, report.n) for answer in report.answers}
    answers["data"] = _data(first, settings)
    answers["calibration"] = _calibration(focus, len(looked), found, enough)
    answers["direction"] = _direction(focus, found, enough)
    headline, light = _headline(answers, focus.words)
    notes = (
        f"All {table.n:,} rows: counted in {table.cells:,} cells. Test: Cox's score test and the "
        "range of the cumulative differences, p-values by limit laws, multiplied by the number "
        f"of tests; level {100 * settings.alpha:g} %.",
        f"Answers 1, 5 and 6, the groups and the figures: a random sample of {report.n:,} rows.",
    )
    return replace(
        report,
        n=table.n,
        headline=headline,
        light=light,
        answers=tuple(answers.values()),
        notes=(*notes, *report.notes),
    )


def _of_sample(answer: Answer, n: int) -> Answer:
    return replace(answer, sentence=f"{answer.sentence} (Random sample of {n:,} rows.)")


def _headline(answers: dict[str, Answer], focus: str) -> tuple[str, str]:
    if answers["alignment"].verdict == "not aligned":
        return "Labels and predictions do not belong together: check the data first.", "bad"
    verdict = answers["calibration"].verdict
    if verdict == "miscalibrated":
        way = answers["direction"].verdict
        return f"Miscalibrated beyond chance: {way} ({focus}).", "bad"
    if verdict == "cannot say":
        return "Too little data to say.", "unknown"
    return "No evidence of miscalibration.", "good"


def _data(first: _Looked, settings: AuditSettings) -> Answer:
    power = power_of(first.test, settings)
    start = "Yes" if power.enough else "Too few surprises to say"
    return Answer(
        topic="data",
        question="Is there enough data?",
        verdict="enough data" if power.enough else "too little data",
        light="good" if power.enough else "caution",
        sentence=(
            f"{start} ({first.words}). {spell(first.test.n, 'prediction')} would show an average "
            f"error of {power.smallest:.2g} with probability 90 %. So many rows show errors that "
            "matter to nobody: look at the size."
        ),
        numbers={
            "n": float(first.test.n),
            "smallest_error": power.smallest,
            "half_width": power.half_width,
        },
    )


def _calibration(focus: _Looked, n_views: int, found: bool, enough: bool) -> Answer:
    test, error = focus.test, focus.error
    words = focus.words if n_views == 1 else f"{focus.words}, one of {n_views} views"
    p_words = f"p = {test.p_value:.3g}"
    if found:
        verdict, light = "miscalibrated", "bad"
        start = f"Yes: the labels contradict the predictions ({words}, {p_words})."
    elif enough:
        verdict, light = "no evidence", "good"
        start = f"No evidence: the labels are compatible with the predictions ({words}, {p_words})."
    else:
        verdict, light = "cannot say", "unknown"
        start = f"Too little data to say: nothing contradicts the predictions ({words}, {p_words})."
    return Answer(
        topic="calibration",
        question="Is it miscalibrated beyond chance?",
        verdict=verdict,
        light=light,
        sentence=f"{start} {error.describe()}",
        numbers={
            "p_value": test.p_value,
            "error": error.value,
            "null_error": error.null_mean,
            "null_sd": error.null_sd,
        },
    )


def _direction(focus: _Looked, found: bool, enough: bool) -> Answer:
    test, table = focus.test, focus.error.tables[0]
    means = f"Mean prediction {test.mean_prob:.4f}, observed {test.frequency:.4f} ({focus.words})."
    verdict, light = "no direction", "good" if enough else "unknown"
    text = f"There is nothing to point at. {means}"
    if found:
        (verdict, second), light = directions(test), "caution"
        also = f", and {second}" if second else ""
        weight = np.where(table.occupied, table.count * np.abs(table.gap), 0.0)
        worst = int(weight.argmax())
        text = (
            f"{verdict.capitalize()}{also}. {means} Most of it lies between "
            f"{table.edges[worst]:.2f} and {table.edges[worst + 1]:.2f}: there "
            f"{spell(int(table.count[worst]), 'prediction')} say {table.mean_prob[worst]:.4f}, "
            f"observed {table.frequency[worst]:.4f}."
        )
    return Answer(
        topic="direction",
        question="Where is it wrong, and which way?",
        verdict=verdict,
        light=light,
        sentence=text,
        numbers={
            "mean_prob": test.mean_prob,
            "frequency": test.frequency,
            "gap": test.gap,
            "z_level": test.z_level,
            "z_slope": test.z_slope,
        },
    )
