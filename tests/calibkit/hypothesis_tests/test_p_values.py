"""The adaptive test, Wilson's interval, and what the tests refuse beside all measures."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import calibkit as ck
from calibkit import EqualMass
from calibkit.hypothesis_tests import (
    adaptive_test,
    binomial_p_values,
    hosmer_lemeshow,
    wilson_interval,
)
from tests.helpers import binary_data, refuses


def test_the_statistic_is_the_largest_of_hosmer_lemeshow_s() -> None:
    labels, prob = binary_data(500, seed=1)
    result, z = adaptive_test(labels, prob, n_draws=0), []
    for n_bins in (1, 2, 4, 8, 16, 32):
        part = hosmer_lemeshow(labels, prob, bins=EqualMass(n_bins), variance="predictions")
        spread = 2 / (9 * n_bins)
        z.append(((part.statistic / n_bins) ** (1 / 3) - 1 + spread) / spread**0.5)
    assert result.statistic == pytest.approx(max(z), abs=1e-12)
    assert result.p_value == pytest.approx(6 * stats.norm.sf(max(z)))
    assert "Bonferroni's bound over 6 numbers of bins" in result.describe()
    assert "over 1 number of bins" in adaptive_test([0, 1], [0.4, 0.6], n_draws=0).law


def test_redraws_are_the_default() -> None:
    labels, prob = binary_data(300, seed=3)
    result = adaptive_test(labels, prob, rng=1)
    assert "1,000 redraws" in result.law
    assert result.p_value == adaptive_test(labels, prob, rng=1).p_value


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (31, 50), (999, 1000)]
)
def test_it_is_that_of_scipy(level: float, k, n) -> None:
    golden = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    assert wilson_interval(k, n, level=level) == pytest.approx(golden, abs=1e-12)


DATA: Any = ([0, 1, 1], [0.1, 0.5, 0.9])
test_options_that_do_not_exist_are_refused = refuses(
    (lambda: hosmer_lemeshow(*DATA, bins=ck.Pava()), "bins that ignore the labels"),
    (lambda: binomial_p_values(1.5, 3, 0.5), r"hits\[0\] = 1.5 is not a whole number"),
    (lambda: binomial_p_values(4, 3, 0.5), "4 events in 3 trials"),
    (lambda: binomial_p_values(0, 0, 0.5), "at least one trial"),
    (lambda: binomial_p_values(1, 3, [0.5, 1.5]), r"prob\[1\] = 1.5 is not a probability"),
    (lambda: binomial_p_values(1, 3, np.nan), r"prob\[0\] = nan"),
    (lambda: wilson_interval([1, 5], 4), r"5 events in 4 trials \(entry 1\)"),
    (lambda: wilson_interval(1, 4, level=1), "level must be strictly"),
)
