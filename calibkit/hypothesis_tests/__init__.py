"""Do the labels contradict the predictions? Tests of calibration, each with its p-value.

Sources: Hosmer and Lemeshow (1980); Spiegelhalter (1986); Cox (1958); Arrieta-Ibarra and others
(2022); Matsubara and others (2023). Lesson 08.
"""

from calibkit.hypothesis_tests.binned import adaptive_test, hosmer_lemeshow
from calibkit.hypothesis_tests.cox import cox_test, spiegelhalter
from calibkit.hypothesis_tests.cumulative import cumulative_differences
from calibkit.hypothesis_tests.p_values import TestResult, binomial_p_values, wilson_interval
from calibkit.hypothesis_tests.tce import TestBasedError, test_based_calibration_error

__all__ = [
    "TestBasedError",
    "TestResult",
    "adaptive_test",
    "binomial_p_values",
    "cox_test",
    "cumulative_differences",
    "hosmer_lemeshow",
    "spiegelhalter",
    "test_based_calibration_error",
    "wilson_interval",
]
