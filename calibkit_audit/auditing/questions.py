"""The audit: six questions about predictions and labels, answered in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibkit.decisions.costs import as_costs
from calibkit.inputs import FloatVector, View, as_generator
from calibkit_audit.auditing.alignment import Alignment, alignment_answer, alignment_of
from calibkit_audit.auditing.calibration import (
    calibration_answer,
    data_answer,
    direction_answer,
    weak_calibration,
)
from calibkit_audit.auditing.costs import Consequences, consequences_of, costs_answer, net_benefits
from calibkit_audit.auditing.dependence import (
    add_time,
    dependence_finding,
    qualify_headline,
    time_finding,
)
from calibkit_audit.auditing.evidence import (
    Impossible,
    Measurements,
    Summary,
    evidence_of,
    impossible_finding,
    package_view,
    view_name,
    views_of,
)
from calibkit_audit.auditing.groups import GroupTable, groups_of
from calibkit_audit.auditing.pages import Answer, Listing, list_names
from calibkit_audit.auditing.predictions import class_columns, table_columns
from calibkit_audit.auditing.repairs import (
    REPAIRED,
    NoRepair,
    Repairs,
    RepairTable,
    repair_answer,
    repairs_of,
)
from calibkit_audit.auditing.report import AuditReport, views_in_words
from calibkit_audit.auditing.rows import (
    AuditRows,
    cluster_notes,
    drop_weightless,
    probability_of,
    rows_of,
)
from calibkit_audit.auditing.settings import AuditSettings
from calibkit_audit.dependent_rows import FEW


def audit(
    y_true: Any,
    y_prob: Any = None,
    *,
    logits: Any = None,
    view: View | None = None,
    costs: Any = None,
    groups: Any = None,
    cluster: Any = None,
    time: Any = None,
    class_names: Sequence[str] | None = None,
    positive: Any = None,
    predicted: Any = None,
    sample_weight: Any = None,
    title: str = "Audit of predictions",
    settings: AuditSettings | None = None,
    rng: int | np.random.Generator | None = 0,
) -> AuditReport:
    """Ask six questions about predictions and answer them in plain words, with uncertainty.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; with `positive` any two labels; with `class_names` these.
    y_prob, logits : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1; or else logits, whose expit or
        softmax is audited, while repairs work on them.
    view : {"top-label", "class-wise"} or int, optional
        Which events. None: y = 1; of more than two columns the predicted class and every class.
    costs : array-like of shape (A, K), pair of float, mapping or str, optional
        As in `calibkit.decisions.policy_cost`; of two classes the prices of a false positive and
        a false negative will do: ``(1, 20)`` or ``"1:20"``.
    groups : array-like of shape (n,), optional
        A label per row; the question of calibration is also asked in each group.
    cluster : array-like of shape (n,), optional
        Which rows belong together (patient, document): only rows of different clusters are then
        taken as independent.
    time : array-like of shape (n,), optional
        When each row was predicted: is the error the same all along? Not with `sample_weight`.
    class_names : sequence of K str, optional
        What to call the classes, in the order of their columns.
    positive : label, optional
        The label that means y = 1; `y_true` may hold one other label.
    predicted : array-like of shape (n,) or True, optional
        The predicted class, of which `y_prob` is the confidence, while `y_true` is the true class;
        True: `y_true` is 1 where it was right.
    sample_weight : array-like of shape (n,), optional
        What each row stands for in the population; only ratios matter.
    title : str
        What was audited, for the pages.
    settings : AuditSettings, optional
        Levels, bins, numbers of redraws and candidates.
    rng : int, numpy.random.Generator or None
        Seed or generator of redraws, resamples and folds.

    Returns
    -------
    AuditReport
        Six ``answers`` with ``verdicts``, in words (``text()``), as a page (``save``), in figures.

    Raises
    ------
    ValueError
        If something is not valid, with row, value and the number of rows affected.

    See Also
    --------
    audit_table : the same, of columns of a table.

    Notes
    -----
    The methods are told on the book's page of measured rates. Lesson 14.

    Examples
    --------
    >>> from calibkit.fakes import LogitDistortion
    >>> data = LogitDistortion(slope=0.5).sample(2000, rng=0)
    >>> audit(data.y_true, data.y_prob).headline
    'Miscalibrated beyond chance: over-confident (positive class).'
    """
    settings = settings or AuditSettings()
    rows = rows_of(
        y_true,
        y_prob,
        logits=logits,
        groups=groups,
        cluster=cluster,
        class_names=class_names,
        positive=positive,
        predicted=predicted,
        sample_weight=sample_weight,
    )
    rows = drop_weightless(add_time(rows, y_true, time))
    table = None if costs is None else as_costs(costs, rows.n_classes)
    views = views_of(rows, view)
    results = _results(rows, views, table, settings, as_generator(rng))
    return _report(rows, views, results, settings, str(title))


def audit_table(
    table: Any,
    *,
    label: str,
    prob: str | Sequence[str] | None = None,
    logits: str | Sequence[str] | None = None,
    groups: str | None = None,
    cluster: str | None = None,
    time: str | None = None,
    predicted: str | None = None,
    sample_weight: str | None = None,
    class_names: Sequence[str] | None = None,
    **options: Any,
) -> AuditReport:
    """Audit rows of a table (of pandas, polars or arrow, or a mapping) by the names of columns.

    Parameters
    ----------
    table : DataFrame, Table or mapping from names to columns
    label : str
        The column of labels.
    prob, logits : str or sequence of str
        One of the two: the column of P(y = 1), or a column per class; ``"p_*"`` means all that
        begin with ``p_``.
    groups, cluster, time, predicted, sample_weight : str, optional
        Further columns, as in `audit`.
    class_names : sequence of str, optional
        As in `audit`; otherwise the columns' names.
    **options
        `view`, `costs`, `positive`, `title`, `settings` and `rng`, as in `audit`.

    Examples
    --------
    >>> table = {"outcome": [0, 1] * 50, "score": [0.1, 0.9] * 50}
    >>> audit_table(table, label="outcome", prob="score").verdicts["alignment"]
    'aligned'
    """
    if (prob is None) == (logits is None):
        raise ValueError("name the columns of either prob= or logits=.")
    names = {"groups": groups, "cluster": cluster, "time": time}
    names |= {"predicted": predicted, "sample_weight": sample_weight}
    named = {role: name for role, name in names.items() if name is not None}
    columns = table_columns(table, {"y_true": label, **named})
    scores, classes = class_columns(table, label, prob or logits, sums=prob is not None)
    columns["logits" if prob is None else "y_prob"] = scores
    report = audit(**columns, class_names=class_names or classes, **options)
    given = prob or logits or ""
    names_given = [given] if isinstance(given, str) else list(given)
    return replace(report, source={"label": label, "predictions": list_names(names_given)})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditResults:
    """The statistics behind all answers, before a word is said."""

    alignment: Alignment
    evidence: Measurements
    repairs: Repairs
    consequences: Consequences
    groups: GroupTable | None
    times: Listing | None
    findings: tuple[Answer, ...]  # beside the six answers: rows that agree, an error that changes


def _results(
    rows: AuditRows,
    views: tuple[int, ...],
    costs: FloatVector | None,
    settings: AuditSettings,
    rng: np.random.Generator,
) -> AuditResults:
    """Compute all that the answers will be about."""
    seeds, first = rng.integers(0, 2**62, size=9), views[0]
    evidence = evidence_of(rows, views, settings, seeds[:4])
    # What nothing speaks against needs no repair; but of a zero that was contradicted one may be.
    suspect = evidence.test.p_value <= settings.limits[1] or bool(evidence.impossible.count)
    of_repairs, of_order, of_groups, of_times = map(np.random.default_rng, seeds[[4, 6, 7, 8]])
    shown = package_view(rows, first)
    repairs = repairs_of(rows, settings, of_repairs, view=shown, wanted=suspect)
    consequences = consequences_of(rows, repairs.repaired, first, costs=costs, level=settings.level)
    alignment = alignment_of(rows, of_order)
    groups = groups_of(rows, first, view_name(rows, first), settings, of_groups)
    design = evidence.test.views[0].design
    times, change = time_finding(rows, first, design, settings, of_times) or (None, None)
    steady = change is None or change.light == "good"
    agree = dependence_finding(rows, of_times, in_order=steady)
    return AuditResults(
        alignment=alignment,
        evidence=evidence,
        repairs=repairs,
        consequences=consequences,
        groups=groups,
        times=times,
        findings=tuple(one for one in (agree, change) if one is not None),
    )


def _report(
    rows: AuditRows,
    views: tuple[int, ...],
    results: AuditResults,
    settings: AuditSettings,
    title: str,
) -> AuditReport:
    """Put the results into words."""
    evidence, repairs = results.evidence, results.repairs
    names = tuple(view_name(rows, one) for one in views)
    focus = view_name(rows, evidence.focus.view)
    summary = evidence.summary(names, focus, settings, repairs.table.before_left)
    benefit = _net_benefits(rows, results, settings.level)
    answers = _answers(rows, results, summary, benefit)
    misaligned = answers[0].verdict == "not aligned"
    count = None if rows.clusters is None else rows.clusters.count
    return AuditReport(
        title=title,
        **conclusions(answers, summary, repairs.table, results.findings, count),
        n=rows.n,
        n_classes=len(rows.class_names),
        view=names[0],
        class_names=rows.class_names,
        views=views_in_words(evidence.test.views, names, settings.alpha),
        evidence=evidence,
        consequences=results.consequences,
        # Where labels must be aligned first, no table and no figure may recommend a repair.
        repairs=replace(repairs.table, chosen=-1) if misaligned else repairs.table,
        candidate=NoRepair(answers[-1].sentence) if misaligned else repairs.calibrator,
        groups=results.groups,
        times=results.times,
        weak=weak_calibration({focus: evidence.problem}, rows.clusters, settings.level),
        benefit=benefit,
        notes=_notes(rows, results, settings, names),
        settings=settings,
    )


def _net_benefits(rows: AuditRows, results: AuditResults, level: float) -> Listing | None:
    """Return the net benefits at the given prices, with and without the best repair."""
    probs = {"as it is": rows.table[:, 1].astype(np.float64)}
    if results.repairs.repaired is not None:
        one = np.ones(rows.n, dtype=np.intp)
        probs["repaired (held out)"] = probability_of(one, results.repairs.repaired)
    return net_benefits(rows, probs, results.consequences.prices, level)


def _answers(
    rows: AuditRows, results: AuditResults, summary: Summary, benefit: Listing | None
) -> tuple[Answer, ...]:
    """Answer the six questions; that of costs also in net benefit, the unit of the clinic."""
    costs = costs_answer(results.consequences, summary)
    if benefit is not None:
        numbers = {**costs.numbers, "net_benefit": float(benefit.columns["net benefit"][0])}
        text = f"{costs.sentence} Net benefit: {benefit.describe()}"
        costs = replace(costs, sentence=text, numbers=numbers)
    aligned = results.alignment.verdict != "not aligned"
    return (
        alignment_answer(results.alignment, rows),
        data_answer(summary),
        calibration_answer(summary),
        direction_answer(summary),
        costs,
        repair_answer(results.repairs, aligned, summary),
    )


def conclusions(
    answers: Sequence[Answer],
    summary: Summary,
    repairs: RepairTable,
    findings: Sequence[Answer],
    clusters: int | None,
) -> dict[str, Any]:
    """Return the fields of a report that all answers and findings make together."""
    verdicts = {one.topic: one.verdict for one in answers}
    promise = promise_of(clusters, summary.settings)
    if verdicts["alignment"] == "not aligned":  # labels of other rows agree, or change, for that
        findings = ()
    headline, light = headline_of(verdicts, summary.focus_words, summary.impossible)
    headline, light = qualify_headline(headline, light, findings)
    return {
        "headline": headline,
        "light": light,
        "answers": tuple(answers),
        "advice": advice_of(verdicts, summary, repairs, findings),
        "promise": promise,
        "small_print": f"{summary.short} {promise}",
        "findings": (*impossible_finding(summary.impossible, summary.log_loss), *findings),
    }


def _notes(
    rows: AuditRows, results: AuditResults, settings: AuditSettings, names: tuple[str, ...]
) -> tuple[str, ...]:
    evidence = results.evidence
    looked = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    return (
        f"Views: {looked}.",
        "Average error and gap: mean prediction minus observed frequency; the figures show "
        "observed minus predicted.",
        "Alignment: mean probability of what happened, against all orders of the labels.",
        "Level-slope-bins test: Cox's score test and a test over bins of equal variance, the "
        "larger of both. Hypothesis: labels are drawn from these very probabilities. Level "
        f"{100 * settings.alpha:g} % for all views together, by {evidence.test.n_draws:,} redraws "
        "of the labels from the predictions.",
        f"Error: expected calibration error in {evidence.band.table.bins}, "
        f"{100 * settings.level:g} % bootstrap interval ({evidence.error.method}, "
        f"{len(evidence.error.draws):,} resamples). In trials 90 % intervals held the truth in 86 "
        "to 97 of 100 files; in 88.6 where all logits were shifted by 0.3 (2,000 rows).",
        f"Band: simultaneous, {100 * evidence.band.level:g} %, from redraws of the labels.",
        f"Repairs: {settings.folds} folds; the simplest candidate within one standard error of "
        "the best, if the interval of its gain lies above 0.",
        "Groups, where given: Cox's test of level and slope; level against the rest; both by "
        "redraws, with Holm's correction.",
        *cluster_notes(rows),
        *results.repairs.table.notes,
    )


def headline_of(verdicts: Mapping[str, str], focus: str, gone: Impossible) -> tuple[str, str]:
    """Return the verdict in one line, and its light."""
    if verdicts["alignment"] == "not aligned":
        return "Labels and predictions do not belong together: check the data first.", "bad"
    text, light = "No evidence of miscalibration.", "good"
    if verdicts["calibration"] == "miscalibrated":
        text, light = f"Miscalibrated beyond chance: {verdicts['direction']} ({focus}).", "bad"
    elif verdicts["calibration"] == "borderline":
        text, light = f"Borderline; if anything, {verdicts['direction']} ({focus}).", "caution"
    elif verdicts["calibration"] == "cannot say":
        text, light = "Too little data to say.", "unknown"
    if not gone.count or gone.minor:
        return text, light
    return f"{gone}. The other {gone.left:,}: {text[0].lower()}{text[1:]}", "bad"


def advice_of(
    verdicts: Mapping[str, str], summary: Summary, table: RepairTable, findings: Sequence[Answer]
) -> str:
    """Say in one sentence what verdicts and findings mean for a person who has to decide."""
    if verdicts["alignment"] == "not aligned":
        return "Decide nothing on these numbers before labels and columns have been put right."
    if summary.impossible.count and not summary.impossible.minor:
        return "Never act on a stated 0 or 1 of this model: such statements have been wrong."
    codes = {one.verdict for one in findings}
    if "rows agree" in codes:
        return "Say which rows belong together, or when each was made; until then, decide nothing."
    if "error changes" in codes:
        return "Find out what has changed over time first: an average over all times hides it."
    if verdicts["costs"] == "worse than ignoring":
        return "At these costs, decide without the model: acting on it costs more."
    if summary.miscalibrated:
        remedy = "ask for a better model, or more data to mend this one"
        if verdicts["repair"] == "repair":
            name = str(table.name[table.chosen])
            remedy = f"first mend them by {REPAIRED.get(name, name)}, then check on new rows"
        return f"Do not take these probabilities at their word; {remedy}."
    if summary.borderline:
        return "Wait for new rows before you rely on these probabilities: they leave a doubt."
    if not summary.power.enough:
        return (
            "These rows cannot tell whether the probabilities may be relied on; some "
            f"{summary.power.needed:,} are needed."
        )
    return (
        "These probabilities may be taken at their word, so far: an average error of "
        f"{summary.power.smallest:.{summary.digits}f} would have been seen in nine such files of "
        "ten."
    )


def promise_of(clusters: int | None, settings: AuditSettings) -> str:
    """Return what the level of the test means, and what it takes to be true."""
    said, count = settings.promise.removesuffix("."), clusters
    if count is None:
        return f"{said}, if rows are independent."
    few = " They are few: only large errors can be summary." if count < FEW else ""
    return f"{said}, if the {count:,} clusters are independent.{few}"
