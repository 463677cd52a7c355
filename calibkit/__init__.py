"""Judge predicted probabilities and say how sure the verdict is.

calibkit is the package behind a course on the calibration of classifiers. Measures are
functions ``f(y_true, y_prob, *, view=..., bins=...)`` that return frozen results with a
plain-words ``describe()``. The names to begin with:

- `reliability_table`, `consistency_band`: what a diagram shows, and what chance allows;
- `expected_calibration_error`, `debiased_calibration_error`: the usual error, and a fairer one;
- `null_level`, `bootstrap_interval`: what chance adds to a number, and how sure it is;
- `brier_score`, `log_loss`, `brier_decomposition`: proper scores, and their parts.

Maps that repair stand in `calibkit.calibrators`. Figures and lessons
are imported on purpose: ``from calibkit import plot``, ``from calibkit_course import lesson04``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibkit._version import __version__ as __version__

if TYPE_CHECKING:  # for type checkers and editors, which see what the rooms offer
    from calibkit.bins import *  # noqa: F403
    from calibkit.chance import *  # noqa: F403
    from calibkit.errors import *  # noqa: F403
    from calibkit.hypothesis_tests import *  # noqa: F403
    from calibkit.inputs import CalibrationWarning as CalibrationWarning
    from calibkit.reliability import *  # noqa: F403
    from calibkit.scores import *  # noqa: F403

# What the front page takes from each room.
_OFFERS = {
    "bins": "Distinct EqualMass EqualWidth FixedEdges Pava PavaBC",
    "errors": (
        "CalibrationError DebiasedError adaptive_calibration_error average_calibration_error "
        "calibration_error class_wise_calibration_error debiased_calibration_error "
        "expected_calibration_error lp_calibration_error marginal_calibration_error "
        "maximum_calibration_error root_mean_square_calibration_error smooth_calibration_error "
        "top_label_calibration_error"
    ),
    "reliability": "BinTable reliability_table reliability_tables",
    "scores": "brier_decomposition brier_score log_loss",
    "chance": "bootstrap_interval consistency_band null_level",
    "hypothesis_tests": (
        "adaptive_test cox_test cumulative_differences hosmer_lemeshow spiegelhalter "
        "test_based_calibration_error"
    ),
    "inputs": "CalibrationWarning binary_problem binary_problems",
}
_HOMES = {name: room for room, names in _OFFERS.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    # Imported when first asked for: the command can be interrupted before numpy has loaded.
    if name in _HOMES:
        globals()[name] = found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return found
    if not name.startswith("__"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    from calibkit.wrong_names import unknown_name

    raise unknown_name(__name__, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
