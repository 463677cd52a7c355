"""Requirements: how accurate must a model be, given how wrong its probabilities are? Lesson 13."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from calibkit._result import Result, read_only
from calibkit._validation import as_array, as_count
from calibkit.decisions.capacity import Capacity
from calibkit.decisions.ward import Ward
from calibkit.fakes import InfeasibleTarget, KnobClassifier
from calibkit.fakes._dials import as_amount, as_finite
from calibkit.fakes._sample import FloatVector

# Accuracies that are tried before the crossing is solved for.
SCANNED = 401
# Accuracies stay this far from guessing and from 1, where the fake classifier is not defined.
MARGIN = 1e-9
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class _Family:
    """Knob classifiers that differ in accuracy and error only, and their value in a game."""

    game: Ward | Capacity
    n_classes: int
    direction: str
    concentration: float

    def __post_init__(self) -> None:
        if not isinstance(self.game, Ward | Capacity):
            name = type(self.game).__name__
            raise ValueError(f"{name} has no exact value; use Ward or Capacity, or simulate it.")
        if self.direction not in ("over", "under"):
            raise ValueError(f'direction must be "over" or "under", got {self.direction!r}.')
        as_count(self.n_classes, "n_classes", 2)
        as_amount(self.concentration, "concentration")

    def value(self, accuracy: float, error: float) -> float:
        try:
            classifier = KnobClassifier.with_error(
                self.n_classes, accuracy, error, self.direction, concentration=self.concentration
            )
        except InfeasibleTarget:
            return np.nan
        return float(self.game.trust_value(classifier))

    def least(self, utility: float, error: float) -> float:
        low, high = 1 / self.n_classes + MARGIN, 1 - MARGIN
        if self.direction == "over":  # Lemma 1
            high = min(high, 1 - error)
        else:
            low = max(low, 1 / self.n_classes + error)
        if low > high:
            return np.nan
        tried = np.linspace(low, high, SCANNED)
        wanted = utility - ROUNDING * (1 + abs(utility))
        missed = np.flatnonzero(~(np.array([self.value(a, error) for a in tried]) >= wanted))
        if not len(missed):
            return float(tried[0])
        last = int(missed[-1])
        if last == SCANNED - 1:
            return np.nan
        start, end = float(tried[last]), float(tried[last + 1])
        if self.value(end, error) <= utility:  # reached at the very end, but for rounding
            return end
        return float(
            optimize.brentq(lambda a: self.value(a, error) - utility, start, end, xtol=1e-13)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RequirementSweep(Result):
    """Value of trusting for a grid of accuracies and calibration errors.

    Parameters
    ----------
    accuracy, error, value : ndarray of shape (a,), (e,) and (a, e)
        Accuracies and errors; exact value per patient, NaN where Lemma 1 excludes the pair.
    game, direction, n_classes, concentration : str, str, int, float
        The rules; "over" or "under", classes and sharpness of the fake classifiers.
    """

    accuracy: FloatVector
    error: FloatVector
    value: FloatVector
    game: str
    direction: str
    n_classes: int
    concentration: float
    _family: _Family

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """True for pairs that some classifier has."""
        return np.asarray(~np.isnan(self.value))

    def iso_line(self, utility: float) -> FloatVector:
        """Return the least accuracy for a utility at each error; NaN where none is enough."""
        wanted = as_finite(utility, "utility")
        return np.array([self._family.least(wanted, float(e)) for e in self.error])

    def describe(self) -> str:
        """Say the size of the grid and the range of values."""
        known = self.value[self.feasible]
        span = f"worth {known.min():.4f} to {known.max():.4f}" if known.size else "none is feasible"
        return (
            f"{len(self.accuracy)} accuracies by {len(self.error)} errors of {self.direction}-"
            f"confident classifiers with {self.n_classes} classes: {known.size} of "
            f"{self.value.size} pairs are feasible, {span}. {self.game}"
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        by_error = {f"error {e:g}": self.value[:, j] for j, e in enumerate(self.error)}
        return {"accuracy": self.accuracy, **by_error}


def requirement_sweep(
    game: Ward | Capacity,
    *,
    accuracies: Any,
    errors: Any,
    n_classes: int = 5,
    direction: str = "over",
    concentration: float = 4.0,
) -> RequirementSweep:
    """Exact value of trusting for every pair of accuracy and calibration error.

    Parameters
    ----------
    game : Ward or Capacity
    accuracies, errors : array-like of shape (a,) in (1/K, 1), and (e,) in [0, 1]
        Pairs that no classifier has give NaN; the limit itself counts as feasible.
    n_classes, direction, concentration
        As in `KnobClassifier`; `direction` is "over" or "under".

    Notes
    -----
    Lemma 1 excludes errors above ``1 - accuracy`` (over) or ``accuracy - 1/K`` (under). At a fixed
    error more accuracy need not be worth more: near its limit the error is a larger share of what
    is possible. Sections 3 and 4 of the review of notions; lesson 13.

    Examples
    --------
    >>> from calibkit.decisions import Ward
    >>> sweep = requirement_sweep(Ward(), accuracies=[0.9], errors=[0, 0.1, 0.15], concentration=3)
    >>> sweep.value.round(4).tolist()
    [[1.3405, 1.2, nan]]
    """
    family = _Family(game, n_classes, direction, concentration)
    rows, columns = _axis(accuracies, "accuracies"), _axis(errors, "errors")
    for j, error in enumerate(columns.tolist()):
        as_finite(error, f"errors[{j}]", 0, 1)
    value = np.array([[family.value(a, e) for e in columns.tolist()] for a in rows.tolist()])
    return RequirementSweep(
        accuracy=read_only(rows),
        error=read_only(columns),
        value=read_only(value),
        game=game.describe(),
        direction=direction,
        n_classes=n_classes,
        concentration=concentration,
        _family=family,
    )


def least_accuracy(
    game: Ward | Capacity,
    *,
    utility: float,
    error: float,
    n_classes: int = 5,
    direction: str = "over",
    concentration: float = 4.0,
) -> float:
    """Return the accuracy from which on trusting is worth at least `utility`.

    All larger feasible accuracies reach it too. NaN if the largest one does not; the least feasible
    accuracy if all do. 401 are tried, then the crossing is solved for. Taught in lesson 13.

    Parameters
    ----------
    game, utility, error : Ward or Capacity, float, float
        Wanted value per patient, and expected calibration error, from 0 to 1.
    n_classes, direction, concentration
        As in `requirement_sweep`.

    Examples
    --------
    >>> from calibkit.decisions import Ward
    >>> round(least_accuracy(Ward(), utility=1, error=0.1, concentration=3), 4)
    0.875
    """
    family = _Family(game, n_classes, direction, concentration)
    return family.least(as_finite(utility, "utility"), as_finite(error, "error", 0, 1))


def _axis(values: Any, name: str) -> FloatVector:
    axis = as_array(np.atleast_1d(values), name).astype(np.float64)
    if axis.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {axis.shape}.")
    return axis
