"""The audit: six questions about predictions and labels, answered in order."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibkit.decisions.costs import as_costs
from calibkit.inputs import FloatVector, View, as_generator
from calibkit_audit.auditing import remedy, words
from calibkit_audit.auditing.alignment import Alignment, alignment_of
from calibkit_audit.auditing.clinic import in_its_words
from calibkit_audit.auditing.clusters import by_cluster, promise_of
from calibkit_audit.auditing.comparison import Listing
from calibkit_audit.auditing.consequences import Consequences, consequences_of
from calibkit_audit.auditing.dependence import dependence_of, doubted
from calibkit_audit.auditing.evidence import (
    Evidence,
    Seen,
    evidence_of,
    given_view,
    in_words,
    views_of,
)
from calibkit_audit.auditing.groups import GroupTable, groups_of
from calibkit_audit.auditing.impossible import told as told_of_impossible
from calibkit_audit.auditing.pages import Answer
from calibkit_audit.auditing.predictions import of_table, pairs_of
from calibkit_audit.auditing.provenance import of_memory
from calibkit_audit.auditing.repairs import NoRepair, Repairs, RepairTable, repairs_of
from calibkit_audit.auditing.report import AuditReport, views_in_words
from calibkit_audit.auditing.rows import Rows, counting, rows_of
from calibkit_audit.auditing.settings import AuditSettings, settings_of
from calibkit_audit.auditing.times import times_of, with_time


def audit(
    y_true: Any,
    y_prob: Any = None,
    *,
    label: str | Sequence[str] | None = None,
    prob: Any = None,
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
    title: str | None = None,
    settings: AuditSettings | None = None,
    rng: int | np.random.Generator | None = 0,
    **options: Any,
) -> AuditReport:
    """Ask six questions about predictions and answer them in plain words, with uncertainty.

    Parameters
    ----------
    y_true : array-like of shape (n,), or a table
        Labels: 0 and 1, or ``0 .. K-1``; with `positive` any two labels; with `class_names` these.
    y_prob, logits : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1; or else logits, whose expit or
        softmax is audited, while repairs work on them.
    label, prob : str, and str or sequence of str, optional
        Where `y_true` is a table (of pandas, polars or arrow, or a mapping): its columns, as in
        `calibkit_audit.counts.count_files`. Several of `prob`, or ``"p_*"``, are the classes of one
        model. Several targets: a list of labels, and for each of them what is given as `prob`; then
        there are as many audits. Several models of one label are for `compare`. `logits`, `groups`,
        `cluster`, `time`, `predicted` and `sample_weight` may then be names of columns too.
    view : {"top-label", "class-wise"} or int, optional
        Which events. None: y = 1, also of two columns; of more the predicted class and every
        class (up to 200).
    costs : array-like of shape (A, K), pair of float, mapping or str, optional
        As in `calibkit.decisions.policy_cost`: ``costs[a, k]`` is what action a costs when the
        class is k. For two classes the prices of the mistakes (false positive, false negative) will
        do: ``(1, 20)``, ``{"false positive": 1, "false negative": 20}`` or ``"1:20"``.
    groups : array-like of shape (n,), optional
        A label per row; the question of calibration is also asked in each group.
    cluster : array-like of shape (n,), optional
        Which rows belong together: patient, document, team and season. Only rows of different
        clusters are then taken as independent, in tests, intervals and folds; below 30 clusters
        the report says that they are few.
    time : array-like of shape (n,), optional
        When each row was predicted: numbers, dates, or texts of either. The audit then also asks
        whether the error is the same all along, over at most ten blocks of time.
    class_names : sequence of K str, optional
        What to call the classes, in the order of their columns; otherwise their numbers.
    positive : label, optional
        The label that means y = 1, e.g. ``"yes"``; `y_true` may hold one other label.
    predicted : array-like of shape (n,) or True, optional
        The predicted class of each row: `y_prob` is then the confidence in it and `y_true` the true
        class, of any kind; True: `y_true` is 1 where it was right. See `calibkit.binary_problem`.
    sample_weight : array-like of shape (n,), optional
        What each row stands for in the population (survey or importance weights; only ratios
        matter): a row of weight 2 is one row, not two. Of frequencies, repeat the rows with
        ``np.repeat``. A row of weight 0 is left out. Not with `time`.
    title : str, optional
        What was audited, for the pages.
    settings : AuditSettings, optional
        Levels, bins, numbers of redraws and candidates, or None for the usual ones.
    rng : int, numpy.random.Generator or None
        Seed or generator of redraws, resamples and folds; None draws afresh each time.
    **options
        Single settings by their names in `AuditSettings`, e.g. ``bins=10, alpha=0.05``.

    Returns
    -------
    AuditReport
        It speaks (``text()``), has six ``answers``, ``verdicts`` and ``codes``, a ``calibrator``,
        ``figures()``, and becomes a page, Markdown or JSON (``save``). Of several targets a
        ``dict`` from label to report.

    Raises
    ------
    ValueError
        If something is not valid, with row, value and the number of rows affected.
    TypeError
        If an option is no setting.

    Notes
    -----
    1. Alignment: the mean probability of what happened, against all orders of the labels.
    2. Data: the smallest average error found with probability 90 %,
       ``(z(1 - alpha/2) + z(0.9)) sqrt(mean p(1-p) / n)``, must be below
       ``settings.detectable``; also, ten surprises must be expected, ``sum p(1-p) >= 10``.
    3. Calibration, by the level-slope-bins test: per view the larger of Cox's score test and a
       test over 1, 2, 4, ... bins of equal variance, on the scale of -ln p; the largest over all
       views against redraws of all labels from the predictions: the level holds for all views
       together, for any n, ties and rare events. Rows that gave 0 to what happened are a finding
       beside it, and are left out: under the hypothesis they do not exist. The calibration error
       decides nothing; where test and error disagree, a sentence says why. "No evidence" takes
       enough data: else it is "cannot say". Two columns of two classes are one problem.
    4. Direction: Cox's z of level and slope; bins outside a simultaneous band.
    5. Costs: paid cost of trust against held-out repaired predictions and against no model, also
       as net benefit where prices give a threshold; without costs the Murphy curve.
    6. Repair: log loss on held-out folds; the simplest candidate within one standard error of
       the best, if the interval of its gain lies above 0.

    Measured on fresh data (``test_audit_fresh.py``): 0 to 3 % of calibrated
    sets are called miscalibrated at the level of 1 %. Of sets whose logits were stretched by 1.5,
    28 to 42 % are found in 100 rows, and more than 99 % in 1,000. Verdict and null level of the ECE
    (at 5 %) disagree about 3 to 7 % of calibrated sets.

    Of 360 calibrated sets of 200 and of 1,000 rows a repair was recommended in 3, all rare events.
    Of 120 sets with shuffled labels 119 were flagged, and one of 3,000 calibrated sets.

    Redraws are doubled, up to 100,000, while it is open on which side of the level, or of twice
    the level, the p-value lies (Robbins, 1970; Gandy, 2009: a wrong side with probability at most
    0.001 each, unless the redraws run out); between both the verdict is "borderline". Of 60 sets
    with p-values of 0.004 to 0.04 the verdict depended on which of six seeds was taken in 1.

    By cluster, in 60 sets of each of nine designs (random walks of knowledge, repeated outcomes,
    random effects, 10 to 1,000 clusters, unequal sizes, ten classes): 0 to 1.7 % called
    miscalibrated, by rows up to all of them; no repair recommended. Logits 0.7 too high are found
    in 7 % (30 random walks) to all (1,000 clusters). In 300 sets of each (``dev.py clusters
    --intervals``; standard error 1.7) nominal 90 % intervals held the difference of two models'
    Brier scores in 87 to 92, and a repair's gain in 87 to 92: what the repair, fitted to all rows,
    gains on new clusters. The interval is Student's around the held-out gain, its upper end moved
    up by half of what fits are flattered by on their own rows (Efron, 2004: optimism); without
    that 73 to 89 were held. Sources: `calibkit.chance.clusters`.

    Of 300 sets of 100 to 4,000 independent rows (``dev.py clusters --alone``) none was called
    dependent; of 1,000 of each size the error was said to change over time in 0.5 to 1 %. A drift
    of logits from 0.6 too low to 0.6 too high was found in 34 of 100 sets of 100 rows, and in all
    of 1,000 and of 4,000. On whole seasons left out, Platt's map gains as much as on rows
    (``dev.py clusters --seasons``; nats): NBA 0.0067 beside 0.0065, NFL 0.0015 beside 0.0011, MLB
    0.0000 beside -0.0001: each game has an outcome of its own.

    By weight: all means (level, error, scores, costs, gains) are weighted, intervals are those of
    ratio estimators, and the amount of data is Kish's number, ``(sum w)^2 / sum w^2``. Weights may
    depend on the label: of two classes test, null level, band and groups redraw labels as such a
    choice leaves them, with the weights ``w_0, w_1`` that a row would have with either; the level
    has the variance ``sum w_0 w_1 p(1-p)``. The test of more classes keeps a weight with its row.
    Shuffled labels and dependence are looked for in the rows as they are.

    In 200 calibrated sets of 500 rows in each of six designs (``dev.py clusters --weights``: rows
    chosen by luck or by the prediction; of events, or of other rows, a tenth or a twentieth kept)
    0 to 0.5 % were called miscalibrated, without their weights up to all. Logits 0.7 too high were
    found in 90 of 100 sets chosen by luck, as in as many plain rows as the weights are worth (199);
    where rows were chosen by their label, Kish's number is no measure of power (54 for 84 where a
    tenth of the others is kept, 100 for 35 where events are rare). Nominal 90 % intervals held a
    repair's gain in 88 to 91, the difference of two models' Brier scores in 87 to 91 of 300 sets
    each (``--weights --intervals``); in 400 sets of 1,500 rows with lognormal weights the
    calibration error in 89 and 92, the slope in 91 and 92 (logits shifted, stretched). Sources:
    Kish (1965); Särndal, Swensson and Wretman (1992); redraws by label: ours.

    The order of rows tells shuffled from shifted labels. Taught in lesson 14.

    Examples
    --------
    >>> from calibkit.fakes import LogitDistortion
    >>> data = LogitDistortion(slope=0.5).sample(2000, rng=0)
    >>> audit(data.y_true, data.y_prob).headline
    'Miscalibrated beyond chance: over-confident (positive class).'
    """
    if not (label is None or isinstance(label, str)):
        return _each_target(**locals())  # type: ignore[no-any-return]
    settings = settings_of(settings, options)
    given = {"logits": logits, "groups": groups, "cluster": cluster, "predicted": predicted}
    given |= {"y_true": y_true, "y_prob": y_prob, "class_names": class_names}
    taken = of_table(given | {"time": time, "sample_weight": sample_weight}, label, prob)
    time = taken.pop("time")
    rows = counting(with_time(rows_of(**taken, positive=positive), taken["y_true"], time))
    table = None if costs is None else as_costs(costs, rows.n_classes)
    views = views_of(rows, view)
    found = _found(rows, views, table, settings, as_generator(rng))
    report = _report(rows, views, found, settings, str(title or "Audit of predictions"))
    return replace(report, source=of_memory(given, label, prob))


def _each_target(
    label: Sequence[str], prob: Any, title: Any, options: dict[str, Any], **given: Any
) -> Any:
    """Return an audit of each label by its own predictions, by the name of the label."""
    pairs, name = pairs_of(label, prob), title or "Audit of predictions"
    return {y: audit(label=y, prob=p, title=f"{name}: {y}", **given, **options) for y, p in pairs}


_Found = tuple[
    Alignment, Evidence, Repairs, Consequences, GroupTable | None, Listing | None, list[Answer]
]


def _found(
    rows: Rows,
    views: tuple[int, ...],
    table: FloatVector | None,
    settings: AuditSettings,
    rng: np.random.Generator,
) -> _Found:
    """Look for all that the answers will be about."""
    seeds = rng.integers(0, 2**62, size=9)
    evidence = evidence_of(rows, views, settings, seeds[:4])
    # What nothing speaks against needs no repair; but of a zero that was contradicted one may be.
    suspect = evidence.test.p_value <= settings.limits[1] or bool(evidence.impossible.count)
    generator, shown = np.random.default_rng(seeds[4]), given_view(rows, views[0])
    repairs = repairs_of(rows, settings, generator, view=shown, wanted=suspect)
    order_rng, groups_rng = map(np.random.default_rng, seeds[6:8])
    consequences = consequences_of(
        rows, repairs.repaired, views[0], costs=table, level=settings.level
    )
    aligned = alignment_of(rows, order_rng)
    by_group = groups_of(rows, views[0], in_words(rows, views[0]), settings, groups_rng)
    rng, design = np.random.default_rng(seeds[8]), evidence.test.views[0].design
    timed = times_of(rows, views[0], design, settings, rng)
    table_of_times, said = timed or (None, None)
    steady = said is None or said.light == "good"
    more = [one for one in (dependence_of(rows, rng, in_order=steady), said) if one is not None]
    return aligned, evidence, repairs, consequences, by_group, table_of_times, more


def _report(
    rows: Rows, views: tuple[int, ...], found: _Found, settings: AuditSettings, title: str
) -> AuditReport:
    """Put the findings into words."""
    _, evidence, repairs, consequences, by_group, times, more = found
    names = tuple(in_words(rows, one) for one in views)
    seen = evidence.seen(
        names, in_words(rows, evidence.focus.view), settings, repairs.table.before_left
    )
    clinic = in_its_words(rows, seen, evidence, repairs, consequences)
    answers = _answers(rows, found, seen, clinic["benefit"])
    first = answers[0].verdict == "not aligned"
    count = None if rows.clusters is None else rows.clusters.count
    return AuditReport(
        title=title,
        **told(answers, seen, repairs.table, more, count),
        n=rows.n,
        n_classes=len(rows.class_names),
        view=names[0],
        class_names=rows.class_names,
        views=views_in_words(evidence.test.views, names, settings.alpha),
        evidence=evidence,
        consequences=consequences,
        # Where labels must be aligned first, no table and no figure may recommend a repair.
        repairs=replace(repairs.table, chosen=-1) if first else repairs.table,
        candidate=NoRepair(answers[-1].sentence) if first else repairs.calibrator,
        groups=by_group,
        times=times,
        **clinic,
        notes=_notes(rows, found, seen, names),
        settings=settings,
    )


def _answers(rows: Rows, found: _Found, seen: Seen, benefit: Listing | None) -> tuple[Answer, ...]:
    """Answer the six questions; that of costs also in net benefit, the unit of the clinic."""
    aligned, _, repairs, consequences, *_ = found
    costs = words.costs(consequences, seen)
    if benefit is not None:
        numbers = {**costs.numbers, "net_benefit": float(benefit.columns["net benefit"][0])}
        text = f"{costs.sentence} Net benefit: {benefit.describe()}"
        costs = replace(costs, sentence=text, numbers=numbers)
    return (
        words.alignment(aligned, rows),
        *(asked(seen) for asked in (words.data, words.calibration, words.direction)),
        costs,
        remedy.repair(repairs, aligned.verdict != "not aligned", seen),
    )


def told(
    answers: Sequence[Answer],
    seen: Seen,
    repairs: RepairTable,
    found: Sequence[Answer],
    clusters: int | None,
) -> dict[str, Any]:
    """Return what a report says of its answers, and of what was `found` beside them."""
    verdicts = {one.topic: one.verdict for one in answers}
    promise = promise_of(clusters, seen.settings)
    if verdicts["alignment"] == "not aligned":  # labels of other rows agree, or change, for that
        found = ()
    said = words.headline(verdicts, seen.focus_words, seen.impossible)
    headline, light = doubted(*said, found)
    return {
        "headline": headline,
        "light": light,
        "answers": tuple(answers),
        "advice": remedy.advice(verdicts, seen, repairs, found),
        "promise": promise,
        "small_print": f"{seen.short} {promise}",
        "findings": (*told_of_impossible(seen.impossible, seen.log_loss), *found),
    }


def _notes(rows: Rows, found: _Found, seen: Seen, names: tuple[str, ...]) -> tuple[str, ...]:
    evidence, repairs, settings = found[1], found[2], seen.settings
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
        *by_cluster(rows),
        *repairs.table.notes,
    )
