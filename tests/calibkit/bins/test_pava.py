"""PAVA and PAVA-BC bins: against the definition, isotonic regression, and the stated bounds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.isotonic import IsotonicRegression

import calibkit as ck
from calibkit import bins
from tests.helpers import refuses


def blocks_of_source(label: list[int], n_min: int, n_max: int) -> list[int]:
    """Algorithm 2 of Matsubara et al., whose forced merger looks at the size of both blocks."""
    blocks: list[list[int]] = []
    for y in label[: len(label) - n_min]:
        blocks.append([y, 1])
        while len(blocks) > 1:
            total = blocks[-2][1] + blocks[-1][1]
            falls = blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]
            if not (total <= n_min or (total <= n_max and falls)):
                break
            blocks[-2:] = [[blocks[-2][0] + blocks[-1][0], total]]
    sizes = [w for _, w in blocks]
    if n_min > 0:
        if sizes and sizes[-1] <= n_max - n_min:
            sizes[-1] += n_min
        else:
            sizes.append(n_min)
    return sizes


@pytest.mark.slow
@given(st.lists(st.integers(0, 1), min_size=2, max_size=90), st.integers(0, 20), st.integers(1, 90))
def test_without_ties_it_is_the_algorithm_of_the_source(label, n_min, n_max) -> None:
    n_min = min(n_min, n_max, len(label) - 1)
    prob = np.linspace(0.01, 0.99, len(label))
    sizes = np.diff(bins.PavaBC(n_min, n_max).bounds(prob, np.array(label))).tolist()
    assert sizes == blocks_of_source(label, n_min, n_max)


# --- PAVA is isotonic regression ----------------------------------------------------------------


@pytest.mark.parametrize("denominator", [2, 5, 20, 200, 10**9])
def test_pava_is_isotonic_regression(denominator: int) -> None:
    """Of the pooled values, where there are ties."""
    rng = np.random.default_rng(denominator)
    prob = rng.integers(0, denominator + 1, 700) / denominator
    label = (rng.random(700) < prob**2).astype(int)
    table = ck.reliability_table(label, prob, bins=bins.Pava())
    assert (np.diff(table.frequency) > 0).all()
    fitted = table.frequency[bins.assign(prob, table.edges)]
    by_sklearn = IsotonicRegression().fit(prob, label).predict(prob)
    assert fitted == pytest.approx(by_sklearn, abs=1e-12)


# --- The bounds on sizes --------------------------------------------------------------------------


@given(st.data())
def test_sizes_stay_within_the_stated_bounds(data: Any) -> None:
    n_min = data.draw(st.integers(0, 12))
    n_max = data.draw(st.integers(max(1, 2 * n_min), max(1, 2 * n_min) + 30))
    n = data.draw(st.integers(max(1, n_min), 120))
    levels = data.draw(st.sampled_from([3, 20, 10**9]))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    prob = np.sort(rng.integers(0, levels, n) / levels)
    label = (rng.random(n) < rng.random()).astype(int)
    sizes = np.diff(bins.PavaBC(n_min, n_max).bounds(prob, label))
    t = int(np.unique(prob, return_counts=True)[1].max())
    assert sizes.sum() == n and sizes.min() >= n_min
    assert sizes.max() <= max(n_max, t, 2 * n_min - 2 + t)
    assert t > 1 or sizes.max() <= n_max


def test_a_block_of_the_smallest_size_keeps_away_from_a_tail_that_does_not_fit() -> None:
    prob = np.array([0.1, 0.2, 0.9, 0.9, 0.9])
    label = np.array([0, 1, 0, 1, 1])
    assert bins.PavaBC(n_min=2, n_max=4).bounds(prob, label).tolist() == [0, 2, 5]
    # One short of the smallest size, it is joined all the same.
    assert bins.PavaBC(n_min=2, n_max=4).bounds(prob[1:], label[1:]).tolist() == [0, 4]


def test_default_sizes_are_a_twentieth_and_a_fifth() -> None:
    assert bins.PavaBC().sizes(6000) == (300, 1200) and bins.PavaBC().sizes(19) == (0, 3)
    assert bins.PavaBC().sizes(1) == (0, 1)
    assert bins.PavaBC(30, 60).bounds(np.array([0.1, 0.2]), np.array([0, 1])).tolist() == [0, 2]


# --- Ties, order, type, ends ----------------------------------------------------------------------

BINNINGS = [bins.Pava(), bins.PavaBC(), bins.PavaBC(3, 12)]


@pytest.mark.parametrize("binning", BINNINGS, ids=str)
def test_edges_and_blocks_agree(binning: Any) -> None:
    rng = np.random.default_rng(1)
    prob = np.sort(rng.integers(0, 65, 300) / 64)
    label = (rng.random(300) < prob).astype(int)
    counted = np.bincount(bins.assign(prob, binning.edges(prob, label)))
    assert counted.tolist() == np.diff(binning.bounds(prob, label)).tolist()


test_bad_bins = refuses(
    (lambda: bins.PavaBC(n_min=5, n_max=4), "n_min = 5 is larger than n_max = 4"),
    (lambda: bins.PavaBC(n_min=-1), "n_min must be a whole number of at least 0"),
    (lambda: bins.PavaBC(n_max=0), "n_max must be a whole number of at least 1"),
    (lambda: bins.PavaBC(n_min=30).sizes(100), "n_max = 20 .*Give both"),
    (lambda: bins.Pava().edges(np.array([0.1])), "PAVA bins need labels"),
)


def test_bins_in_words() -> None:
    assert "bins of 5 to 9 predictions" in str(bins.PavaBC(5, 9))
    assert "n // 20 to n // 5 predictions" in str(bins.PavaBC())


def test_a_largest_size_may_break_the_order() -> None:
    prob = np.array([0.1, 0.2, 0.3, 0.4])
    label = np.array([1, 1, 0, 0])
    assert bins.PavaBC(1, 2).bounds(prob, label).tolist() == [0, 2, 4]
    table = ck.reliability_table(label, prob, bins=bins.PavaBC(1, 2))
    assert table.frequency.tolist() == [1, 0]
