"""Calibration errors: one function of (gap, bins, norm), and its named members.

All binned calibration errors are the same sentence. *Per bin, measure the gap between what was
predicted and what happened; then take a norm of the gaps, weighted by the share of predictions.*
They differ in three choices, and in the view (`calibkit.inputs`):

=======================================  ============  ============  =====================
member                                   bins          norm          weights
=======================================  ============  ============  =====================
`expected_calibration_error`             equal width   1             share of predictions
`adaptive_calibration_error`             equal mass    1             share of predictions
`average_calibration_error`              equal width   1             equal, used bins only
`root_mean_square_calibration_error`     equal width   2             share of predictions
`maximum_calibration_error`              equal width   infinity      none
`class_wise_calibration_error`           equal width   1             mean over classes
`marginal_calibration_error`             equal mass    2             mean over classes
`top_label_calibration_error`            equal mass    2             share of predictions
=======================================  ============  ============  =====================

`smooth_calibration_error` smooths with a kernel in place of bins; it is no member.
ECE, ACE, MCE, TCE each have two meanings in the literature, so public names are spelled out; the
book's notation page has the table. Lessons 04 to 06.
"""

from calibkit.errors.class_wise import class_wise_calibration_error, marginal_calibration_error
from calibkit.errors.debiased import DebiasedError, debiased_calibration_error
from calibkit.errors.family import CalibrationError, calibration_error, null_moments
from calibkit.errors.named import (
    adaptive_calibration_error,
    average_calibration_error,
    expected_calibration_error,
    lp_calibration_error,
    maximum_calibration_error,
    root_mean_square_calibration_error,
    top_label_calibration_error,
)
from calibkit.errors.smooth import SmoothError, smooth_calibration_error
from calibkit.wrong_names import unknown_name

__all__ = [
    "CalibrationError",
    "DebiasedError",
    "SmoothError",
    "adaptive_calibration_error",
    "average_calibration_error",
    "calibration_error",
    "class_wise_calibration_error",
    "debiased_calibration_error",
    "expected_calibration_error",
    "lp_calibration_error",
    "marginal_calibration_error",
    "maximum_calibration_error",
    "null_moments",
    "root_mean_square_calibration_error",
    "smooth_calibration_error",
    "top_label_calibration_error",
]


def __getattr__(name: str) -> None:
    raise unknown_name(__name__, name)
