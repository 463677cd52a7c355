"""Maps from predictions to calibrated probabilities. Lessons 05, 06, 09 and 10.

Each class is a *family* of maps and a way to pick one: ``fit(p, y)``, then ``calibrate(p)``. Fitted
on held-out data it repairs a model. Fitted on the test set it is an *evaluator*: the mean distance
between its map and the diagonal is an estimate of the calibration error.

=========================  =================  ===================  =============  ===========
class                      file               parameters           loss           leaves 0–1?
=========================  =================  ===================  =============  ===========
`PlattCalibrator`          `parametric`       2                    log loss       no
`BetaCalibrator`           `parametric`       3 (or 2, 1)          log loss       no
`IsotonicCalibrator`       `isotonic`         chosen by the data   every proper   no
`SlopeOneBinning`          `binning`          one per used bin     Brier          yes
`FlatBinning`              `binning`          one per used bin     every proper   no
`CrossValidatedBinning`    `cross_validated`  number by folds      Brier          yes
`SweepBinning`             `sweep`            number by order      Brier          yes
`ScalingBinning`           `scaling_binning`  those of the scaler  log loss       no
`SplineCalibrator`         `spline`           number of knots      squared gap    yes
`KernelDensityCalibrator`  `kernel`           a bandwidth          none           no
=========================  =================  ===================  =============  ===========

``curve(p)`` is the fitted map, which may leave [0, 1] where the table says so; ``calibrate(p)``
cuts it there. `HistogramBinning` is `FlatBinning`; piecewise-linear maps are in
`calibkit.piecewise`. `shift_prior` and `estimate_prevalence` (`prior_shift`) need no labels, so
they are functions.
"""

from calibkit.calibrators._base import Calibrator
from calibkit.calibrators.binning import FlatBinning, HistogramBinning, SlopeOneBinning
from calibkit.calibrators.cross_validated import CrossValidatedBinning
from calibkit.calibrators.isotonic import IsotonicCalibrator
from calibkit.calibrators.kernel import KernelDensityCalibrator
from calibkit.calibrators.parametric import BetaCalibrator, PlattCalibrator
from calibkit.calibrators.prior_shift import PrevalenceEstimate, estimate_prevalence, shift_prior
from calibkit.calibrators.scaling_binning import ScalingBinning
from calibkit.calibrators.spline import SplineCalibrator
from calibkit.calibrators.sweep import SweepBinning

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
