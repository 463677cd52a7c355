"""How large would it be by chance? Null levels, consistency bands, bootstrap intervals, tests.

A calibrated model does not score 0, and its diagram does not lie on the diagonal. `null_level`
(any measure) and `consistency_band` redraw the labels from the predictions, `bootstrap_interval`
redraws the rows; the others are tests.

How often the limit laws of the tests reject a calibrated model at the 5 % level, in per cent, for
n = 200 and n = 2000. There were 10 000 seeded cases each, standard error 0.2; "sharp" predictions
are Beta(0.3, 0.3), "rare" events Beta(1, 49). The page of each test says where to redraw.

============================  =====  =====  =====  =====  =====  =====
scores                        uniform       sharp         rare
----------------------------  ------------  ------------  ------------
law, n =                      200    2000   200    2000   200    2000
============================  =====  =====  =====  =====  =====  =====
Hosmer-Lemeshow, bin-mean     5.2    4.5    7.8    6.9    11.7   6.8
Hosmer-Lemeshow, predictions  5.3    4.7    7.9    7.1    11.7   6.8
Spiegelhalter                 4.8    4.7    5.2    5.3    4.8    4.8
Cox, both                     5.0    5.0    4.9    5.2    5.2    5.2
Cox, intercept                5.1    5.3    4.6    4.9    4.9    4.9
Cox, slope                    5.0    4.7    4.8    5.3    5.4    5.2
ECCE-MAD                      4.7    5.2    4.2    4.9    3.4    4.6
ECCE-R                        4.4    5.1    3.6    4.7    3.4    4.3
adaptive, Bonferroni          3.9    4.4    8.7    9.1    5.4    5.5
============================  =====  =====  =====  =====  =====  =====

Sources: Bröcker and Smith (2007); Panchenko (2021), section 3.3; Li's reproduction of Kumar, Liang
and Ma (2019), section 4; Matsubara and others (2023). Lessons 04 and 08.
"""

from calibkit.significance._binomial import binomial_p_values, wilson_interval
from calibkit.significance.adaptive import adaptive_test
from calibkit.significance.bootstrap import BootstrapInterval, bootstrap_interval
from calibkit.significance.classical import hosmer_lemeshow, spiegelhalter
from calibkit.significance.cox import cox_test
from calibkit.significance.cumulative import CumulativeDifferences, cumulative_differences
from calibkit.significance.null import ConsistencyBand, NullLevel, consistency_band, null_level
from calibkit.significance.results import TestResult
from calibkit.significance.smooth import SmoothCurve, smooth_curve
from calibkit.significance.tce import TestBasedError, ViewVerdict, test_based_calibration_error
from calibkit.significance.weak import (
    WeakCalibration,
    calibration_in_the_large,
    calibration_slope,
    observed_expected_ratio,
)

__all__ = [
    "BootstrapInterval",
    "ConsistencyBand",
    "CumulativeDifferences",
    "NullLevel",
    "SmoothCurve",
    "TestBasedError",
    "TestResult",
    "ViewVerdict",
    "WeakCalibration",
    "adaptive_test",
    "binomial_p_values",
    "bootstrap_interval",
    "calibration_in_the_large",
    "calibration_slope",
    "consistency_band",
    "cox_test",
    "cumulative_differences",
    "hosmer_lemeshow",
    "null_level",
    "observed_expected_ratio",
    "smooth_curve",
    "spiegelhalter",
    "test_based_calibration_error",
    "wilson_interval",
]
