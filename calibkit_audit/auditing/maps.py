"""Repairs that only the audit tries: a shift of all logits, and one answer for all rows."""

from typing import Any

import numpy as np
from scipy import optimize, special

from calibkit.calibrators import MulticlassCalibrator, PlattCalibrator
from calibkit.inputs import FloatArray, FloatVector, IntVector


class Offset(PlattCalibrator):
    """Platt scaling with slope 1: all logits move by as much, until the mean is right.

    What repairs rare events that are stated too low, which a temperature takes for boldness.
    """

    def _fit(
        self, prob: FloatVector, label: FloatVector, weight: FloatVector | None = None
    ) -> None:
        super()._fit(prob, label, weight)  # its mean is that of the smoothed labels
        logits, said = self._logits(prob), self._curve(prob)

        def excess(shift: float) -> Any:
            return np.average(special.expit(logits + shift) - said, weights=weight)

        self.slope_, self.intercept_ = 1.0, optimize.brentq(excess, -1e3, 1e3)
        self.n_parameters_ = 1


class BaseRate(MulticlassCalibrator):
    """Say the share of each class, ``(n_k + 1) / (n + K)``, whatever the scores.

    Parameters
    ----------
    input : {"logits", "probabilities"}
    """

    family = "base rate"
    weighted = takes_one_event = True

    def __init__(self, input: str | None = "probabilities"):
        self.input = input

    def _fit(self, logits: FloatArray, label: IntVector, weight: FloatVector | None = None) -> None:
        count = 1 + np.bincount(label, weight, self.n_classes_)
        self.rate_, self.n_parameters_ = count / count.sum(), self.n_classes_ - 1

    def _calibrate(self, logits: FloatArray) -> FloatVector:
        rate = self.rate_[1] if self._one_event else self.rate_
        return np.full(logits.shape, rate)
