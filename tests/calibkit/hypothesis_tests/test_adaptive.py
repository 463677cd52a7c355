"""The adaptive test: its parts are Hosmer-Lemeshow statistics, its search is paid for."""

import numpy as np
import pytest
from scipy import special, stats

from calibkit import EqualMass
from calibkit.hypothesis_tests import adaptive_test, hosmer_lemeshow
from tests.helpers import binary_data


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


def test_nothing_to_test() -> None:
    result = adaptive_test([0, 1], [0.0, 1.0], rng=0)
    assert (result.statistic, result.p_value) == (0, 1)


def test_it_sees_what_ten_bins_cannot() -> None:
    """Eight periods of a sine, 2000 predictions: nearly always, against a quarter."""
    rng, found = np.random.default_rng(4), []
    for _ in range(20):
        prob = special.expit(rng.normal(0, 1.5, 2000))
        truth = np.clip(prob + 0.1 * np.sin(16 * np.pi * prob), 0, 1)
        data = rng.random(2000) < truth, prob
        found.append((adaptive_test(*data, n_draws=0).p_value, hosmer_lemeshow(*data).p_value))
    adaptive, ten_bins = (np.array(found) <= 0.05).mean(axis=0)
    assert adaptive > 0.9 and ten_bins < 0.6
