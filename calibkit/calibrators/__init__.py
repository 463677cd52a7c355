"""Maps from predictions to calibrated probabilities. Lessons 05, 06, 09 and 10.

Each class is a *family* of maps and a way to pick one: ``fit(p, y)``, then ``calibrate(p)``. Fitted
on held-out data it repairs a model. Fitted on the test set it is an *evaluator*: the mean distance
between its map and the diagonal is an estimate of the calibration error.

``curve(p)`` is the fitted map, which may leave [0, 1]; ``calibrate(p)`` cuts it there.
`HistogramBinning` is `FlatBinning`. `shift_prior` and `estimate_prevalence` (`prior_shift`) need no
labels, so they are functions.

**Which to take.** The maps of `calibkit.multiclass` and `calibkit.piecewise` can be imported from
here, too. "0 or 1": whether the map may say exactly that (``can_say_zero``).

===================================  ==================================  ======
you have                             take                                0 or 1
===================================  ==================================  ======
one event, tens of rows or more      `PlattCalibrator`                   no
one event, skewed errors             `BetaCalibrator`                    no
one event, thousands of rows         `PiecewiseLinear`                   no
a rise is all you believe in         `IsotonicCalibrator`                yes
one event, and a doubt per row       `VennAbers`                         no
K classes, few rows                  `TemperatureScaling`                no
K classes, some shifted              `VectorScaling`                     no
K classes that are confused          `DirichletCalibrator`               no
K classes, an own map for each       `OneVsRest`                         its map
a classifier of scikit-learn         `Calibrated`, with any of these     its map
===================================  ==================================  ======

All speak scikit-learn's words as well: ``predict_proba``, ``transform``, ``score``, and
``sample_weight`` in ``fit`` (2 is the row twice; without a weighted fit whole numbers only).
"""

from importlib import import_module
from typing import Any

from calibkit.calibrators.base import Calibrator
from calibkit.calibrators.binning import (
    FlatBinning,
    HistogramBinning,
    SlopeOneBinning,
    SweepBinning,
)
from calibkit.calibrators.cross_validated import CrossValidatedBinning
from calibkit.calibrators.isotonic import IsotonicCalibrator
from calibkit.calibrators.parametric import BetaCalibrator, PlattCalibrator
from calibkit.calibrators.prior_shift import PrevalenceEstimate, estimate_prevalence, shift_prior
from calibkit.calibrators.scaling_binning import ScalingBinning

__all__ = [
    "BetaCalibrator",
    "Calibrator",
    "CrossValidatedBinning",
    "FlatBinning",
    "HistogramBinning",
    "IsotonicCalibrator",
    "PlattCalibrator",
    "PrevalenceEstimate",
    "ScalingBinning",
    "SlopeOneBinning",
    "SweepBinning",
    "estimate_prevalence",
    "shift_prior",
]


def __getattr__(name: str) -> Any:
    # What stands on floors above this one is loaded when it is asked for.
    for room in () if name.startswith("_") else ("multiclass", "piecewise"):
        module = import_module(f"calibkit.{room}")
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
