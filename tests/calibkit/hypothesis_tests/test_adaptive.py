"""The adaptive test: its parts are Hosmer-Lemeshow statistics, its search is paid for."""

import numpy as np
import pytest
from scipy import stats

from calibkit.hypothesis_tests import adaptive_test, hosmer_lemeshow
from calibkit.hypothesis_tests.adaptive import AdaptiveRule
from tests.helpers import binary_data, coarse_binary


def test_the_statistic_is_the_largest_of_hosmer_lemeshow_s() -> None:
    labels, prob = binary_data(500, seed=1)
    result, z = adaptive_test(labels, prob, null_draws=0), []
    for n_bins in (1, 2, 4, 8, 16, 32):
        part = hosmer_lemeshow(labels, prob, n_bins=n_bins, variance="predictions")
        spread = 2 / (9 * n_bins)
        z.append(((part.statistic / n_bins) ** (1 / 3) - 1 + spread) / spread**0.5)
    assert result.statistic == pytest.approx(max(z), abs=1e-12)
    assert result.p_value == pytest.approx(6 * stats.norm.sf(max(z)))
    assert "Bonferroni's bound over 6 numbers of bins" in result.describe()
    assert "over 1 number of bins" in adaptive_test([0, 1], [0.4, 0.6], null_draws=0).law


def test_redraws_are_the_default() -> None:
    labels, prob = binary_data(300, seed=3)
    result = adaptive_test(labels, prob, rng=1)
    assert "1,000 redraws" in result.law
    assert result.p_value == adaptive_test(labels, prob, rng=1).p_value


def test_bins_hold_enough_variance_and_no_tie_is_split() -> None:
    prob = np.sort(np.random.default_rng(4).beta(1, 49, 2000))
    most = max(rule.df for rule in AdaptiveRule(prob).rules)
    assert (prob * (1 - prob)).sum() / most >= 2 > (prob * (1 - prob)).sum() / most / 2
    five = np.sort(np.clip(coarse_binary(400, 4, seed=5)[1], 0.1, 0.9))
    assert max(rule.df for rule in AdaptiveRule(five).rules) == 5


def test_nothing_to_test() -> None:
    result = adaptive_test([0, 1], [0.0, 1.0], rng=0)
    assert (result.statistic, result.p_value) == (0, 1)
