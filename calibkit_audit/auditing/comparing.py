"""Compare models on the same rows: which is better, by how much, what cannot be separated."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from calibkit.bins import Binning, as_bins
from calibkit.chance import NullLevel, null_level
from calibkit.decisions import murphy_curve
from calibkit.decisions.costs import as_costs
from calibkit.errors import expected_calibration_error
from calibkit.inputs import FloatVector, View, as_generator, as_level, one_problem
from calibkit.reliability import reliability_table
from calibkit.results import spell
from calibkit.wrong_names import unknown_option
from calibkit_audit.auditing import differences
from calibkit_audit.auditing.clinic import net_benefits, weak_calibration
from calibkit_audit.auditing.clusters import by_cluster
from calibkit_audit.auditing.comparison import Comparison, Listing, rows_of_models, view_of_models
from calibkit_audit.auditing.dependence import dependence_of
from calibkit_audit.auditing.differences import SCORES, Sums
from calibkit_audit.auditing.rows import Rows, given_to
from calibkit_audit.auditing.words import Found, worded

Models = Mapping[str, FloatVector]  # their probabilities, in the order of the rows
Measured = Mapping[str, Mapping[str, FloatVector]]  # what each row adds, by model and measure
_SEVERAL = ("class-wise", "top-label")  # views of more than one event, or of another per model
_DRAWS = 200  # redraws behind a null level


def compare(
    y_true: Any,
    y_prob: Mapping[str, Any],
    *,
    view: View = None,
    costs: Any = None,
    groups: Any = None,
    cluster: Any = None,
    class_names: Sequence[str] | None = None,
    predicted: Any = None,
    sample_weight: Any = None,
    title: str | None = None,
    level: float = 0.95,
    bins: Binning | int = 15,
    rng: int | np.random.Generator | None = 0,
    **unknown: Any,
) -> Comparison:
    """Compare models on the same rows: paired differences with intervals, in plain words.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``.
    y_prob : mapping from str to array-like of shape (n,) or (n, K)
        Two or more models by name, all of one shape, rows in the order of the labels. Each is
        compared with the first.
    view : {"top-label", "class-wise"} or int, optional
        The events of the calibration parts. None: y = 1; of K columns every class, summed (beyond
        200 classes the predicted class, of which each model has its own).
    costs : array-like of shape (A, K), pair of float, mapping or str, optional
        ``costs[a, k]``: what action a costs when the class is k; or the prices of a false positive
        and a false negative, e.g. ``(1, 20)``. Each model decides by its own probabilities.
    groups : array-like of shape (n,), optional
        A label per row; the scores are compared in each group, too.
    cluster : array-like of shape (n,), optional
        Which rows belong together (patient, document, team and season): then only clusters are
        taken as independent, and intervals are Student's, from what each difference would be
        without each cluster.
    class_names : sequence of K str, optional
        What to call the classes, in the order of their columns; otherwise their numbers.
    predicted : array-like of shape (n,) or True, optional
        As in `audit`: the predicted class, the same for all models, whose confidences `y_prob`
        holds. Models that predict other classes answer other questions: compare their tables.
    sample_weight : array-like of shape (n,), optional
        What each row stands for in the population, as in `audit`.
    title : str, optional
        What was compared, for the pages.
    level : float
        Nominal probability content of each interval, in (0, 1).
    bins : int or Binning
        Of diagrams and calibration errors; a number means bins of equal width.
    rng : int, numpy.random.Generator or None
        Seed or generator of redraws; None draws afresh each time.

    Returns
    -------
    Comparison
        Differences with intervals and verdicts; ``text()``, ``codes``, ``to_frame()``,
        ``figures()``, and pages (``save``).

    Raises
    ------
    ValueError
        If there are fewer than two models, or labels, probabilities or options are not valid.

    Notes
    -----
    Differences are other minus first. Cost, log loss and Brier score are means over rows; intervals
    are Student's, of rows in pairs or of clusters. Miscalibration
    ``S(p) - S(f(p))`` and discrimination ``S(frequency) - S(f(p))`` are the CORP parts of the Brier
    score with the isotonic curve f (Dimitriadis, Gneiting and Jordan, 2021); f is fitted once: to
    first order the error of a minimiser does not matter. Chance adds up to its null level to a
    binned calibration error: its interval is wider by both, ``(low - null of the other, high + null
    of the first)``. Equal predictions share a bin and a height. Nothing is clipped: where an event
    had probability 0, the log loss is infinite, the finite model is better, and there is no
    interval; if both are infinite, log loss does not separate them. Differences that are all 0 are
    "equal"; fewer than ten events, other rows, or rows that differ have no interval. Each is
    taken alone: of two models that are equal in law log loss is separated in 4 to 5 of 100 files,
    one measure at least in 8 to 13. The ``codes`` pay for all models and measures together (the
    multivariate t of Hothorn, Bretz and Westfall, 2008; in a stream Bonferroni): at 95 % they
    separate two equal models in 2, 1 and 3 of 100 files of 100, 1,000 and 4,000 rows (``dev.py
    clusters --alone``). In groups intervals have a level that pays for all groups. With weights
    intervals are those of ratio estimators. Taught in lesson 13.

    Measured on fakes with known truth (500 sets of 1,000 rows in each of four worlds: a sharper
    copy, another source of knowledge, two equally good ones, a shift against a slope; nominal
    95 %, errors about 1): log loss 94.0 to 94.6, Brier score 92.8 to 94.6, cost at 1:9 91.0 to
    94.6, miscalibration 94 to 99.6, discrimination 92.4 to 100; calibration error 100 (200 sets
    each): its interval is wide. In 300 or 400 sets more all but
    discrimination (99.7 to 100) and calibration error covered 91.2 to 93.8 at 1 % events (3,000
    rows; of 1,000 rows 97, half of them refused), 93.0 to 95.7 with ten classes, 92.5 to 94.5 in
    a stream, and in four groups of 250 rows 92.2 to 98.0, all groups together.
    Where fewer than five rows are decided better, or worse, an interval of a cost is too short
    (down to 50 at a price of 30): there is none, unless five more at the highest price would not
    change the sign. In memory these were percentiles of resamples, a little narrower than now.

    Examples
    --------
    >>> from calibkit.fakes import LogitDistortion
    >>> data = LogitDistortion(slope=0.5).sample(10_000, rng=0)
    >>> found = compare(data.y_true, {"old": data.y_prob, "new": data.true_prob}, costs=(1, 9))
    >>> found.headline.partition(":")[0]
    'new is better than old'
    """
    if unknown:
        raise unknown_option(unknown)
    level, bins = as_level(level), as_bins(bins)
    names = {"groups": groups, "cluster": cluster, "class_names": class_names}
    names |= {"predicted": predicted, "sample_weight": sample_weight}
    rows, probs = rows_of_models(y_true, y_prob, **names)
    table = None if costs is None else as_costs(costs, rows.n_classes)
    of_null, of_all, of_order = as_generator(rng).integers(0, 2**62, size=3).tolist()
    view, doubt = view_of_models(rows, view), dependence_of(rows, np.random.default_rng(of_order))
    each, nulls = _measured(rows, probs, table, view, bins, of_null)
    return Comparison(
        title="Comparison of models" if title is None else str(title),
        n=rows.n,
        n_classes=len(rows.class_names),
        calibration=_calibration(each, nulls),
        groups=_by_group(rows, each, level, table),
        costs=table,
        **_clinic(rows, probs, view, table, level),
        notes=(*_notes(level, bins), *by_cluster(rows)),
        advice=doubt.sentence if doubt else "",
        **_diagrams(rows, probs, view, bins),
        **worded(tuple(probs), _differences(rows, each, nulls, table, level, of_all), level),
    )


def _measured(
    rows: Rows, probs: Models, costs: FloatVector | None, view: View, bins: Binning, seed: int
) -> tuple[Measured, list[NullLevel]]:
    """Return what each row adds to the measures of each model, and the null levels of its error."""
    each, nulls = {}, []
    for name, prob in probs.items():
        each[name] = differences.measures_of_rows(rows, prob, costs, view, bins)
        how: dict[str, Any] = {"view": view, "bins": bins, "n_draws": _DRAWS, "rng": seed}
        measured = expected_calibration_error, rows.label, prob
        nulls.append(null_level(*measured, cluster=rows.clusters, sample_weight=rows.weight, **how))
    return each, nulls


def _clinic(
    rows: Rows, probs: Models, view: View, costs: FloatVector | None, level: float
) -> dict[str, Any]:
    """Return weak calibration, and net benefit of P(y = 1) at the given prices."""
    shown, one = "top-label" if view == "class-wise" else view, np.ones(rows.n, dtype=np.intp)
    how: Any = {"view": shown, "sample_weight": rows.weight}
    problems = {name: one_problem(rows.label, p, **how) for name, p in probs.items()}
    told = {name: given_to(one, prob) for name, prob in probs.items()}
    return {
        "weak": weak_calibration(problems, rows.clusters, level),
        "benefit": net_benefits(rows, told, costs, level),
    }


def _diagrams(rows: Rows, probs: Models, view: View, bins: Binning) -> dict[str, Any]:
    """Return what the figures show; of every class, summed, that is the predicted one."""
    summed = view == "class-wise"
    shown: View = "top-label" if summed else view
    how: Any = {"view": shown, "bins": bins, "sample_weight": rows.weight}
    tables = {n: reliability_table(rows.label, p, **how) for n, p in probs.items()}
    several, how = {} if view in _SEVERAL else probs, {"view": view, "sample_weight": rows.weight}
    return {
        "view": "every class, summed" if summed else next(iter(tables.values())).view,
        "bins": tables,
        "curves": {n: murphy_curve(rows.label, p, **how) for n, p in several.items()},
    }


def _sums(rows: Rows, each: Measured, costs: FloatVector | None, inside: Any) -> Sums:
    """Return the sums over some rows, by mask or slice."""
    sums, codes = Sums(costs), None if rows.clusters is None else rows.clusters.code[inside]
    count = np.bincount(rows.label[inside], minlength=rows.n_classes)
    parts = [{k: v[inside] for k, v in own.items()} for own in each.values()]
    sums.add(count, parts, codes, partial(rows.weighed, where=inside))
    return sums


def _differences(
    rows: Rows,
    each: Measured,
    nulls: Sequence[NullLevel],
    costs: FloatVector | None,
    level: float,
    seed: int,
) -> Found:
    """Judge every measure of every other model, each alone and all together."""
    sums, names, found = _sums(rows, each, costs, slice(None)), list(each), {}
    together = sums.together(level, np.random.default_rng(seed))
    for other, key in product(range(1, len(names)), sums.measures):
        wider = (nulls[other].mean, nulls[0].mean) if key == "calibration error" else (0.0, 0.0)
        alone, joint = (sums.change(key, other, one, wider) for one in (level, together))
        found[names[other], key] = alone._replace(joint=joint.verdict == alone.verdict)
    return found


def _calibration(each: Measured, nulls: Sequence[NullLevel]) -> Listing:
    """Put the error of each model beside what chance alone would show."""
    rows = [
        (name, null.value, null.mean, null.p_value, np.isinf(own["log loss"]).sum())
        for (name, own), null in zip(each.items(), nulls, strict=True)
    ]
    said = "; ".join(
        f"{name} {value:.4f} (a calibrated model would show {mean:.4f}, p = {p:.3f})"
        for name, value, mean, p, _ in rows
    )
    heads = ("model", "error", "by chance", "p_value", "impossible events")
    return Listing.of(f"Calibration error: {said}.", heads, rows)


def _by_group(
    rows: Rows, each: Measured, level: float, costs: FloatVector | None
) -> Listing | None:
    """Compare the scores in every group, each at a level that pays for all groups."""
    if rows.group is None:
        return None
    names, content, found = list(each), 1 - (1 - level) / len(rows.groups), []
    scores = {n: {k: v for k, v in own.items() if k in SCORES} for n, own in each.items()}
    for place, group in enumerate(rows.groups):
        sums = _sums(rows, scores, costs, rows.group == place)
        for other, key in product(range(1, len(names)), sums.measures):
            said: Any = np.nan, np.nan, np.nan, "too few rows"
            if not sums.few:
                said = sums.change(key, other, content)[2:6]
            found.append((group, sums.n, names[other], key, *said))
    heads = ("group", "count", "model", "measure", "difference", "low", "high", "verdict")
    worse = [f"{row[0]} ({row[2]}, {row[3]})" for row in found if row[-1] == "worse"]
    few_groups = sorted({str(row[0]) for row in found if row[-1] == "too few rows"})
    text = f"{spell(len(rows.groups), 'group')}; worse than {names[0]}: "
    text += f"{', '.join(worse) or 'none shown'}"
    text += f"; too few rows to tell: {', '.join(few_groups)}." if few_groups else "."
    return Listing.of(text, heads, found)


def _notes(level: float, bins: Binning) -> tuple[str, ...]:
    return (
        f"Differences: other minus first, Student's {100 * level:g} % intervals of paired rows, "
        "each taken alone: of two equal models one measure at least is "
        "separated in 8 to 13 of 100 files at 95 %. Codes, and --fail-if, take what holds for all "
        "models and measures together; what does not is marked as taken alone.",
        "Miscalibration and discrimination: the CORP parts of the Brier score.",
        f"Calibration error: {bins}; its interval is wider by what chance adds to both models.",
        "Nothing is clipped: one impossible event makes the log loss infinite.",
    )
