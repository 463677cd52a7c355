"""Blocks and test-based errors as the code of Matsubara et al. has them.

Their tables are computed anew in `tests/book/test_tce_page.py`.
"""

from typing import Any

import numpy as np
import pytest

from book.experiments.tce.general import general_error
from book.experiments.tce.measures import AsGiven, sized
from book.experiments.tce.t_test import percent_by_t
from calibkit import bins, hypothesis_tests
from tests.helpers import each_case, golden

SMALL = golden("tce_small.json")
BLOCKS = [(case, block) for case in SMALL for block in case["blocks"]]


def labels_of(case: dict[str, Any]) -> Any:
    return np.array([int(digit) for digit in case["label"]])


def percent(label: Any, prob: Any, binning: Any, **options: Any) -> float:
    error = hypothesis_tests.test_based_calibration_error(
        label, prob, bins=binning, n_draws=0, **options
    )
    return 100 * float(error)


def name_of(value: dict[str, Any]) -> str:
    return value.get("name", f"{value.get('n_min')}-{value.get('n_max')}")


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


def test_the_two_tails_differ_where_the_source_differs_from_its_code() -> None:
    differ = [block for _, block in BLOCKS if block["count"] != block["paper_count"]]
    assert len(differ) >= 3


@pytest.mark.parametrize("case", SMALL, ids=name_of)
def test_small_cases_with_other_bins(case: dict[str, Any], subtests: pytest.Subtests) -> None:
    label, prob = labels_of(case), np.array(case["prob"])
    pava = AsGiven()
    error = hypothesis_tests.test_based_calibration_error(label, prob, bins=pava, n_draws=0)
    assert error.table.count.tolist() == case["pava"]["count"]
    assert 100 * float(error) == pytest.approx(case["pava"]["percent"], abs=1e-12)
    # The edges of the reference come from linspace, which misplaces .3, .6 and .7.
    on_an_edge = np.isin(prob, [0.3, 0.6, 0.7]).any()
    for n_bins, want in case["uniform"].items():
        with subtests.test(n_bins=n_bins):
            if on_an_edge and n_bins in ("5", "10"):
                continue
            assert percent(label, prob, int(n_bins)) == pytest.approx(want["percent"], abs=1e-12)
            for norm, key in ((1, "l1"), (np.inf, "inf")):
                gap = general_error(label, prob, bins=int(n_bins), norm=norm)
                assert gap.value == pytest.approx(want[key], abs=1e-12)
    compared = 0
    for n_bins, want in case["quantile"].items():
        with subtests.test(n_bins=n_bins):
            # Ours differ where bins have unequal sizes (who gets the extra one) or split a tie.
            binning = bins.EqualMass(int(n_bins))
            tce = hypothesis_tests.test_based_calibration_error
            error = tce(label, prob, bins=binning, n_draws=0)
            if error.table.count.tolist() == want["count"]:
                assert 100 * float(error) == pytest.approx(want["percent"], abs=1e-12)
                compared += 1
    assert compared >= 1
