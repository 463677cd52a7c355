"""Judge predicted probabilities and say how sure the verdict is.

calibkit is the package behind a course on the calibration of classifiers. Measures are
functions ``f(y_true, y_prob, *, view=..., bins=...)`` that return frozen results with a
plain-words ``describe()``. The names to begin with:

- `audit`: the verdict on your predictions, in one report; `compare`: two models on the same rows;
- `reliability_table`, `consistency_band`: what a diagram shows, and what chance allows;
- `expected_calibration_error`, `debiased_calibration_error`: the usual error, and a fairer one;
- `null_level`, `bootstrap_interval`: what chance adds to a number, and how sure it is;
- `brier_score`, `log_loss`, `brier_decomposition`: proper scores, and their parts.

Maps that repair stand in `calibkit.calibrators` and `calibkit.multiclass`. Figures and lessons
are imported on purpose: ``from calibkit import plot``, ``from calibkit.lessons import lesson04``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibkit._validation import CalibrationWarning
    from calibkit.auditing import audit, compare
    from calibkit.bins import Distinct, EqualMass, EqualWidth, FixedEdges, Pava, PavaBC
    from calibkit.errors import (
        CalibrationError,
        DebiasedError,
        adaptive_calibration_error,
        average_calibration_error,
        calibration_error,
        class_wise_calibration_error,
        debiased_calibration_error,
        expected_calibration_error,
        lp_calibration_error,
        marginal_calibration_error,
        maximum_calibration_error,
        root_mean_square_calibration_error,
        smooth_calibration_error,
        top_label_calibration_error,
    )
    from calibkit.reliability import BinTable, reliability_table, reliability_tables
    from calibkit.scores import brier_decomposition, brier_score, log_loss
    from calibkit.significance import (
        adaptive_test,
        bootstrap_interval,
        consistency_band,
        cox_test,
        cumulative_differences,
        general_calibration_error,
        hosmer_lemeshow,
        kernel_calibration_error,
        null_level,
        spiegelhalter,
        test_based_calibration_error,
    )
    from calibkit.views import binary_problem, binary_problems

__version__ = "0.1.0"

__all__ = [
    "BinTable",
    "CalibrationError",
    "CalibrationWarning",
    "DebiasedError",
    "Distinct",
    "EqualMass",
    "EqualWidth",
    "FixedEdges",
    "Pava",
    "PavaBC",
    "adaptive_calibration_error",
    "adaptive_test",
    "audit",
    "average_calibration_error",
    "binary_problem",
    "binary_problems",
    "bootstrap_interval",
    "brier_decomposition",
    "brier_score",
    "calibration_error",
    "class_wise_calibration_error",
    "compare",
    "consistency_band",
    "cox_test",
    "cumulative_differences",
    "debiased_calibration_error",
    "expected_calibration_error",
    "general_calibration_error",
    "hosmer_lemeshow",
    "kernel_calibration_error",
    "log_loss",
    "lp_calibration_error",
    "marginal_calibration_error",
    "maximum_calibration_error",
    "null_level",
    "reliability_table",
    "reliability_tables",
    "root_mean_square_calibration_error",
    "smooth_calibration_error",
    "spiegelhalter",
    "test_based_calibration_error",
    "top_label_calibration_error",
]


# Where those names live, `auditing` last: it needs rooms from every floor.
_ROOMS = ["_validation", "bins", "errors", "reliability", "scores", "significance", "views"]
_ROOMS += ["auditing"]


def __getattr__(name: str) -> Any:
    # Imported when first asked for: the command can be interrupted before numpy has loaded.
    if name in __all__:
        rooms = (import_module(f"{__name__}.{room}") for room in _ROOMS)
        globals()[name] = found = next(getattr(r, name) for r in rooms if hasattr(r, name))
        return found
    if not name.startswith("__"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
