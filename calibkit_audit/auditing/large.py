"""Files whose rows are not kept: counted or summed up in a stream, and sampled on the way."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from calibkit.inputs import BinaryProblem, IntVector, View
from calibkit_audit.auditing.calibration import calibration_answer, data_answer, direction_answer
from calibkit_audit.auditing.comparison import compare
from calibkit_audit.auditing.comparison_report import Comparison
from calibkit_audit.auditing.evidence import Impossible, Summary, count_impossible, power_of
from calibkit_audit.auditing.predictions import Predictions, join_blocks
from calibkit_audit.auditing.questions import audit, conclusions
from calibkit_audit.auditing.redraws import TOP, ViewTest, z_of_all_rows
from calibkit_audit.auditing.report import AuditReport
from calibkit_audit.auditing.rows import table_of_classes
from calibkit_audit.auditing.settings import AuditSettings
from calibkit_audit.counts import CountTable
from calibkit_audit.counts.files import problems_of
from calibkit_audit.counts.grid import CELLS

SAMPLE = 100_000
_TESTS = 2  # of each view: Cox's score test, and the range of the cumulative differences


def audit_stream(
    blocks: Iterable[Predictions],
    *,
    view: View | None = None,
    settings: AuditSettings | None = None,
    sample: int = SAMPLE,
    rng: int = 0,
    **options: Any,
) -> AuditReport:
    """Audit rows that come in blocks of checked `Predictions`, with the options of `audit`.

    Bins must have edges on the grid of the count table. The answers 1, 5 and 6 and the figures
    are those of a random `sample`; of several columns the default view is the predicted class.
    """
    settings = settings or AuditSettings()
    # Bins that do not fit the grid are refused before hours of reading, not after.
    CountTable().update([0, 1], [0.25, 0.75]).tables(settings.bins)
    keeper = RandomSample(sample, rng)
    table, sure, gone = _count_rows(blocks, view, keeper)
    rows = keeper.sample
    names = dict(enumerate(rows.class_names or ()))
    report = audit(**rows.arguments, view=view, settings=settings, rng=rng, **options)
    if keeper.seen == rows.n:
        return report
    summary = _summary(table, sure, settings, names, gone)
    return _with_all_rows(report, table, summary, options.get("independent", False))


class RandomSample:
    """A random sample without replacement: the rows with the smallest random keys."""

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.generator = size, np.random.default_rng([seed, size])
        self.rows: Predictions | None = None  # in the order of the file
        self.keys = np.empty(0)
        self.seen = 0

    def add(self, block: Predictions) -> None:
        """Add the rows of a block whose keys are among the smallest."""
        self.seen += block.n
        rows = block if self.rows is None else join_blocks([self.rows, block])
        keys = np.concatenate([self.keys, self.generator.random(block.n)])
        if len(keys) > self.size:
            smallest = np.sort(np.argpartition(keys, self.size)[: self.size])
            rows, keys = rows.take(smallest), keys[smallest]
        self.rows, self.keys = rows, keys

    @property
    def sample(self) -> Predictions:
        """The sample; a stream without rows has none."""
        if self.rows is None:
            raise ValueError("There are no rows.")
        return self.rows


def _count_rows(
    blocks: Iterable[Predictions], view: View | None, keeper: RandomSample
) -> tuple[CountTable, IntVector, Impossible]:
    """Count all rows, those that say 0 or 1 (by view, what they say, and label), and keep a sample.

    Rows that gave 0 to what happened come last.
    """
    table, gone, sure = CountTable(), Impossible(), np.zeros((1, 2, 2), np.int64)
    for block in blocks:
        if not keeper.seen:
            view = _view(block, view)
            table = CountTable(view=view)
        position = keeper.seen + np.arange(block.n)
        keeper.add(block)
        both = table_of_classes(block.scores, logits=block.logits)
        prob = both[:, 1] if block.scores.ndim == 1 else both
        label = block.label.astype(np.intp)
        gone = gone + count_impossible(label, both, position)
        problems = problems_of(label, prob, view, is_confidence="predicted" in block.more)
        table = table.count([problems])
        sure = sure + np.array([_sure_rows(one) for one in problems])
    return table, sure, gone


def _sure_rows(problem: BinaryProblem) -> IntVector:
    """Count the rows that say 0 and those that say 1, (2, 2), without and with the event."""
    said = problem.prob
    place = 2 * (said == 1) + problem.label
    return np.bincount(place[(said == 0) | (said == 1)], minlength=4).reshape(2, 2)


def _view(block: Predictions, view: View | None) -> View | None:
    """Return which event is counted by default."""
    if "predicted" in block.more:
        return "top-label"
    if view is None and block.scores.ndim == 2:
        return 1 if block.scores.shape[1] == 2 else "top-label"
    return view


def _summary(
    table: CountTable,
    sure: IntVector,
    settings: AuditSettings,
    names: dict[int, str],
    gone: Impossible,
) -> Summary:
    """Return what all rows say of calibration, as `evidence_of` does for rows in memory."""
    whole = table.view != "class-wise"
    tables = [table] if whole else [table.one_class(k) for k in range(table.n_classes)]
    looks = _TESTS * len(tables)
    pairs = [_test(one, own, looks) for one, own in zip(tables, sure, strict=True)]
    tests = [test for test, _ in pairs]
    loudest = min(range(len(tests)), key=lambda place: tests[place].p_value)
    place = loudest if tests[loudest].p_value <= settings.limits[1] else 0
    focus, words = tables[place], _words(tables[place], names)
    error = focus.calibration_error(settings.bins, name="expected calibration error")
    return Summary(
        settings=settings,
        test="Cox's test and range of cumulative differences",
        first=tests[0],
        power=power_of(tests[0], settings, len(tests)),
        words=_words(tables[0], names),
        focus=tests[place],
        focus_words=words,
        looked=words if len(tables) == 1 else f"{words}, one of {len(tables)} views",
        p_value=tests[loudest].p_value,
        others=min(others for _, others in pairs),
        impossible=gone,
        table=error.tables[0],
        error=error.describe(),
        short=error.describe(),
        numbers={"error": error.value, "null_error": error.null_mean, "null_sd": error.null_sd},
    )


def _words(table: CountTable, names: dict[int, str]) -> str:
    named = isinstance(table.view, int) and table.view in names
    return f"class {names[table.view]}" if named else table.views[0]  # type: ignore[index]


def _test(table: CountTable, sure: IntVector, looks: int) -> tuple[ViewTest, float]:
    """Return Cox's z of level and slope over all rows; a p-value, of rows that are not sure.

    It pays for all looks.
    """
    view, wrong, p_value = table.view, int(sure[0, 1] + sure[1, 0]), 1.0
    counts, sums = table.counts.copy(), table.sums.copy()
    counts[:, [0, -1]] -= sure
    sums[:, -1] -= sure[1]
    squares, none = table.squares - sure[1].sum(), 0 * table.impossible
    left = replace(table, counts=counts, sums=sums, squares=squares, impossible=none)
    prob, happened, rows = np.array([[0, 1], sure[:, 1], sure.sum(axis=1)], dtype=np.float64)
    if left.n:
        cells = [part.astype(np.float64) for part in left.groups()]
        z = z_of_all_rows(*cells)
        range_test = left.cumulative_differences().range_test
        p_value = min(1.0, looks * min(float(special.chdtrc(2, z @ z)), range_test.p_value))
        prob, happened, rows = np.hstack([[prob, happened, rows], cells])
    n, z = table.n, z_of_all_rows(prob, happened, rows)
    test = ViewTest(
        view=view if isinstance(view, int) else TOP if view == "top-label" else 1,
        n=n,
        events=int(happened.sum()),
        mean_prob=float(prob @ rows / n),
        frequency=float(happened.sum() / n),
        variance=float((rows * prob * (1 - prob)).sum()) / n,
        z_level=float(z[0]),
        z_slope=float(z[1]),
        p_value=0.0 if wrong else p_value,
        sure=int(sure.sum()),
        wrong=wrong,
    )
    return test, p_value


def _with_all_rows(
    report: AuditReport, table: CountTable, summary: Summary, independent: bool
) -> AuditReport:
    """Put what all rows say in the place of what the sample says."""
    data, sampled = data_answer(summary), f"(Random sample of {report.n:,} rows.)"
    if summary.power.enough:
        many = "So many rows show errors that matter to nobody: look at the size."
        data = replace(data, sentence=f"{data.sentence} {many}")
    answers = {a.topic: replace(a, sentence=f"{a.sentence} {sampled}") for a in report.answers}
    for answer in (data, calibration_answer(summary), direction_answer(summary)):
        answers[answer.topic] = answer
    kept, n = [one for one in report.findings if one.topic != "impossible"], table.n
    six = list(answers.values())
    notes = (
        f"All {n:,} rows: counted in {CELLS:,} cells. Test: {summary.test}; p-values "
        f"by limit laws, multiplied by the number of tests; level "
        f"{100 * summary.settings.alpha:g} %.",
        f"Answers 1, 5 and 6, other tables and the figures: a random sample of {report.n:,} rows.",
    )
    return replace(
        report,
        n=n,
        notes=(*notes, *report.notes),
        **conclusions(six, summary, report.repairs, kept, None, independent, times=report.times),
    )


def compare_rows(rows: Predictions, names: Sequence[str], **options: Any) -> Comparison:
    """Compare models whose rows are kept, with the options of `compare`."""
    parts = np.split(rows.scores, len(names), axis=1)
    probs = {n: p[:, 0] if p.shape[1] == 1 else p for n, p in zip(names, parts, strict=True)}
    several = rows.scores.shape[1] > len(names) or "predicted" in rows.beside
    classes = rows.class_names if several else None
    return compare(rows.y_true, probs, class_names=classes, **rows.more, **options)


def compare_stream(
    blocks: Iterable[Predictions],
    names: Sequence[str],
    *,
    rng: int = 0,
    sample: int = SAMPLE,
    **options: Any,
) -> Comparison:
    """Compare models whose rows come in blocks, by a random `sample` of the rows."""
    keeper = RandomSample(sample, rng)
    for block in blocks:
        keeper.add(block)
    comparison = compare_rows(keeper.sample, names, rng=rng, **options)
    if keeper.seen == comparison.n:
        return comparison
    note = f"All numbers are those of a random sample of {comparison.n:,} of {keeper.seen:,} rows."
    return replace(comparison, notes=(note, *comparison.notes))
