"""Calibration in the words of the clinic: in the large, slope, O/E, and the smooth curve.

Sources: Cox (1958); Van Calster and others (2016); Austin and Steyerberg (2019). Lesson 08.
"""

from calibkit_audit.clinic.smooth import SmoothCurve, smooth_curve
from calibkit_audit.clinic.weak import (
    WeakCalibration,
    calibration_in_the_large,
    calibration_slope,
    observed_expected_ratio,
)

__all__ = [
    "SmoothCurve",
    "WeakCalibration",
    "calibration_in_the_large",
    "calibration_slope",
    "observed_expected_ratio",
    "smooth_curve",
]
