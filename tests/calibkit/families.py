"""The calibrators that tests try alike: all that the room offers, in quick settings."""

import inspect
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import calibkit as ck
from calibkit import calibrators
from calibkit.calibrators import (
    BayesianBinning,
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
from tests.helpers import binary_data

ONE_EVENT: list[Any] = [
    *(PlattCalibrator(), PlattCalibrator(smoothing=False)),
    *(BetaCalibrator(), IsotonicCalibrator(), ScalingBinning(4), BayesianBinning()),
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


def logits_and_labels(seed: int, n: int = 500, k: int = 4, mixed: float = 0.3) -> tuple[Any, Any]:
    """Draw logits that a matrix maps to the true ones, and labels."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, k)) * 1.5
    y = (truth + rng.gumbel(size=(n, k))).argmax(axis=1)
    return 1.8 * truth @ (np.eye(k) + mixed * rng.normal(size=(k, k)) / k), y


n = 60
alternating, some = np.arange(n) % 2, binary_data(n, seed=2)[1]
# Labels and predictions that tempt a fit to go astray.
HARD: dict[str, tuple[Any, Any]] = {
    "one prediction, label 1": ([1], [0.3]),
    "one prediction, label 0": ([0], [0.3]),
    "one prediction of 0, label 1": ([1], [0.0]),
    "one prediction of 1, label 0": ([0], [1.0]),
    "two predictions": ([1, 0], [0.2, 0.7]),
    "three predictions": ([1, 0, 1], [0.2, 0.7, 0.9]),
    "all labels 1": (np.ones(n, int), some),
    "all labels 0": (np.zeros(n, int), some),
    "constant": (alternating, np.full(n, 0.3)),
    "constant 1/2": (alternating, np.full(n, 0.5)),
    "constant 0": (alternating, np.zeros(n)),
    "constant 1": (alternating, np.ones(n)),
    "constant 0, all labels 1": (np.ones(n, int), np.zeros(n)),
    "only 0 and 1": (alternating, (np.arange(n) // 2) % 2 / 1.0),
    "0 and 1, perfect": (alternating, alternating.astype(float)),
    "0 and 1, all wrong": (alternating, 1.0 - alternating),
    "0 and 1 among others": (alternating, np.concatenate([[0, 0, 1, 1], some[4:]])),
    "duplicates everywhere": (alternating, np.repeat([0.1, 0.4, 0.8], n // 3)),
    "two values": (alternating, np.repeat([0.2, 0.9], n // 2)),
    "separated": (np.sort(alternating), np.sort(some)),
    "separated, upside down": (np.sort(alternating)[::-1], np.sort(some)),
    "nearly separated": (np.sort(alternating), np.concatenate([np.sort(some)[1:], [0.0]])),
    "very small": (alternating, some * 1e-200),
    "very near 1": (alternating, 1 - 2.0**-53 * np.arange(n)),
    "neighbouring floats": (alternating, 0.5 + 2.0**-52 * np.arange(n)),
    "within a millionth": (np.sort(alternating), 0.5 + np.linspace(0, 1e-6, n)),
    "clumped": ([0, 1] * 250, np.random.default_rng(0).beta(0.01, 0.01, 500)),
}
