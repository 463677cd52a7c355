"""Calibration error as a fit on the test set: any calibrator is an evaluator. Lessons 05 to 07.

The mean distance between a map fitted to the test data and the diagonal estimates the calibration
error. With slope-1 bins it *is* the binned error (Kängsepp, Valk and Kull, 2022, Theorem 2), so
every binned error has a map behind it, and bins are one family of many.
"""

from calibkit.fit_on_test.cross_fitted import cross_fitted_error
from calibkit.fit_on_test.evaluate import (
    EvaluatorComparison,
    FitOnTest,
    compare_evaluators,
    fit_on_test,
)

__all__ = [
    "EvaluatorComparison",
    "FitOnTest",
    "compare_evaluators",
    "cross_fitted_error",
    "fit_on_test",
]
