"""What questions 2 to 4 measure: sure rows, power, all views, error, null level, band."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy import special

from calibkit.bins import as_bins
from calibkit.chance import BootstrapInterval, ConsistencyBand, NullLevel
from calibkit.errors import expected_calibration_error
from calibkit.inputs import BinaryProblem, View, binary_problem
from calibkit.reliability import BinTable, table_of
from calibkit.results import spell
from calibkit_audit.auditing.redraws import TOP, JointTest, ViewTest, joint_test
from calibkit_audit.auditing.rows import AuditRows
from calibkit_audit.auditing.settings import MOST_CLASSES, AuditSettings
from calibkit_audit.dependent_rows import DependentRows, consistency_band
from calibkit_audit.saving import four_digits
from calibkit_audit.segments import SegmentTable, segment_table

_NAMED = 5
MOST_PANELS = 9  # classes that are drawn


@dataclass(frozen=True, slots=True)
class Impossible:
    """Rows that gave probability 0 to what happened."""

    count: int = 0
    certain: int = 0  # rows that give some class exactly 0
    first: tuple[int, ...] = ()  # where the first of them stood, from 0

    def __str__(self) -> str:
        return f"{spell(self.count, 'row')} gave probability 0 to what happened"


SIDE = 2.0  # a z beyond which a side is named
TEST = "level-slope-bins test"
POWER = 0.9
FEWEST_SURPRISES = 10  # expected, sum of p (1 - p), below which limit laws are empty words


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPower:
    """What these rows can show."""

    enough: bool  # whether `smallest` is small enough
    surprises: float  # expected outcomes against the predictions: sum of p (1 - p) over the design
    smallest: float  # average error that would be found with probability 90 %
    half_width: float  # half the interval of the average error
    # Rows like these needed for enough surprises, infinite where none promises any, and to show
    # the error that the settings name, or the average error to ±0.01.
    needed: float
    needed_precise: float


def detectable_z(alpha: float) -> float:
    """Return the error, in standard deviations, that level and slope together show in 90 of 100."""
    return float(np.sqrt(special.chndtrinc(special.chdtri(2, alpha), 2, 1 - POWER)))


def power_of(view: ViewTest, settings: AuditSettings, views: int = 1) -> DataPower:
    """Return what so many predictions of this variance can show in one of so many views."""
    most = detectable_z(settings.alpha / (2 * views))  # each view tests its bins, too
    half = float(special.ndtri((1 + settings.level) / 2))
    # Rows of a cluster agree: the average of so many varies like that of `design` times fewer.
    sd = float(np.sqrt(view.variance * view.design / view.n))
    # Of sure rows only those that were wrong show how the average error varies.
    spread = (view.variance + view.wrong / view.n) * view.design
    surprises = view.n * view.variance / view.design
    fewest = view.n * FEWEST_SURPRISES / surprises if view.variance > 1e-15 else np.inf
    needed = max(fewest, view.n * (most * sd / settings.detectable) ** 2)
    return DataPower(
        enough=view.n >= needed,
        surprises=surprises,
        smallest=most * sd,
        half_width=half * float(np.sqrt(spread / view.n)),
        needed=float(np.ceil(needed)),
        needed_precise=float(np.ceil(max(fewest, (half / 0.01) ** 2 * spread))),
    )


class Region(NamedTuple):
    """Neighbouring bins with most of an error: the range, and what n predictions say there."""

    low: float
    high: float
    mean_prob: float
    frequency: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """What was measured for the questions 2, 3 and 4."""

    settings: AuditSettings
    names: tuple[str, ...]  # of the views that were looked at, in words
    test: JointTest  # all views together
    place: int  # of the view that is described
    impossible: Impossible
    error: BootstrapInterval  # expected calibration error in the first view, with its interval
    null: NullLevel  # what a calibrated model would show
    band: ConsistencyBand  # diagram of the view that is described, with a simultaneous band
    problem: BinaryProblem  # that view's predictions and labels
    classes: Mapping[str, BinTable]  # diagrams of single classes where several were looked at

    @property
    def first(self) -> ViewTest:
        """The first view."""
        return self.test.views[0]

    @property
    def focus(self) -> ViewTest:
        """The view that is described."""
        return self.test.views[self.place]

    @property
    def focus_words(self) -> str:
        """Its name."""
        return self.names[self.place]

    @property
    def power(self) -> DataPower:
        """What the rows can show in the first view."""
        return power_of(self.first, self.settings, len(self.names))

    @property
    def miscalibrated(self) -> bool:
        """Whether it is miscalibrated beyond chance."""
        return self.test.p_value <= self.settings.alpha

    @property
    def borderline(self) -> bool:
        """Whether the limit was missed, but by less than a factor of two."""
        return self.settings.alpha < self.test.p_value <= self.settings.limits[1]

    def describe(self) -> str:
        """Say the calibration error beside what chance shows."""
        chance = f"a calibrated model would show {four_digits(self.null.mean)}"
        return f"Expected calibration error {four_digits(self.error.value)}; {chance}."

    @property
    def only_sure(self) -> bool:
        """Whether nothing contradicts but rows that said exactly 0 or 1."""
        return self.focus.wrong > 0 and self.test.others > self.settings.alpha

    @property
    def region(self) -> Region | None:
        """Where most of the error lies, if it has a direction, and is not of sure rows alone."""
        way, top = directions(self.focus)[0], self.focus.view == TOP
        return None if way == "mixed" or self.only_sure else region_of(self.band.table, way, top)


def evidence_of(
    rows: AuditRows, views: tuple[int, ...], settings: AuditSettings, seeds: NDArray[np.int64]
) -> Measurements:
    """Test all views together and look closer at the one that speaks."""
    test = joint_test(
        rows.table,
        rows.label,
        (1,) if rows.top else views,
        n_draws=settings.n_draws,
        rng=np.random.default_rng(seeds[0]),
        clusters=rows.clusters,
        weight=rows.weight,
        limits=settings.limits,
    )
    if rows.top:  # the event, that the predicted class was right, stands in column 1
        test = test._replace(views=(replace(test.views[0], view=TOP),))
    first = test.views[0]
    found = test.p_value <= settings.limits[1]
    loudest = min(test.views, key=lambda view: (view.p_value, -abs(view.z_level)))
    focus = first if not found or first.p_value <= settings.limits[1] else loudest
    gone, certain = rows.own == 0, (rows.table == 0).any(axis=1)
    named = tuple(np.sort(rows.position[gone])[:_NAMED].tolist())
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
        settings=settings,
        names=tuple(view_name(rows, one) for one in views),
        test=test,
        place=test.views.index(focus),
        impossible=Impossible(int(gone.sum()), int(certain.sum()), named),
        error=error,
        null=null,
        band=consistency_band(
            seen, level=1 - settings.alpha, rng=of_band, clusters=rows.clusters, **how
        ),
        problem=seen,
        classes=_classes(rows, test, settings),
    )


def _classes(rows: AuditRows, test: JointTest, settings: AuditSettings) -> dict[str, BinTable]:
    """Return the reliability tables of several classes, the loudest first."""
    found = sorted(test.views, key=lambda view: (view.p_value, -abs(view.z_level)))
    views = [one.view for one in found if one.view != TOP]
    if len(views) == 1:
        return {}
    bins = as_bins(settings.bins)
    return {view_name(rows, k): table_of(problem_of(rows, k), bins) for k in views[:MOST_PANELS]}


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
    return rows.event if rows.binary and view == 1 else f"class {rows.class_names[view]}"


def package_view(rows: AuditRows, view: int) -> View:
    """Return the `view` argument of the package's functions."""
    if view == TOP:
        return "confidence" if rows.top else "top-label"
    return None if rows.binary and view == 1 else view


def problem_of(rows: AuditRows, view: int) -> BinaryProblem:
    """Return the events of a view."""
    shown = package_view(rows, view)
    problem = binary_problem(rows.label, rows.prob, view=shown, sample_weight=rows.weight)
    return problem if shown is not None else replace(problem, view=rows.event)


def directions(view: ViewTest) -> tuple[str, str]:
    """Return the main direction of a view, and a second one or an empty text."""
    level, top = view.z_level, view.view == TOP
    slope = level if top else view.z_slope  # of the predicted class confidence against accuracy
    names = [(abs(slope), "over-confident" if slope < 0 else "under-confident")]
    if not top:  # too high or too low, and too bold or too careful, compete
        names = [(abs(level), "over-forecast" if level < 0 else "under-forecast"), *names]
    if min(view.sides) < SIDE / 2 and max(view.sides) > -SIDE / 2:
        names.sort(reverse=True)  # else all are too high, or too low: that comes first
    (size, name), *others = names
    if size < SIDE:  # sure rows that were wrong were too sure
        return ("over-confident" if view.wrong and slope < 0 else "mixed"), ""
    least = max(SIDE + 1, size / 2)
    return name, "".join(second for other, second in others if other >= least)


def region_of(table: BinTable, way: str, top: bool) -> Region | None:
    """Return the fewest neighbouring bins that hold more than half of an error of this direction.

    They are a third of those in use at most, and hold more of the error than of the rows, or it is
    spread out. The error of a bin is its count times its gap, over-confidence of an event a gap
    away from the mean prediction.
    """
    used = np.flatnonzero(table.occupied)
    weight, mean, gap = (part[used] for part in (table.weight, table.mean_prob, table.gap))
    error = weight * gap * (1 if way.startswith("over") else -1)
    if way.endswith("confident") and not top:
        error = error * np.sign(mean - weight @ mean)
    for length in range(1, max(1, len(used) // 3) + 1):
        runs = sliding_window_view(error, length)
        held = np.where((runs > 0).all(axis=1), runs.sum(axis=1), 0)
        best = int(held.argmax())
        if held[best] > error[error > 0].sum() / 2:
            run = slice(best, best + length)
            if held[best] / error[error > 0].sum() <= weight[run].sum() / weight.sum():
                break
            said, came = (np.average(x[run], weights=weight[run]) for x in (mean, mean - gap))
            low, high = table.edges[used[run][[0, -1]] + [0, 1]].tolist()
            return Region(low, high, float(said), float(came), int(table.count[used[run]].sum()))
    return None


def groups_of(
    rows: AuditRows, view: int, settings: AuditSettings, rng: np.random.Generator
) -> SegmentTable | None:
    """Test every group, of several columns also their intersections, in the first view."""
    if rows.group is None:
        return None
    one = problem_of(rows, view)
    model = DependentRows(label=one.label, prob=one.prob, clusters=rows.clusters, weight=one.weight)
    features = list(zip(rows.group.T, rows.groups, strict=True))
    limits = {"alpha": settings.alpha, "detectable": settings.detectable}
    return segment_table(model, one.view, features, settings.n_draws, rng, **limits)
