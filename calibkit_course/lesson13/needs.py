"""Requirements: how accurate must a model be, given how wrong its probabilities are? Lesson 13."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from calibkit.fakes import InfeasibleTarget, KnobClassifier
from calibkit.inputs import FloatVector, as_array, as_finite
from calibkit_course.lesson13.wards import Ward

CLASSES = 5
# Accuracies that are tried before the crossing is solved for.
SCANNED = 401
# Accuracies stay this far from guessing and from 1, where the fake classifier is not defined.
MARGIN = 1e-9
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RequirementSweep:
    """Value of trusting, (a, e), for accuracies (a,) and calibration errors (e,)."""

    accuracy: FloatVector
    error: FloatVector
    value: FloatVector  # exact, per patient; NaN where Lemma 1 of the review excludes the pair
    ward: Ward
    concentration: float

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """True for pairs that some classifier has."""
        return np.asarray(~np.isnan(self.value))

    def iso_line(self, utility: float) -> FloatVector:
        """Return the least accuracy for a utility at each error; NaN where none is enough."""
        least = [
            least_accuracy(
                self.ward, utility=utility, error=error, concentration=self.concentration
            )
            for error in self.error
        ]
        return np.array(least)

    def describe(self) -> str:
        """Say the size of the grid and the range of values."""
        known = self.value[self.feasible]
        span = f"worth {known.min():.4f} to {known.max():.4f}" if known.size else "none is feasible"
        return (
            f"{len(self.accuracy)} accuracies by {len(self.error)} errors of "
            f"over-confident classifiers with {CLASSES} classes: {known.size} of {self.value.size} "
            f"pairs are feasible, {span}. {self.ward.describe()}"
        )


def requirement_sweep(
    ward: Ward, *, accuracies: Any, errors: Any, concentration: float = 4.0
) -> RequirementSweep:
    """Exact value of trusting for every pair of accuracy and calibration error.

    The classifiers are over-confident. Pairs that none of them has give NaN: errors above
    ``1 - accuracy``. The limit itself counts as feasible.
    """
    rows, columns = _axis(accuracies, "accuracies"), _axis(errors, "errors")
    for j, error in enumerate(columns.tolist()):
        as_finite(error, f"errors[{j}]", 0, 1)
    value = [[_value(ward, a, e, concentration) for e in columns] for a in rows.tolist()]
    return RequirementSweep(
        accuracy=rows, error=columns, value=np.array(value), ward=ward, concentration=concentration
    )


def least_accuracy(
    ward: Ward, *, utility: float, error: float, concentration: float = 4.0
) -> float:
    """Return the accuracy from which on trusting is worth at least `utility`.

    All larger feasible accuracies reach it too. NaN if the largest one does not; the least feasible
    accuracy if all do. 401 are tried, then the crossing is solved for.
    """
    utility, error = as_finite(utility, "utility"), as_finite(error, "error", 0, 1)

    def value(accuracy: float) -> float:
        return _value(ward, accuracy, error, concentration)

    low, high = 1 / CLASSES + MARGIN, min(1 - MARGIN, 1 - error)  # Lemma 1
    if low > high:
        return np.nan
    tried = np.linspace(low, high, SCANNED).tolist()
    wanted = utility - ROUNDING * (1 + abs(utility))
    last = max((i for i, a in enumerate(tried) if not value(a) >= wanted), default=-1)
    if last == -1:
        return float(tried[0])
    if last == SCANNED - 1:
        return np.nan
    start, end = tried[last], tried[last + 1]
    if value(end) <= utility:  # reached at the very end, but for rounding
        return float(end)
    return float(optimize.brentq(lambda a: value(a) - utility, start, end, xtol=1e-13))


def _value(ward: Ward, accuracy: float, error: float, sharp: float) -> float:
    try:
        model = KnobClassifier.with_error(CLASSES, accuracy, error, concentration=sharp)
    except InfeasibleTarget:
        return np.nan
    return ward.trust_value(model)


def _axis(values: Any, name: str) -> FloatVector:
    axis = as_array(np.atleast_1d(values), name).astype(np.float64)
    if axis.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {axis.shape}.")
    return axis
