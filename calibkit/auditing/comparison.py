"""Models on the same rows: which is better, by how much, and what the data cannot separate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit._result import Result, read_only, spell
from calibkit._validation import as_count, as_generator, as_level, as_predictions
from calibkit.auditing import _paired as paired
from calibkit.auditing._pages import comparison_dict, comparison_markdown, save
from calibkit.auditing._rows import Rows, rows_of
from calibkit.auditing.questions import MOST_CLASSES, _versions
from calibkit.bins import Binning, as_bins
from calibkit.decisions import MurphyCurve, murphy_curve
from calibkit.decisions.costs import as_costs
from calibkit.errors import expected_calibration_error
from calibkit.reliability import BinTable, reliability_table
from calibkit.significance import null_level
from calibkit.views import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatVector = NDArray[np.float64]
Exact = Mapping[tuple[str, str], tuple[float, float, float, float, float]]
# Every finding on which a pipeline can act; "not separated": no measure tells two models apart.
COMPARISON_CODES = (
    *(f"{word} {measure}" for word in ("better", "worse") for measure in paired.MEASURES),
    "not separated",
)
_DRAWS = 200  # redraws behind a null level
_FEWEST = 10  # events, and other rows, of a group that is judged
_NUMBERS = 100_000_000  # random numbers for a bootstrap; larger data get fewer resamples


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Listing(Result):
    """A table with a sentence: `sentence`, and `columns`, a mapping from names to arrays."""

    sentence: str
    columns: Mapping[str, NDArray[Any]]

    def describe(self) -> str:
        """Return the sentence."""
        return self.sentence

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return self.columns


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Comparison(Result):
    """Differences between each model and the first one, on the same rows.

    Parameters
    ----------
    title, headline : str
        What was compared, and the findings in plain words.
    models : tuple of str
        Names; the first one is what the others are compared with.
    n, n_classes, view, level : int, int, str, float
        Rows, classes, the events of the calibration parts, content of each interval.
    model, measure, verdict : ndarray of str, shape (R,)
        A row per other model and measure; "better", "worse", "equal" or "not separated".
    first, value, difference, low, high : ndarray of shape (R,)
        The measure of the first model and of this one, the difference with its interval: NaN where
        an infinite log loss leaves none.
    calibration, groups : Listing, and Listing or None
        Each model's calibration error beside its null level; differences in each group.
    bins, curves, costs
        Reliability tables and Murphy curves by model (curves only for one event), table of costs.
    notes, versions
    """

    title: str
    headline: str
    models: tuple[str, ...]
    n: int
    n_classes: int
    view: str
    level: float
    model: NDArray[np.str_]
    measure: NDArray[np.str_]
    first: FloatVector
    value: FloatVector
    difference: FloatVector
    low: FloatVector
    high: FloatVector
    verdict: NDArray[np.str_]
    calibration: Listing
    groups: Listing | None
    bins: Mapping[str, BinTable]
    curves: Mapping[str, MurphyCurve]
    costs: FloatVector | None
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def codes(self) -> frozenset[str]:
        """Findings such as "worse log loss", for conditions in a pipeline."""
        pairs = zip(self.verdict.tolist(), self.measure.tolist(), strict=True)
        found = {f"{v} {m}" for v, m in pairs if v in ("better", "worse")}
        return frozenset(found or {"not separated"})

    @property
    def tables(self) -> dict[str, Result]:
        """The tables of the comparison, by name; groups only where they were given."""
        tables: dict[str, Result] = {"Differences": self, "Calibration": self.calibration}
        return tables if self.groups is None else tables | {"Groups": self.groups}

    def describe(self) -> str:
        """Say in plain words which model is better, and what cannot be separated."""
        return self.headline

    def text(self) -> str:
        """Return headline and differences for a terminal."""
        lines = [f"{self.title}: {spell(self.n, 'prediction')}, {self.n_classes} classes", ""]
        lines += [self.headline, ""]
        for row in zip(*self._columns().values(), strict=True):
            name, measure, first, value, change, low, high, verdict = row
            numbers = f"{first:.4f} -> {value:.4f}, difference {change:+.4f} "
            lines.append(f"{name}, {measure}: {numbers}({low:.4f} to {high:.4f}), {verdict}")
        lines += ["", self.calibration.describe()]
        return "\n".join(lines + ([] if self.groups is None else [self.groups.describe()]))

    def figures(self) -> dict[str, "Figure"]:
        """Return fresh figures: diagrams laid over each other and, of one event, Murphy curves."""
        from calibkit.auditing._figures import draw_comparison

        return draw_comparison(self)

    def to_html(self) -> str:
        """Return one self-contained page, figures included."""
        from calibkit.auditing._html import comparison_page

        return comparison_page(self)

    to_dict, to_markdown, save = comparison_dict, comparison_markdown, save

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("model", "measure", "first", "value", "difference", "low", "high", "verdict")
        return {name: getattr(self, name) for name in names}


def compare(
    y_true: Any,
    y_prob: Mapping[str, Any],
    *,
    view: View | None = None,
    costs: Any = None,
    groups: Any = None,
    class_names: Sequence[str] | None = None,
    title: str | None = None,
    level: float = 0.95,
    bins: Binning | int = 15,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
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
        As in `calibkit.decisions.policy_cost`; every model decides by its own probabilities.
    groups : array-like of shape (n,), optional
        A label per row; the scores are compared in each group, too.
    class_names, title : sequence of K str, str, optional
    level : float
        Nominal probability content of each interval, in (0, 1).
    bins, n_resamples : int or Binning, int
        Bins of diagrams and calibration errors, and resamples of rows (fewer for very large data).
    rng : int, numpy.random.Generator or None

    Raises
    ------
    ValueError
        If there are fewer than two models, or labels, probabilities or options are not valid.

    Notes
    -----
    Differences are other minus first. Cost, log loss and Brier score are means over rows; rows are
    redrawn with replacement, both models together (paired percentile bootstrap). Miscalibration
    ``S(p) - S(f(p))`` and discrimination ``S(frequency) - S(f(p))`` are the CORP parts of the Brier
    score with the isotonic curve f (Dimitriadis, Gneiting and Jordan, 2021); f is fitted once, since
    to first order the error of a minimiser does not matter. Chance adds up to its null level to a
    binned calibration error: its interval is wider by both, ``(low - null of the other, high + null
    of the first)``. Equal predictions share a bin and a height. Nothing is clipped: where an event
    had probability 0, the log loss is infinite, the finite model is better, and there is no
    interval; if both are infinite, log loss does not separate them. Differences that are all 0 are
    "equal". Intervals are not corrected for several models or measures; in groups they are Student's
    and divide the error by the number of groups (Bonferroni). Taught in lesson 13.

    COVERAGE

    Examples
    --------
    >>> from calibkit.fakes import LogitDistortion
    >>> data = LogitDistortion(slope=0.5).sample(2000, rng=0)
    >>> found = compare(data.y_true, {"old": data.y_prob, "new": data.true_prob}, costs=(1, 9))
    >>> found.headline.partition(":")[0]
    'new is better than old'
    """
    level, count, bins = as_level(level), as_count(n_resamples, "n_resamples"), as_bins(bins)
    rows, probs = _rows_of(y_true, y_prob, groups, class_names)
    table = None if costs is None else as_costs(costs, rows.n_classes)
    if view is None and not rows.binary:
        view = "class-wise" if rows.n_classes <= MOST_CLASSES else "top-label"
    draw, null = as_generator(rng).integers(0, 2**62, size=2)
    scores = [paired.scores_of_rows(rows.label, prob, table) for prob in probs.values()]
    parts = [paired.parts_of_rows(rows.label, prob, view, bins) for prob in probs.values()]
    nulls = [
        null_level(
            expected_calibration_error, rows.label, prob,
            n_draws=_DRAWS, rng=int(null), view=view, bins=bins,
        )
        for prob in probs.values()
    ]  # fmt: skip
    each = [one | two for one, two in zip(scores, parts, strict=True)]
    count = min(count, max(100, _NUMBERS // rows.n))
    found = _differences(list(probs), each, [one.mean for one in nulls], level, count, int(draw))
    names, lost = tuple(probs), [int(np.isinf(one["log loss"]).sum()) for one in scores]
    return _result(
        rows,
        probs,
        found,
        view,
        bins,
        table,
        title=title,
        level=level,
        calibration=_calibration(names, nulls, lost),
        groups=_by_group(rows, names, scores, level),
        notes=_notes(count, level, bins),
    )


def _rows_of(
    y_true: Any, y_prob: Any, groups: Any, class_names: Sequence[str] | None
) -> tuple[Rows, dict[str, FloatVector]]:
    """Check all models against one set of labels, and put their rows into one order."""
    if not isinstance(y_prob, Mapping) or len(y_prob) < 2:
        raise ValueError(
            "y_prob must be a mapping from names to the probabilities of two or more models, e.g. "
            '{"a": p, "b": q}; one model alone is judged by audit.'
        )
    named = {str(name): prob for name, prob in y_prob.items()}
    if len(named) < len(y_prob):
        raise ValueError("two models have the same name.")
    rows, probs = None, {}
    for name, prob in named.items():
        try:
            if rows is None:
                rows = rows_of(y_true, prob, groups=groups, class_names=class_names)
            checked = as_predictions(y_true, prob)[1].astype(np.float64)
        except ValueError as error:
            raise ValueError(f"model {name!r}: {error}") from None
        if checked.shape != rows.prob.shape:
            raise ValueError(
                f"model {name!r} has shape {checked.shape}, the first one {rows.prob.shape}; all "
                "must have a row per label and the same classes."
            )
        probs[name] = checked[rows.position]
    assert rows is not None
    return rows, probs


def _differences(
    names: Sequence[str],
    each: Sequence[Mapping[str, FloatVector]],
    nulls: Sequence[float],
    level: float,
    count: int,
    seed: int,
) -> dict[tuple[str, str], tuple[float, float, float, float, float]]:
    """Return first value, value, difference and interval by model and measure."""
    found = {}
    means = [{key: float(values.mean()) for key, values in one.items()} for one in each]
    for other in range(1, len(names)):
        with np.errstate(invalid="ignore"):  # infinite minus infinite: no interval
            apart = np.array([each[other][key] - each[0][key] for key in each[0]])
        # The same seed for each pair: a model's numbers do not depend on which others are there.
        low, high = paired.intervals(apart, level, count, np.random.default_rng(seed))
        for place, key in enumerate(each[0]):
            ends = [float(low[place]), float(high[place])]
            if key == "calibration error" and apart[place].any():
                ends = [ends[0] - nulls[other], ends[1] + nulls[0]]
            first, value = means[0][key], means[other][key]
            change = paired.difference(first, value)
            found[names[other], key] = (first, value, change, ends[0], ends[1])
    return found


def _result(
    rows: Rows,
    probs: Mapping[str, FloatVector],
    found: Exact,
    view: View | None,
    bins: Binning,
    costs: FloatVector | None,
    *,
    title: str | None,
    level: float,
    calibration: Listing,
    groups: Listing | None,
    notes: tuple[str, ...],
) -> Comparison:
    shown = "top-label" if view == "class-wise" else view
    one_event = view not in ("class-wise", "top-label")
    tables = {
        name: reliability_table(rows.label, prob, view=shown, bins=bins)
        for name, prob in probs.items()
    }
    every = "every class, summed" if view == "class-wise" else next(iter(tables.values())).view
    return Comparison(
        title="Comparison of models" if title is None else str(title),
        models=tuple(probs),
        n=rows.n,
        n_classes=rows.n_classes,
        view=every,
        level=level,
        calibration=calibration,
        groups=groups,
        bins=tables,
        curves={n: murphy_curve(rows.label, p, view=view) for n, p in probs.items()}
        if one_event
        else {},
        costs=costs,
        notes=notes,
        versions=_versions(),
        **_worded(tuple(probs), found, level),
    )


def _worded(names: tuple[str, ...], found: Exact, level: float) -> dict[str, Any]:
    """Return the columns of the differences, with verdicts and the headline."""
    numbers = np.array(list(found.values()))
    verdicts = {
        key: paired.verdict(key[1], change, low, high)
        for key, (_, _, change, low, high) in found.items()
    }
    columns = dict(zip(("first", "value", "difference", "low", "high"), numbers.T, strict=True))
    parts = [_sentence(names[0], other, found, verdicts, level) for other in names[1:]]
    return {name: read_only(column) for name, column in columns.items()} | {
        "model": read_only(np.array([key[0] for key in found])),
        "measure": read_only(np.array([key[1] for key in found])),
        "verdict": read_only(np.array(list(verdicts.values()))),
        "headline": " ".join(parts),
    }


def _sentence(
    first: str, other: str, found: Exact, verdicts: Mapping[tuple[str, str], str], level: float
) -> str:
    """Say what a manager wants to know of one model beside the first."""
    finite = np.isfinite(found[other, "log loss"][2])
    main = "cost" if (other, "cost") in found else "log loss" if finite else "Brier score"
    _, _, change, low, high = found[other, main]
    unit, said = paired.MEASURES[main][0], verdicts[other, main]
    if said in ("better", "worse"):
        small, large = sorted((abs(low), abs(high)))
        range_ = f"{100 * level:g} % interval {small:.4f} to {large:.4f}"
        text = f"{other} is {said} than {first}: by {abs(change):.4f} {unit} per prediction"
        text += f" ({range_})."
    elif said == "equal":
        text = f"{other} and {first} are equal {unit}."
    else:
        text = (
            f"The data cannot separate {other} from {first} {unit}: the difference per prediction "
            f"is {change:+.4f} ({100 * level:g} % interval {low:+.4f} to {high:+.4f})."
        )
    infinite = [name for name, v in zip((first, other), found[other, "log loss"], strict=False)
                if np.isinf(v)]  # fmt: skip
    if infinite:
        text += f" {' and '.join(infinite)} called impossible what happened: infinite log loss."
    calibrated = verdicts[other, "miscalibration"]
    if calibrated in ("better", "worse"):
        text += f" {other} is {calibrated} calibrated."
    elif calibrated != "equal":
        text += " The data cannot separate their calibration."
    told = verdicts[other, "discrimination"]
    if told in ("better", "worse"):
        text += f" It tells cases apart {told}."
    return text


def _calibration(names: Sequence[str], nulls: Sequence[Any], lost: Sequence[int]) -> Listing:
    """Put the error of each model beside what chance alone would show."""
    said = [
        f"{name} {null.value:.4f} (a calibrated model would show {null.mean:.4f}, "
        f"p = {null.p_value:.3f})"
        for name, null in zip(names, nulls, strict=True)
    ]
    numbers = {"error": "value", "by chance": "mean", "p_value": "p_value"}
    columns = {head: np.array([getattr(n, key) for n in nulls]) for head, key in numbers.items()}
    return Listing(
        sentence=f"Calibration error: {'; '.join(said)}.",
        columns={"model": np.array(names), **columns, "impossible events": np.array(lost)},
    )


def _by_group(
    rows: Rows, names: Sequence[str], scores: Sequence[Mapping[str, FloatVector]], level: float
) -> Listing | None:
    """Compare the scores in every group, each at a level that pays for all groups."""
    if rows.group is None:
        return None
    content = 1 - (1 - level) / len(rows.groups)
    found: list[tuple[Any, ...]] = []
    for place, group in enumerate(rows.groups):
        inside = rows.group == place
        n = int(inside.sum())
        fewest = np.bincount(rows.label[inside], minlength=rows.n_classes)
        few = (fewest.min() if rows.n_classes == 2 else n - fewest.max()) < _FEWEST
        for other in range(1, len(names)):
            for key in scores[0]:
                with np.errstate(invalid="ignore"):
                    apart = (scores[other][key] - scores[0][key])[inside]
                change, low, high = (np.nan,) * 3 if few else _student(apart, content)
                said = "too few rows" if few else paired.verdict(key, change, low, high)
                found.append((group, n, names[other], key, change, low, high, said))
    heads = ("group", "count", "model", "measure", "difference", "low", "high", "verdict")
    worse = [f"{g} ({m} {k})" for g, _, m, k, *_, v in found if v == "worse"]
    few_groups = sorted({str(row[0]) for row in found if row[-1] == "too few rows"})
    text = f"Worse than {names[0]} in groups: {', '.join(worse) if worse else 'none shown'}"
    text += f"; too few rows to tell: {', '.join(few_groups)}" if few_groups else ""
    columns = {h: np.array(c) for h, c in zip(heads, zip(*found, strict=True), strict=True)}
    return Listing(sentence=f"{text} ({spell(len(rows.groups), 'group')}).", columns=columns)


def _student(apart: FloatVector, level: float) -> tuple[float, float, float]:
    if not np.isfinite(apart).all():
        return float(apart.mean()), float("nan"), float("nan")
    return (mean := float(apart.mean())), *around(mean, float(apart.std(ddof=1)), len(apart), level)


def around(mean: float, sd: float, n: int, level: float) -> tuple[float, float]:
    """Return Student's interval of a mean."""
    half = float(special.stdtrit(n - 1, (1 + level) / 2)) * sd / float(np.sqrt(n))
    return mean - half, mean + half


def _notes(count: int, level: float, bins: Binning) -> tuple[str, ...]:
    return (
        f"Differences: other minus first, {100 * level:g} % intervals, rows redrawn in pairs "
        f"({count:,} resamples), not corrected for several models or measures.",
        "Miscalibration and discrimination: the CORP parts of the Brier score.",
        f"Calibration error: {bins}; its interval is wider by what chance adds to both models.",
        "Nothing is clipped: one impossible event makes the log loss infinite.",
    )
