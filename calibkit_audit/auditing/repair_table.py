"""The repairs that were tried, with what each gains on rows held out from its fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatVector
from calibkit.results import Result, spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RepairTable(Result):
    """Candidates with the log loss that they reach on rows held out from their fit.

    Parameters
    ----------
    name, log_loss : ndarray of shape (m,)
        Candidates, from simple to complex, and their held-out log loss in nats; infinite where
        something happened that had been given probability 0.
    gain, low, high, clear : ndarray of shape (m,)
        Log loss before minus after in the rows left, held out; an interval for what the candidate,
        fitted to all rows, gains on new ones, and whether this lies above 0. A candidate that says
        0 to what happened gains minus infinity.
    before, before_left, chosen : float and int
        Log loss without a repair, of all rows and of those whose outcome was possible, and the
        place of the recommended candidate; -1: none. It is one of those that are clear, or where
        `before` is infinite, of those that never say 0 or 1.
    error : ndarray of shape (m,)
        Expected calibration error of the held-out predictions in the first view.
    level, folds, n, left : float and int
        Nominal content of each interval, number of folds, of rows, and of rows left.
    notes : tuple of str
        What went wrong in fits.
    """

    name: NDArray[np.str_]
    log_loss: FloatVector
    gain: FloatVector
    low: FloatVector
    high: FloatVector
    clear: NDArray[np.bool_]
    error: FloatVector
    before: float
    before_left: float
    chosen: int
    level: float
    folds: int
    n: int
    left: int
    notes: tuple[str, ...]

    @property
    def best(self) -> int:
        """Place of the candidate with the lowest log loss; -1 if there is no candidate."""
        return int(self.gain.argmax()) if len(self.gain) else -1

    def describe(self) -> str:
        """Say the best candidate and its gain."""
        if not len(self.name):
            return "No repair was tried."
        place = self.chosen if self.chosen >= 0 else self.best
        word = "Recommended" if self.chosen >= 0 else "None is recommended; the best is"
        return (
            f"{word}: {self.name[place]}, log loss {self.before_left:.4f} to "
            f"{self.before_left - self.gain[place]:.4f}, gain {self.gain[place]:.4f} "
            f"({100 * self.level:g} % interval {self.low[place]:.4f} to {self.high[place]:.4f}, "
            f"{spell(self.folds, 'fold')}, {spell(self.left, 'prediction')})."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        numbers = {name: getattr(self, name) for name in ("log_loss", "gain", "low", "high")}
        numbers |= {"calibration error": self.error}
        return {"repair": self.name} | numbers | {"beyond chance": self.clear}
