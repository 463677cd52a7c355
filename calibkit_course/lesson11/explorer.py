"""The calibrator race: who comes closest to the truth, with how many rows? Lesson 11."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit import plot
from calibkit.plot.look import AnyFigure
from calibkit.results import Result, read_only, spell
from calibkit.types import FloatVector
from calibkit.validation import as_choice, as_count
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson11 import figures, race
from calibkit_course.lesson11.race import DISTORTIONS, MEASURES, RUNS, SIZES

_GROUPS: dict[str, tuple[str, ...]] = {
    "rigid and free": ("Platt", "isotonic"),
    "rigid": ("Platt", "beta"),
    "free": ("isotonic", "Venn-Abers"),
    "binned": ("histogram", "scaling-binning"),
    "all": tuple(race.METHODS),
}
_GROUP_TEXTS = {name: " and ".join(group) for name, group in _GROUPS.items()} | {"all": "all six"}
_DISTORTION_TEXTS = {
    "line": "over-confident, a line in logits",
    "bent": "bent to and fro",
    "square": "too low everywhere",
    "none": "none: calibrated",
}
_MEASURE_TEXTS = {
    "map": "distance from the true map",
    "left": "calibration error left",
    "loss": "excess log loss",
}
_SCALES = {"map": (2e-3, 0.3), "left": (2e-3, 0.3), "loss": (3e-5, 0.3)}


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
    """Fit calibrators to calibration sets of five sizes, and measure them against the truth."""
    if n not in SIZES:
        raise ValueError(f"n={n!r} does not exist; choose one of {SIZES}.")
    as_choice(distortion, "distortion", DISTORTIONS)
    as_choice(measure, "measure", MEASURES)
    as_choice(methods, "methods", _GROUPS)
    n_bins = as_count(n_bins, "n_bins")
    if n_bins > SIZES[0] // 2:
        raise ValueError(f"n_bins={n_bins} is too many for {SIZES[0]} rows; take at most 50.")
    group, place = _GROUPS[methods], MEASURES.index(measure)
    runs = [race.runs_of(distortion, name, n_bins) for name in group]
    prob, truth = race.grid_of(distortion)
    values = np.stack([one.values[place] for one in runs])
    # A quantile that is one of the values: between infinite ones there is nothing to average.
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9], axis=-1, method="inverted_cdf")
    return RaceView(
        methods=group,
        sizes=read_only(np.array(SIZES)),
        measure=_MEASURE_TEXTS[measure],
        low=read_only(low),
        middle=read_only(middle),
        high=read_only(high),
        untouched=race.measured(prob, truth)[place],
        n=n,
        prob=read_only(prob),
        truth=read_only(truth),
        maps=read_only(np.stack([one.maps[SIZES.index(n)] for one in runs])),
    )


def _draw(view: RaceView, figure: AnyFigure, compact: bool) -> None:
    axes = figure.subplots(1, 2)
    titles = (None, None) if compact else ("All calibration sets", f"One set of {view.n:,} rows")
    figures.learning_curves(view, ax=axes[0], title=titles[0], legend=False)
    figures.race_maps(view, ax=axes[1], title=titles[1], legend=False)
    # The same scale in all states, so that a dial moves the picture and not the axis.
    kind = next(key for key, words in _MEASURE_TEXTS.items() if words == view.measure)
    axes[0].set_ylim(_SCALES[kind])
    if not compact:
        plot.legend(figure)


_CONTROLS = (
    Slider(
        name="n",
        label="Calibration set",
        values=SIZES,
        default=100,
        book=(100, 10_000),
        unit="rows",
    ),
    Choice(
        name="distortion",
        label="Distortion",
        values=DISTORTIONS,
        default="bent",
        book=("line", "bent"),
        texts=_DISTORTION_TEXTS,
    ),
    Choice(
        name="measure",
        label="Measure",
        values=MEASURES,
        default="map",
        book=MEASURES,
        texts=_MEASURE_TEXTS,
    ),
    Choice(
        name="methods",
        label="Calibrators",
        values=tuple(_GROUPS),
        default="rigid and free",
        book=("rigid and free", "binned", "all"),
        texts=_GROUP_TEXTS,
    ),
    Slider(
        name="n_bins",
        label="Bins, where there are bins",
        values=(2, 5, 15, 50),
        default=15,
        unit="bins",
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("bent to and fro, 100 rows", {}),
    ("all six, a line in logits", {"distortion": "line", "methods": "all"}),
    (
        "binned, calibration error left",
        {"n": 1000, "distortion": "line", "methods": "binned", "measure": "left"},
    ),
    ("free, log loss", {"n": 1000, "methods": "free", "measure": "loss"}),
)


def calibrator_race(**defaults: Any) -> Explorer[RaceView]:
    """Return the explorer *calibrator race*: learning curves and maps of six calibrators."""
    return Explorer(
        name="calibrator-race",
        title="Calibrator race",
        controls=_CONTROLS,
        view=calibrator_race_view,
        draw=_draw,
        presets=_PRESETS,
        size=(8.0, 4.6),
        cell=(6.6, 3.1),
    ).starting_at(**defaults)
