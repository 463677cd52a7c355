"""What questions 2 to 4 measure: impossible rows, power, all views, error, null level, band."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.chance import BootstrapInterval, ConsistencyBand, NullLevel
from calibkit.errors import expected_calibration_error
from calibkit.inputs import BinaryProblem, FloatVector, IntVector, View, binary_problem
from calibkit.reliability import BinTable
from calibkit.results import spell
from calibkit_audit.auditing.redraws import TOP, JointTest, ViewTest, joint_test
from calibkit_audit.auditing.rows import AuditRows, probability_of
from calibkit_audit.auditing.settings import MOST_CLASSES, AuditSettings
from calibkit_audit.dependent_rows import DependentRows, consistency_band
from calibkit_audit.incoming import kish

_NAMED = 5
_RUN_OUT, _HARDLY_ANY = 1 - 1e-4, 1e-3
_VERB = {"class": "give", "event": "say", "answer": "say"}
_THEN = {
    "class": ("to the class that happened",),
    "event": ("and the event happened", "and the event did not happen"),
    "answer": ("and the predicted class was right", "and the predicted class was wrong"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """Rows that gave probability 0 to what happened."""

    kind: str  # as in `AuditRows`
    first: tuple[int, ...] = ()  # where the first of them stood, from 0
    zeros: int = 0  # of two classes: those that said 0, and the event happened
    count: int = 0
    certain: int = 0  # rows that give some class exactly 0
    n: int = 0
    nearest: float = 0.0  # largest probability below 1

    def __add__(self, later: "Impossible") -> "Impossible":
        names = ("zeros", "count", "certain", "n")
        sums = {name: getattr(self, name) + getattr(later, name) for name in names}
        first, nearest = (self.first + later.first)[:_NAMED], max(self.nearest, later.nearest)
        return Impossible(kind=self.kind, first=first, nearest=nearest, **sums)

    @property
    def rounded(self) -> bool:
        """Whether 0 and 1 are rounded: other rows come so near that digits have run out."""
        return self.nearest > _RUN_OUT

    @property
    def minor(self) -> bool:
        """Whether they are a note and no headline: rounded, and hardly any."""
        return self.rounded and self.count <= _HARDLY_ANY * self.n

    @property
    def left(self) -> int:
        """Rows that are left."""
        return self.n - self.count

    def __str__(self) -> str:
        parts = [(self.zeros, "0", 0), (self.count - self.zeros, "1", 1)]
        if self.kind == "class":
            parts = [(self.count, "probability 0", 0)]
        return "; ".join(
            f"{spell(count, 'row')} {_VERB[self.kind]}{'s' * (count == 1)} {said} "
            f"{_THEN[self.kind][which]}"
            for count, said, which in parts
            if count
        )


def count_impossible(
    label: IntVector, table: FloatVector, position: IntVector, kind: str
) -> Impossible:
    """Count the rows of an (n, K) table that gave 0 to what happened; `position` names them."""
    gone = probability_of(label, table) == 0
    return Impossible(
        first=tuple(np.sort(position[gone])[:_NAMED].tolist()),
        zeros=int((label[gone] == 1).sum()),
        count=int(gone.sum()),
        certain=int((table == 0).any(axis=1).sum()),
        n=len(label),
        nearest=float(table.max(where=table < 1, initial=0.0)),
        kind=kind,
    )


_SIDE = 2.0  # a z beyond which a side is named
TEST = "level-slope-bins test"
POWER = 0.9
FEWEST_SURPRISES = 10  # expected, sum of p (1 - p), below which limit laws are empty words
_PRECISION = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPower:
    """What these rows can show."""

    enough: bool  # whether `smallest` is small enough
    surprises: float  # outcomes that should go against the predictions, sum of p (1 - p)
    smallest: float  # average error that would be found with probability 90 %
    half_width: float  # half the interval of the average error
    needed: int  # rows needed to find the error that the settings name
    needed_precise: int  # rows needed to know the average error to 0.01 on either side


def detectable_z(alpha: float) -> float:
    """Return the error, in standard deviations, that level and slope together show in 90 of 100."""
    return float(np.sqrt(special.chndtrinc(special.chdtri(2, alpha), 2, 1 - POWER)))


def power_of(view: ViewTest, settings: AuditSettings, views: int = 1) -> DataPower:
    """Return what so many predictions of this variance can show in one of so many views."""
    most = detectable_z(settings.alpha / (2 * views))  # each view tests its bins, too
    half = float(special.ndtri((1 + settings.level) / 2))
    # Predictions of 0 and 1 promise no variance; a bound keeps the numbers finite. Rows of a
    # cluster agree: the average of so many varies like that of `design` times fewer.
    variance = max(view.variance, 1e-4)
    sd = float(np.sqrt(view.variance * view.design / view.n))
    least = (most / settings.detectable) ** 2 * variance, FEWEST_SURPRISES / variance
    needed = max(least) * view.design
    return DataPower(
        enough=view.n >= needed,
        surprises=view.n * view.variance,
        smallest=most * sd,
        half_width=half * sd,
        needed=int(np.ceil(needed)),
        needed_precise=int(np.ceil((half / _PRECISION) ** 2 * variance * view.design)),
    )


class Region(NamedTuple):
    """Neighbouring bins that are off to one side: the range, and what n predictions say there."""

    low: float
    high: float
    mean_prob: float
    frequency: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """What was measured for the questions 2, 3 and 4, in rows that are kept."""

    test: JointTest  # all views together, in the rows that are possible
    impossible: Impossible
    focus: ViewTest  # the view that is described
    error: BootstrapInterval  # expected calibration error in the first view, with its interval
    null: NullLevel  # what a calibrated model would show
    band: ConsistencyBand  # diagram of the view in focus, with a simultaneous band
    problem: BinaryProblem  # that view's predictions and labels

    def summary(
        self, names: Sequence[str], focus: str, settings: AuditSettings, log_loss: float
    ) -> "Summary":
        """Return what the answers say of it; `names` are the views in words."""
        test, error, null, band = self.test, self.error, self.null, self.band
        region = largest_region(band.table, band.outside)
        low, outside = max(error.low, 0.0), int(band.outside.sum())
        shown = {"error": error.value, "error_low": low, "error_high": error.high}
        measured = f"Expected calibration error {error.value:.4f}"
        chance = f"a calibrated model would show {null.mean:.4f}"
        used = spell(int(band.table.occupied.sum()), "bin")
        spread = f"{outside} of {used} leave{'s' * (outside == 1)} the {100 * band.level:g} % band."
        if region is None:
            spread = f"No single bin leaves the band of {used}: the error is spread out."
        return Summary(
            settings=settings,
            first=test.views[0],
            power=power_of(test.views[0], settings, len(names)),
            words=names[0],
            focus=self.focus,
            focus_words=focus,
            looked=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more views",
            p_value=test.p_value,
            impossible=self.impossible,
            apart=self._apart(test.p_value <= settings.alpha),
            region=region,
            spread=spread,
            log_loss=log_loss,
            short=f"{measured}; {chance}.",
            error=f"{measured} ({names[0]}); without its share of chance {low:.4f} to "
            f"{error.high:.4f} ({100 * error.level:g} % interval). {chance.capitalize()}; 95 % of "
            f"such models stay below {null.high:.4f}.",
            numbers=shown | {"null_error": null.mean, "null_high": null.high},
            more={"bins_outside": float(outside)},
            digits=3,
            floor=1 / (test.n_draws + 1),
        )

    def _apart(self, found: bool) -> str:
        """Return why test and calibration error disagree, where they do."""
        beyond = self.error.value > self.null.high
        if found == beyond:
            return ""
        if found:
            return (
                "The calibration error alone is within its chance range: it adds up the sizes of "
                "gaps, chance included; the test sees whether they follow a line."
            )
        if self.impossible.count:
            return (
                "The calibration error is beyond its chance range, but it counts the rows that "
                "said 0 or 1 and were wrong; the test does not."
            )
        return (
            "The calibration error alone is beyond its chance range, which 1 in 20 calibrated "
            "models leave."
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary:
    """What the answers 2, 3 and 4 say: the same of rows that are kept and of rows only counted."""

    settings: AuditSettings
    test: str = TEST  # its name
    first: ViewTest
    power: DataPower  # what the rows can show in the first view
    words: str  # the first view
    focus: ViewTest  # the view that is described
    focus_words: str
    looked: str  # all that was looked at for the p-value
    p_value: float
    impossible: Impossible
    region: Region | None  # where the largest excess is
    error: str  # a sentence on the calibration error
    short: str  # the same in short, for the head of a page
    numbers: dict[str, float]  # the numbers in it
    log_loss: float = float("nan")  # of the rows whose outcome was possible, where it is known
    apart: str = ""  # a sentence where test and calibration error disagree
    spread: str = ""  # a sentence on the rest of the range
    more: Mapping[str, float] = field(default_factory=dict)  # numbers of the direction
    digits: int = 4  # of means and frequencies
    floor: float = 0.0  # the smallest p-value that so many redraws can show

    @property
    def miscalibrated(self) -> bool:
        """Whether it is miscalibrated beyond chance."""
        return self.p_value <= self.settings.alpha

    @property
    def borderline(self) -> bool:
        """Whether the limit was missed, but by less than a factor of two."""
        return not self.miscalibrated and self.p_value <= self.settings.limits[1]


def evidence_of(
    rows: AuditRows, views: tuple[int, ...], settings: AuditSettings, seeds: NDArray[np.int64]
) -> Measurements:
    """Test all views together and look closer at the one that speaks."""
    test = _joint_test(rows, views, settings, np.random.default_rng(seeds[0]))
    first = test.views[0]
    found = test.p_value <= settings.limits[1]
    loudest = min(test.views, key=lambda view: (view.p_value, -abs(view.z_level)))
    focus = first if not found or first.p_value <= settings.limits[1] else loudest
    of_error, of_null, of_band = map(int, seeds[1:])
    seen, one = problem_of(rows, focus.view), problem_of(rows, first.view)
    how: Any = {"n_draws": settings.resamples(rows.n), "bins": settings.bins}
    model = DependentRows(label=one.label, prob=one.prob, clusters=rows.clusters, weight=one.weight)
    null = model.null_level(expected_calibration_error, rng=of_null, **how)
    error = model.bootstrap_interval(
        expected_calibration_error, level=settings.level, rng=of_error, **how
    )
    if null.p_value > (1 - settings.level) / 2:  # a calibrated model could have shown as much
        error = replace(error, low=min(error.low, 0.0))
    return Measurements(
        test=test,
        impossible=count_impossible(rows.label, rows.table, rows.position, rows.kind),
        focus=focus,
        error=error,
        null=null,
        band=consistency_band(
            seen, level=1 - settings.alpha, rng=of_band, clusters=rows.clusters, **how
        ),
        problem=seen,
    )


def _joint_test(
    rows: AuditRows, views: tuple[int, ...], settings: AuditSettings, rng: np.random.Generator
) -> JointTest:
    left, table = rows.possible, rows.table
    if not left.any():  # nothing to ask about: rows that are certain, and right
        left, table = ~left, np.eye(rows.n_classes)[rows.label]
    test = joint_test(
        table[left],
        rows.label[left],
        (1,) if rows.top else views,
        n_draws=settings.n_draws,
        rng=rng,
        clusters=rows.clusters and rows.clusters.take(left),
        weight=None if rows.weight is None else kish(rows.weight[left]),
        limits=settings.limits,
    )
    if rows.top:  # the event, that the predicted class was right, stands in column 1
        test = test._replace(views=(replace(test.views[0], view=TOP),))
    return test


def views_of(rows: AuditRows, view: View | None) -> tuple[int, ...]:
    """Return the views to look at: `TOP` and numbers of classes."""
    k = rows.n_classes
    classes = tuple(range(k))
    if view == "top-label" or (rows.top and view is None):
        return (TOP,)
    if rows.top:
        raise ValueError(f'predicted= has one view, "top-label", got view={view!r}.')
    if view is None:
        # Of two classes one says it all; of very many, hardly any has enough events.
        return (1,) if rows.binary else (TOP, *(classes if k <= MOST_CLASSES else ()))
    if view == "class-wise":
        return classes
    if isinstance(view, int | np.integer) and not isinstance(view, bool) and view in classes:
        return (int(view),)
    raise ValueError(
        f'view={view!r} does not exist; choose "top-label", "class-wise" or a class from 0 to '
        f"{k - 1}, or leave it out."
    )


def view_name(rows: AuditRows, view: int) -> str:
    """Return a view in words."""
    if view == TOP:
        return "top-label"
    return "positive class" if rows.binary and view == 1 else f"class {rows.class_names[view]}"


def package_view(rows: AuditRows, view: int) -> View:
    """Return the `view` argument of the package's functions."""
    if view == TOP:
        return "confidence" if rows.top else "top-label"
    return None if rows.binary and view == 1 else view


def problem_of(rows: AuditRows, view: int) -> BinaryProblem:
    """Return the events of a view."""
    shown = package_view(rows, view)
    return binary_problem(rows.label, rows.prob, view=shown, sample_weight=rows.weight)


def directions(view: ViewTest) -> tuple[str, str]:
    """Return the main direction of a view, and a second one or an empty text."""
    level, slope = view.z_level, view.z_slope
    if view.view == TOP:  # confidence against accuracy
        side = "over-confident" if level < 0 else "under-confident"
        return (side if abs(level) >= _SIDE else "mixed"), ""
    # Too high or too low, and too bold or too careful, compete.
    names = [
        (abs(level), "over-forecast" if level < 0 else "under-forecast"),
        (abs(slope), "over-confident" if slope < 0 else "under-confident"),
    ]
    (size, name), (other, second) = sorted(names, reverse=True)
    if size < _SIDE:
        return "mixed", ""
    return name, second if other >= max(_SIDE + 1, size / 2) else ""


def largest_region(table: BinTable, outside: NDArray[np.bool_]) -> Region | None:
    """Join neighbouring bins that are outside on one side; return the weightiest range."""
    side = np.where(outside, np.sign(table.gap), 0.0)
    used = np.flatnonzero(table.occupied)
    runs = np.split(used, np.flatnonzero(np.diff(side[used])) + 1)
    count, gap = table.weight, np.where(side == 0, 0.0, np.abs(table.gap))
    best = max(runs, key=lambda run: float((count[run] * gap[run]).sum()))
    if not gap[best].any():
        return None
    mean, frequency = (
        float(np.average(part[best], weights=count[best]))
        for part in (table.mean_prob, table.frequency)
    )
    low, high = table.edges[best[0]], table.edges[best[-1] + 1]
    return Region(float(low), float(high), mean, frequency, int(table.count[best].sum()))
