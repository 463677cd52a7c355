"""Compare models on the same rows: which is better, by how much, what cannot be separated."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy import special

from calibkit.auditing import comparison
from calibkit.auditing.clinic import net_benefits, weak_calibration
from calibkit.auditing.clusters import by_cluster
from calibkit.auditing.comparison import Comparison, Listing, Sums, rows_of_models, view_of_models
from calibkit.auditing.dependence import dependence_of
from calibkit.auditing.redraws import resampled_means
from calibkit.auditing.rows import Rows, given_to
from calibkit.auditing.words import Found, worded
from calibkit.bins import Binning, as_bins
from calibkit.decisions import murphy_curve
from calibkit.decisions.costs import as_costs
from calibkit.errors import expected_calibration_error
from calibkit.guesses import unknown_option
from calibkit.reliability import reliability_table
from calibkit.results import spell
from calibkit.significance import NullLevel, null_level
from calibkit.significance.clusters import Clusters, mean_interval, pseudo_values
from calibkit.types import FloatVector
from calibkit.validation import as_count, as_generator, as_level
from calibkit.views import View, binary_problem, refuse_weights

Models = Mapping[str, FloatVector]  # their probabilities, in the order of the rows
Measured = Mapping[str, Mapping[str, FloatVector]]  # what each row adds, by model and measure
_SEVERAL = ("class-wise", "top-label")  # views of more than one event, or of another per model
_DRAWS = 200  # redraws behind a null level
_NUMBERS = 100_000_000  # random numbers for a bootstrap; larger data get fewer resamples


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
    title: str | None = None,
    level: float = 0.95,
    bins: Binning | int = 15,
    n_resamples: int = 1000,
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
    title : str, optional
        What was compared, for the pages.
    level : float
        Nominal probability content of each interval, in (0, 1).
    bins : int or Binning
        Of diagrams and calibration errors; a number means bins of equal width.
    n_resamples : int
        Resamples of rows behind each interval; fewer for very large data.
    rng : int, numpy.random.Generator or None
        Seed or generator of redraws and resamples; None draws afresh each time.

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
    Differences are other minus first. Cost, log loss and Brier score are means over rows; rows are
    redrawn with replacement, both models together (paired percentile bootstrap). Miscalibration
    ``S(p) - S(f(p))`` and discrimination ``S(frequency) - S(f(p))`` are the CORP parts of the Brier
    score with the isotonic curve f (Dimitriadis, Gneiting and Jordan, 2021); f is fitted once: to
    first order the error of a minimiser does not matter. Chance adds up to its null level to a
    binned calibration error: its interval is wider by both, ``(low - null of the other, high + null
    of the first)``. Equal predictions share a bin and a height. Nothing is clipped: where an event
    had probability 0, the log loss is infinite, the finite model is better, and there is no
    interval; if both are infinite, log loss does not separate them. Differences that are all 0 are
    "equal"; fewer than ten events, other rows, or rows that differ have no interval. Each is
    taken alone: of two models that are equal in law, one measure at least is separated in 12 to 16
    of 100 files. The ``codes`` pay for all models and measures together (maximum statistic of the
    same resamples; in a stream Bonferroni): at 95 % they separate two equal models in 2, 1 and 4 of
    100 files of 100, 1,000 and 4,000 rows (``dev.py clusters --alone``). In groups intervals are
    Student's, at a level that pays for all groups. Taught in lesson 13.

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
    change the sign.

    Examples
    --------
    >>> from calibkit.fakes import LogitDistortion
    >>> data = LogitDistortion(slope=0.5).sample(2000, rng=0)
    >>> found = compare(data.y_true, {"old": data.y_prob, "new": data.true_prob}, costs=(1, 9))
    >>> found.headline.partition(":")[0]
    'new is better than old'
    """
    if unknown:
        refuse_weights(unknown)
        raise unknown_option(unknown)
    level, count, bins = as_level(level), as_count(n_resamples, "n_resamples"), as_bins(bins)
    names = {"groups": groups, "cluster": cluster, "class_names": class_names}
    rows, probs = rows_of_models(y_true, y_prob, **names, predicted=predicted)
    table = None if costs is None else as_costs(costs, rows.n_classes)
    of_null, of_rows, of_order = as_generator(rng).integers(0, 2**62, size=3).tolist()
    count = min(count, max(100, _NUMBERS // rows.n))
    view, draws = view_of_models(rows, view), (count, of_rows)
    each, nulls = _measured(rows, probs, table, view, bins, of_null)
    return Comparison(
        title="Comparison of models" if title is None else str(title),
        n=rows.n,
        n_classes=len(rows.class_names),
        calibration=_calibration(each, nulls),
        groups=_by_group(rows, each, level, table),
        costs=table,
        **_clinic(rows, probs, view, table, level),
        notes=(*_notes(count, level, bins), *by_cluster(rows)),
        advice=_doubt(rows, of_order),
        **_diagrams(rows, probs, view, bins),
        **worded(tuple(probs), _differences(rows, each, nulls, table, level, draws), level),
    )


def _measured(
    rows: Rows, probs: Models, costs: FloatVector | None, view: View, bins: Binning, seed: int
) -> tuple[Measured, list[NullLevel]]:
    """Return what each row adds to the measures of each model, and the null levels of its error."""
    each, nulls = {}, []
    for name, prob in probs.items():
        each[name] = comparison.measures_of_rows(rows.label, prob, costs, view, bins)
        how: dict[str, Any] = {"view": view, "bins": bins, "n_draws": _DRAWS, "rng": seed}
        measured = expected_calibration_error, rows.label, prob
        nulls.append(null_level(*measured, cluster=rows.clusters, **how))
    return each, nulls


def _clinic(
    rows: Rows, probs: Models, view: View, costs: FloatVector | None, level: float
) -> dict[str, Any]:
    """Return weak calibration, and net benefit of P(y = 1) at the given prices."""
    shown, one = "top-label" if view == "class-wise" else view, np.ones(rows.n, dtype=np.intp)
    problems = {name: binary_problem(rows.label, p, view=shown) for name, p in probs.items()}
    told = {name: given_to(one, prob) for name, prob in probs.items()}
    return {
        "weak": weak_calibration(problems, rows.clusters, level),
        "benefit": net_benefits(rows.label, told, costs, rows.clusters, level),
    }


def _doubt(rows: Rows, seed: int) -> str:
    """Return what is to be said where rows look dependent, or an empty text."""
    found = dependence_of(rows, np.random.default_rng(seed))
    return "" if found is None else found.sentence


def _diagrams(rows: Rows, probs: Models, view: View, bins: Binning) -> dict[str, Any]:
    """Return what the figures show; of every class, summed, that is the predicted one."""
    summed = view == "class-wise"
    shown: View = "top-label" if summed else view
    tables = {n: reliability_table(rows.label, p, view=shown, bins=bins) for n, p in probs.items()}
    several = {} if view in _SEVERAL else probs
    return {
        "view": "every class, summed" if summed else next(iter(tables.values())).view,
        "bins": tables,
        "curves": {name: murphy_curve(rows.label, p, view=view) for name, p in several.items()},
    }


def _differences(
    rows: Rows,
    each: Measured,
    nulls: Sequence[NullLevel],
    costs: FloatVector | None,
    level: float,
    draws: tuple[int, int],
) -> Found:
    sums = Sums(costs)
    sums.add(np.bincount(rows.label, minlength=rows.n_classes), list(each.values()))
    names = list(each)
    first, found = each[names[0]], {}
    keys = [(name, key) for name in names[1:] for key in first]
    with np.errstate(invalid="ignore"):  # infinite minus infinite: no interval
        apart = np.array([each[name][key] - first[key] for name, key in keys])
    drawn = np.where(np.isfinite(apart).all(axis=1, keepdims=True), apart, 0.0)
    alone, joint = _intervals(drawn, level, draws, rows.clusters)
    for one, row, *both in zip(keys, apart, alone.tolist(), joint.tolist(), strict=True):
        place, (_, key) = names.index(one[0]), one
        wider = (nulls[place].mean, nulls[0].mean) if key == "calibration error" else (0.0, 0.0)
        ends = [
            (low - wider[0], high + wider[1]) if row.any() else (low, high) for low, high in both
        ]
        # Nothing is concluded from a handful of rows, nor from an infinite difference.
        if sums.refuses(key, place) or not np.isfinite(row).all():
            ends = [comparison.NONE, comparison.NONE]
        means = float(first[key].mean()), float(each[one[0]][key].mean())
        change, together = (comparison.change(key, *means, two) for two in ends)
        found[one] = change._replace(joint=together.verdict == change.verdict)
    return found


def _intervals(
    apart: FloatVector, level: float, draws: tuple[int, int], clusters: Clusters | None
) -> tuple[FloatVector, FloatVector]:
    """Return (m, 2) intervals of the means of (m, n) differences: each alone, and all together.

    Together: the mean and c standard errors, c the quantile over resamples of rows (or of
    clusters) of the largest standardised error of all m means, which hang together.
    """
    units = apart if clusters is None else pseudo_values(apart, clusters)
    mean, error = units.mean(axis=1), units.std(axis=1) / np.sqrt(units.shape[1])
    # The same draws for every pair: a model's numbers do not depend on which others are there.
    drawn = resampled_means(units, draws[0], np.random.default_rng(draws[1]))
    moved = np.abs(drawn - mean) / np.where(error > 0, error, np.inf)
    reach = np.quantile(moved.max(axis=1), level) * error
    alone = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    if clusters is not None:
        alone = np.array(mean_interval(apart, clusters, level))
        end = (1 + level) / 2  # wider, as Student's law is than the normal one
        reach *= special.stdtrit(clusters.count - 1, end) / special.ndtri(end)
    return alone.T, np.stack([mean - reach, mean + reach], axis=1)


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
    names = list(each)
    content, found = 1 - (1 - level) / len(rows.groups), []
    for place, group in enumerate(rows.groups):
        inside = rows.group == place
        sums = Sums(costs)
        sums.add(
            np.bincount(rows.label[inside], minlength=rows.n_classes),
            [{k: own[k][inside] for k in comparison.SCORES if k in own} for own in each.values()],
        )
        for other, key in product(range(1, len(names)), sums.sums):
            row = sums.change(key, other, content)
            if rows.clusters is not None and np.isfinite(row.low):
                apart = each[names[other]][key][inside] - each[names[0]][key][inside]
                ends = mean_interval(apart[np.newaxis], rows.clusters.take(inside), content)
                low, high = np.concatenate(ends).tolist()
                row = comparison.change(key, row.first, row.value, (low, high))
            said = (np.nan, np.nan, np.nan, "too few rows") if sums.few else row[2:6]
            found.append((group, sums.n, names[other], key, *said))
    heads = ("group", "count", "model", "measure", "difference", "low", "high", "verdict")
    worse = [f"{row[0]} ({row[2]}, {row[3]})" for row in found if row[-1] == "worse"]
    few_groups = sorted({str(row[0]) for row in found if row[-1] == "too few rows"})
    text = f"{spell(len(rows.groups), 'group')}; worse than {names[0]}: "
    text += f"{', '.join(worse) or 'none shown'}"
    text += f"; too few rows to tell: {', '.join(few_groups)}." if few_groups else "."
    return Listing.of(text, heads, found)


def _notes(count: int, level: float, bins: Binning) -> tuple[str, ...]:
    return (
        f"Differences: other minus first, {100 * level:g} % intervals, rows redrawn in pairs "
        f"({count:,} resamples), each taken alone: of two equal models one measure at least is "
        "separated in 12 to 16 of 100 files at 95 %. Codes, and --fail-if, take what holds for all "
        "models and measures together; what does not is marked as taken alone.",
        "Miscalibration and discrimination: the CORP parts of the Brier score.",
        f"Calibration error: {bins}; its interval is wider by what chance adds to both models.",
        "Nothing is clipped: one impossible event makes the log loss infinite.",
    )
