"""Blocks and test-based errors as the code of Matsubara et al. has them.

Their tables are computed anew in `tests/book/test_tce_page.py`.
"""

from typing import Any

import numpy as np
import pytest

from book.experiments.tce.general import general_error
from book.experiments.tce.measures import AsGiven, sized
from book.experiments.tce.t_test import percent_by_t
from calibkit import hypothesis_tests
from tests.helpers import each_case, golden

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
