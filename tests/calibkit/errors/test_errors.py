"""The family of calibration errors against slow exact loops, by definition and by name."""

from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit.errors import null_moments
from tests.helpers import (
    BINNINGS,
    DATA,
    assert_same,
    binary_data,
    class_data,
    coarse_classes,
    exact_error,
    exact_table,
)

NORMS = [1, 1.5, 2, 3, 7.25, inf]


@pytest.mark.parametrize("binning", BINNINGS)
@pytest.mark.parametrize("data", DATA)
def test_errors_agree_with_exact_loops(data: str, binning: str) -> None:
    (labels, prob), (bins, edges) = DATA[data], BINNINGS[binning]
    exact = exact_table(labels, prob, edges(prob))
    for norm, weights in product(NORMS, ("mass", "equal")):
        found = ck.calibration_error(labels, prob, bins=bins, norm=norm, weights=weights)
        wanted = exact_error(exact, norm, weights)
        assert float(found) == pytest.approx(wanted, abs=1e-12), (norm, weights)


WIDE, EVEN = ck.EqualWidth(15), ck.EqualMass(15)
# By default: bins, norm and weights.
MEMBERS: dict[Any, tuple[Any, float, str]] = {
    ck.expected_calibration_error: (WIDE, 1, "mass"),
    ck.root_mean_square_calibration_error: (WIDE, 2, "mass"),
    ck.maximum_calibration_error: (WIDE, inf, "mass"),
    ck.average_calibration_error: (WIDE, 1, "equal"),
    ck.adaptive_calibration_error: (EVEN, 1, "mass"),
}
CLASSES = [class_data(120, 4), coarse_classes(120, 4, 10)]


@pytest.mark.parametrize("data", CLASSES, ids=["fine", "coarse"])
@pytest.mark.parametrize("measure", MEMBERS)
def test_each_name_is_one_choice_of_bins_norm_and_weights(measure: Any, data: Any) -> None:
    bins, norm, weights = MEMBERS[measure]
    for number, options in ((15, {}), (6, {"bins": 6})):
        chosen = {"bins": type(bins)(number), "norm": norm, "weights": weights}
        for view in ("top-label", 2):
            found = measure(*data, view=view, **options)
            assert_same(found, ck.calibration_error(*data, view=view, **chosen), tolerance=0)


@pytest.mark.parametrize("data", CLASSES, ids=["fine", "coarse"])
@pytest.mark.parametrize("norm", [1, 2, 3, inf])
def test_over_all_classes_it_is_the_mean_of_powers(data: Any, norm: float) -> None:
    top = ck.calibration_error(*data, view="top-label", bins=EVEN, norm=norm)
    assert ck.top_label_calibration_error(*data, norm=norm).value == top.value
    each = [ck.calibration_error(*data, view=k, bins=EVEN, norm=norm).value for k in range(4)]
    expected = max(each) if norm == inf else np.mean(np.power(each, norm)) ** (1 / norm)
    assert float(ck.marginal_calibration_error(*data, norm=norm)) == pytest.approx(expected)
    if norm == 2:
        assert ck.top_label_calibration_error(*data).value == top.value
        assert float(ck.marginal_calibration_error(*data)) == pytest.approx(expected)
    else:
        each = [ck.expected_calibration_error(*data, view=k).value for k in range(4)]
        assert float(ck.class_wise_calibration_error(*data)) == pytest.approx(np.mean(each))


def test_high_norms_approach_the_maximum() -> None:
    """The powers themselves would underflow to 0 long before."""
    labels, prob = binary_data(300)
    largest = float(ck.maximum_calibration_error(labels, prob))
    values = [float(ck.calibration_error(labels, prob, norm=10.0**k)) for k in range(7)]
    assert values == sorted(values) and values[-1] == pytest.approx(largest, rel=1e-4)
    assert float(ck.calibration_error(labels, prob, norm=1e300)) == pytest.approx(largest)
    classes, rows = class_data(300)
    largest = float(ck.marginal_calibration_error(classes, rows, norm=inf))
    found = float(ck.marginal_calibration_error(classes, rows, norm=1e6))
    assert found == pytest.approx(largest, rel=1e-4)


# --- null moments -------------------------------------------------------------------------------


OTHERS = [{"norm": 2}, {"norm": inf}, {"weights": "equal"}, {"bins": ck.Pava()}]


@pytest.mark.parametrize("options", OTHERS)
def test_there_is_no_closed_form_for_other_members(options: dict[str, Any]) -> None:
    error = ck.calibration_error(*binary_data(100), **options)
    assert np.isnan([error.null_mean, error.null_sd]).all()
    assert "would show" not in error.describe()


def test_class_wise_has_a_mean_and_no_spread() -> None:
    error = ck.class_wise_calibration_error(*class_data(500))
    means = [null_moments(table)[0] for table in error.tables]
    assert error.null_mean == pytest.approx(np.mean(means), abs=1e-15)
    assert np.isnan(error.null_sd) and "±" not in error.describe()


# --- what a result says -------------------------------------------------------------------------


def test_the_choices_are_recorded() -> None:
    data = class_data(50)
    error = ck.calibration_error(
        *data, view="top-label", bins=ck.EqualMass(4), norm=2, weights="equal"
    )
    assert (error.norm, error.weights) == (2, "equal")
    assert (error.view, error.bins, error.n) == ("top-label", "4 equal-mass bins", 50)
    assert error.per_view.tolist() == [error.value]
    wide = ck.class_wise_calibration_error(*data)
    assert wide.view == "class-wise, 3 classes"
    assert [table.view for table in wide.tables] == ["class 0", "class 1", "class 2"]
