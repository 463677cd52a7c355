"""Partitions of [0, 1]: fences and posts, ties, and every float in exactly one bin."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibkit as ck
from calibkit.bins import as_bins, assign
from tests.helpers import exact_distinct_edges, exact_equal_mass_edges

# No edge fits between 1 and the float below it; that pair has a test of its own.
probabilities = st.one_of(st.floats(0, 0.999999), st.just(1.0))
samples = st.lists(probabilities, min_size=1, max_size=60).map(np.array)
coarse = st.lists(st.integers(0, 12), min_size=1, max_size=60).map(lambda k: np.array(k) / 12)
binnings = st.one_of(
    st.builds(ck.EqualWidth, st.integers(1, 60)),
    st.builds(ck.EqualMass, st.integers(1, 60), st.sampled_from(["midpoint", "quantile"])),
    st.just(ck.Distinct()),
    st.lists(st.floats(1e-6, 1 - 1e-6), min_size=0, max_size=8, unique=True).map(
        lambda inner: ck.FixedEdges([0, *sorted(inner), 1])
    ),
)


def bin_of(prob: Any, binning: Any) -> Any:
    prob = np.asarray(prob)
    return assign(prob, binning.edges(prob))


# --- fences -------------------------------------------------------------------------------------
# The fence-post table: three known libraries make 9 or 11 bins of ten.


@pytest.mark.parametrize(
    ("prob", "home"), [*((k / 10, k) for k in range(10)), (1, 9), (0.95, 9), (0.3 - 1e-11, 2)]
)
def test_where_a_prediction_lives(prob: float, home: int) -> None:
    assert bin_of([prob], ck.EqualWidth(10))[0] == home
    assert np.flatnonzero(ck.reliability_table([1], [prob], bins=10).count) == [home]


def test_edges_are_the_numbers_k_over_b() -> None:
    """`numpy.linspace` has .30000000000000004 and so puts .3 one bin too low."""
    for n_bins in range(1, 300):
        expected = [k / n_bins for k in range(n_bins + 1)]
        assert ck.EqualWidth(n_bins).edges(np.array([0.5])).tolist() == expected, n_bins
    assert np.linspace(0, 1, 11)[3] > 0.3


# --- rounding -----------------------------------------------------------------------------------
# What is an edge up to the precision of its type belongs to the bin above.


@pytest.mark.parametrize("kind", ["float64", "float32", "float16"])
def test_an_edge_is_one_in_every_type_and_seen_from_both_sides(kind: str) -> None:
    torch = pytest.importorskip("torch")
    for n_bins in (5, 10, 15, 20, 50):
        edge = torch.arange(1, n_bins, dtype=torch.float64) / n_bins
        prob = edge.to(getattr(torch, kind))
        given = {"as it is": prob, "turned round": 1 - prob}
        if kind == "float32":
            given |= {"in a coat": prob.double(), "as numbers": prob.tolist()}
        expected = [0] + [1] * (n_bins - 1)
        for how, said in given.items():
            for view in (None, 0):
                table = ck.reliability_table(edge > 2, said, bins=n_bins, view=view)
                assert table.count.tolist() == expected, (n_bins, how, view)


def test_what_the_type_can_tell_apart_stays_apart() -> None:
    near = [0.3 - 1e-11, 0.3, 1e-13, 2e-13]
    assert ck.reliability_table([0] * 4, near, bins=10).count[[0, 2, 3]].tolist() == [2, 1, 1]
    small = [0, 1e-13, 0.5, 1]
    assert ck.reliability_table([0] * 4, near, bins=small).count.tolist() == [0, 4, 0]


# --- equal mass ---------------------------------------------------------------------------------


@given(st.one_of(coarse, samples), st.integers(1, 70))
def test_equal_mass_agrees_with_exact_cuts(prob: Any, n_bins: int) -> None:
    edges = exact_equal_mass_edges(prob, n_bins)
    exact = [sum(edge <= Fraction(float(p)) for edge in edges[1:-1]) for p in prob]
    found = bin_of(prob, ck.EqualMass(n_bins))
    same_exact = np.equal.outer(exact, exact)
    assert np.array_equal(same_exact, np.equal.outer(found, found))


@pytest.mark.parametrize("rule", ["midpoint", "quantile"])
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_a_constant_prediction_has_one_bin(value: float, rule: Any) -> None:
    assert ck.EqualMass(15, rule).edges(np.full(40, value)).tolist() == [0, 1]


def test_neighbouring_floats_are_kept_apart() -> None:
    low, high = 0.5, np.nextafter(0.5, 1)
    assert bin_of([low, high], ck.EqualMass(2)).tolist() == [0, 1]


@pytest.mark.parametrize("rule", ["midpoint", "quantile"])
def test_single_precision_cuts_as_double_precision(rule) -> None:
    prob = np.random.default_rng(0).random(997).astype(np.float32)
    double = bin_of(prob.astype(np.float64), ck.EqualMass(15, rule))
    assert np.array_equal(bin_of(prob, ck.EqualMass(15, rule)), double)


# --- distinct -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.one_of(coarse, samples))
def test_one_bin_per_value(prob: Any) -> None:
    values, inverse = np.unique(prob, return_inverse=True)
    assert np.array_equal(bin_of(prob, ck.Distinct()), inverse)
    exact = [float(edge) for edge in exact_distinct_edges(values)]
    assert ck.Distinct().edges(prob) == pytest.approx(exact, abs=1e-15)


def test_neighbouring_floats_and_the_smallest_one() -> None:
    prob = np.array([0.0, 5e-324, 0.5, np.nextafter(0.5, 1), 1.0])
    assert bin_of(prob, ck.Distinct()).tolist() == [0, 1, 2, 3, 4]


# --- fixed edges --------------------------------------------------------------------------------


def test_edges_are_kept() -> None:
    edges = [0, 0.3, 0.5, 1]
    assert ck.FixedEdges(edges).edges(np.array([0.1])).tolist() == edges
    assert bin_of([0.0, 0.3, 0.4, 0.5, 1.0], ck.FixedEdges(edges)).tolist() == [0, 1, 1, 2, 2]


def test_a_later_change_of_the_list_does_not_matter() -> None:
    edges = np.array([0, 0.5, 1])
    binning = ck.FixedEdges(edges)
    edges[1] = 0.9
    assert binning.edges(edges).tolist() == [0, 0.5, 1]


@pytest.mark.slow
@given(binnings, st.one_of(samples, coarse))
def test_every_prediction_belongs_to_exactly_one_bin(binning: Any, prob: Any) -> None:
    edges = binning.edges(prob)
    index = assign(prob, edges)
    assert (np.diff(edges) > 0).all() and (edges[0], edges[-1]) == (0, 1)
    inside = (edges[:-1] <= prob[:, None]) & (
        (prob[:, None] < edges[1:]) | ((prob[:, None] == 1) & (edges[1:] == 1))
    )
    assert (inside.sum(axis=1) == 1).all() and np.array_equal(inside.argmax(axis=1), index)


def test_one_and_the_float_below_it() -> None:
    prob = np.array([0.2, np.nextafter(1, 0), 1.0, 1.0])
    for binning in (ck.EqualWidth(3), ck.EqualMass(2), ck.EqualMass(4), ck.Distinct()):
        table = ck.reliability_table([0, 1, 1, 0], prob, bins=binning)
        assert table.count.sum() == 4 and table.edges[-1] == 1
    assert np.bincount(bin_of(prob, ck.EqualMass(4))).tolist() == [1, 3]
    assert np.bincount(bin_of(prob, ck.Distinct())).tolist() == [1, 1, 2]


@pytest.mark.slow
@given(binnings, samples)
def test_binnings_are_values(binning: Any, prob: Any) -> None:
    """Equal, hashable, printable, and the same answer to the same question."""
    twin = type(binning)(*(getattr(binning, name) for name in type(binning).__slots__))
    assert binning == twin
    assert hash(binning) == hash(twin)
    assert str(binning) == str(twin) and np.array_equal(binning.edges(prob), twin.edges(prob))


def test_as_bins() -> None:
    assert as_bins(15) == as_bins(np.int32(15)) == ck.EqualWidth(15)
    assert as_bins(ck.Distinct()) == ck.Distinct()


def test_a_binning_of_ones_own() -> None:
    class Halves:
        def edges(self, prob: Any, label: Any = None) -> Any:
            return np.array([0, 0.5, 1])

        def __str__(self) -> str:
            return "two halves"

    table = ck.reliability_table([0, 1, 1], [0.1, 0.5, 0.9], bins=Halves())
    assert table.count.tolist() == [1, 2] and table.bins == "two halves"
