"""Models on the same rows: which is better, by how much, what cannot be separated."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from calibkit.bins import Binning, as_bins
from calibkit.decisions import murphy_curve
from calibkit.decisions.costs import as_costs
from calibkit.errors import expected_calibration_error
from calibkit.inputs import (
    FloatVector,
    View,
    as_generator,
    as_level,
    as_predictions,
    binary_problem,
    refuse_other_columns,
    refuse_other_order,
)
from calibkit.reliability import table_of
from calibkit_audit.auditing.calibration import weak_calibration
from calibkit_audit.auditing.comparison_report import Comparison, comparison_fields
from calibkit_audit.auditing.differences import Changes, Each, change_of, row_measures
from calibkit_audit.auditing.evidence import package_view, views_of
from calibkit_audit.auditing.pages import Listing
from calibkit_audit.auditing.rows import AuditRows, cluster_notes, drop_weightless, rows_of
from calibkit_audit.auditing.settings import MOST_CLASSES
from calibkit_audit.dependent_rows import DependentRows
from calibkit_audit.incoming import column_names

_ONE_CASE = (
    "Every row is taken as new: where several are about one case, name it (cluster=); if none are, "
    "say so (independent=True)."
)


def view_of_models(rows: AuditRows, view: View) -> View:
    """Return the events that all models are compared in."""
    if rows.top:
        return package_view(rows, *views_of(rows, view))
    if view is None and not rows.binary:
        return "class-wise" if rows.n_classes <= MOST_CLASSES else "top-label"
    return view


def rows_of_models(
    y_true: Any, y_prob: Any, **options: Any
) -> tuple[AuditRows, dict[str, FloatVector]]:
    """Check all models against one set of labels, and put their rows into one order."""
    if (columns := column_names(y_prob)) is not None:  # of a DataFrame each column is a model
        y_prob = {name: y_prob[name] for name in columns}
    if not isinstance(y_prob, Mapping) or len(y_prob) < 2:
        raise ValueError(
            "models must be a mapping from names to the probabilities of two or more models, e.g. "
            '{"a": p, "b": q}, or a table of such columns; one model alone is judged by audit.'
        )
    named = {str(name): prob for name, prob in y_prob.items()}
    if len(named) < len(y_prob):
        raise ValueError("two models have the same name.")
    models = {f"model {name!r}": prob for name, prob in named.items()}
    by_row = {k: options.get(k) for k in ("cluster", "predicted", "sample_weight")}
    refuse_other_order(y_true=y_true, **by_row, **models)
    first = next(filter(None, map(column_names, models.values())), None)
    for said, prob in models.items():
        for wanted in (first, options.get("class_names")):
            refuse_other_columns(prob, said, wanted)
    rows, probs = None, {}
    for name, prob in named.items():
        try:
            rows = rows or rows_of(y_true, prob, **options)
            label = rows.label[np.argsort(rows.position)]
            checked = as_predictions(label, prob)[1].astype(np.float64)
        except ValueError as error:
            raise ValueError(f"model {name!r}: {error}") from None
        if checked.shape != rows.prob.shape:
            raise ValueError(
                f"model {name!r} has shape {checked.shape}, the first one {rows.prob.shape}; all "
                "must have a row per label and the same classes."
            )
        probs[name] = checked[rows.position]
    assert rows is not None
    used = slice(None) if rows.weight is None else rows.weight > 0
    return drop_weightless(rows), {name: prob[used] for name, prob in probs.items()}


Models = Mapping[str, FloatVector]  # their probabilities, in the order of the rows
_SEVERAL = ("class-wise", "top-label")  # views of more than one event, or of another per model
_DRAWS = 200  # redraws behind a null level


def compare(
    y_true: Any,
    models: Mapping[str, Any],
    *,
    view: View = None,
    costs: Any = None,
    cluster: Any = None,
    independent: bool = False,
    class_names: Sequence[str] | None = None,
    predicted: Any = None,
    sample_weight: Any = None,
    event: str | None = None,
    title: str = "Comparison of models",
    level: float = 0.95,
    bins: Binning | int = 15,
    rng: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare models on the same rows: paired differences with intervals, in plain words.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``.
    models : mapping from str to array-like of shape (n,) or (n, K), or DataFrame
        Probabilities of two or more models by name, all of one shape. Each is compared with the
        first. Of a DataFrame each column is a model's P(y = 1).
    view : {"top-label", "class-wise"} or int, optional
        The events of the calibration parts. None: y = 1; of K columns every class, summed.
    costs, cluster, independent, class_names, predicted, sample_weight, event
        As in `audit`; `predicted` is the same for all models.
    title : str
        What was compared, for the pages.
    level : float
        Nominal probability content of each interval, in (0, 1).
    bins : int or Binning
        Of diagrams and calibration errors; a number means bins of equal width.
    rng : int, numpy.random.Generator or None
        Seed or generator of redraws.

    Returns
    -------
    Comparison
        Differences with intervals and verdicts; ``text()``, ``codes``, figures, and pages.

    Raises
    ------
    ValueError
        If there are fewer than two models, or labels, probabilities or options are not valid.

    Notes
    -----
    Differences are other minus first, with Student's intervals of paired rows or of clusters; the
    ``codes`` pay for all models and measures together (Bonferroni).
    Miscalibration and discrimination are the CORP parts of the Brier score (Dimitriadis, Gneiting
    and Jordan, 2021). Lesson 13.

    Examples
    --------
    >>> from calibkit.fakes import LogitDistortion
    >>> data = LogitDistortion(slope=0.5).sample(10_000, rng=0)
    >>> found = compare(data.y_true, {"old": data.y_prob, "new": data.true_prob}, costs=(1, 9))
    >>> found.headline.partition(":")[0]
    'new is better than old'
    """
    level, bins = as_level(level), as_bins(bins)
    rows, probs = rows_of_models(
        y_true,
        models,
        cluster=cluster,
        independent=independent,
        class_names=class_names,
        predicted=predicted,
        sample_weight=sample_weight,
        event=event,
    )
    table = None if costs is None else as_costs(costs, rows.n_classes)
    seed = int(as_generator(rng).integers(0, 2**62))
    view = view_of_models(rows, view)
    each = {name: row_measures(rows, p, table, view) for name, p in probs.items()}
    calibration = _calibration(rows, probs, each, view=view, bins=bins, rng=seed)
    changes = _differences(rows, each, table, level)
    return Comparison(
        title=str(title),
        n=rows.n,
        n_classes=len(rows.class_names),
        calibration=calibration,
        costs=table,
        **_diagrams(rows, probs, view, bins, level),
        notes=(*_comparison_notes(level, bins), *cluster_notes(rows)),
        advice="" if rows.clusters or rows.independent else _ONE_CASE,
        **comparison_fields(tuple(probs), changes, level, calibration.columns["p_value"]),
    )


def _diagrams(
    rows: AuditRows, probs: Models, view: View, bins: Binning, level: float
) -> dict[str, Any]:
    """Return what the figures show; of every class, summed, that is the predicted one."""
    summed, how = view == "class-wise", {"sample_weight": rows.weight}
    shown: View = "top-label" if summed else view
    problems = {n: binary_problem(rows.label, p, view=shown, **how) for n, p in probs.items()}
    if shown is None:
        problems = {name: replace(one, view=rows.event) for name, one in problems.items()}
    several = {} if view in _SEVERAL else probs
    return {
        "view": "every class, summed" if summed else next(iter(problems.values())).view,
        "bins": {n: table_of(problem, bins) for n, problem in problems.items()},
        "curves": {n: murphy_curve(rows.label, p, view=view, **how) for n, p in several.items()},
        "weak": weak_calibration(problems, rows.clusters, level),
    }


def _differences(rows: AuditRows, each: Each, costs: FloatVector | None, level: float) -> Changes:
    """Judge every measure of every other model, each alone and all together."""
    own, *_ = each.values()
    pairs, found = list(product(list(each)[1:], own)), {}
    together = 1 - (1 - level) / len(pairs)  # Bonferroni: any false one, in so many of 100 files
    stake = 0.0 if costs is None else float(np.ptp(costs, axis=0).max())
    for other, key in pairs:
        values = own[key], each[other][key]
        alone, joint = (change_of(rows, key, values, one, stake) for one in (level, together))
        found[other, key] = alone._replace(joint=joint.verdict == alone.verdict)
    return found


def _calibration(rows: AuditRows, probs: Models, each: Each, **how: Any) -> Listing:
    """Put the error of each model beside what chance alone would show."""
    lines, said = [], []
    for name, prob in probs.items():
        model = DependentRows(
            label=rows.label, prob=prob, clusters=rows.clusters, weight=rows.weight
        )
        null = model.null_level(expected_calibration_error, n_draws=_DRAWS, **how)
        never = np.isinf(each[name]["log loss"]).sum()
        lines.append((name, null.value, null.mean, null.p_value, never))
        chance = f"a calibrated model would show {null.mean:.4f}, p = {null.p_value:.3f}"
        said.append(f"{name} {null.value:.4f} ({chance})")
    heads = ("model", "error", "by chance", "p_value", "impossible events")
    return Listing.of(f"Calibration error: {'; '.join(said)}.", heads, lines)


def _comparison_notes(level: float, bins: Binning) -> tuple[str, ...]:
    return (
        f"Differences: other minus first, Student's {100 * level:g} % intervals of paired rows, "
        "each taken alone: of two equal models one measure at least is "
        "separated in 8 to 13 of 100 files at 95 %. Codes, and --fail-if, take what holds for all "
        "models and measures together; what does not is marked as taken alone.",
        "Miscalibration and discrimination: the CORP parts of the Brier score.",
        f"Calibration error: {bins}.",
        "Off by more than chance: beyond what calibrated models show, for all of them together.",
        "Nothing is clipped: one impossible event makes the log loss infinite.",
    )
