"""Models on the same rows: which is better, by how much, what cannot be separated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Binning, as_bins
from calibkit.chance import NullLevel
from calibkit.decisions import MurphyCurve, murphy_curve
from calibkit.decisions.costs import as_costs
from calibkit.errors import expected_calibration_error
from calibkit.inputs import (
    FloatVector,
    View,
    as_generator,
    as_level,
    binary_problem,
    refuse_other_columns,
    refuse_other_order,
)
from calibkit.reliability import BinTable, table_of
from calibkit.results import Result, spell
from calibkit_audit.auditing.calibration import weak_calibration
from calibkit_audit.auditing.differences import (
    FEWEST,
    SCORES,
    Change,
    Changes,
    Each,
    change_of,
    row_measures,
)
from calibkit_audit.auditing.evidence import package_view, views_of
from calibkit_audit.auditing.pages import Listing, Report, as_columns
from calibkit_audit.auditing.rows import AuditRows, cluster_notes, drop_weightless, rows_of
from calibkit_audit.auditing.settings import MOST_CLASSES
from calibkit_audit.dependent_rows import DependentRows, undecided
from calibkit_audit.incoming import column_names
from calibkit_audit.saving import four_digits

# Each measure with its unit in words.
MEASURES = {
    "cost": "in cost",
    "log loss": "in log loss",
    "Brier score": "in Brier score",
    "miscalibration": "in miscalibration",
    "discrimination": "in discrimination",
}
_HEADS = ("model", "measure", *Change._fields)
# Every finding on which a pipeline can act; "not separated": no measure tells two models apart.
COMPARISON_CODES = (
    *(f"{word} {measure}" for word in ("better", "worse") for measure in MEASURES),
    "not separated",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Comparison(Report):
    """Differences between each model and the first one, on the same rows.

    Parameters
    ----------
    title, headline, light : str
        What was compared, the findings in plain words, and their light.
    models : tuple of str
        Names; the first one is what the others are compared with.
    n, n_classes, view, level : int, int, str, float
        Rows, classes, the events of the calibration parts, content of each interval.
    changes : mapping from (str, str) to Change
        By other model and measure: that of the `first` model, its own `value`, the `difference`
        with its interval from `low` to `high` (NaN where an infinite log loss leaves none), the
        `verdict` ("better", "worse", "equal" or "not separated"), and whether it holds where all
        measures and models are judged together (`joint`), as `codes` do.
    calibration, weak : Listing
        Each model's calibration error beside its null level; O/E, calibration in the large and
        slope.
    bins, curves, costs
        Reliability tables and Murphy curves by model (curves only for one event), table of costs.
    notes, versions
    """

    further = ("models", "level")

    models: tuple[str, ...]
    level: float
    changes: Changes
    calibration: Listing
    weak: Listing
    bins: Mapping[str, BinTable]
    curves: Mapping[str, MurphyCurve]
    costs: FloatVector | None

    @property
    def codes(self) -> frozenset[str]:
        """Findings such as "worse log loss" that hold jointly, for conditions in a pipeline."""
        joint = [(one.verdict, measure) for (_, measure), one in self.changes.items() if one.joint]
        found = {f"{v} {m}" for v, m in joint if v in ("better", "worse")}
        return frozenset(found or {"not separated"})

    @property
    def tables(self) -> dict[str, Result]:
        """The tables of the comparison, by name."""
        return {"Differences": self, "Calibration": self.calibration, "Weak calibration": self.weak}

    def describe(self) -> str:
        """Say in plain words which model is better, and what cannot be separated."""
        return self.headline

    def text(self) -> str:
        """Return headline and differences for a terminal."""
        lines = [f"{self.title}: {spell(self.n, 'prediction')}, {self.n_classes} classes", ""]
        lines += [self.headline, *([f"! {self.advice}"] if self.advice else []), ""]
        for (name, measure), one in self.changes.items():
            first, value, change, low, high, verdict, joint = one
            numbers = f"{four_digits(first)} -> {four_digits(value)}"
            if np.isfinite(change):
                ends = (
                    "no interval" if np.isnan(low) else f"{four_digits(low)} to {four_digits(high)}"
                )
                numbers += f", difference {change:+.4f} ({ends})"
            else:
                numbers += " (infinite: it gave probability 0 to what happened)"
            alone = "" if joint else " (taken alone)"
            lines.append(f"{name}, {measure}: {numbers}, {verdict}{alone}")
        lines += ["", self.calibration.describe(), f"Weak calibration: {self.weak.describe()}"]
        return "\n".join([*lines, "", *self.origin] if self.command else lines)

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return as_columns(_HEADS, [(*key, *change) for key, change in self.changes.items()])


_ONE_CASE = (
    "Every row is taken as new: where several are about one case, name it by cluster= (command "
    "line: --cluster); if none are, say so by independent=True (--independent)."
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
        refuse_other_columns(prob, said, first)
    each = dict[str, AuditRows]()
    for name, prob in named.items():
        try:
            each[name] = rows_of(y_true, prob, **options)
        except ValueError as error:
            raise ValueError(f"model {name!r}: {error}") from None
    rows, *_ = each.values()
    for name, one in each.items():
        if one.n_classes != rows.n_classes:
            raise ValueError(
                f"model {name!r} has shape {one.prob.shape}, the first one {rows.prob.shape}; all "
                "must have a row per label and the same classes."
            )
    kept = drop_weightless(rows)
    return kept, {n: one.prob[np.argsort(one.position)][kept.position] for n, one in each.items()}


Models = Mapping[str, FloatVector]  # their probabilities, in the order of the rows
_SEVERAL = ("class-wise", "top-label")  # views of more than one event, or of another per model
# Redraws behind a null level; where they leave it open up to so many, and random numbers.
_DRAWS, _MOST_DRAWS, _NEAR = 200, 5_000, 10_000_000


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
    ``codes`` pay for all models and measures (Bonferroni). Miscalibration and discrimination are
    the CORP parts of the Brier score (Dimitriadis, Gneiting and Jordan, 2021). Lesson 13.

    Examples
    --------
    >>> from calibkit.fakes import LogitDistortion
    >>> data = LogitDistortion(slope=0.5).sample(10_000, rng=0)
    >>> found = compare(data.y_true, {"old": data.y_prob, "new": data.true_prob}, costs=(1, 9))
    >>> found.headline.partition(":")[0]
    'new is better than old'
    """
    level, bins = as_level(level), as_bins(bins)
    given = {"cluster": cluster, "independent": independent, "class_names": class_names}
    given |= {"predicted": predicted, "sample_weight": sample_weight, "event": event}
    rows, probs = rows_of_models(y_true, models, **given)
    table = None if costs is None else as_costs(costs, rows.n_classes)
    seed = int(as_generator(rng).integers(0, 2**62))
    view = view_of_models(rows, view)
    each = {name: row_measures(rows, p, table, view) for name, p in probs.items()}
    limit = (1 - level) / len(probs)
    calibration = _calibration(rows, probs, each, limit, view=view, bins=bins, rng=seed)
    changes = _differences(rows, each, table, level)
    told = any(one.verdict in ("better", "worse") for one in changes.values())
    return Comparison(
        title=str(title),
        n=rows.n,
        n_classes=len(rows.class_names),
        calibration=calibration,
        costs=table,
        **_diagrams(rows, probs, view, bins, level),
        notes=(*_comparison_notes(level, bins), *cluster_notes(rows)),
        advice="" if rows.clusters or rows.independent else _ONE_CASE,
        models=tuple(probs),
        changes=changes,
        level=level,
        headline=comparison_headline(tuple(probs), changes, level, calibration.columns["p_value"]),
        light="caution" if told else "unknown",
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


def _calibration(rows: AuditRows, probs: Models, each: Each, limit: float, **how: Any) -> Listing:
    """Put the error of each model beside what chance alone would show."""
    lines, said = [], []
    for name, prob in probs.items():
        null = _null_level(rows.with_prob(prob), limit, **how)
        never = np.isinf(each[name]["log loss"]).sum()
        lines.append((name, null.value, null.mean, null.p_value, never))
        chance = f"a calibrated model would show {four_digits(null.mean)}, p = {null.p_value:.3g}"
        said.append(f"{name} {four_digits(null.value)} ({chance})")
    heads = ("model", "error", "by chance", "p_value", "impossible events")
    return Listing.of(f"Calibration error: {'; '.join(said)}.", heads, lines)


def _null_level(own: AuditRows, limit: float, **how: Any) -> NullLevel:
    """Redraw labels, and more of them where they leave open on which side of the limit p lies."""
    model = DependentRows(label=own.label, prob=own.prob, clusters=own.clusters, weight=own.weight)
    most = max(_DRAWS, min(_MOST_DRAWS, max(int(4 / limit), _NEAR // own.prob.size)))
    for n_draws in sorted({_DRAWS, min(5 * _DRAWS, most), most}):
        null = model.null_level(expected_calibration_error, n_draws=n_draws, **how)
        if not undecided(round(null.p_value * (n_draws + 1)) - 1, n_draws, [limit]):
            break
    return null


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


def comparison_headline(
    names: tuple[str, ...], found: Changes, level: float, p_values: FloatVector
) -> str:
    """Say how models compare with the first, and which are off beyond what `level` allows any."""
    off = np.array(names)[np.asarray(p_values) <= (1 - level) / len(names)].tolist()
    sentences = [_sentence(names[0], other, found, level) for other in names[1:]]
    if len(off) == len(names):
        who = "Neither model" if len(names) == 2 else "None of the models"
        sentences += [f"{who} may be taken at its word: each is off by more than chance."]
    else:
        word = "may not be taken at its word: it is off by more than chance."
        sentences += [f"{name} {word}" for name in off]
    return " ".join(sentences)


def _sentence(first: str, other: str, found: Changes, level: float) -> str:
    """Say what a manager wants to know of one model beside the first."""
    own = {measure: change for (model, measure), change in found.items() if model == other}
    finite = [key for key in SCORES if key in own and np.isfinite(own[key].difference)]
    main = next((key for key in finite if own[key].verdict != "equal"), "Brier score")
    row, unit, range_ = own[main], MEASURES[main], f"{100 * level:g} % interval"
    if row.verdict == "equal":
        text = f"{other} and {first} are equal {unit}."
    elif np.isnan(row.low):
        text = f"The data are too few to compare {other} with {first} {unit}: at least "
        text += f"{FEWEST} events, other rows, and rows that differ are needed"
        text += ", and of a cost a sum that five more rows cannot turn." if main == "cost" else "."
    elif row.verdict == "not separated":
        text = f"The data cannot separate {other} from {first} {unit}: the difference per "
        text += f"prediction is {row.difference:+.4f} ({range_} {row.low:+.4f} to {row.high:+.4f})."
    else:
        low, by, high = map(four_digits, sorted(map(abs, (row.low, row.difference, row.high))))
        text = f"{other} is {row.verdict} than {first}: by {by} {unit} per prediction "
        text += f"({range_} {low} to {high})."
    if main != "cost" and "cost" in own:
        text += " Their decisions cost the same."
    losses = zip((first, other), own["log loss"][:2], strict=True)
    if infinite := " and ".join(name for name, loss in losses if np.isinf(loss)):
        text += f" {infinite} called impossible what happened: infinite log loss."
    calibrated, told = own["miscalibration"].verdict, own["discrimination"].verdict
    if calibrated == "not separated":
        text += " The data cannot separate their calibration."
    elif calibrated != "equal":
        text += f" {other} is {calibrated} calibrated."
    return text + (f" {other} tells cases apart {told}." if told in ("better", "worse") else "")
