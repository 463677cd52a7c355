"""Calibration error as a fit on the test set: any calibrator is an evaluator.

Fit a map to the test data; the mean distance between the map and the diagonal estimates the
calibration error. With slope-1 bins this *is* the binned calibration error (Kängsepp, Valk and
Kull, 2022, Theorem 2), so every binned error has a map behind it, and bins are one family of many.

`fit_on_test` does it with one evaluator, `compare_evaluators` with several. Lessons 05 to 07.
"""

from calibkit.fit_on_test.compare import (
    EvaluatorComparison,
    compare_evaluators,
    standard_evaluators,
)
from calibkit.fit_on_test.estimator import EstimatorCalibrator
from calibkit.fit_on_test.evaluate import FitOnTest, fit_on_test

__all__ = [
    "EstimatorCalibrator",
    "EvaluatorComparison",
    "FitOnTest",
    "compare_evaluators",
    "fit_on_test",
    "standard_evaluators",
]
