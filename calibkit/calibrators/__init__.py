"""Maps from predictions to calibrated probabilities.

Each class is a *family* of maps and a way to pick one: ``fit(p, y)``, then ``calibrate(p)``.
Fitted on held-out data it repairs a model. Fitted on the test set it is an *evaluator*: the mean
distance between its map and the diagonal is an estimate of the calibration error.

=========================  ==========================  ====================  ===============
class                      parameters                  loss that is fitted   leaves [0, 1]?
=========================  ==========================  ====================  ===============
`PlattCalibrator`          2                           log loss              no
`BetaCalibrator`           3 (or 2, 1)                 log loss              no
`IsotonicCalibrator`       chosen by the data          Brier = log loss      no
`SlopeOneBinning`          one per bin in use          Brier                 yes
`CrossValidatedBinning`    the same, number by folds   Brier                 yes
`SweepBinning`             the same, number by order   Brier                 yes
`FlatBinning`              one per bin in use          Brier = log loss      no
`ScalingBinning`           those of the scaler         log loss              no
`SplineCalibrator`         number of knots             squared, cumulative   yes
`KernelDensityCalibrator`  none: a bandwidth           none                  no
=========================  ==========================  ====================  ===============

`FlatBinning` is histogram binning, so `HistogramBinning` is another name for it. The
piecewise-linear maps PL and PL3 have a room of their own, `calibkit.piecewise`.

``curve(p)`` is the fitted map itself, which may leave [0, 1] where the table says so;
``calibrate(p)`` cuts it there and nowhere else.

`shift_prior` and `estimate_prevalence` repair predictions after a change of prevalence. They need
no labels, so they are functions.

Lessons 05 and 06 use the families as evaluators, lesson 09 repairs prevalences, lesson 10 fits
calibrators.
"""

from calibkit.calibrators._base import Calibrator
from calibkit.calibrators.binning import FlatBinning, HistogramBinning, SlopeOneBinning
from calibkit.calibrators.choice import CrossValidatedBinning, SweepBinning
from calibkit.calibrators.isotonic import IsotonicCalibrator
from calibkit.calibrators.kernel import KernelDensityCalibrator
from calibkit.calibrators.parametric import BetaCalibrator, PlattCalibrator
from calibkit.calibrators.prior_shift import (
    PrevalenceEstimate,
    estimate_prevalence,
    shift_prior,
)
from calibkit.calibrators.scaling_binning import ScalingBinning
from calibkit.calibrators.spline import SplineCalibrator

__all__ = [
    "BetaCalibrator",
    "Calibrator",
    "CrossValidatedBinning",
    "FlatBinning",
    "HistogramBinning",
    "IsotonicCalibrator",
    "KernelDensityCalibrator",
    "PlattCalibrator",
    "PrevalenceEstimate",
    "ScalingBinning",
    "SlopeOneBinning",
    "SplineCalibrator",
    "SweepBinning",
    "estimate_prevalence",
    "shift_prior",
]
