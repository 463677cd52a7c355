"""What the tests, intervals and bands refuse, beside what every measure refuses."""

from typing import Any

import numpy as np

import calibkit as ck
from calibkit.hypothesis_tests import binomial_p_values, wilson_interval
from tests.helpers import refuses

DATA: Any = ([0, 1, 1], [0.1, 0.5, 0.9])
hosmer, tce = ck.hosmer_lemeshow, ck.test_based_calibration_error

test_options_that_do_not_exist_are_refused = refuses(
    (lambda: hosmer(*DATA, bins=0), "bins"),
    (lambda: hosmer(*DATA, variance="p"), "variance must be"),
    (lambda: ck.cox_test(*DATA, part="all"), "part must be"),
    (lambda: tce(*DATA, alpha=0.0), "alpha must be strictly"),
    (lambda: tce(*DATA, bins="many"), "bins must be"),
    (lambda: hosmer(*DATA, bins=ck.Pava()), "bins that ignore the labels"),
    (lambda: binomial_p_values(1.5, 3, 0.5), r"hits\[0\] = 1.5 is not a whole number"),
    (lambda: binomial_p_values(4, 3, 0.5), "4 events in 3 trials"),
    (lambda: binomial_p_values(0, 0, 0.5), "at least one trial"),
    (lambda: binomial_p_values(1, 3, [0.5, 1.5]), r"prob\[1\] = 1.5 is not a probability"),
    (lambda: binomial_p_values(1, 3, np.nan), r"prob\[0\] = nan"),
    (lambda: wilson_interval([1, 5], 4), r"5 events in 4 trials \(entry 1\)"),
    (lambda: wilson_interval(1, 4, level=1), "level must be strictly"),
)
