"""The test-based diagram and binnings side by side, tested by what their artists hold."""

import numpy as np

from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import binomial_p_values, test_based_calibration_error
from calibkit_course.lesson08.diagram import acceptance_region


def test_acceptance_regions_hold_the_accepted_predictions():
    sample = LogitDistortion(slope=0.7).sample(3000, rng=4)
    error = test_based_calibration_error(sample.y_true, sample.y_prob, n_draws=0)
    (low, high), verdict = acceptance_region(error), error.verdicts[0]
    accepted, prob = ~verdict.rejected, verdict.prob
    inside = (prob >= low[verdict.bin] - 1e-9) & (prob <= high[verdict.bin] + 1e-9)
    assert 0.2 < accepted.mean() < 0.8 and inside[accepted].all()
    assert (inside & ~accepted).mean() < 0.005  # gaps of the exact test are rare and narrow
    counted = binomial_p_values(verdict.hits, verdict.table.count, np.clip(high + 1e-6, 0, 1))
    assert (counted <= 0.05).all()
