"""The audit: six questions about predictions and labels, answered in order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibkit.decisions.costs import as_costs
from calibkit.inputs import FloatVector, View, as_generator
from calibkit_audit.auditing import advice, alignment, calibration, costs, dependence, repairs
from calibkit_audit.auditing.evidence import (
    Measurements,
    evidence_of,
    groups_of,
    package_view,
    views_of,
)
from calibkit_audit.auditing.pages import Answer
from calibkit_audit.auditing.predictions import by_role, rows_of_table
from calibkit_audit.auditing.report import AuditReport, views_in_words
from calibkit_audit.auditing.rows import AuditRows, cluster_notes, drop_weightless, rows_of
from calibkit_audit.auditing.settings import FINDINGS, AuditSettings
from calibkit_audit.clusters import FEW, Clusters, worth_of
from calibkit_audit.counts.columns import columns_of
from calibkit_audit.segments import SegmentTable


def audit(
    y_true: Any,
    y_prob: Any = None,
    *,
    logits: Any = None,
    view: View | None = None,
    costs: Any = None,
    groups: Any = None,
    cluster: Any = None,
    independent: bool = False,
    time: Any = None,
    class_names: Sequence[str] | None = None,
    positive: Any = None,
    predicted: Any = None,
    sample_weight: Any = None,
    others: Mapping[str, Any] | None = None,
    event: str | None = None,
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
    groups : array-like of shape (n,), mapping from names to such, or DataFrame, optional
        A label per row: the question of calibration is also asked in each group. Of several
        columns, words (the eight commonest) or numbers (cut into four), up to three name a group.
    cluster : array-like of shape (n,), or sequence of several, optional
        Which rows belong together (patient, document): only rows of different clusters are then
        taken as independent. Of several, rows that share a name in any column are dependent.
    independent : bool
        No two rows are about the same case: the headline need not say so.
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
    others : mapping from names to array-like of shape (n,), optional
        What else is known of the rows: a column in whose values rows agree is named, as it may
        say which rows belong together.
    event : str, optional
        What y = 1 is called in the report, e.g. ``"churned = Yes"``.
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
        If something is not valid, with row and value.

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
    >>> audit(data.y_true, data.y_prob, independent=True).headline
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
        independent=independent,
        event=event,
    )
    rows = drop_weightless(dependence.add_time(rows, y_true, time))
    prices = None if costs is None else as_costs(costs, rows.n_classes)
    rows, sides = dependence.keep_one_side(rows)
    views = views_of(rows, view)
    findings = (*sides, *dependence.rows_that_agree(rows, views[0], others))
    report = _report(rows, views, prices, findings=findings, settings=settings, rng=rng)
    headline, light = advice.headline_of(report, known=bool(rows.independent or rows.clusters))
    said: Any = {"headline": headline, "light": light, "advice": advice.advice_of(report)}
    return replace(report, title=str(title), **said)


def audit_table(
    table: Any,
    *,
    label: str,
    prob: str | Sequence[str] | None = None,
    logits: str | Sequence[str] | None = None,
    groups: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    time: str | None = None,
    predicted: Any = None,
    sample_weight: str | None = None,
    drop_missing: bool = False,
    rescale: bool = False,
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
        Further columns, as in `audit`; of `groups` and `cluster` also several, of `predicted` also
        True.
    drop_missing, rescale : bool
        Leave out rows without a label or prediction; divide rows of classes that sum to 0.9 to
        1.1 by their sum. The report says how many.
    **options
        `independent`, `view`, `costs`, `positive`, `event`, `title`, `settings`, `rng`, and
        `class_names`, otherwise the columns' names, as in `audit`.

    Examples
    --------
    >>> table = {"outcome": [0, 1] * 50, "score": [0.1, 0.9] * 50}
    >>> audit_table(table, label="outcome", prob="score").verdicts["alignment"]
    'aligned'
    """
    if (prob is None) == (logits is None):
        raise ValueError("name the columns of either prob= or logits=.")
    beside = {"group": groups, "cluster": cluster, "time": time, "weight": sample_weight}
    right = predicted is True
    columns = columns_of(
        label,
        logits or prob or (),
        logits=prob is None,
        predicted=None if right else predicted,
        right=right,
        rescale=rescale,
        **beside,
    )
    rows, names, changes = rows_of_table(table, columns, drop_missing=drop_missing)
    if options.get("positive") is not None:
        options = {"event": f"{label} = {options['positive']}"} | options
    report = audit(**by_role(rows), **({"class_names": names} | options))
    return report.with_changes(changes)


def _report(
    rows: AuditRows,
    views: tuple[int, ...],
    prices: FloatVector | None,
    *,
    findings: tuple[Answer, ...],
    settings: AuditSettings,
    rng: int | np.random.Generator | None,
) -> AuditReport:
    """Compute all that the answers are about; headline and advice follow from them."""
    seeds, first, level = as_generator(rng).integers(0, 2**62, size=9), views[0], settings.level
    of_repairs, of_order, of_groups, of_times = map(np.random.default_rng, seeds[[4, 6, 7, 8]])
    shown, measured = package_view(rows, first), evidence_of(rows, views, settings, seeds[:4])
    # What nothing speaks against needs no repair; but of a zero that was contradicted one may be.
    suspect = measured.test.p_value <= settings.limits[1] or bool(measured.impossible.count)
    tried = repairs.repairs_of(rows, settings, of_repairs, view=shown, wanted=suspect)
    table, order = tried.table, alignment.alignment_answer(rows, of_order)
    aligned, chance = order.verdict != "not aligned", int(seeds[2]) if suspect else None
    consequences = costs.consequences_of(rows, tried.repaired, first, prices, settings, chance)
    times, changes = dependence.time_finding(rows, measured.first, settings, of_times)
    groups = groups_of(rows, first, settings, of_groups)
    gone = calibration.impossible_finding(measured.impossible, rows.table)
    apart = (*changes, *_group_finding(groups)) if aligned else ()  # labels of other rows differ
    focus, odds = {measured.focus_words: measured.problem}, rows.log_odds(measured.focus.view)
    answers = (
        order,
        calibration.data_answer(measured),
        calibration.calibration_answer(measured),
        calibration.direction_answer(measured),
        costs.costs_answer(consequences, measured),
        repairs.repair_answer(tried, aligned, measured),
    )
    return AuditReport(
        answers=answers,
        findings=(*gone, *findings, *apart),
        promise=promise_of(rows.clusters, settings, grouped=groups is not None),
        n=rows.n,
        n_classes=len(rows.class_names),
        view=measured.names[0],
        class_names=rows.class_names,
        views=views_in_words(measured.test.views, measured.names, settings.alpha),
        evidence=measured,
        consequences=consequences,
        # Where labels must be aligned first, no table and no figure may recommend a repair.
        repairs=table if aligned else replace(table, chosen=-1),
        candidate=tried.calibrator if aligned else None,
        groups=groups,
        times=times,
        weak=calibration.weak_calibration(focus, rows.clusters, level, odds),
        notes=(*_audit_notes(measured), *cluster_notes(rows), *table.notes),
    )


def _audit_notes(measured: Measurements) -> tuple[str, ...]:
    settings = measured.settings
    return (
        "Level-slope-bins test: Cox's score test and a test over bins of equal variance, the "
        "larger of both. Hypothesis: labels are drawn from these very probabilities. Level "
        f"{100 * settings.alpha:g} % for all views together, by {measured.test.n_draws:,} redraws "
        "of the labels from the predictions.",
        f"Error: expected calibration error in {measured.band.table.bins}, "
        f"{100 * settings.level:g} % bootstrap interval ({measured.error.method}, "
        f"{len(measured.error.draws):,} resamples).",
        f"Band: simultaneous, {100 * measured.band.level:g} %, from redraws of the labels.",
        f"Repairs: {settings.folds} folds; the simplest candidate that the best does not beat "
        "beyond chance, if the interval of its gain lies above 0.",
    )


def _group_finding(groups: SegmentTable | None) -> tuple[Answer, ...]:
    """Return whether the labels contradict the predictions in some group."""
    if groups is None:
        return ()
    wrong, shown = bool(groups.miscalibrated), (groups.smallest <= groups.detectable).all()
    light = "bad" if wrong else "good" if shown else "unknown"
    verdict, numbers = FINDINGS["groups"][not wrong], {"p_value": float(groups.p_value[0])}
    return (Answer("groups", verdict, light, groups.describe(), numbers),)


def promise_of(clusters: Clusters | None, settings: AuditSettings, *, grouped: bool = False) -> str:
    """Return what the level of the test means, and what it takes to be true."""
    promise = f"At most {100 * settings.alpha:g} in 100 calibrated models would be called "
    promise += f"miscalibrated{grouped * ', and as many in some group'}"
    if clusters is None:
        return f"{promise}, if rows are independent."
    worth = worth_of(clusters.size)
    few = " They are few: only large errors can be found." if worth < FEW else ""
    if few and worth < 0.9 * clusters.count:
        few = f" Few of them carry the file: they tell as much as {worth:.0f} of one size, so only "
        few += "large errors can be found, and intervals are too short."
    apart = "rows that share no name" if clusters.beside else f"the {clusters.count:,} clusters"
    return f"{promise}, if {apart} are independent.{few}"
