"""Blocks and test-based errors of small cases, from the code of Matsubara and others (2023).

What that code does otherwise than its paper, and the tables, are tested with the book.
"""

from typing import Any

import numpy as np
import pytest

from calibkit import bins
from calibkit.hypothesis_tests import test_based_calibration_error
from tests.helpers import golden

SMALL = golden("tce_small.json")
BLOCKS = [(case, block) for case in SMALL for block in case["blocks"]]


def labels_of(case: dict[str, Any]) -> Any:
    return np.array([int(digit) for digit in case["label"]])


@pytest.mark.parametrize(("case", "block"), BLOCKS, ids=lambda one: one.get("name", ""))
def test_small_cases_with_the_tail_of_the_paper(
    case: dict[str, Any], block: dict[str, Any]
) -> None:
    label, prob = labels_of(case), np.array(case["prob"])
    binning = bins.PavaBC(block["n_min"], block["n_max"])
    order = np.argsort(prob, kind="stable")
    bounds = binning.bounds(np.arange(len(prob)) / len(prob), label[order])  # places have no ties
    assert np.diff(bounds).tolist() == block["paper_count"]
    hits = [int(part.sum()) for part in np.split(label[order], bounds[1:-1])]
    assert hits == block["paper_hits"]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case["name"])
def test_small_cases_with_other_bins(case: dict[str, Any]) -> None:
    label, prob = labels_of(case), np.array(case["prob"])
    # The edges of the reference come from linspace, which misplaces .3, .6 and .7; its bins of
    # equal mass give the extra row to others than ours, or split a tie.
    on_an_edge = np.isin(prob, [0.3, 0.6, 0.7]).any()
    compared = 0
    for kind, binning in (("uniform", bins.EqualWidth), ("quantile", bins.EqualMass)):
        for number, want in case[kind].items():
            error = test_based_calibration_error(label, prob, bins=binning(int(number)), n_draws=0)
            same = error.table.count.tolist() == want.get("count", error.table.count.tolist())
            if same and not (kind == "uniform" and on_an_edge and number in ("5", "10")):
                assert 100 * error.value == pytest.approx(want["percent"], abs=1e-12)
                compared += 1
    assert compared >= 1
