"""Judge predicted probabilities and say how sure the verdict is.

calibkit is the package behind a course on the calibration of classifiers. Measures are
functions ``f(y_true, y_prob, *, view=..., bins=...)`` that return frozen results with a
plain-words ``describe()``. The names to begin with:

- `reliability_table`, `consistency_band`: what a diagram shows, and what chance allows;
- `expected_calibration_error`, `debiased_calibration_error`: the usual error, and a fairer one;
- `null_level`, `bootstrap_interval`: what chance adds to a number, and how sure it is;
- `brier_score`, `log_loss`, `brier_decomposition`: proper scores, and their parts.

Maps that repair stand in `calibkit.calibrators`; figures are imported on purpose:
``from calibkit import plot``.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from calibkit._version import __version__ as __version__
from calibkit.bins import Distinct, EqualMass, EqualWidth, FixedEdges, Pava, PavaBC
from calibkit.chance import bootstrap_interval, consistency_band, null_level
from calibkit.errors import (
    CalibrationError,
    adaptive_calibration_error,
    average_calibration_error,
    calibration_error,
    class_wise_calibration_error,
    debiased_calibration_error,
    expected_calibration_error,
    marginal_calibration_error,
    maximum_calibration_error,
    root_mean_square_calibration_error,
    smooth_ece,
    top_label_calibration_error,
)
from calibkit.hypothesis_tests import (
    adaptive_test,
    cox_test,
    cumulative_differences,
    hosmer_lemeshow,
    spiegelhalter,
    test_based_calibration_error,
)
from calibkit.inputs import CalibrationWarning, binary_problem, binary_problems
from calibkit.reliability import BinTable, reliability_table, reliability_tables
from calibkit.scores import (
    brier_decomposition,
    brier_score,
    corp_decomposition,
    log_loss,
    miscalibration,
)

__all__ = [
    "BinTable",
    "CalibrationError",
    "CalibrationWarning",
    "Distinct",
    "EqualMass",
    "EqualWidth",
    "FixedEdges",
    "Pava",
    "PavaBC",
    "adaptive_calibration_error",
    "adaptive_test",
    "average_calibration_error",
    "binary_problem",
    "binary_problems",
    "bootstrap_interval",
    "brier_decomposition",
    "brier_score",
    "calibration_error",
    "class_wise_calibration_error",
    "consistency_band",
    "corp_decomposition",
    "cox_test",
    "cumulative_differences",
    "debiased_calibration_error",
    "expected_calibration_error",
    "hosmer_lemeshow",
    "log_loss",
    "marginal_calibration_error",
    "maximum_calibration_error",
    "miscalibration",
    "null_level",
    "reliability_table",
    "reliability_tables",
    "root_mean_square_calibration_error",
    "smooth_ece",
    "spiegelhalter",
    "test_based_calibration_error",
    "top_label_calibration_error",
]


def __getattr__(name: str) -> Any:
    """Import a room when it is first named: ``ck.decisions`` without an import of its own."""
    path = f"{__name__}.{name}"
    if name.startswith("_") or find_spec(path) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(path)
