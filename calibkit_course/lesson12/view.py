"""One state of the simplex lens: three notions of calibration of one classifier. Lesson 12.

Source: the review of calibration notions, sections 1.1, 1.4 (notions), 5 (calibrators).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibkit.bins import Binning, EqualMass, EqualWidth
from calibkit.errors import CalibrationError, expected_calibration_error
from calibkit.fakes import FakeSample
from calibkit.inputs import FloatMatrix, IntVector, as_choice, as_count
from calibkit.reliability import BinTable
from calibkit.results import Described
from calibkit_course.lesson12.models import CALIBRATORS, FAKES, calibrated

VIEWS = ("strong", "top-label", "class")
_DRAWN = 150
# Up to here a panel counts as straight. The strong distance adds up the gaps of three classes.
NEAR = {"strong": 0.05, "top-label": 0.02, "class": 0.02}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LensView(Described):
    """One state of the simplex lens."""

    points: tuple[
        FloatMatrix, FloatMatrix
    ]  # stated and true: different ones among the first 150 rows
    arrows: tuple[
        FloatMatrix, FloatMatrix
    ]  # stated vectors on a grid, and where the view moves them
    view: str  # what the reader looks at
    k: int  # the class of the view "class"
    errors: Mapping[str, float]  # mean L1 distance to the truth for "strong", otherwise the ECE
    measured: tuple[CalibrationError, CalibrationError]  # of "top-label" and "class"
    words: tuple[str, str]  # names of the fake and of the calibrator

    @property
    def straight(self) -> dict[str, bool]:
        """For each notion, whether its error is small enough to count as repaired."""
        return {name: self.errors[name] <= NEAR[name] for name in VIEWS}

    @property
    def moved(self) -> float:
        """Mean L1 length of the arrows."""
        stated, seen = self.arrows
        return float(np.abs(stated - seen).sum(axis=1).mean())

    def describe(self) -> str:
        """Give the three errors, the null levels of two, and which panels are straight."""
        top, one = self.measured
        straight = [self.name_of(name) for name in VIEWS if self.straight[name]]
        fake, calibrator = self.words
        return (
            f"With model {fake!r} and calibrator {calibrator!r}, the distance to the truth is "
            f"{self.errors['strong']:.3f}; the confidence error is {top.value:.3f} (a calibrated "
            f"model would show {top.null_mean:.3f}); the error of class {self.k} is "
            f"{one.value:.3f} ({one.null_mean:.3f}). The straight panels are: "
            f"{', '.join(straight) or 'none'}. The arrows of "
            f"the view {self.name_of(self.view)} have the mean length {self.moved:.3f}."
        )

    def name_of(self, view: str) -> str:
        """Return what a panel is called."""
        names = {"strong": "strong", "top-label": "confidence", "class": f"class {self.k}"}
        return names[view]


def simplex_lens_view(
    *,
    view: str = "strong",
    k: int = 0,
    model: str = "per class",
    calibrator: str = "none",
    n_fit: int = 5000,
    seed: int = 12,
) -> LensView:
    """Calibrate a fake classifier of three classes, and look at it in three ways."""
    as_choice(view, "view", VIEWS)
    as_choice(model, "model", FAKES)
    as_choice(calibrator, "calibrator", CALIBRATORS)
    if k not in (0, 1, 2):
        raise ValueError(f"k={k!r} is no class; choose 0, 1 or 2.")
    bins = _bins(model)
    sample, stated, true = calibrated(model, calibrator, as_count(n_fit, "n_fit"), seed)
    measured = (
        expected_calibration_error(sample.y_true, sample.y_prob, view="top-label", bins=bins),
        expected_calibration_error(sample.y_true, sample.y_prob, view=k, bins=bins),
    )
    errors = {
        "strong": float(np.abs(sample.y_prob - sample.true_prob).sum(axis=1).mean()),
        "top-label": measured[0].value,
        "class": measured[1].value,
    }
    place = stated.argmax(axis=1) if view == "top-label" else np.full(len(stated), k)
    table = measured[0 if view == "top-label" else 1].tables[0]
    seen = true if view == "strong" else _seen(stated, place, table)
    return LensView(
        points=_different(sample),
        arrows=(stated, seen),
        view=view,
        k=k,
        errors=errors,
        measured=measured,
        words=(model, calibrator),
    )


def _bins(model: str) -> Binning:
    """Return bins of equal mass, so that none holds a handful of rows and a point far away.

    The six vectors share their numbers only up to rounding, which bins of equal mass would split.
    """
    return EqualWidth(10) if model == "hidden" else EqualMass(10)


def _different(sample: FakeSample) -> tuple[FloatMatrix, FloatMatrix]:
    """Return the different rows among the first ones, stated and true."""
    both = np.hstack([sample.y_prob, sample.true_prob])[:_DRAWN]
    both = np.unique(both, axis=0)
    return both[:, :3], both[:, 3:]


def _seen(stated: FloatMatrix, place: IntVector, table: BinTable) -> FloatMatrix:
    """Move one entry of each vector to the frequency of its bin; the others share the rest."""
    row = np.arange(len(stated))
    said = stated[row, place]
    observed = table.frequency[np.searchsorted(table.edges[1:-1], said, side="right")]
    observed = np.where(np.isnan(observed), said, observed)
    seen = stated * ((1 - observed) / (1 - said))[:, np.newaxis]
    seen[row, place] = observed
    return seen
