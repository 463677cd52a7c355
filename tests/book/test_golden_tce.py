"""Blocks, test-based and general errors and the t-test, as in Matsubara et al.

Their tables are computed anew in `tests/book/test_tce_page.py`.
"""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import calibkit as ck
from book.experiments.tce.general import general_error, general_error as general
from book.experiments.tce.measures import AsGiven, sized
from book.experiments.tce.t_test import TTest, percent_by_t
from calibkit import bins, hypothesis_tests
from tests.helpers import coarse_binary, each_case, golden

SMALL = golden("tce_small.json")
BLOCKS = [(case, block) for case in SMALL for block in case["blocks"]]


def labels_of(case: dict[str, Any]) -> Any:
    return np.array([int(digit) for digit in case["label"]])


@each_case(("case", "block"), BLOCKS)
def test_small_cases_as_the_reference_has_them(case: dict[str, Any], block: dict[str, Any]) -> None:
    label, prob = labels_of(case), np.array(case["prob"])
    binning = sized(block["n_min"], block["n_max"])
    error = hypothesis_tests.test_based_calibration_error(label, prob, bins=binning, n_draws=0)
    assert error.table.count.tolist() == block["count"]
    assert error.verdicts[0].hits.tolist() == block["hits"]
    assert error.table.edges == pytest.approx(block["edges"], abs=1e-15)
    assert 100 * float(error) == pytest.approx(block["percent"], abs=1e-12)
    published = percent_by_t((label, prob), binning, published=True)
    assert published == pytest.approx(block["percent_t"], abs=1e-12)
    gap = general_error(label, prob, bins=binning)
    assert gap.value == pytest.approx(block["gap"], abs=1e-12)


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case["name"])
def test_small_cases_with_other_bins(case: dict[str, Any], subtests: pytest.Subtests) -> None:
    """The counts of the same bins: `tests/calibkit/hypothesis_tests/test_tce.py`."""
    label, prob = labels_of(case), np.array(case["prob"])
    error = hypothesis_tests.test_based_calibration_error(label, prob, bins=AsGiven(), n_draws=0)
    assert error.table.count.tolist() == case["pava"]["count"]
    assert 100 * float(error) == pytest.approx(case["pava"]["percent"], abs=1e-12)
    # The edges of the reference come from linspace, which misplaces .3, .6 and .7.
    on_an_edge = np.isin(prob, [0.3, 0.6, 0.7]).any()
    for n_bins, want in case["uniform"].items():
        for norm, key in ((1, "l1"), (np.inf, "inf")):
            with subtests.test(n_bins=n_bins, norm=norm):
                gap = general_error(label, prob, bins=int(n_bins), norm=norm).value
                wrong = on_an_edge and n_bins in ("5", "10")
                assert wrong or gap == pytest.approx(want[key], abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_named_errors_are_members(seed: int) -> None:
    label, prob = coarse_binary(300, 40, seed)  # ties, on edges and at both ends
    pairs = [
        (general(label, prob), ck.expected_calibration_error(label, prob)),
        (general(label, prob, bins=bins.EqualMass(15)), ck.adaptive_calibration_error(label, prob)),
        (general(label, prob, norm=np.inf), ck.maximum_calibration_error(label, prob)),
        (general(label, prob, norm=3), ck.calibration_error(label, prob, norm=3)),
    ]
    for binning in (bins.Pava(), bins.PavaBC(10, 60), bins.FixedEdges([0, 0.1, 1])):
        named = ck.calibration_error(label, prob, bins=binning)
        pairs.append((general(label, prob, bins=binning), named))
    for ours, named in pairs:
        assert ours.value == pytest.approx(float(named), abs=1e-12), named.describe()


def test_empty_bins_count_nothing() -> None:
    label, prob = np.array([0, 1]), np.array([0.1, 0.9])
    error = general(label, prob, bins=10)
    assert error.value == pytest.approx(0.1)
    assert np.isnan(error.losses).sum() == 8
    assert general(label, prob, bins=10, norm=np.inf).value == pytest.approx(0.1)


def test_the_t_test_is_the_one_of_scipy_but_for_the_degrees_in_the_spread() -> None:
    """scipy divides by N - 1 in the spread, the source by N."""
    rng = np.random.default_rng(5)
    label = (rng.random(200) < 0.4).astype(int)
    prob = np.sort(rng.random(200))
    rejected = TTest(0.05).rejections(np.array([label.sum()]), np.array([0, 200]), prob)
    frequency = label.mean()
    t = (frequency - prob) / np.sqrt(frequency * (1 - frequency) / 200)
    assert rejected.tolist() == (2 * stats.t.sf(np.abs(t), 199) <= 0.05).tolist()
    by_scipy_t = stats.ttest_1samp(label[:, np.newaxis], prob).pvalue <= 0.05
    assert (rejected != by_scipy_t).mean() < 0.02


def test_the_t_test_without_spread_accepts_the_frequency_only() -> None:
    prob, bounds = np.array([0.0, 0.0, 0.1]), np.array([0, 3])
    assert TTest(0.05).rejections(np.array([0]), bounds, prob).tolist() == [False, False, True]
    published = TTest(0.05, published=True)
    assert published.rejections(np.array([0]), bounds, prob).all()
    one, rows = np.array([1]), np.array([0, 1])  # a bin of one row
    assert TTest(0.05).rejections(one, rows, np.array([0.5])).all()
    assert not TTest(0.05).rejections(one, rows, np.array([1.0])).any()
