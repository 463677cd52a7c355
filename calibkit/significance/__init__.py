"""How large would it be by chance? Null levels, consistency bands, bootstrap intervals.

A calibrated model does not score 0, and a diagram of a perfect model does not lie on the
diagonal. Here are the tools that put a measured number into proportion:

`null_level`
    redraws the labels from the predictions themselves, so that the model is calibrated by
    construction, and measures again. Works for *any* measure.
`consistency_band`
    the same for a reliability diagram: where the frequencies of a calibrated model would lie.
`bootstrap_interval`
    redraws the rows: which true values the measured one allows.
`test_based_calibration_error`
    tests each prediction against the events of its bin: what share is contradicted?
`general_calibration_error`
    bins, a loss per bin, a norm: the form that contains all binned errors and the test-based one.
`hosmer_lemeshow`, `spiegelhalter`, `cox_test`
    classical tests: bins, the Brier score, a line in logits.
`cumulative_differences`, `kernel_calibration_error`, `adaptive_test`
    tests without a choice of bins: running sums, near pairs, all numbers of bins at once.

Sources: Bröcker and Smith (2007), source 001 section 3.3, source 003
section 4; source 002 for the test-based error. Lessons 04 and 08.
"""

from calibkit.significance._binomial import binomial_p_values
from calibkit.significance._tested import TestResult
from calibkit.significance.adaptive import AdaptiveResult, adaptive_test
from calibkit.significance.bootstrap import BootstrapInterval, bootstrap_interval
from calibkit.significance.classical import cox_test, hosmer_lemeshow, spiegelhalter
from calibkit.significance.cumulative import (
    CumulativeDifferences,
    brownian_range_tail,
    brownian_supremum_tail,
    cumulative_differences,
)
from calibkit.significance.general import GeneralError, general_calibration_error
from calibkit.significance.kernel import kernel_calibration_error
from calibkit.significance.null import (
    ConsistencyBand,
    NullLevel,
    consistency_band,
    null_level,
)
from calibkit.significance.tce import test_based_calibration_error
from calibkit.significance.verdicts import TestBasedError, ViewVerdict

__all__ = [
    "AdaptiveResult",
    "BootstrapInterval",
    "ConsistencyBand",
    "CumulativeDifferences",
    "GeneralError",
    "NullLevel",
    "TestBasedError",
    "TestResult",
    "ViewVerdict",
    "adaptive_test",
    "binomial_p_values",
    "bootstrap_interval",
    "brownian_range_tail",
    "brownian_supremum_tail",
    "consistency_band",
    "cox_test",
    "cumulative_differences",
    "general_calibration_error",
    "hosmer_lemeshow",
    "kernel_calibration_error",
    "null_level",
    "spiegelhalter",
    "test_based_calibration_error",
]
