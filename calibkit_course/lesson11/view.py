"""One state of the calibrator race: learning curves, and the maps of one set. Lesson 11."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.results import Result, spell
from calibkit.types import FloatVector
from calibkit.validation import as_choice, as_count
from calibkit_course.lesson11 import race
from calibkit_course.lesson11.race import DISTORTIONS, MEASURES, RUNS, SIZES

GROUPS: dict[str, tuple[str, ...]] = {
    "rigid and free": ("Platt", "isotonic"),
    "free": ("isotonic", "Venn-Abers"),
    "binned": ("histogram", "scaling-binning"),
    "five": ("Platt", "beta", "isotonic", "histogram"),  # with the model as it is
    "all": tuple(race.METHODS),
}
MEASURE_TEXTS = {
    "map": "distance from the true map",
    "left": "calibration error left",
    "loss": "excess log loss",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RaceView(Result):
    """One state of the calibrator race."""

    methods: tuple[str, ...]  # M calibrators
    sizes: NDArray[np.intp]  # rows of the calibration sets, rising: (S,)
    measure: str  # in words
    low: FloatVector  # 10 %, 50 % and 90 % quantile over the runs: (M, S)
    middle: FloatVector  # infinite where so many losses are
    high: FloatVector
    untouched: float  # the same measure of the predictions as they are
    n: int  # the size that is looked at
    prob: FloatVector  # predictions of a grid: (G,)
    truth: FloatVector  # their true probabilities
    maps: FloatVector  # fitted to one set of n rows, on the grid: (M, G)

    def at(self, method: str, n: int | None = None) -> float:
        """Return the median of one calibrator over the runs, at `n` rows."""
        n = self.n if n is None else n
        if method not in self.methods or n not in self.sizes:
            raise ValueError(f"there is no {method!r} with {n} rows in this race.")
        return float(self.middle[self.methods.index(method), self.sizes.tolist().index(n)])

    def describe(self) -> str:
        """Give the median of each calibrator at the size that is looked at, lowest first."""
        found = sorted((self.at(method), method) for method in self.methods)
        listed = ", ".join(f"{method} {_spelled(value)}" for value, method in found)
        return (
            f"The {self.measure}, as the median of {RUNS} calibration sets of "
            f"{spell(self.n, 'row')}, is: {listed}. "
            f"Without repair it is {_spelled(self.untouched)}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "method": np.repeat(self.methods, len(self.sizes)),
            "rows": np.tile(self.sizes, len(self.methods)),
            "low": self.low.ravel(),
            "median": self.middle.ravel(),
            "high": self.high.ravel(),
        }


def _spelled(value: float) -> str:
    return "infinite" if np.isinf(value) else f"{value:.4f}"


def calibrator_race_view(
    *,
    n: int = 100,
    distortion: str = "bent",
    measure: str = "map",
    methods: str = "rigid and free",
    n_bins: int = 15,
) -> RaceView:
    """Fit calibrators to calibration sets of seven sizes, and measure them against the truth."""
    if n not in SIZES:
        raise ValueError(f"n={n!r} does not exist; choose one of {SIZES}.")
    as_choice(distortion, "distortion", DISTORTIONS)
    as_choice(measure, "measure", MEASURES)
    as_choice(methods, "methods", GROUPS)
    n_bins = as_count(n_bins, "n_bins")
    if n_bins > SIZES[0] // 2:
        raise ValueError(f"n_bins={n_bins} is too many for {SIZES[0]} rows; take at most 50.")
    group, place = GROUPS[methods], MEASURES.index(measure)
    runs = [race.runs_of(distortion, name, n_bins) for name in group]
    prob, truth = race.grid_of(distortion)
    values = np.stack([one.values[place] for one in runs])
    # A quantile that is one of the values: between infinite ones there is nothing to average.
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9], axis=-1, method="inverted_cdf")
    return RaceView(
        methods=group,
        sizes=np.array(SIZES),
        measure=MEASURE_TEXTS[measure],
        low=low,
        middle=middle,
        high=high,
        untouched=race.measured(prob, truth)[place],
        n=n,
        prob=prob,
        truth=truth,
        maps=np.stack([one.maps[SIZES.index(n)] for one in runs]),
    )
