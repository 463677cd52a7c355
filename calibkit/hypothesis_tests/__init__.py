"""Do the labels contradict the predictions? Tests of calibration, each with its p-value.

Sources: Hosmer and Lemeshow (1980); Spiegelhalter (1986); Cox (1958); Arrieta-Ibarra and others
(2022); Matsubara and others (2023). Lesson 08.
"""

from calibkit.hypothesis_tests.adaptive import adaptive_test
from calibkit.hypothesis_tests.binomial import binomial_p_values, wilson_interval
from calibkit.hypothesis_tests.classical import hosmer_lemeshow, spiegelhalter
from calibkit.hypothesis_tests.cox import cox_test
from calibkit.hypothesis_tests.cumulative import CumulativeDifferences, cumulative_differences
from calibkit.hypothesis_tests.results import TestResult
from calibkit.hypothesis_tests.tce import TestBasedError, ViewVerdict, test_based_calibration_error

__all__ = [
    "CumulativeDifferences",
    "TestBasedError",
    "TestResult",
    "ViewVerdict",
    "adaptive_test",
    "binomial_p_values",
    "cox_test",
    "cumulative_differences",
    "hosmer_lemeshow",
    "spiegelhalter",
    "test_based_calibration_error",
    "wilson_interval",
]
