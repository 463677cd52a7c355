"""Enough data, something wrong beyond chance, where, and which way: what decides.

1. One hypothesis: labels are drawn from these very probabilities, row by row.
2. Statements of exactly 0 that were contradicted need no test. They are a finding of their own
   (`_impossible`), and their rows leave the test: under the hypothesis they do not exist.
3. One test of the rows left, the level-slope-bins test: per view the larger of Cox's score test
   of level and slope and a test over 1, 2, 4, ... bins; the largest over all views against redraws.
4. One level: "miscalibrated" if p <= `alpha`, so at most 1 in 100 calibrated models, for any n,
   ties, rare events and number of views, as redraws need no limit law.
5. Two columns of two classes are one problem, tested once.
6. The calibration error decides nothing. Where it and the test disagree, a sentence says why.
7. A verdict of "no evidence" takes enough data: else it is "cannot say".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit._result import spell
from calibkit.auditing._impossible import Impossible, count_impossible
from calibkit.auditing._redraws import TOP, JointTest, ViewTest, joint_test
from calibkit.auditing._rows import Rows
from calibkit.auditing.settings import AuditSettings
from calibkit.errors import expected_calibration_error
from calibkit.reliability import BinTable
from calibkit.significance import (
    BootstrapInterval,
    ConsistencyBand,
    NullLevel,
    bootstrap_interval,
    consistency_band,
    null_level,
)

POWER = 0.9
FEWEST_SURPRISES = 10  # expected, sum of p (1 - p), below which limit laws are empty words
_PRECISION = 0.01
_NUMBERS = 40_000_000  # random numbers for a bootstrap; larger data get fewer resamples
_SIDE = 2.0  # a z beyond which a side is named
TEST = "level-slope-bins test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What these rows can show."""

    enough: bool  # whether `smallest` is small enough
    surprises: float  # outcomes that should go against the predictions, sum of p (1 - p)
    smallest: float  # average error that would be found with probability 90 %
    half_width: float  # half the interval of the average error
    needed: int  # rows needed to find the error that the settings name
    needed_precise: int  # rows needed to know the average error to 0.01 on either side


def power_of(view: ViewTest, settings: AuditSettings) -> Power:
    reach = float(special.ndtri(1 - settings.alpha / 2) + special.ndtri(POWER))
    half = float(special.ndtri((1 + settings.level) / 2))
    sd = float(np.sqrt(view.variance / view.n))
    # Predictions of 0 and 1 promise no variance; a bound keeps the numbers finite.
    variance = max(view.variance, 1e-4)
    needed = max((reach / settings.detectable) ** 2 * variance, FEWEST_SURPRISES / variance)
    return Power(
        enough=view.n >= needed,
        surprises=view.n * view.variance,
        smallest=reach * sd,
        half_width=half * sd,
        needed=int(np.ceil(needed)),
        needed_precise=int(np.ceil((half / _PRECISION) ** 2 * variance)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Region:
    """Neighbouring bins that are off to one side: the range, and what n predictions say there."""

    low: float
    high: float
    mean_prob: float
    frequency: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What was measured for the questions 2, 3 and 4, in rows that are kept."""

    test: JointTest  # all views together, in the rows that are possible
    impossible: Impossible
    focus: ViewTest  # the view that is described
    error: BootstrapInterval  # expected calibration error in the first view, with its interval
    null: NullLevel  # what a calibrated model would show
    band: ConsistencyBand  # diagram of the view in focus, with a simultaneous band

    def seen(self, names: Sequence[str], focus: str, settings: AuditSettings) -> "Seen":
        """Return what the answers say of it; `names` are the views in words."""
        test, error, null, band = self.test, self.error, self.null, self.band
        region = largest_region(band.table, band.outside)
        low = max(error.low, 0.0)
        found = test.p_value <= settings.alpha
        return Seen(
            test=TEST,
            alpha=settings.alpha,
            detectable=settings.detectable,
            first=test.views[0],
            words=names[0],
            focus=self.focus,
            focus_words=focus,
            looked=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more views",
            p_value=test.p_value,
            impossible=self.impossible,
            found=found,
            apart=self._apart(found),
            power=power_of(test.views[0], settings),
            region=region,
            spread=self._spread(region),
            error=(
                f"Expected calibration error {error.value:.4f} ({names[0]}); without its share of "
                f"chance {low:.4f} to {error.high:.4f} ({100 * error.level:g} % interval). A "
                f"calibrated model would show {null.mean:.4f}; 95 % of such models stay below "
                f"{null.high:.4f}."
            ),
            numbers={
                "error": error.value,
                "error_low": low,
                "error_high": error.high,
                "null_error": null.mean,
                "null_high": null.high,
            },
            more={"bins_outside": float(band.outside.sum())},
            digits=3,
        )

    def _spread(self, region: Region | None) -> str:
        used = spell(int(self.band.table.occupied.sum()), "bin")
        if region is None:
            return f"No single bin leaves the band of {used}: the error is spread out."
        outside = int(self.band.outside.sum())
        return f"{outside} of {used} leave the {100 * self.band.level:g} % band."

    def _apart(self, found: bool) -> str:
        """Return why test and calibration error disagree, where they do."""
        error, high = self.error.value, self.null.high
        if found and error <= high:
            return (
                "The calibration error alone is within its chance range: it adds up the sizes of "
                "gaps, chance included; the test asks whether they lie on one side or follow a "
                "slope, and sees smaller errors."
            )
        if found or error <= high:
            return ""
        if self.impossible.count:
            return (
                "The calibration error is beyond its chance range, but it counts the rows that "
                "said 0 or 1 and were wrong; the test does not."
            )
        return (
            "The calibration error alone is beyond its chance range, which 1 in 20 calibrated "
            "models leave: it asks about the sizes of gaps in these bins, the test about level, "
            "slope and bins of every width."
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """What the answers 2, 3 and 4 say: the same of rows that are kept and of rows only counted."""

    first: ViewTest
    words: str  # the first view
    focus: ViewTest  # the view that is described
    focus_words: str
    looked: str  # all that was looked at for the p-value
    test: str  # its name
    alpha: float
    detectable: float
    p_value: float
    impossible: Impossible
    found: bool  # miscalibrated beyond chance
    apart: str  # a sentence where test and calibration error disagree, or empty
    power: Power  # of the first view
    region: Region | None  # where the largest excess is
    spread: str  # a sentence on the rest of the range
    error: str  # a sentence on the calibration error
    numbers: dict[str, float]  # the numbers in it
    more: dict[str, float]  # numbers of the direction
    digits: int  # of means and frequencies


def evidence_of(
    rows: Rows, views: tuple[int, ...], settings: AuditSettings, seeds: NDArray[np.int64]
) -> Evidence:
    """Test all views together and look closer at the one that speaks."""
    left, table = rows.possible, rows.table
    if not left.any():  # nothing to ask about: rows that are certain, and right
        left, table = ~left, np.eye(rows.n_classes)[rows.label]
    test = joint_test(
        table[left],
        rows.label[left],
        views,
        n_draws=settings.n_draws,
        rng=np.random.default_rng(seeds[0]),
    )
    first = test.views[0]
    found = test.p_value <= settings.alpha
    loudest = min(test.views, key=lambda view: (view.p_value, -abs(view.z_level)))
    focus = first if not found or first.p_value <= settings.alpha else loudest
    error, null = _error(rows, first.view, settings, seeds[1:3])
    band = consistency_band(
        rows.label,
        rows.prob,
        view=given_view(rows, focus.view),
        bins=settings.bins,
        level=1 - settings.alpha,
        simultaneous=True,
        n_draws=resamples(settings, rows.n),
        rng=np.random.default_rng(seeds[3]),
    )
    gone = count_impossible(rows.label, rows.table, rows.position, binary=rows.binary)
    parts: dict[str, Any] = {"error": error, "null": null, "band": band}
    return Evidence(test=test, impossible=gone, focus=focus, **parts)


def _error(
    rows: Rows, view: int, settings: AuditSettings, seeds: NDArray[np.int64]
) -> tuple[BootstrapInterval, NullLevel]:
    measured = (expected_calibration_error, rows.label, rows.prob)
    options: dict[str, Any] = {"view": given_view(rows, view), "bins": settings.bins}
    number = resamples(settings, rows.n)
    interval = bootstrap_interval(
        *measured, level=settings.level, n_resamples=number, rng=int(seeds[0]), **options
    )
    return interval, null_level(*measured, n_draws=number, rng=int(seeds[1]), **options)


def resamples(settings: AuditSettings, n: int) -> int:
    return min(settings.n_resamples, max(50, _NUMBERS // n))


def given_view(rows: Rows, view: int) -> int | str | None:
    """Return the `view` argument of the package's functions."""
    if view == TOP:
        return "top-label"
    return None if rows.binary and view == 1 else view


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
    best, heaviest = None, 0.0
    start = 0
    while start < len(used):
        end = start
        while end + 1 < len(used) and side[used[end + 1]] == side[used[start]] != 0:
            end += 1
        run = used[start : end + 1]
        weight = float((table.count[run] * np.abs(table.gap[run])).sum())
        if side[used[start]] != 0 and weight > heaviest:
            heaviest, best = weight, run
        start = end + 1
    if best is None:
        return None
    n = int(table.count[best].sum())
    return Region(
        low=float(table.edges[best[0]]),
        high=float(table.edges[best[-1] + 1]),
        mean_prob=float((table.count[best] * table.mean_prob[best]).sum() / n),
        frequency=float((table.count[best] * table.frequency[best]).sum() / n),
        n=n,
    )
