"""The bin table: counts, means and frequencies, against exact loops and against scikit-learn."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.calibration import calibration_curve

import calibkit as ck
from tests.helpers import (
    BINNINGS,
    DATA,
    as_event,
    binary_data,
    class_data,
    coarse_classes,
    exact_distinct_edges,
    exact_equal_mass_edges,
    exact_table,
)


def assert_table(table: ck.BinTable, exact: Any) -> None:
    """Compare with exact rows, leaving out empty bins on both sides."""
    exact = [row for row in exact if row[0]]
    used = table.occupied
    assert table.count[used].tolist() == [count for count, _, _ in exact]
    assert table.mean_prob[used] == pytest.approx([float(m) for _, m, _ in exact], abs=1e-12)
    assert table.frequency[used] == pytest.approx([float(f) for _, _, f in exact], abs=1e-15)


@pytest.mark.parametrize("binning", BINNINGS)
@pytest.mark.parametrize("data", DATA)
def test_tables_agree_with_exact_loops(data: str, binning: str) -> None:
    (labels, prob), (bins, edges) = DATA[data], BINNINGS[binning]
    table = ck.reliability_table(labels, prob, bins=bins)
    assert_table(table, exact_table(labels, prob, edges(prob)))


@pytest.mark.parametrize("view", ["top-label", 0, 2])
@pytest.mark.parametrize("data", [class_data(90), coarse_classes(90, 3, 10)])
def test_tables_of_classes_agree_with_exact_loops(data: tuple[Any, Any], view: Any) -> None:
    labels, prob = as_event(*data, view)
    edges = [k / 10 for k in range(11)]
    table = ck.reliability_table(*data, view=view, bins=10)
    assert_table(table, exact_table(labels, prob, edges))
    assert table.view == (view if view == "top-label" else f"class {view}")


@pytest.mark.parametrize(
    ("strategy", "bins"), [("uniform", 15), ("quantile", ck.EqualMass(15, "quantile"))]
)
def test_tables_agree_with_scikit_learn(strategy: str, bins: Any) -> None:
    """On continuous predictions: scikit-learn closes bins on the right."""
    labels, prob = binary_data(1000)
    frequency, mean_prob = calibration_curve(labels, prob, n_bins=15, strategy=strategy)
    table = ck.reliability_table(labels, prob, bins=bins)
    assert table.mean_prob[table.occupied] == pytest.approx(mean_prob, abs=1e-12)
    assert table.frequency[table.occupied] == pytest.approx(frequency, abs=1e-12)


class TestEmptyBins:
    table = ck.reliability_table([0, 1], [0.05, 0.95], bins=10)

    def test_are_nan_rows_of_weight_zero(self) -> None:
        assert self.table.occupied.tolist() == [True] + 8 * [False] + [True]
        empty = ~self.table.occupied
        columns = np.stack([self.table.mean_prob, self.table.frequency, self.table.gap])
        assert np.array_equal(np.isnan(columns), np.broadcast_to(empty, (3, 10)))
        assert (self.table.weight[empty] == 0).all()

    def test_are_dashes_in_html_and_rows_in_the_frame(self) -> None:
        pytest.importorskip("pandas")
        assert self.table._repr_html_().count("<td>–</td>") == 3 * 8
        assert len(self.table.to_frame()) == 10


class TestColumns:
    labels, prob = binary_data(500)
    table = ck.reliability_table(labels, prob, bins=8)

    def test_derived_columns(self) -> None:
        table = self.table
        assert table.gap == pytest.approx(table.mean_prob - table.frequency)
        assert table.weight == pytest.approx(table.count / 500)
        assert table.weight.sum() == pytest.approx(1, abs=1e-12)
        assert table.centre == pytest.approx((np.arange(8) + 0.5) / 8)
        assert table.width == pytest.approx(np.full(8, 1 / 8))
        assert (table.n, table.n_bins) == (500, 8)


def test_equal_mass_edges_differ_from_class_to_class() -> None:
    labels, prob = class_data(300)
    tables = ck.reliability_tables(labels, prob, view="class-wise", bins=ck.EqualMass(5))
    assert len({tuple(table.edges) for table in tables}) == 3
    assert all(table.count.tolist() == [60] * 5 for table in tables)


# No edge fits between 1 and the float below it: see the tests of bins.
probabilities = st.one_of(st.floats(0, 0.999999), st.just(1.0))


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.booleans(), probabilities), min_size=1, max_size=40), st.integers(1, 40)
)
@settings(max_examples=80)
def test_any_table_agrees_with_exact_loops(rows: list[tuple[bool, float]], n_bins: int) -> None:
    labels, prob = map(np.array, zip(*rows, strict=True))
    for bins, edges in (
        (n_bins, [k / n_bins for k in range(n_bins + 1)]),
        (ck.EqualMass(n_bins), exact_equal_mass_edges(prob, n_bins)),
        (ck.Distinct(), exact_distinct_edges(prob)),
    ):
        table = ck.reliability_table(labels, prob, bins=bins)
        assert_table(table, exact_table(labels, prob, edges))
