"""Brier score, log loss and the parts of a Brier score, against loops and scikit-learn."""

from math import inf
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from tests.helpers import binary_data, class_data, coarse_binary, coarse_classes

BINARY = [binary_data(200), coarse_binary(200, 8), binary_data(1), coarse_binary(40, 1)]
CLASSES = [class_data(200, 4), coarse_classes(200, 4, 6), class_data(1), coarse_classes(30, 3, 1)]


@pytest.mark.parametrize("data", [*BINARY, *CLASSES])
def test_scores_by_their_definitions(data: Any) -> None:
    """Of all columns; scikit-learn's numbers stand in test_sample_weight.py."""
    labels, prob = data
    rows = prob if prob.ndim == 2 else np.column_stack([1 - prob, prob])
    happened = np.eye(rows.shape[1])[labels]
    total = np.square(rows - happened).sum(axis=1).mean()
    alone = total if prob.ndim == 2 else total / 2  # of one event: half of both columns'
    assert float(ck.brier_score(labels, rows)) == pytest.approx(total, abs=1e-12)
    assert float(ck.brier_score(labels, prob)) == pytest.approx(alone, abs=1e-12)
    mean = ck.brier_score(labels, prob, classes="mean")
    assert float(mean) == pytest.approx(total / rows.shape[1], abs=1e-12)
    chance = rows[happened == 1]
    score = ck.log_loss(labels, prob)
    expected = -np.log(chance).mean() if chance.all() else inf
    assert float(score) == pytest.approx(expected, abs=1e-12)
    assert score.impossible == (chance == 0).sum()
    assert ck.log_loss(labels, rows).value == score.value


# --- the impossible -----------------------------------------------------------------------------


def test_the_impossible_is_infinite_and_counted() -> None:
    score = ck.log_loss([1, 0, 1], [0.0, 0.0, 0.5])
    assert (float(score), score.impossible) == (inf, 1)
    assert "inf (3 predictions); 1 event had been" in score.describe()


def test_certain_and_right_is_exactly_zero() -> None:
    score = ck.log_loss([1, 0], [1.0, 0.0])
    assert str(float(score)) == "0.0" and "0.0000 (2 predictions)." in score.describe()


# --- decomposition ------------------------------------------------------------------------------


def identity(parts: Any) -> float:
    """Return how far the parts are from adding up."""
    total = parts.miscalibration - parts.discrimination + parts.uncertainty + parts.within_bin
    return float(parts.score - total)


@pytest.mark.parametrize(
    "bins", [1, 2, 10, 15, 400, ck.EqualMass(7), ck.Distinct(), ck.FixedEdges([0, 0.2, 0.21, 1])]
)
@pytest.mark.parametrize("data", BINARY)
def test_the_parts_add_up_for_any_bins(data: Any, bins: Any) -> None:
    parts = ck.brier_decomposition(*data, bins=bins)
    assert identity(parts) == pytest.approx(0, abs=1e-12)
    assert parts.score == pytest.approx(float(ck.brier_score(*data)), abs=1e-12)
    assert parts.miscalibration >= 0 and parts.discrimination >= 0
    assert 0 <= parts.uncertainty <= 0.25


@pytest.mark.parametrize("view", ["top-label", 0, 3])
def test_each_part_is_what_its_name_says(view: Any) -> None:
    """The discrimination is what is left: see above."""
    data = coarse_classes(150, 4, 8)
    parts = ck.brier_decomposition(*data, view=view)
    error = ck.calibration_error(*data, view=view, bins=ck.Distinct(), norm=2)
    rate = ck.binary_problem(*data, view=view).label.mean()
    assert parts.miscalibration == pytest.approx(error.value**2, abs=1e-12)
    assert parts.uncertainty == pytest.approx(rate * (1 - rate), abs=1e-12)
    assert parts.within_bin == 0 and parts.bins == "one bin per distinct prediction"


def test_skill_is_that_over_the_base_rate() -> None:
    labels, prob = binary_data(200)
    base = float(ck.brier_score(labels, np.full(200, labels.mean())))
    expected = 1 - float(ck.brier_score(labels, prob)) / base
    assert ck.brier_decomposition(labels, prob).skill == pytest.approx(expected, abs=1e-12)
    assert np.isnan(ck.brier_decomposition([1, 1], [0.5, 1]).skill)
