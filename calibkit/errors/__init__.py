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

`smooth_ece` smooths with a kernel in place of bins, `averaged_two_bin_error` takes all ways to make
two; they are no members. `canonical_calibration_error` is about whole vectors.
ECE, ACE, MCE, TCE each have two meanings in the literature, so public names are spelled out; the
book's notation page has the table.
"""

from calibkit.errors.debiased import debiased_calibration_error
from calibkit.errors.family import (
    CalibrationError,
    calibration_error,
    expected_calibration_error,
    null_moments,
)
from calibkit.errors.members import (
    adaptive_calibration_error,
    average_calibration_error,
    class_wise_calibration_error,
    marginal_calibration_error,
    maximum_calibration_error,
    root_mean_square_calibration_error,
    top_label_calibration_error,
)
from calibkit.errors.smooth import canonical_calibration_error, smooth_ece
from calibkit.errors.truthful import averaged_two_bin_error

__all__ = [
    "CalibrationError",
    "adaptive_calibration_error",
    "average_calibration_error",
    "averaged_two_bin_error",
    "calibration_error",
    "canonical_calibration_error",
    "class_wise_calibration_error",
    "debiased_calibration_error",
    "expected_calibration_error",
    "marginal_calibration_error",
    "maximum_calibration_error",
    "null_moments",
    "root_mean_square_calibration_error",
    "smooth_ece",
    "top_label_calibration_error",
]
