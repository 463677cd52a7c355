"""The evaluators that Kängsepp, Valk and Kull (2022) compares, under the names of its tables."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from book.experiments import kernel
from calibkit.bins import EqualMass
from calibkit.calibrators import (
    BetaCalibrator,
    CrossValidatedBinning,
    IsotonicCalibrator,
    PiecewiseLinear,
    PlattCalibrator,
    SlopeOneBinning,
    SweepBinning,
)
from calibkit.calibrators.base import Calibrator
from calibkit.calibrators.folds import parsimonious
from calibkit.inputs import FloatVector

FOLDS = 10
# The folds of the source, for numbers of bins and for numbers of pieces.
BIN_SEED, PIECE_SEED = 1, 0
# Where the program of the source puts the edges of equal-mass bins.
EDGES = "first"
# A simpler model wins if its held-out score exceeds the best one by no more than this part.
TOLERANCE = 0.001
# The source's kernel of predictions, and what its second kernel, of labels, multiplies by.
LENGTH_SCALE, LABEL_FACTOR = 1.0, float(2 * (1 - np.exp(-0.5)))


@dataclass(frozen=True, slots=True)
class Derived:
    """An evaluator made from another one that is already fitted to the same data.

    Parameters
    ----------
    source : str
        Name of the evaluator to start from; it must be part of the study.
    finish : callable
        ``finish(fitted, p, y)`` returns a fitted calibrator and leaves `fitted` as it is. It must
        be a function at the top of a module, so that other processes can import it.
    """

    source: str
    finish: Callable[[Any, FloatVector, NDArray[np.int64]], Calibrator]


@dataclass(frozen=True, slots=True)
class Direct:
    """An estimate of the squared calibration error that fits no map.

    Parameters
    ----------
    estimate : callable
        ``estimate(y, p)`` returns a number; a function at the top of a module.
    """

    estimate: Callable[[NDArray[np.int64], FloatVector], float]


Evaluators = Mapping[str, "Calibrator | Derived | Direct"]


def refit_by_rule(
    ensemble: PiecewiseLinear, prob: FloatVector, label: NDArray[np.int64]
) -> PiecewiseLinear:
    """Choose the pieces of a fitted fold ensemble by the 0.1 % rule, and fit them to all data."""
    one = clone(ensemble).set_params(n_pieces=_by_rule(ensemble), outcome="refit")
    fitted: PiecewiseLinear = one.fit(prob, label)
    return fitted


def ensemble_by_rule(
    ensemble: PiecewiseLinear, prob: FloatVector, label: NDArray[np.int64]
) -> PiecewiseLinear:
    """Choose the pieces of a fitted fold ensemble by the 0.1 % rule; average the folds again."""
    pieces = _by_rule(ensemble)
    if pieces == ensemble.n_pieces_:
        return ensemble
    fitted: PiecewiseLinear = clone(ensemble).set_params(n_pieces=pieces).fit(prob, label)
    return fitted


def first_start(
    ensemble: PiecewiseLinear, prob: FloatVector, label: NDArray[np.int64]
) -> PiecewiseLinear:
    """Average one map per fold, from equal-mass knots, as the source does: the first of three."""
    fewer = copy(ensemble)
    fewer.members_, fewer._maps = ensemble.members_[:FOLDS], ensemble._maps[:FOLDS]
    return fewer


def _by_rule(ensemble: PiecewiseLinear) -> int:
    """Return the smallest number of pieces whose score is within 0.1 % of the best one."""
    if not len(ensemble.scores_):
        return ensemble.n_pieces_
    return int(ensemble.candidates_[parsimonious(ensemble.scores_, TOLERANCE)])


def bin_evaluators() -> dict[str, Calibrator]:
    """Return the slope-1 bins of the source's tables: fifteen, by sweep, by cross-validation."""
    folds = KFold(FOLDS, shuffle=True, random_state=BIN_SEED)
    return {
        "ES15": SlopeOneBinning(EqualMass(15, EDGES)),
        "ES_sweep": SweepBinning(rule=EDGES),
        "ES_CV": CrossValidatedBinning(cv=folds, tolerance=TOLERANCE, rule=EDGES),
    }


def more_bins() -> dict[str, Calibrator]:
    """Return what the source compares its bins with: of equal width, and without the rule."""
    folds = KFold(FOLDS, shuffle=True, random_state=BIN_SEED)
    return {
        "EW15": SlopeOneBinning(15),
        "EW_CV": CrossValidatedBinning("equal-width", cv=folds, tolerance=TOLERANCE),
        "ES_CV best": CrossValidatedBinning(cv=folds, tolerance=0.0, rule=EDGES),
    }


def fold_ensemble(space: str, loss: str = "log-loss") -> PiecewiseLinear:
    """Return PL or PL3 as in the source's tables: the maps of the folds at the best score."""
    folds = KFold(FOLDS, shuffle=True, random_state=PIECE_SEED)
    return PiecewiseLinear(space, loss=loss, outcome="fold-ensemble", cv=folds, tolerance=0.0)


def piecewise_evaluators() -> dict[str, Calibrator | Derived]:
    """Return PL and PL3 by log loss, as fold ensembles and refits, and by Brier score."""
    return {
        "PL3^CE": fold_ensemble("logit"),
        "PL^CE": fold_ensemble("probability"),
        "PL3^CE 10": Derived("PL3^CE", first_start),
        "PL^CE 10": Derived("PL^CE", first_start),
        "PL3^CE rule": Derived("PL3^CE", ensemble_by_rule),
        "PL^CE rule": Derived("PL^CE", ensemble_by_rule),
        "PL3^CE refit": Derived("PL3^CE", refit_by_rule),
        "PL^CE refit": Derived("PL^CE", refit_by_rule),
        "PL3^MSE": fold_ensemble("logit", "brier"),
        "PL^MSE": fold_ensemble("probability", "brier"),
    }


def smooth_evaluators() -> dict[str, Calibrator]:
    """Return the three calibrators of the source's tables that have no bins and no pieces."""
    return {"Platt": PlattCalibrator(), "beta": BetaCalibrator(), "isotonic": IsotonicCalibrator()}


def kernel_error(label: NDArray[Any], prob: FloatVector) -> float:
    """Return the unbiased squared kernel calibration error, on the scale of the source."""
    return LABEL_FACTOR * kernel.kernel_error(label, prob, LENGTH_SCALE)


def default_evaluators() -> dict[str, Calibrator | Derived | Direct]:
    """Return all evaluators that measure the whole grid, in the order of the source's tables."""
    return {
        **bin_evaluators(),
        **more_bins(),
        **piecewise_evaluators(),
        **smooth_evaluators(),
        "KCE": Direct(kernel_error),
    }


def specification(name: str, evaluators: Evaluators) -> str:
    """Return what an evaluator is, in full: stored with its numbers to tell when they are old."""
    evaluator = evaluators[name]
    if isinstance(evaluator, Direct):
        return evaluator.estimate.__qualname__
    if isinstance(evaluator, Derived):
        if not isinstance(evaluators.get(evaluator.source), Calibrator):
            raise ValueError(
                f"evaluator {name!r} is derived from {evaluator.source!r}, which must be a "
                "calibrator of the same study. Add it to the evaluators."
            )
        return f"{evaluator.finish.__qualname__}({specification(evaluator.source, evaluators)})"
    values = evaluator.get_params(deep=False)
    if "rng" in values and not isinstance(values["rng"], int | np.integer):
        raise ValueError(
            f"evaluator {name!r} has rng={values['rng']!r}: the numbers would depend on the "
            "order of execution. Give it a whole number."
        )
    inside = ", ".join(f"{key}={values[key]!r}" for key in sorted(values))
    return f"{type(evaluator).__name__}({inside})"
