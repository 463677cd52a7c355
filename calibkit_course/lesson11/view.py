"""The calibrator race: medians by the rows of the calibration set, and their table. Lesson 11."""

from dataclasses import dataclass

import numpy as np

from calibkit.inputs import FloatVector, as_choice, as_count
from calibkit.results import Frozen
from calibkit_course.lesson11 import race
from calibkit_course.lesson11.race import DISTORTIONS, MEASURES, SIZES

GROUPS: dict[str, tuple[str, ...]] = {
    "five": ("Platt", "beta", "isotonic", "histogram"),  # with the model as it is
    "binned": ("histogram", "scaling-binning"),
    "all": tuple(race.METHODS),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Race(Frozen):
    """What calibrators reach in one measure, with calibration sets of all `SIZES`."""

    methods: tuple[str, ...]  # M calibrators
    middle: FloatVector  # medians over the runs, infinite where so many losses are: (M, S)
    untouched: float  # the same measure of the predictions as they are

    def at(self, method: str, n: int) -> float:
        """Return the median of one calibrator over the runs, at `n` rows."""
        if method not in self.methods or n not in SIZES:
            raise ValueError(f"there is no {method!r} with {n} rows in this race.")
        return float(self.middle[self.methods.index(method), SIZES.index(n)])


def calibrator_race(
    *, distortion: str = "bent", measure: str = "map", methods: str = "five", n_bins: int = 15
) -> Race:
    """Fit calibrators to calibration sets of seven sizes, and measure them against the truth.

    The `measure` is the distance from the true "map", the calibration error "left", or the excess
    log "loss".
    """
    as_choice(distortion, "distortion", DISTORTIONS)
    as_choice(measure, "measure", MEASURES)
    as_choice(methods, "methods", GROUPS)
    n_bins = as_count(n_bins, "n_bins")
    if n_bins > SIZES[0] // 2:
        raise ValueError(f"n_bins={n_bins} is too many for {SIZES[0]} rows; take at most 50.")
    group, place = GROUPS[methods], MEASURES.index(measure)
    values = np.stack([race.runs_of(distortion, name, n_bins)[place] for name in group])
    return Race(
        methods=group,
        # A median that is one of the values: between infinite ones there is nothing to average.
        middle=np.quantile(values, 0.5, axis=-1, method="inverted_cdf"),
        untouched=race.measured(*race.grid_of(distortion))[place],
    )


def standings(found: Race) -> str:
    """Return the median of each calibrator for each size of the calibration set."""
    lines = ["rows            " + "".join(f"{size:>8,}" for size in SIZES)]
    for name in found.methods:
        values = (found.at(name, size) for size in SIZES)
        lines.append(f"{name:16}" + "".join(f"{value:8.4f}" for value in values))
    lines.append(f"{'left as it is':16}" + f"{found.untouched:8.4f}" * len(SIZES))
    return "\n".join(lines)
