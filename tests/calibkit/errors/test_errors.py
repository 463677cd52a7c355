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
    ExactTable,
    as_event,
    binary_data,
    class_data,
    coarse_classes,
    exact_equal_mass_edges,
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


def table_of(labels: Any, prob: Any, view: Any, edges: Any) -> ExactTable:
    labels, prob = as_event(labels, prob, view)
    return exact_table(labels, prob, edges(prob) if callable(edges) else edges)


@pytest.mark.parametrize("data", [class_data(120, 4), coarse_classes(120, 4, 10)])
class TestNamedMembers:
    """Each name is one choice of view, bins, norm and weights."""

    @pytest.mark.parametrize(
        ("measure", "norm", "weights"),
        [
            (ck.expected_calibration_error, 1, "mass"),
            (ck.root_mean_square_calibration_error, 2, "mass"),
            (ck.maximum_calibration_error, inf, "mass"),
            (ck.average_calibration_error, 1, "equal"),
        ],
    )
    @pytest.mark.parametrize("view", ["top-label", 2])
    def test_equal_width_by_default(self, data, measure, norm, weights, view) -> None:
        for bins, options in ((15, {}), (10, {"bins": 10})):
            exact = table_of(*data, view, [k / bins for k in range(bins + 1)])
            wanted = pytest.approx(exact_error(exact, norm, weights), abs=1e-12)
            assert float(measure(*data, view=view, **options)) == wanted, bins

    @pytest.mark.parametrize("n_bins", [15, 6])
    def test_adaptive_is_equal_mass(self, data: Any, n_bins) -> None:
        exact = table_of(*data, 1, lambda p, n=n_bins: exact_equal_mass_edges(p, n))
        found = ck.adaptive_calibration_error(*data, view=1, bins=n_bins)
        assert float(found) == pytest.approx(exact_error(exact), abs=1e-12)

    def test_top_label_is_the_l2_norm_over_equal_mass(self, data: Any) -> None:
        exact = table_of(*data, "top-label", lambda p: exact_equal_mass_edges(p, 15))
        for norm, options in ((2, {}), (1, {"norm": 1}), (3, {"norm": 3})):
            found = ck.top_label_calibration_error(*data, **options)
            assert float(found) == pytest.approx(exact_error(exact, norm), abs=1e-12), norm

    def test_class_wise_is_the_mean_over_classes(self, data: Any) -> None:
        edges = [k / 15 for k in range(16)]
        each = [exact_error(table_of(*data, k, edges)) for k in range(4)]
        found = ck.class_wise_calibration_error(*data)
        assert found.per_view == pytest.approx(each, abs=1e-12)
        assert float(found) == pytest.approx(sum(each) / 4, abs=1e-12)

    @pytest.mark.parametrize("norm", [1, 2, 3, inf])
    def test_marginal_is_the_mean_of_powers(self, data: Any, norm: float) -> None:
        tables = [table_of(*data, k, lambda p: exact_equal_mass_edges(p, 15)) for k in range(4)]
        each = np.array([exact_error(table, norm) for table in tables])
        expected = each.max() if norm == inf else (each**norm).mean() ** (1 / norm)
        found = ck.marginal_calibration_error(*data, norm=norm)
        assert float(found) == pytest.approx(expected, abs=1e-12)


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


@pytest.mark.parametrize("options", [{"norm": 2}, {"norm": inf}, {"weights": "equal"}])
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
