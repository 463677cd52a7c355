"""Enough data, something wrong beyond chance, where, and which way."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.auditing._redraws import TOP, JointTest, ViewTest, joint_test
from calibkit.auditing._rows import Rows
from calibkit.auditing.settings import AuditSettings
from calibkit.errors import expected_calibration_error
from calibkit.significance import (
    BootstrapInterval,
    ConsistencyBand,
    NullLevel,
    bootstrap_interval,
    consistency_band,
    null_level,
)

FloatVector = NDArray[np.float64]

POWER = 0.9
_FEWEST_EVENTS = 10  # expected surprises, sum of p (1 - p), below which limit laws are empty words
_PRECISION = 0.01
_NUMBERS = 40_000_000  # random numbers for a bootstrap; larger data get fewer resamples
_SIDE = 2.0  # a z beyond which a side is named


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What these rows can show.

    Parameters
    ----------
    enough : bool
        Whether the smallest average error that would be found is small enough.
    smallest : float
        Average error that would be found with probability 90 %.
    half_width : float
        Half the interval of the average error.
    needed : int
        Rows needed to find the error that the settings name.
    needed_precise : int
        Rows needed to know the average error to 0.01 on either side.
    """

    enough: bool
    smallest: float
    half_width: float
    needed: int
    needed_precise: int


def power_of(view: ViewTest, settings: AuditSettings) -> Power:
    """Compute what can be found, from the variance that the predictions promise."""
    reach = float(special.ndtri(1 - settings.alpha / 2) + special.ndtri(POWER))
    half = float(special.ndtri((1 + settings.level) / 2))
    sd = float(np.sqrt(view.variance / view.n))
    # Predictions of 0 and 1 promise no variance; a bound keeps the numbers finite.
    variance = max(view.variance, 1e-4)
    needed = max((reach / settings.detectable) ** 2 * variance, _FEWEST_EVENTS / variance)
    return Power(
        enough=view.n >= needed,
        smallest=reach * sd,
        half_width=half * sd,
        needed=int(np.ceil(needed)),
        needed_precise=int(np.ceil((half / _PRECISION) ** 2 * variance)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Region:
    """Neighbouring bins outside the band, all on one side.

    Parameters
    ----------
    low, high : float
        Ends of the range of predictions.
    mean_prob, frequency : float
        Mean prediction and frequency there.
    n : int
        Predictions there.
    """

    low: float
    high: float
    mean_prob: float
    frequency: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Everything that questions 2, 3 and 4 are answered from.

    Parameters
    ----------
    test : JointTest
        All views together.
    focus : ViewTest
        The view that is described.
    power : Power
        What the first view can show.
    error : BootstrapInterval
        Expected calibration error in the first view, with its interval.
    null : NullLevel
        What a calibrated model would show.
    band : ConsistencyBand
        Diagram of the view in focus, with a simultaneous band.
    region : Region or None
        Where the largest excess is.
    direction : str
        Which way, as a code.
    second : str
        A second direction, weaker but clear; empty if there is none.
    """

    test: JointTest
    focus: ViewTest
    power: Power
    error: BootstrapInterval
    null: NullLevel
    band: ConsistencyBand
    region: Region | None
    direction: str
    second: str

    @property
    def bins(self) -> str:
        """The bins of the error, in words."""
        return self.band.table.bins


def evidence_of(
    rows: Rows, views: tuple[int, ...], settings: AuditSettings, seeds: NDArray[np.int64]
) -> Evidence:
    """Test all views together and look closer at the one that speaks."""
    test = joint_test(
        rows.table,
        rows.label,
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
    direction, second = directions(focus) if found else ("no direction", "")
    return Evidence(
        test=test,
        focus=focus,
        power=power_of(first, settings),
        error=error,
        null=null,
        band=band,
        region=_largest_region(band),
        direction=direction,
        second=second,
    )


def _error(
    rows: Rows, view: int, settings: AuditSettings, seeds: NDArray[np.int64]
) -> tuple[BootstrapInterval, NullLevel]:
    """Measure the expected calibration error, its interval and its null level."""
    measured = (expected_calibration_error, rows.label, rows.prob)
    options: dict[str, Any] = {"view": given_view(rows, view), "bins": settings.bins}
    number = resamples(settings, rows.n)
    interval = bootstrap_interval(
        *measured, level=settings.level, n_resamples=number, rng=int(seeds[0]), **options
    )
    return interval, null_level(*measured, n_draws=number, rng=int(seeds[1]), **options)


def resamples(settings: AuditSettings, n: int) -> int:
    """Return how many resamples can be afforded."""
    return min(settings.n_resamples, max(50, _NUMBERS // n))


def given_view(rows: Rows, view: int) -> int | str | None:
    """Return the `view` argument of the package's functions."""
    if view == TOP:
        return "top-label"
    return None if rows.binary and view == 1 else view


def directions(view: ViewTest) -> tuple[str, str]:
    """Return the main direction of a view, and a second one or an empty text.

    The view of the predicted class compares confidence with accuracy. In other views the level
    (too high, too low) and the slope (too bold, too careful) compete.
    """
    level, slope = view.z_level, view.z_slope
    if view.view == TOP:
        if abs(level) >= _SIDE or abs(slope) < _SIDE:
            side = "over-confident" if level < 0 else "under-confident"
            return (side if abs(level) >= _SIDE else "mixed"), ""
        return "mixed", ""
    names = [
        (abs(level), "over-forecast" if level < 0 else "under-forecast"),
        (abs(slope), "over-confident" if slope < 0 else "under-confident"),
    ]
    (size, name), (other, second) = sorted(names, reverse=True)
    if size < _SIDE:
        return "mixed", ""
    return name, second if other >= max(_SIDE + 1, size / 2) else ""


def _largest_region(band: ConsistencyBand) -> Region | None:
    """Join neighbouring bins outside the band on one side; return the weightiest range."""
    table, outside = band.table, band.outside
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
