"""The count table: equal to what is computed in memory, in any order and from any parts."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import calibkit as ck
from calibkit.corp import corp_decomposition
from calibkit_audit.counts import CountTable
from calibkit_audit.counts.grid import BLOCK, STEPS, grid_edges
from tests.helpers import binary_data, class_data, coarse_binary, each_case

USUAL = (1, 2, 5, 10, 12, 15, 20, 25, 30, 50, 100)


def rows(n: int = 20_000, seed: int = 0, dtype: Any = np.float64) -> tuple[Any, Any]:
    """Draw predictions that are crowded near 0, as logs have them."""
    rng = np.random.default_rng(seed)
    prob = (1 / (1 + np.exp(-rng.normal(-1, 1.5, n)))).astype(dtype)
    return (rng.random(n) < prob**1.2).astype(np.int8), prob


def same(one: CountTable, other: CountTable) -> bool:
    """Tell whether two tables are the same bit for bit; squares may differ in the last digits."""
    return (
        np.array_equal(one.counts, other.counts)
        and np.array_equal(one.steps, other.steps)
        and np.array_equal(one.impossible, other.impossible)
        and np.allclose(one.squares, other.squares, rtol=1e-12)
        and (one.view, one.cells) == (other.view, other.cells)
    )


# --- cells ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_every_float_beside_an_edge_is_in_the_cell_that_equal_width_bins_say(dtype: Any) -> None:
    cells = 25_200
    edges = grid_edges(cells).astype(dtype)
    near = [edges, np.nextafter(edges, dtype(0)), np.nextafter(edges, dtype(1))]
    prob = np.unique(np.clip(np.concatenate(near), 0, 1))
    counted = CountTable(cells=cells).update(np.zeros(len(prob), int), prob).counts[0, :, 0]
    direct = np.searchsorted(grid_edges(cells)[1:-1], prob, side="right")
    assert np.array_equal(counted, np.bincount(direct, minlength=cells))


@pytest.mark.parametrize("bins", USUAL)
def test_bins_are_those_of_equal_width_also_on_their_edges(bins: int) -> None:
    fractions = {Fraction(k, q) for q in range(1, 121) for k in range(q + 1)}
    prob = np.array(sorted(map(float, fractions)))
    label = np.arange(len(prob)) % 2
    table = CountTable().update(label, prob).table(bins)
    direct = ck.reliability_table(label, prob, bins=bins)
    assert np.array_equal(table.edges, direct.edges) and np.array_equal(table.count, direct.count)
    assert np.array_equal(table.frequency, direct.frequency, equal_nan=True)
    np.testing.assert_allclose(table.mean_prob, direct.mean_prob, rtol=0, atol=1e-13)


@pytest.mark.slow
@given(
    prob=hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1)),
    cells=st.integers(1, 1_000_000),
)
def test_sums_are_right_for_any_floats_and_any_grid(prob: Any, cells: int) -> None:
    table = CountTable(cells=cells).update(np.ones(len(prob), int), prob)
    exact = sum(map(Fraction, prob.tolist()))
    (sums,) = table._sums()
    number = sum(Fraction(int(c)) * k for k, c in enumerate(sums.counts[:, 1].tolist()) if c)
    kept = (number + Fraction(int(sums.steps.sum()), STEPS)) / cells
    assert abs(kept - exact) <= len(prob) * (Fraction(1, 2 * STEPS * cells) + Fraction(2, 2**53))
    assert (sums.steps >= 0).all() and (sums.steps <= sums.counts * STEPS).all()


# --- equal to the measures in memory -------------------------------------------------------------


@each_case("dtype", [np.float64, np.float32])
@each_case("bins", USUAL)
def test_expected_error_equals_the_one_in_memory(bins: int, dtype: Any) -> None:
    label, prob = rows(dtype=dtype)
    table = CountTable().update(label, prob)
    ours = table.expected_calibration_error(bins)
    direct = ck.expected_calibration_error(label, prob, bins=bins)
    assert float(ours) == pytest.approx(float(direct), abs=1e-13)
    assert ours.null_mean == pytest.approx(direct.null_mean, abs=1e-13)
    assert (ours.view, ours.n, ours.name) == (direct.view, direct.n, direct.name)


@pytest.mark.parametrize("options", [{"norm": 2}, {"norm": np.inf}, {"weights": "equal"}])
def test_other_members_of_the_family_equal_those_in_memory(options: dict[str, Any]) -> None:
    label, prob = binary_data(3000)
    ours = CountTable().update(label, prob).calibration_error(20, **options)
    direct = ck.calibration_error(label, prob, bins=20, **options)
    assert float(ours) == pytest.approx(float(direct), abs=1e-13) and ours.name == direct.name


@pytest.mark.parametrize("view", ["top-label", 0, 2])
def test_one_event_of_many_classes(view: Any) -> None:
    label, prob = class_data(5000, n_classes=4)
    table = CountTable(view=view).update(label, prob)
    direct = ck.calibration_error(label, prob, view=view)
    assert float(table.expected_calibration_error()) == pytest.approx(float(direct), abs=1e-13)
    assert table.table().view == direct.view and table.n_classes == 4


def test_class_wise_tables() -> None:
    label, prob = class_data(5000, n_classes=4)
    table = CountTable(view="class-wise").update(label, prob)
    direct = ck.class_wise_calibration_error(label, prob)
    ours = table.expected_calibration_error()
    assert float(ours) == pytest.approx(float(direct), abs=1e-13)
    np.testing.assert_allclose(ours.per_view, direct.per_view, atol=1e-13)
    assert ours.name == direct.name
    assert table.describe() == "5,000 predictions (4 classes) counted in 25,200 cells."
    assert same(table.one_class(2), CountTable(view=2).update(label, prob))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_brier_score_equals_the_one_in_memory(dtype: Any) -> None:
    label, prob = rows(dtype=dtype)
    ours, direct = CountTable().update(label, prob).brier_score(), ck.brier_score(label, prob)
    assert float(ours) == pytest.approx(float(direct), abs=1e-13)
    assert type(ours.value) is float


def test_events_that_were_called_impossible_are_counted() -> None:
    label, prob = [0, 1, 1, 0, 1], [0.0, 0.0, 1.0, 1.0, 0.5]
    table = CountTable().update(label, prob)
    assert table.brier_score().impossible == ck.brier_score(label, prob).impossible == 2
    assert table.cumulative_differences().mad_test.p_value == 0
    assert CountTable().update([0, 1], [0.0, 1.0]).brier_score().value == 0
    assert len(CountTable().to_frame()) == 0 < len(table.to_frame())


@pytest.mark.parametrize("denominator", [7, 100, 25_200])
def test_everything_is_exact_for_predictions_on_the_grid(denominator: int, subtests) -> None:
    label, prob = coarse_binary(2000, denominator)
    if denominator == 7:  # equal predictions lie in the same cell, which is all that matters
        assert len(np.unique(np.floor(prob * 25_200))) == len(np.unique(prob))
    table = CountTable().update(label, prob)
    ours, direct = table.corp(), corp_decomposition(label, prob)
    assert np.array_equal(ours.count, direct.count)
    for part in ("score", "miscalibration", "discrimination", "uncertainty"):
        with subtests.test(part):
            assert getattr(ours, part) == pytest.approx(getattr(direct, part), abs=1e-12)
    sums, direct_sums = table.cumulative_differences(), ck.cumulative_differences(label, prob)
    for part in ("share", "difference", "scale"):
        np.testing.assert_allclose(getattr(sums, part), getattr(direct_sums, part), atol=1e-12)
    assert sums.mad_test.p_value == pytest.approx(direct_sums.mad_test.p_value, abs=1e-9)
    assert sums.range_test.statistic == pytest.approx(direct_sums.range_test.statistic, abs=1e-8)
    adaptive = ck.adaptive_calibration_error(label, prob)
    assert float(table.adaptive_calibration_error()) == pytest.approx(float(adaptive), abs=1e-12)


def test_stated_accuracy_off_the_grid() -> None:
    label, prob = rows(200_000)
    table = CountTable().update(label, prob)
    direct = corp_decomposition(label, prob)
    assert table.corp().miscalibration == pytest.approx(direct.miscalibration, rel=5e-3)
    assert table.corp().score == pytest.approx(direct.score, abs=1e-8)
    sums, direct_sums = table.cumulative_differences(), ck.cumulative_differences(label, prob)
    fullest = table.counts.sum(axis=2).max() / table.n
    assert direct_sums.ecce_mad - fullest <= sums.ecce_mad <= direct_sums.ecce_mad + 1e-12
    assert sums.scale == pytest.approx(direct_sums.scale, rel=1e-12)
    adaptive = ck.adaptive_calibration_error(label, prob)
    assert float(table.adaptive_calibration_error()) == pytest.approx(float(adaptive), abs=2e-4)


@given(numbers=st.lists(st.integers(0, 60), min_size=1, max_size=80), n_bins=st.integers(1, 12))
def test_equal_mass_bins_are_those_of_equal_mass_on_rounded_predictions(numbers, n_bins) -> None:
    prob = np.array(numbers) / 60
    label = np.arange(len(prob)) % 2
    table = CountTable(cells=60).update(label, prob).table(ck.EqualMass(n_bins))
    cell = np.minimum(np.array(numbers), 59) / 60  # the closed end: 1 lies in the last cell
    direct = ck.reliability_table(label, cell, bins=ck.EqualMass(n_bins))
    assert table.count.tolist() == direct.count.tolist()
    assert np.array_equal(table.frequency, direct.frequency)
    # An edge half-way between two cells that are not empty is moved up to the next cell.
    assert np.rint(60 * table.edges).tolist() == np.ceil((60 * direct.edges).round(9)).tolist()


# --- adding up -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(cuts=st.lists(st.integers(0, 500), max_size=6), seed=st.integers(0, 99))
def test_parts_add_up_bit_for_bit_in_any_order(cuts: list[int], seed: int) -> None:
    label, prob = rows(500, seed)
    whole = CountTable().update(label, prob)
    order = np.random.default_rng(seed).permutation(500)
    pieces = [piece for piece in np.split(order, sorted(cuts)) if len(piece)]
    tables = [CountTable().update(label[piece], prob[piece]) for piece in pieces]
    assert same(sum(tables), whole) and same(sum(reversed(tables), start=CountTable()), whole)


def test_more_rows_than_a_block() -> None:
    label, prob = rows(2 * BLOCK + 17)
    whole = CountTable().update(label, prob)
    assert whole.n == len(prob)
    assert same(whole, CountTable().update(label[::-1], prob[::-1]))


def test_a_table_never_changes() -> None:
    table = CountTable().update([0, 1], [0.2, 0.7])
    before = table.counts.copy()
    table.update([1], [0.5])
    assert np.array_equal(table.counts, before)
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 0, 0] = 7
    assert same(pickle.loads(pickle.dumps(table)), table)


# --- what is refused -----------------------------------------------------------------------------


class Seeing:
    """Somebody's own bins, which look at the predictions."""

    def edges(self, prob: Any, label: Any = None) -> Any:
        return np.array([0.0, np.median(prob), 1.0])

    def assign(self, prob: Any, edges: Any) -> Any:
        return np.zeros(len(prob), dtype=np.intp)


@each_case(
    ("bins", "words"),
    [
        *((b, "inside a cell") for b in (77, 32, ck.FixedEdges([0, 1 / 3, 0.51234567, 1]))),
        (ck.Distinct(), "holds no single predictions"),
        (ck.Pava(), "holds no single predictions"),
        (Seeing(), "holds no single predictions"),
        (ck.EqualMass(10, rule="first"), "Use rule='midpoint'"),
        (10**9, "do not fit into the table's 25,200 cells"),
    ],
)
def test_bins_that_a_table_cannot_make_are_refused(bins: Any, words: str) -> None:
    table = CountTable().update([0, 1], [0.2, 0.7])
    with pytest.raises(ValueError, match=words):
        table.expected_calibration_error(bins)


def test_fixed_edges_on_the_grid_are_welcome() -> None:
    label, prob = binary_data(500)
    bins = ck.FixedEdges([0, 0.1, 0.25, 0.6, 1])
    ours = CountTable().update(label, 0.5 + prob / 2).expected_calibration_error(bins)
    direct = ck.expected_calibration_error(label, 0.5 + prob / 2, bins=bins)
    assert ours.value == pytest.approx(direct.value)
    assert np.array_equal(ours.tables[0].count, direct.tables[0].count)


UNIFORM = np.full((1, 101), 1 / 101)
BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: CountTable(cells=0), "cells must be"),
    (lambda: CountTable(cells=2_000_000), "at most 1,000,000"),
    (lambda: CountTable().table(), "empty"),
    (lambda: CountTable().update([0], [1.5]), r"y_prob\[0\] = 1.5"),
    (lambda: CountTable().update([2], [0.5]), "not a valid label"),
    (lambda: CountTable(view="top").update([0], [0.5]), "does not exist"),
    (lambda: CountTable().update([0], [[0.5, 0.5]]), "or say view="),
    (lambda: CountTable() + CountTable(view="top-label"), "cannot be added"),
    (lambda: CountTable(cells=10) + CountTable(cells=20), "cannot be added"),
    (lambda: CountTable().update([0], [0.5]).one_class(0), "no class"),
    (lambda: CountTable(view="class-wise").update([0], [0.5]).corp(), r"one_class\(k\)"),
    (lambda: CountTable(view="class-wise").update([0], UNIFORM), "at most 100 classes"),
    (lambda: one_row(2) + one_row(3), "2 and of 3 classes"),
]


def one_row(n_classes: int) -> CountTable:
    return CountTable(view=1).update([0], np.full((1, n_classes), 1 / n_classes))


def test_bad_input_says_what_is_wrong(subtests: pytest.Subtests) -> None:
    for call, words in BAD:
        with subtests.test(words), pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError):
        CountTable() + 3  # type: ignore[operator]


def test_a_full_table_is_refused_before_it_overflows() -> None:
    table = CountTable().update([1], [0.5])
    full = replace(table, counts=table.counts * 2**32)
    assert (full + table).n == 2**32 + 1
    with pytest.raises(ValueError, match="at most 8,589,934,592 rows"):
        full + full + table
