"""Maps from predictions to calibrated probabilities. Lessons 05 to 07, 09 to 12.

Each class is a *family* of maps and a way to pick one: ``fit(p, y)``, then ``calibrate(p)``. Fitted
on held-out data it repairs a model. Fitted on the test set it is an *evaluator*: the mean distance
between its map and the diagonal is an estimate of the calibration error.

``curve(p)`` is the fitted map, which may leave [0, 1]; ``calibrate(p)`` cuts it there.
`shift_prior` and `estimate_prevalence` need no labels, so they are functions.

**Which to take.** "0 or 1": whether the map may say exactly that (``can_say_zero``).

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
===================================  ==================================  ======

All speak scikit-learn's words as well: ``predict_proba``, ``transform``, ``score``, and
``sample_weight`` in ``fit`` (2 is the row twice; without a weighted fit whole numbers only).
"""

from calibkit.calibrators.base import Calibrator
from calibkit.calibrators.binning import (
    BayesianBinning,
    HistogramBinning,
    ScalingBinning,
    SlopeOneBinning,
    SweepBinning,
)
from calibkit.calibrators.folds import CrossValidatedBinning
from calibkit.calibrators.isotonic import IsotonicCalibrator, VennAbers
from calibkit.calibrators.linear import (
    DirichletCalibrator,
    MatrixScaling,
    TemperatureScaling,
    VectorScaling,
)
from calibkit.calibrators.logistic import BetaCalibrator, PlattCalibrator
from calibkit.calibrators.multiclass import MulticlassCalibrator, OneVsRest
from calibkit.calibrators.piecewise import PiecewiseLinear
from calibkit.calibrators.prior_shift import estimate_prevalence, shift_prior

__all__ = [
    "BayesianBinning",
    "BetaCalibrator",
    "Calibrator",
    "CrossValidatedBinning",
    "DirichletCalibrator",
    "HistogramBinning",
    "IsotonicCalibrator",
    "MatrixScaling",
    "MulticlassCalibrator",
    "OneVsRest",
    "PiecewiseLinear",
    "PlattCalibrator",
    "ScalingBinning",
    "SlopeOneBinning",
    "SweepBinning",
    "TemperatureScaling",
    "VectorScaling",
    "VennAbers",
    "estimate_prevalence",
    "shift_prior",
]
