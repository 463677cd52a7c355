"""Judge predicted probabilities and say how sure the verdict is.

calibkit is the package behind a course on the calibration of classifiers. Measures are
functions ``f(y_true, y_prob, *, view=..., bins=...)`` that return frozen results with a
plain-words ``describe()``. Plots, explorers and exercises are imported on purpose:
``from calibkit import plot, explore, learn``.
"""

from calibkit._validation import CalibrationWarning
from calibkit.bins import Distinct, EqualMass, EqualWidth, FixedEdges
from calibkit.errors import (
    CalibrationError,
    adaptive_calibration_error,
    average_calibration_error,
    calibration_error,
    class_wise_calibration_error,
    expected_calibration_error,
    lp_calibration_error,
    marginal_calibration_error,
    maximum_calibration_error,
    root_mean_square_calibration_error,
    top_label_calibration_error,
)
from calibkit.reliability import BinTable, reliability_table, reliability_tables
from calibkit.scores import brier_decomposition, brier_score, log_loss
from calibkit.significance import bootstrap_interval, consistency_band, null_level
from calibkit.views import binary_problem, binary_problems

__version__ = "0.1.0"

__all__ = [
    "BinTable",
    "CalibrationError",
    "CalibrationWarning",
    "Distinct",
    "EqualMass",
    "EqualWidth",
    "FixedEdges",
    "adaptive_calibration_error",
    "average_calibration_error",
    "binary_problem",
    "binary_problems",
    "bootstrap_interval",
    "brier_decomposition",
    "brier_score",
    "calibration_error",
    "class_wise_calibration_error",
    "consistency_band",
    "expected_calibration_error",
    "log_loss",
    "lp_calibration_error",
    "marginal_calibration_error",
    "maximum_calibration_error",
    "null_level",
    "reliability_table",
    "reliability_tables",
    "root_mean_square_calibration_error",
    "top_label_calibration_error",
]
