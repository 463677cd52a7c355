"""Brier score, log loss and the parts of a Brier score, against loops and scikit-learn."""

from fractions import Fraction
from math import fsum, inf, log
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import calibkit as ck
from tests.helpers import (
    as_event,
    binary_data,
    class_data,
    coarse_binary,
    coarse_classes,
    each_case,
)

BINARY = [binary_data(200), coarse_binary(200, 8), binary_data(1), coarse_binary(40, 1)]
CLASSES = [class_data(200, 4), coarse_classes(200, 4, 6), class_data(1), coarse_classes(30, 3, 1)]


@pytest.mark.parametrize("data", BINARY)
class TestBinary:
    def test_brier_score_by_loops(self, data: Any) -> None:
        terms = [(Fraction(float(p)) - int(y)) ** 2 for y, p in zip(*data, strict=True)]
        expected = float(sum(terms) / len(terms))
        assert float(ck.brier_score(*data)) == pytest.approx(expected, abs=1e-12)
        assert ck.brier_score(*data, classes="mean").value == ck.brier_score(*data).value

    def test_log_loss_by_loops(self, data: Any) -> None:
        chances = [float(p) if y else 1 - float(p) for y, p in zip(*data, strict=True)]
        expected = inf if 0 in chances else -fsum(map(log, chances)) / len(chances)
        score = ck.log_loss(*data)
        assert float(score) == pytest.approx(expected, abs=1e-12)
        assert score.impossible == chances.count(0)

    def test_a_table_of_two_columns_has_twice_the_brier_score(self, data: Any) -> None:
        labels, prob = data
        table = np.column_stack([1 - prob, prob])
        assert ck.brier_score(labels, table).value == pytest.approx(
            2 * ck.brier_score(labels, prob).value, abs=1e-12
        )
        assert ck.brier_score(labels, table, classes="mean").value == pytest.approx(
            ck.brier_score(labels, prob).value, abs=1e-12
        )
        assert ck.log_loss(labels, table).value == ck.log_loss(labels, prob).value


@pytest.mark.parametrize("data", CLASSES)
class TestClasses:
    def test_brier_score_by_loops(self, data: Any) -> None:
        labels, prob = data
        total = Fraction(0)
        for label, row in zip(labels, prob, strict=True):
            total += sum((Fraction(float(p)) - int(k == label)) ** 2 for k, p in enumerate(row))
        expected = float(total / len(labels))
        k = prob.shape[1]
        assert float(ck.brier_score(labels, prob)) == pytest.approx(expected, abs=1e-12)
        mean = ck.brier_score(labels, prob, classes="mean")
        assert float(mean) == pytest.approx(expected / k, abs=1e-12)

    def test_log_loss_by_loops(self, data: Any) -> None:
        chances = [float(row[label]) for label, row in zip(*data, strict=True)]
        expected = inf if 0 in chances else -fsum(map(log, chances)) / len(chances)
        score = ck.log_loss(*data)
        assert float(score) == pytest.approx(expected, abs=1e-12)
        assert score.impossible == chances.count(0)


class TestAgainstScikitLearn:
    def test_binary(self) -> None:
        labels, prob = binary_data(500)
        brier = metrics.brier_score_loss(labels, prob)
        assert float(ck.brier_score(labels, prob)) == pytest.approx(brier, abs=1e-12)
        log_loss = metrics.log_loss(labels, prob)
        assert float(ck.log_loss(labels, prob)) == pytest.approx(log_loss, abs=1e-12)

    def test_classes(self) -> None:
        labels, prob = class_data(500, 4)
        log_loss = metrics.log_loss(labels, prob, labels=range(4))
        assert float(ck.log_loss(labels, prob)) == pytest.approx(log_loss, abs=1e-12)


class TestTheImpossible:
    def test_it_is_infinite_and_counted(self) -> None:
        score = ck.log_loss([1, 0, 1], [0.0, 0.0, 0.5])
        assert (float(score), score.impossible) == (inf, 1)
        assert "inf (3 predictions); 1 event had been" in score.describe()

    def test_certain_and_right_is_exactly_zero(self) -> None:
        score = ck.log_loss([1, 0], [1.0, 0.0])
        assert str(float(score)) == "0.0" and "0.0000 (2 predictions)." in score.describe()


# --- decomposition ------------------------------------------------------------------------------


def identity(parts: Any) -> float:
    """Return how far the parts are from adding up."""
    total = parts.miscalibration - parts.discrimination + parts.uncertainty + parts.within_bin
    return float(parts.score - total)


@each_case(
    "bins", [1, 2, 10, 15, 400, ck.EqualMass(7), ck.Distinct(), ck.FixedEdges([0, 0.2, 0.21, 1])]
)
@each_case("data", BINARY)
def test_the_parts_add_up_for_any_bins(data: Any, bins: Any) -> None:
    parts = ck.brier_decomposition(*data, bins=bins)
    assert identity(parts) == pytest.approx(0, abs=1e-12)
    assert parts.score == pytest.approx(float(ck.brier_score(*data)), abs=1e-12)
    assert parts.miscalibration >= 0 and parts.discrimination >= 0
    assert 0 <= parts.uncertainty <= 0.25


@pytest.mark.parametrize("view", ["top-label", 0, 3])
def test_each_part_by_loops(view: Any) -> None:
    data = coarse_classes(150, 4, 8)
    labels, prob = as_event(*data, view)
    overall = Fraction(sum(labels), len(labels))
    miscalibration = discrimination = Fraction(0)
    for value in set(prob):
        own = [y for y, p in zip(labels, prob, strict=True) if p == value]
        frequency, weight = Fraction(sum(own), len(own)), Fraction(len(own), len(labels))
        miscalibration += weight * (Fraction(value) - frequency) ** 2
        discrimination += weight * (frequency - overall) ** 2
    parts = ck.brier_decomposition(*data, view=view)
    assert parts.miscalibration == pytest.approx(float(miscalibration), abs=1e-12)
    assert parts.discrimination == pytest.approx(float(discrimination), abs=1e-12)
    assert parts.uncertainty == pytest.approx(float(overall * (1 - overall)), abs=1e-12)
    assert parts.within_bin == 0 and parts.bins == "one bin per distinct prediction"


def test_miscalibration_is_the_squared_l2_error(subtests: pytest.Subtests) -> None:
    data = binary_data(300)
    for bins in (10, ck.EqualMass(10)):
        with subtests.test(bins=bins):
            parts, error = ck.brier_decomposition(*data, bins=bins), ck.calibration_error
            squared = float(error(*data, bins=bins, norm=2)) ** 2
            assert parts.miscalibration == pytest.approx(squared, abs=1e-12)


def test_miscalibration_is_what_recalibrating_the_bins_wins() -> None:
    labels, prob = coarse_binary(300, 10, seed=1)
    table = ck.reliability_table(labels, prob, bins=ck.Distinct())
    repaired = table.frequency[np.unique(prob, return_inverse=True)[1]]
    won = ck.brier_score(labels, prob).value - ck.brier_score(labels, repaired).value
    assert ck.brier_decomposition(labels, prob).miscalibration == pytest.approx(won, abs=1e-12)
