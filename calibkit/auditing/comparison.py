"""Models on the same rows: what a row adds to each measure, intervals, verdicts, the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.auditing import html
from calibkit.auditing.pages import Report
from calibkit.auditing.rows import Rows, given_to, losses, rows_of
from calibkit.auditing.settings import MOST_CLASSES
from calibkit.bins import Binning
from calibkit.containers import column_names, refuse_other_columns, refuse_other_order
from calibkit.corp import corp_decomposition
from calibkit.decisions import MurphyCurve, best_actions
from calibkit.reliability import BinTable
from calibkit.results import Result, spell
from calibkit.significance.clusters import ClusterSums, means_of_sums, student
from calibkit.types import FloatMatrix, FloatVector, IntVector
from calibkit.validation import as_predictions
from calibkit.views import BinaryProblem, View, binary_problems

# Each measure with its unit in words.
MEASURES = {
    "cost": "in cost",
    "log loss": "nats of log loss",
    "Brier score": "in Brier score",
    "miscalibration": "in miscalibration",
    "discrimination": "in discrimination",
    "calibration error": "in calibration error",
}
# Every finding on which a pipeline can act; "not separated": no measure tells two models apart.
COMPARISON_CODES = (
    *(f"{word} {measure}" for word in ("better", "worse") for measure in MEASURES),
    "not separated",
)
FEWEST = 10  # events, other rows, and rows that differ, below which no interval is given
_EACH_WAY = 5  # rows decided better and worse, below which prices not yet paid may decide
_DRAWS = 20_000  # of all differences together
NONE = (float("nan"), float("nan"))  # no interval
Ends = tuple[float, float]
SCORES = ("cost", "log loss", "Brier score")  # means over rows: exact also in a stream


def scores_of_rows(
    label: IntVector, prob: FloatVector, costs: FloatVector | None
) -> dict[str, FloatVector]:
    """Return what each row adds to cost, log loss and Brier score."""
    own = given_to(label, prob)
    brier = (1 - own) ** 2
    if prob.ndim == 2:
        brier = np.einsum("ik,ik->i", prob, prob) - own**2 + brier
    found = {"log loss": losses(own), "Brier score": brier}
    if costs is None:
        return found
    return {"cost": costs[best_actions(prob, costs=costs), label]} | found


def measures_of_rows(
    label: IntVector, prob: FloatVector, costs: FloatVector | None, view: View, bins: Binning
) -> dict[str, FloatVector]:
    """Return what each row adds to the scores, the CORP parts of the Brier score, and the ECE.

    The curve and the frequency are minimisers of what they are subtracted from: to first order
    their own error does not matter, and sums over rows behave as those of fixed functions.
    """
    problems = binary_problems(label, prob, view=view)
    parts = [_parts(problem, bins) for problem in problems]
    lost, won, error = (np.sum(one, axis=0) for one in zip(*parts, strict=True))
    parts_of_brier = {"miscalibration": lost, "discrimination": won}
    scores = scores_of_rows(label, prob, costs)
    return scores | parts_of_brier | {"calibration error": error / len(problems)}


def _parts(problem: BinaryProblem, bins: Binning) -> tuple[FloatVector, FloatVector, FloatVector]:
    prob, happened = problem.prob.astype(np.float64), problem.label.astype(np.float64)
    curve = corp_decomposition(problem.label, prob).recalibrate(prob)
    best = (curve - happened) ** 2
    edges = bins.edges(prob, problem.label)
    place = bins.assign(prob, edges)
    side = np.sign(np.bincount(place, prob - happened, minlength=len(edges)))
    return (
        (prob - happened) ** 2 - best,
        (happened.mean() - happened) ** 2 - best,
        side[place] * (prob - happened),
    )


class Change(NamedTuple):
    """A measure of the first model and of another one, and what differs."""

    first: float
    value: float
    difference: float  # value minus first; NaN where both are infinite
    low: float
    high: float
    verdict: str  # "better", "worse", "equal" or "not separated"
    joint: bool = True  # whether that holds where all measures and models are judged together


def change(measure: str, first: float, value: float, ends: tuple[float, float]) -> Change:
    """Judge a difference by its interval; an infinite one judges itself."""
    apart = float("nan") if np.isinf(first) and np.isinf(value) else value - first
    low, high = (apart, apart) if np.isinf(apart) else ends
    sign, verdict = 1 if measure == "discrimination" else -1, "not separated"
    if apart == low == high == 0:
        verdict = "equal"
    elif sign * low > 0 and sign * high > 0:
        verdict = "better"
    elif sign * low < 0 and sign * high < 0:
        verdict = "worse"
    return Change(first, value, apart, *ends, verdict)


class Sums:
    """What rows add to each measure, summed by model: enough to judge every difference."""

    def __init__(self, costs: FloatVector | None = None) -> None:
        self.costs = costs
        self.count: Any = 0  # rows of each class
        self.measures: list[str] = []
        self.values: Any = 0.0  # (models, measures)
        # Of the differences to the first model, a row per other model and measure: sums, sums of
        # products, rows that go up, rows that go down; sums by cluster, where some are named.
        self.apart: Any = 0.0
        self.products: Any = 0.0
        self.up: Any = 0
        self.down: Any = 0
        self.clusters = ClusterSums()

    @property
    def n(self) -> int:
        """Rows so far."""
        return int(np.sum(self.count))

    @property
    def few(self) -> bool:
        """Whether events, or other rows, are too few for any interval."""
        count = self.count
        return int(count.min() if len(count) == 2 else count.sum() - count.max()) < FEWEST

    def add(
        self, count: IntVector, each: Sequence[Mapping[str, FloatVector]], cluster: Any = None
    ) -> None:
        """Add what some rows add to the measures of each model; `count`: rows of each class."""
        self.count, self.measures = self.count + count, list(each[0])
        values = np.array([list(one.values()) for one in each])
        with np.errstate(invalid="ignore"):  # infinite minus infinite: no interval
            apart = (values[1:] - values[0]).reshape(-1, values.shape[2])
            self.values, self.apart = self.values + values.sum(axis=2), self.apart + apart.sum(1)
            self.up, self.down = self.up + (apart > 0).sum(1), self.down + (apart < 0).sum(1)
            if cluster is None:
                self.products = self.products + apart @ apart.T
            else:
                self.clusters.add(cluster, apart.T)

    @cached_property
    def moments(self) -> tuple[FloatMatrix, float]:
        """Covariances of the mean differences of all rows, and Student's degrees of freedom."""
        with np.errstate(invalid="ignore"):
            if self.clusters.number:
                sums, size = self.clusters.found()
                return means_of_sums(sums.T, size)[1:]
            n, mean = self.n, self.apart / self.n
            cover = (self.products - n * np.outer(mean, mean)) / max(n - 1, 1) / n
        # Equal models differ by nothing; rounding must not make a variance negative.
        np.fill_diagonal(cover, np.maximum(np.diag(cover), 0.0))
        return cover, max(n - 1.0, 1.0)

    def refuses(self, key: str, other: int) -> bool:
        """Tell whether the rows that differ, or differ to one side, are too few to conclude."""
        place = self._place(key, other)
        up, down = int(self.up[place]), int(self.down[place])
        if up + down == 0:
            return False
        worst = 0.0 if self.costs is None else float(np.ptp(self.costs, axis=0).max())
        one_sided = min(up, down) < _EACH_WAY and abs(self.apart[place]) <= _EACH_WAY * worst
        return self.few or up + down < FEWEST or (key == "cost" and bool(one_sided))

    def change(self, key: str, other: int, level: float, wider: Ends = (0.0, 0.0)) -> Change:
        """Judge the difference to the first model by Student's interval, made `wider` or not.

        Nothing is concluded from a handful of rows, nor from an infinite difference.
        """
        place, (cover, df), ends = self._place(key, other), self.moments, NONE
        mean = float(self.apart[place]) / self.n
        if np.isfinite(mean) and not self.refuses(key, other):
            half, some = float(student(cover[place, place], df, level)), self._differ(place)
            ends = mean - half - wider[0] * some, mean + half + wider[1] * some
        first, value = (self.values[[0, other], self.measures.index(key)] / self.n).tolist()
        return change(key, first, value, ends)

    def together(self, level: float, rng: np.random.Generator) -> float:
        """Return the content of single intervals that hold all their truths with this level.

        The largest of all |t| under the multivariate Student law of the differences (Hothorn, Bretz
        and Westfall, 2008), by redraws.
        """
        cover, df = self.moments
        used = np.diag(cover) > 0
        sd = np.sqrt(np.diag(cover)[used])
        if not used.any():
            return level
        correlation = cover[np.ix_(used, used)] / np.outer(sd, sd)
        value, vector = np.linalg.eigh(correlation)
        drawn = rng.standard_normal((_DRAWS, len(sd))) @ (vector * np.sqrt(np.maximum(value, 0))).T
        largest = np.abs(drawn).max(axis=1) / np.sqrt(rng.chisquare(df, _DRAWS) / df)
        return 2 * float(special.stdtr(df, np.quantile(largest, level))) - 1

    def _place(self, key: str, other: int) -> int:
        return (other - 1) * len(self.measures) + self.measures.index(key)

    def _differ(self, place: int) -> bool:
        return bool(self.up[place] + self.down[place])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Listing(Result):
    """A table with a sentence: `sentence`, and `columns`, a mapping from names to arrays."""

    sentence: str
    columns: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, sentence: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> "Listing":
        """Return a table of rows."""
        columns = map(np.array, zip(*rows, strict=True))
        return cls(sentence=sentence, columns=dict(zip(heads, columns, strict=True)))

    def describe(self) -> str:
        """Return the sentence."""
        return self.sentence

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return self.columns


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
    model, measure, verdict : ndarray of str, shape (R,)
        A row per other model and measure; "better", "worse", "equal" or "not separated".
    first, value, difference, low, high : ndarray of shape (R,)
        The measure of the first model and of this one, the difference with its interval: NaN where
        an infinite log loss leaves none.
    joint : ndarray of bool, shape (R,)
        Whether the verdict holds where all measures and models are judged together, as `codes` do.
    calibration, weak, benefit, groups : Listing, benefit and groups also None
        Each model's calibration error beside its null level; O/E, calibration in the large and
        slope; net benefit at the given prices; differences in each group.
    bins, curves, costs
        Reliability tables and Murphy curves by model (curves only for one event), table of costs.
    notes, versions
    """

    models: tuple[str, ...]
    level: float
    model: NDArray[np.str_]
    measure: NDArray[np.str_]
    first: FloatVector
    value: FloatVector
    difference: FloatVector
    low: FloatVector
    high: FloatVector
    verdict: NDArray[np.str_]
    joint: NDArray[np.bool_]
    calibration: Listing
    weak: Listing
    benefit: Listing | None
    groups: Listing | None
    bins: Mapping[str, BinTable]
    curves: Mapping[str, MurphyCurve]
    costs: FloatVector | None

    @property
    def codes(self) -> frozenset[str]:
        """Findings such as "worse log loss" that hold jointly, for conditions in a pipeline."""
        pairs = zip(self.verdict[self.joint], self.measure[self.joint], strict=True)
        found = {f"{v} {m}" for v, m in pairs if v in ("better", "worse")}
        return frozenset(found or {"not separated"})

    @property
    def tables(self) -> dict[str, Result]:
        """The tables of the comparison, by name; groups only where they were given."""
        tables: dict[str, Result | None] = {"Differences": self, "Calibration": self.calibration}
        tables |= {"Weak calibration": self.weak, "Net benefit": self.benefit}
        tables |= {"Groups": self.groups}
        return {name: table for name, table in tables.items() if table is not None}

    def describe(self) -> str:
        """Say in plain words which model is better, and what cannot be separated."""
        return self.headline

    def text(self) -> str:
        """Return headline and differences for a terminal."""
        lines = [f"{self.title}: {spell(self.n, 'prediction')}, {self.n_classes} classes", ""]
        lines += [self.headline, *([f"! {self.advice}"] if self.advice else []), ""]
        for row in zip(*self._columns().values(), strict=True):
            name, measure, first, value, change, low, high, verdict, joint = row
            numbers = f"{first:.4f} -> {value:.4f}, difference {change:+.4f} "
            ends = "no interval" if np.isnan(low) else f"{low:.4f} to {high:.4f}"
            alone = "" if joint else " (taken alone)"
            lines.append(f"{name}, {measure}: {numbers}({ends}), {verdict}{alone}")
        lines += ["", self.calibration.describe()]
        lines += [f"{name}: {table.describe()}" for name, table in list(self.tables.items())[2:]]
        return "\n".join([*lines, "", *self.origin] if "command" in self.source else lines)

    def to_dict(self) -> dict[str, Any]:
        """Return findings and numbers for JSON; NaN and infinity become None."""
        names = ("title", "headline", "n", "n_classes", "view", "level")
        found = {"models": list(self.models), "codes": sorted(self.codes)}
        return {name: getattr(self, name) for name in names} | found | Report.to_dict(self)

    def to_html(self) -> str:
        """Return one self-contained page, figures included."""
        return html.page(self)

    def figures(self) -> dict[str, Any]:
        """Return fresh figures by name; their alt texts come from `calibkit.plot.alt_text`."""
        return html.draw_comparison(self.bins, self.curves, self.costs)

    def plot(self, ax: Any = None) -> Any:
        """Draw the reliability diagrams of all models in one frame; return its Axes."""
        from calibkit import plot

        return plot.overlay(dict(self.bins), ax)

    def caption(self, figure: str) -> str:
        """Return what a figure shows, by its name: the view of the diagrams."""
        return f"View: {next(iter(self.bins.values())).view}." if figure == "models" else ""

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = ("model", "measure", *Change._fields)
        return {name: getattr(self, name) for name in names}


def view_of_models(rows: Rows, view: View) -> View:
    """Return the events that all models are compared in."""
    if rows.top:
        if view not in (None, "top-label"):
            raise ValueError(f'predicted= has one view, "top-label", got view={view!r}.')
        return "confidence"
    if view is None and not rows.binary:
        return "class-wise" if rows.n_classes <= MOST_CLASSES else "top-label"
    return view


def rows_of_models(y_true: Any, y_prob: Any, **options: Any) -> tuple[Rows, dict[str, FloatVector]]:
    """Check all models against one set of labels, and put their rows into one order."""
    if not isinstance(y_prob, Mapping) or len(y_prob) < 2:
        raise ValueError(
            "y_prob must be a mapping from names to the probabilities of two or more models, e.g. "
            '{"a": p, "b": q}; one model alone is judged by audit.'
        )
    named = {str(name): prob for name, prob in y_prob.items()}
    if len(named) < len(y_prob):
        raise ValueError("two models have the same name.")
    models = {f"model {name!r}": prob for name, prob in named.items()}
    by_row = {name: options[name] for name in ("groups", "cluster", "predicted")}
    refuse_other_order(y_true=y_true, **by_row, **models)
    first = next(filter(None, map(column_names, models.values())), None)
    for said, prob in models.items():
        for wanted in (first, options["class_names"]):
            refuse_other_columns(prob, said, wanted)
    rows, probs = None, {}
    for name, prob in named.items():
        try:
            if rows is None:
                rows = rows_of(y_true, prob, **options)
                y_true = rows.label[np.argsort(rows.position)]
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
