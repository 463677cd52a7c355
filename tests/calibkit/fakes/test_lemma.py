"""Lemma 1 of Panchenko (2021) as theorems: how large can the calibration error be?

The knob classifier and data attain the bounds; that errors of one sign stay below them is tested
on the measures, in `test_theorems.py`.
"""

import numpy as np
import pytest

import calibkit as ck
from calibkit.fakes import KnobClassifier
from tests.helpers import each_case


@pytest.mark.parametrize("n_classes", [2, 3, 10, 100])
@pytest.mark.parametrize("accuracy", [0.55, 0.8, 0.99])
def test_the_knob_attains_both_bounds(n_classes: int, accuracy: float, subtests) -> None:
    over = KnobClassifier(n_classes, accuracy, budget_share=1.0)
    under = KnobClassifier(n_classes, accuracy, budget_share=1.0, direction="under")
    assert over.room == over.truth().expected == 1 - accuracy
    assert under.room == under.truth().expected == accuracy - 1 / n_classes
    for fake in (over, under):
        with subtests.test(fake=fake):
            for share in (0.0, 0.3, 0.999):
                with subtests.test(fake=fake, share=share):
                    part = KnobClassifier(
                        n_classes, accuracy, budget_share=share, direction=fake.direction
                    )
                    assert part.truth().expected == pytest.approx(share * fake.room, abs=1e-15)


def rows(top: np.ndarray, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """Put `top` on the predicted class and divide the rest equally."""
    table = np.repeat(((1 - top) / (n_classes - 1))[:, None], n_classes, axis=1)
    table[np.arange(len(top)), predicted] = top
    return table


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_data_attain_the_sharpened_bound(n_classes: int) -> None:
    """All rows say 1/K and a hair more; a share `accuracy` of them is right."""
    n, right = 1_000, 700
    predicted = np.arange(n) % n_classes
    y_true = np.where(np.arange(n) < right, predicted, (predicted + 1) % n_classes)
    y_prob = rows(np.full(n, 1 / n_classes + 1e-9), predicted, n_classes)
    error = ck.expected_calibration_error(y_true, y_prob, view="top-label", bins=ck.Distinct())
    assert float(error) == pytest.approx(right / n - 1 / n_classes, abs=1e-8)


@each_case("n_classes", [2, 3, 10])
@each_case("right", [100, 500, 900])
def test_data_break_the_bounds_without_the_sign_assumption(n_classes: int, right: int) -> None:
    """Right rows say 1/K, wrong rows say 1: the error is 1 - accuracy / K, beyond both bounds."""
    n, accuracy = 1_000, right / 1_000
    predicted = np.arange(n) % n_classes
    hit = np.arange(n) < right
    y_true = np.where(hit, predicted, (predicted + 1) % n_classes)
    y_prob = rows(np.where(hit, 1 / n_classes + 1e-9, 1.0), predicted, n_classes)
    measure = ck.expected_calibration_error
    error = float(measure(y_true, y_prob, view="top-label", bins=ck.Distinct()))
    assert error == pytest.approx(1 - accuracy / n_classes, abs=1e-8)
    assert error > max(1 - accuracy, accuracy - 1 / n_classes)


def test_bins_hide_part_of_a_two_sided_error() -> None:
    """Panchenko (2021)'s warning: fifteen bins see .077 of a true error of .084."""
    fake = KnobClassifier(3, 0.7, budget_share=0.6, direction="pivot", concentration=3)
    sample = fake.sample(200_000, rng=0)
    binned = float(ck.expected_calibration_error(sample.y_true, sample.y_prob, view="top-label"))
    assert binned < fake.truth().expected - 0.005 and binned == pytest.approx(0.0770, abs=0.005)
