"""The calibrators that tests try alike: all that the room offers, in quick settings."""

import inspect
import warnings
from functools import partial
from typing import Any

import pytest
from sklearn.base import clone

import calibkit as ck
from calibkit import calibrators
from calibkit.calibrators import (
    BetaCalibrator,
    Calibrator,
    CrossValidatedBinning,
    DirichletCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    MatrixScaling,
    MulticlassCalibrator,
    OneVsRest,
    PiecewiseLinear,
    PlattCalibrator,
    ScalingBinning,
    SlopeOneBinning,
    SweepBinning,
    TemperatureScaling,
    VectorScaling,
    VennAbers,
)

ONE_EVENT: list[Any] = [
    *(PlattCalibrator(), PlattCalibrator(smoothing=False)),
    *(BetaCalibrator(), IsotonicCalibrator(), ScalingBinning(4)),
    *(SlopeOneBinning(), SlopeOneBinning(ck.EqualMass(4))),
    *(HistogramBinning(bins) for bins in (15, ck.EqualMass(4), ck.Distinct())),
    *(CrossValidatedBinning(kind, max_bins=8) for kind in ("equal-mass", "equal-width")),
    *(SweepBinning(), PiecewiseLinear(n_pieces=2), PiecewiseLinear("logit", n_pieces=2)),
    PiecewiseLinear(max_pieces=3, cv=3),
    PiecewiseLinear(n_pieces=2, outcome="fold-ensemble", cv=3),
]
MANY: dict[str, Any] = {
    "temperature": TemperatureScaling,
    "vector": VectorScaling,
    "vector, free": partial(VectorScaling, penalty=0),
    "matrix": MatrixScaling,
    "matrix, ODIR": partial(MatrixScaling, penalty=0.01),
    "matrix, free": partial(MatrixScaling, penalty=0),
    "Dirichlet": DirichletCalibrator,
    "one-vs-rest": OneVsRest,
    "one-vs-rest, isotonic": partial(OneVsRest, calibrator=IsotonicCalibrator()),
    "one-vs-rest, bins": partial(OneVsRest, calibrator=HistogramBinning(5)),
    "Venn-Abers": VennAbers,
}


def make(name: str, kind: str = "probabilities") -> Any:
    """Return an unfitted calibrator of many classes."""
    return MANY[name](kind)


# A calibrator that is added to the room is tried as it comes.
_KNOWN = {type(model) for model in [*ONE_EVENT, *map(make, MANY)]}
for one in (vars(calibrators)[name] for name in calibrators.__all__):
    if inspect.isclass(one) and one not in _KNOWN:
        if issubclass(one, Calibrator) and one is not Calibrator:
            ONE_EVENT.append(one())
        if issubclass(one, MulticlassCalibrator) and one is not MulticlassCalibrator:
            MANY[one.__name__] = one


def each(models: list[Any]) -> pytest.MarkDecorator:
    """Run a test once per model; piecewise maps are searched for, which takes long."""
    slow = [pytest.mark.slow]
    marked = [pytest.param(m, marks=slow * isinstance(m, PiecewiseLinear)) for m in models]
    return pytest.mark.parametrize("model", marked, ids=repr)


def fitted(model: Any, scores: Any, y: Any, **options: Any) -> Any:
    """Fit a copy, whatever the data; that it found no finite optimum is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ck.CalibrationWarning)
        return clone(model).fit(scores, y, **options)
