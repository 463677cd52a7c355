"""The adaptive test: its parts are Hosmer-Lemeshow statistics, its search is paid for."""

import numpy as np
import pytest
from scipy import stats

from book.experiments import rejection_rates as sizes
from calibkit.significance import adaptive_test, hosmer_lemeshow
from calibkit.significance.adaptive import AdaptiveRule
from tests.helpers import binary_data, coarse_binary


def test_parts_are_hosmer_lemeshow_statistics(subtests: pytest.Subtests) -> None:
    labels, prob = binary_data(500, seed=1)
    result = adaptive_test(labels, prob, null_draws=0)
    assert result.bins.tolist() == [1, 2, 4, 8, 16, 32]
    for n_bins, z in zip(result.bins.tolist(), result.z, strict=True):
        with subtests.test(n_bins=n_bins):
            part = hosmer_lemeshow(labels, prob, n_bins=n_bins, variance="predictions")
            spread = 2 / (9 * n_bins)
            expected = ((part.statistic / n_bins) ** (1 / 3) - 1 + spread) / spread**0.5
            assert z == pytest.approx(expected, abs=1e-12)
    assert result.statistic == result.z.max()
    assert result.best_bins == result.bins[result.z.argmax()]


def test_bonferroni() -> None:
    labels, prob = binary_data(300, seed=2, exponent=1.5)
    result = adaptive_test(labels, prob, null_draws=0)
    assert result.p_value == pytest.approx(len(result.bins) * stats.norm.sf(result.statistic))
    assert f"Bonferroni's bound over {len(result.bins)} numbers of bins" in result.describe()
    assert adaptive_test([0, 1], [0.4, 0.6], max_bins=1, null_draws=0).law.endswith(
        "1 number of bins"
    )


def test_defaults() -> None:
    labels, prob = binary_data(300, seed=3)
    result = adaptive_test(labels, prob, rng=1)
    assert "1,000 redraws" in result.law
    assert f"Largest with {result.best_bins} bin" in result.describe()
    assert result.p_value == adaptive_test(labels, prob, rng=1).p_value


@pytest.mark.parametrize(
    ("max_bins", "expected"), [(1, [1]), (3, [1, 2]), (64, [1, 2, 4, 8, 16, 32, 64])]
)
def test_the_largest_number_of_bins_can_be_chosen(max_bins: int, expected: list[int]) -> None:
    result = adaptive_test(*binary_data(200), max_bins=max_bins, null_draws=0)
    assert result.bins.tolist() == expected


def test_bins_hold_enough_variance_by_default() -> None:
    prob = np.random.default_rng(4).beta(1, 49, 2000)
    bins = AdaptiveRule(np.sort(prob), None).bins
    assert (prob * (1 - prob)).sum() / bins[-1] >= 2 > (prob * (1 - prob)).sum() / bins[-1] / 2


def test_ties_are_never_split() -> None:
    labels, prob = coarse_binary(400, 4, seed=5)
    prob = np.clip(prob, 0.1, 0.9)
    result = adaptive_test(labels, prob, max_bins=64, null_draws=0)
    assert result.bins.max() == 5


def test_nothing_to_test() -> None:
    result = adaptive_test([0, 1], [0.0, 1.0], rng=0)
    assert (result.statistic, result.p_value, result.best_bins) == (0, 1, 0)
    assert len(result.bins) == 0
    assert "Largest with" not in result.describe()


@pytest.mark.slow
def test_it_sees_what_ten_bins_cannot() -> None:
    """Eight periods of a sine, 2000 predictions: 99 % against 28 % in the long simulation."""
    rates = sizes.power(2000, models=3, labels=20, draws=199)
    wave = {name: rate["sine, 8 periods (0.10)"] for name, rate in rates.items()}
    assert wave["adaptive, Bonferroni"] > 0.9
    assert wave["Hosmer-Lemeshow, predictions"] < 0.6
    assert wave["kernel 0.1"] < 0.3
