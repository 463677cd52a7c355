"""The learner's own calibration: diagram, scores, over-confidence and temperature."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from calibkit.hypothesis_tests import wilson_interval
from calibkit.inputs import FloatVector, expit, logit
from calibkit.reliability import reliability_table
from calibkit.results import Number, Result, listed, spell
from calibkit.scores import brier_score, log_loss
from calibkit_course.learn import messages
from calibkit_course.learn.forecasts import Forecasts, my_forecasts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 5  # of equal width: more would hold a forecast or two each
_Z = 1.959963984540054  # of a normal law, 95 % lie so many standard deviations around the mean
_FALL = _Z**2 / 2  # of the log likelihood, at the ends of a 95 % interval
_TIE = 1e-9  # so small a distance from a half is rounding
_STEEPEST = 50.0  # the largest 1/T that is looked at


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OwnCalibration(Result):
    """What a learner's forecasts say about the learner.

    Parameters
    ----------
    forecasts : Forecasts
        The forecasts, n of them.
    gap, low, high : float
        Mean of ``sure`` minus the share that was right, positive where the learner was too sure,
        with the ends of its 95 % interval.
    reach : float
        How far chance moves that share for a calibrated learner, in 19 of 20 cases.
    ece, null : float
        The calibration error in five bins of equal width, and its null level.
    scores, chance : tuple of float
        Log loss and Brier score of the forecasts, and of the same guesses with 1/k for each.
    """

    forecasts: Forecasts
    gap: float
    low: float
    high: float
    reach: float
    ece: float
    null: float
    scores: tuple[float, float]
    chance: tuple[float, float]

    @property
    def verdict(self) -> str:
        """Return "over", "under", or "open" where the interval holds 0."""
        return "over" if self.low > 0 else "under" if self.high < 0 else "open"

    def describe(self) -> str:
        """Say whose forecasts these are, whether they deserve their name, and what luck does."""
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the sentences of `describe`, which the page of the book says too."""
        own = self.forecasts
        points = {name: _points(getattr(self, name)) for name in ("gap", "low", "high")}
        points["size"] = points["gap"][1:]
        log, brier = map(_shown, self.scores)
        log_chance, brier_chance = map(_shown, self.chance)
        return [
            own.describe(),
            messages.OWN_MEANS.format(
                sure=_points(own.sure.mean())[1:], right=_points(own.right.mean())[1:]
            ),
            messages.WORDS[f"OWN_{self.verdict.upper()}"].format(**points),
            messages.OWN_LITTLE.format(reach=_points(self.reach)[1:]),
            messages.OWN_SCORES.format(
                log=log, log_chance=log_chance, brier=brier, brier_chance=brier_chance
            ),
            messages.OWN_BINS.format(ece=_shown(self.ece), null=_shown(self.null)),
        ]

    def draw(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the reliability diagram with counts and the 90 % consistency band."""
        from calibkit import plot

        own = self.forecasts
        title = messages.OWN_TITLE_STAND_IN if own.stand_in else messages.OWN_TITLE
        shown = {"means", "gaps", "counts", "band"}
        title = title.format(n=spell(own.n, "forecast"))
        ax = plot.reliability_diagram(
            own.right, own.sure, bins=BINS, show=shown, title=title, ax=ax
        )
        across, up = messages.OWN_SURE, messages.OWN_RIGHT
        ax.child_axes[-1].set_xlabel(across)  # below the counts
        ax.set_ylabel(up)
        return ax

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        """Return a line per lesson: how it moves over the course."""
        own = self.forecasts
        lesson, index = np.unique(own.lesson, return_inverse=True)
        count = np.bincount(index)
        sure, right = (np.bincount(index, part) / count for part in (own.sure, own.right))
        rest = {"sure": sure, "right": right, "gap": sure - right}
        return {"lesson": lesson, "forecasts": count, **rest}


def my_calibration(path: str | Path | None = None, *, draw: bool = True) -> OwnCalibration:
    """Look at your own calibration: the forecasts that you made with ``sure=`` so far.

    A forecast is right or wrong, and ``sure`` is its probability to be right, so that the diagram
    is that of lesson 04. The gap is ``mean(sure) - share right``. Its interval is Wilson's (1927)
    for the share, as in lesson 01: honest for ten forecasts, and a little too wide where some are
    surer than others. Scores are compared with those of the same guesses, each with 1/k.

    Parameters
    ----------
    path : str or Path, optional
        A file of forecasts in place of your own, as in `my_forecasts`.
    draw : bool
        Whether to draw the diagram too.

    Returns
    -------
    OwnCalibration
        In a notebook it shows its sentences and a line per lesson. Without any forecast it is that
        of a simulated learner, and says so.

    Raises
    ------
    ValueError
        If the file is no file of forecasts, or none in it has an outcome.

    Examples
    --------
    >>> from calibkit_course.learn import STAND_IN
    >>> own = my_calibration(STAND_IN, draw=False)
    >>> own.verdict, round(own.gap, 2)
    ('open', 0.09)
    """
    found = calibration_of(my_forecasts(path))
    if draw:
        found.draw()
    return found


def calibration_of(own: Forecasts) -> OwnCalibration:
    """Return what some forecasts say about whoever made them."""
    if not own.n:
        raise ValueError(messages.NO_FORECASTS)
    low, high = map(float, gap_interval(own.sure.sum(), own.right.sum(), own.n))
    table = reliability_table(own.right, own.sure, bins=BINS)
    chance = 1 / own.options
    variance = (own.sure * (1 - own.sure)).sum()
    return OwnCalibration(
        forecasts=own,
        gap=float(own.sure.mean() - own.right.mean()),
        low=low,
        high=high,
        reach=_Z * float(np.sqrt(variance)) / own.n,
        ece=float(table.weight[table.occupied] @ np.abs(table.gap[table.occupied])),
        null=_chance_ece(own.sure, table.assign(own.sure)),
        scores=(float(log_loss(own.right, own.sure)), float(brier_score(own.right, own.sure))),
        chance=(float(log_loss(own.right, chance)), float(brier_score(own.right, chance))),
    )


def _chance_ece(sure: FloatVector, bins: NDArray[np.intp]) -> float:
    """Return the null level of the ECE: exact, from the law of the right guesses of each bin."""
    total = 0.0
    for number in np.unique(bins):
        own = sure[bins == number]
        law = reduce(np.convolve, [np.array([1 - one, one]) for one in own])
        total += float(law @ np.abs(np.arange(len(law)) - own.sum()))
    return total / len(sure)


def gap_interval(total: Any, hits: Any, n: Any) -> tuple[FloatVector, FloatVector]:
    """Return the ends of the 95 % interval of the gap: of n confidences, `total` is the sum.

    >>> low, high = gap_interval([8.0, 80.0], [6, 60], [10, 100])
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([-0.03, 0.11], [0.49, 0.3])
    """
    low, high = wilson_interval(hits, n)
    mean = np.asarray(total) / np.asarray(n)
    return mean - high, mean - low


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Temperature(Number):
    """How much a learner's log-odds have to be divided by, with its 95 % interval.

    Parameters
    ----------
    value, low, high : float
        T, at least 0, and the ends of its interval; infinite where 1/k is the best that can be
        said about each guess.
    n : int
        Number of forecasts that tell; one that said 1/k, or 1, has no temperature.
    """

    value: float
    low: float
    high: float
    n: int

    def describe(self) -> str:
        """Say the temperature with its interval."""
        return messages.TEMPERATURE.format(
            value=_shown(self.value),
            low=_shown(self.low),
            high=_shown(self.high),
            n=spell(self.n, "forecast"),
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return listed(self, ("value", "low", "high"), ("temperature", "number"))


def at_temperature(own: Forecasts, temperature: float) -> FloatVector:
    """Return how sure a learner should have been, by temperature scaling.

    The rest of the probability is shared among the other k - 1 options, so that
    ``logit(p) = logit(1/k) + (logit(sure) - logit(1/k)) / T``: with T above 1 each forecast moves
    towards 1/k. Guo and others (2017), section 4.2. Lesson 10.

    Examples
    --------
    >>> from calibkit_course.learn import STAND_IN
    >>> own = my_forecasts(STAND_IN)
    >>> own.sure[:3].tolist(), at_temperature(own, 2.0)[:3].round(2).tolist()
    ([0.4, 0.95, 0.9], [0.37, 0.81, 0.68])
    """
    start = logit(1 / own.options)
    return np.asarray(expit(start + (logit(own.sure) - start) / temperature))


def temperature(own: Forecasts) -> Temperature:
    """Fit a learner's temperature by maximum likelihood, with the interval of the likelihood ratio.

    Lessons 10 and 11 use it, see `at_temperature`.

    Examples
    --------
    >>> from calibkit_course.learn import STAND_IN
    >>> fitted = temperature(my_forecasts(STAND_IN))
    >>> 1 < fitted.value < 3, fitted.low < 2 < fitted.high
    (True, True)
    """
    start = logit(1 / own.options)
    lever = logit(own.sure) - start
    tells = (own.sure < 1) & (np.abs(lever) > 1e-9)  # certainty has no finite log-odds
    start, lever, right = start[tells], lever[tells], own.right[tells]

    def slope(a: float) -> float:
        return float(lever @ (right - expit(start + a * lever)))

    def likelihood(a: float) -> float:
        return -float(np.logaddexp(0, np.where(right == 1, -1, 1) * (start + a * lever)).sum())

    best = _root(slope, -_STEEPEST, _STEEPEST)
    floor = likelihood(best) - _FALL
    steep = _root(lambda a: likelihood(a) - floor, best, _STEEPEST)
    flat = _root(lambda a: floor - likelihood(a), -_STEEPEST, best)
    value, low, high = (1 / a if a > 0 else float("inf") for a in (best, steep, flat))
    return Temperature(value=value, low=low, high=high, n=int(tells.sum()))


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function crosses 0, or the end nearest to that."""
    if falling(low) <= 0:
        return low
    return high if falling(high) >= 0 else float(brentq(falling, low, high))


def _shown(value: float) -> str:
    return f"{value + _TIE:.2f}" if np.isfinite(value) else messages.INFINITE


def _points(share: float) -> str:
    """Return a share in per cent with its sign, rounded as the page's script does."""
    return f"{math.floor(100 * share + 0.5 + _TIE):+d}"
