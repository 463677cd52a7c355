"""What must be true of calibration errors whatever the data: bounds, chains, identities."""

from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibkit as ck
from tests.helpers import binary_data, class_data, coarse_binary, coarse_classes

EPS = 1e-12  # rounding
NORMS = (1, 1.5, 2, 4, 16, inf)
seeds = st.integers(0, 2**32 - 1)
binnings = st.one_of(
    st.integers(1, 40), st.builds(ck.EqualMass, st.integers(1, 40)), st.just(ck.Distinct())
)


@st.composite
def binary(draw: st.DrawFn) -> tuple[Any, Any]:
    """Draw data with or without ties, calibrated or not."""
    n, seed = draw(st.integers(1, 80)), draw(seeds)
    if draw(st.booleans()):
        return coarse_binary(n, draw(st.integers(1, 30)), seed)
    return binary_data(n, seed, exponent=draw(st.sampled_from([0.5, 1, 3])))


@st.composite
def classes(draw: st.DrawFn) -> tuple[Any, Any]:
    """Draw data of two to five classes; all classes are among the first labels."""
    n_classes, seed = draw(st.integers(2, 5)), draw(seeds)
    n = draw(st.integers(n_classes, 60))
    if draw(st.booleans()):
        labels, prob = coarse_classes(n, n_classes, draw(st.integers(1, 12)), seed)
    else:
        labels, prob = class_data(n, n_classes, seed)
    labels[:n_classes] = range(n_classes)
    return labels, prob


def error(data: Any, bins: Any, norm: float = 1, **options: Any) -> float:
    return float(ck.calibration_error(*data, bins=bins, norm=norm, **options))


@pytest.mark.slow
@given(binary(), binnings, st.sampled_from(["mass", "equal"]))
def test_errors_lie_between_the_signed_gap_and_those_of_distinct_predictions(
    data: Any, bins: Any, weights: str
) -> None:
    """|mean p - mean y| <= l1 <= l2 <= ... <= maximum (Jensen), for every binning."""
    labels, prob = data
    values = [error(data, bins, norm) for norm in NORMS]
    floor = abs(prob.mean() - labels.mean())
    chain = [floor, *values, 1]
    assert all(low <= high + EPS for low, high in pairwise(chain))
    assert all(v <= error(data, ck.Distinct(), n) + EPS for v, n in zip(values, NORMS, strict=True))
    assert values[0] <= np.abs(prob - labels).mean() + EPS
    assert error(data, 1) == pytest.approx(floor, abs=EPS)
    chain = [error(data, bins, norm, weights=weights) for norm in NORMS]
    assert all(low <= high + EPS for low, high in pairwise(chain))


@pytest.mark.slow
@given(binary(), st.sampled_from([1, 2, 3, 5]), st.sampled_from([2, 3, 4]))
def test_refining_never_lowers_an_error(data: Any, n_bins: int, factor: int) -> None:
    """Every edge of the coarse bins is an edge of the fine ones."""
    for norm in (1, 2, inf):
        assert error(data, n_bins, norm) <= error(data, n_bins * factor, norm) + EPS


def test_bins_that_are_not_nested_may_go_either_way() -> None:
    """More bins are not finer bins: 2 bins can show what 3 hide."""
    labels, prob = [0, 1], [0.45, 0.55]
    assert error((labels, prob), 2) == pytest.approx(0.45)
    assert error((labels, prob), 3) == pytest.approx(0, abs=EPS)


@pytest.mark.slow
@given(classes(), binnings, st.sampled_from(NORMS))
def test_class_by_class(data: Any, bins: Any, norm: float) -> None:
    """Signed gaps are a floor and cancel; the names of classes do not matter."""
    labels, prob = data
    found = ck.class_wise_calibration_error(*data, bins=bins)
    marginal = ck.marginal_calibration_error(*data, bins=bins, norm=1)
    assert float(found) == pytest.approx(float(marginal), abs=EPS)
    wide = ck.marginal_calibration_error(*data, bins=bins, norm=norm)
    assert wide.per_view.min() - EPS <= float(wide) <= wide.per_view.max() + EPS
    signed = prob.mean(axis=0) - np.bincount(labels, minlength=prob.shape[1]) / len(labels)
    assert signed.sum() == pytest.approx(0, abs=EPS)
    assert (np.abs(signed) <= found.per_view + EPS).all()
    order = np.roll(np.arange(prob.shape[1]), 1)
    other = ck.class_wise_calibration_error(np.argsort(order)[labels], prob[:, order], bins=bins)
    assert other.per_view == pytest.approx(found.per_view[order], abs=EPS)


@given(seeds, st.integers(1, 20))
def test_both_classes_of_two_have_the_same_error(seed: int, n_bins: int) -> None:
    """Mirrored bins hold mirrored gaps; on an edge, where the closed side matters, not."""
    data = binary_data(60, seed)
    for norm in (1, 2, inf):
        zero, one = (error(data, n_bins, norm, view=k) for k in (0, 1))
        assert zero == pytest.approx(one, abs=EPS)


@pytest.mark.slow
@given(classes(), st.integers(1, 20))
def test_one_signed_errors_are_the_signed_gap(data: Any, n_bins: int) -> None:
    """Panchenko (2021), Lemma 1: one-sided errors have a budget."""
    table = ck.reliability_table(*data, view="top-label", bins=n_bins)
    gap = table.gap[table.occupied]
    signed = float((table.weight[table.occupied] * gap).sum())
    found = error(data, n_bins, view="top-label")
    if (gap >= 0).all() or (gap <= 0).all():
        assert found == pytest.approx(abs(signed), abs=EPS)
    else:
        assert found > abs(signed) - EPS
    accuracy = (table.weight * np.nan_to_num(table.frequency)).sum()
    if (gap >= 0).all():
        assert found <= 1 - accuracy + EPS
    if (gap <= 0).all():
        assert found <= accuracy - 1 / data[1].shape[1] + EPS


@pytest.mark.slow
@given(classes())
def test_the_chain_of_notions(data: Any) -> None:
    """From the signed gap to the strong error, each step at least the one before.

    The data set itself is the distribution: the truth behind a row is the frequency of
    labels among equal rows.
    """
    labels, prob = data
    n_classes = prob.shape[1]
    _, group = np.unique(prob, axis=0, return_inverse=True)
    hits = np.zeros((group.max() + 1, n_classes))
    np.add.at(hits, (group.ravel(), labels), 1)
    true = (hits / hits.sum(axis=1, keepdims=True))[group.ravel()]
    top = prob.argmax(axis=1)
    given_row = np.abs(true[np.arange(len(top)), top] - prob.max(axis=1)).mean()
    strong = np.abs(true - prob).sum(axis=1).mean()
    label_conditional = 0.0
    for k in range(n_classes):
        own = top == k
        if own.any():
            part = labels[own], prob[own]
            label_conditional += own.mean() * error(part, ck.Distinct(), view="top-label")
    chain = [
        error(data, 1, view="top-label"),
        error(data, 5, view="top-label"),
        error(data, ck.Distinct(), view="top-label"),
        label_conditional,
        given_row,
        strong / 2,
    ]
    assert all(low <= high + EPS for low, high in pairwise(chain))
    class_wise = ck.class_wise_calibration_error(*data, bins=ck.Distinct())
    assert float(class_wise) <= strong / n_classes + EPS


@given(binary(), st.integers(1, 20))
def test_a_row_of_frequencies_is_calibrated(data: Any, n_bins: int) -> None:
    """Replace each prediction by the frequency of its bin: no gap is left."""
    labels, prob = data
    table = ck.reliability_table(labels, prob, bins=n_bins)
    repaired = table.frequency[table.assign(prob)]
    assert error((labels, repaired), ck.Distinct(), inf) == pytest.approx(0, abs=EPS)


@given(binary(), st.integers(2, 4), st.integers(1, 20))
def test_repeated_rows_change_nothing(data: Any, times: int, n_bins: int) -> None:
    again = tuple(np.tile(part, times) for part in data)
    for norm in (1, 2, inf):
        assert error(again, n_bins, norm) == pytest.approx(error(data, n_bins, norm), abs=EPS)
