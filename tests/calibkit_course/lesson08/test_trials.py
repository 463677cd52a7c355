"""What the cells of lesson 08 measure: over how many sets, of which rows, in per cent."""

from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit.bins import PavaBC
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import test_based_calibration_error as tce
from calibkit_course.lesson08 import mean_tce, powers, rejected

FAKE = LogitDistortion(slope=0.7)


def samples() -> list[Any]:
    rng = np.random.default_rng(8)
    return [FAKE.sample(500, rng) for _ in range(3)]


def test_the_mean_rejected_share_is_in_per_cent() -> None:
    errors = [tce(s.y_true, s.y_prob, bins=10, n_draws=0) for s in samples()]
    assert mean_tce(FAKE, 500, 10, n_sets=3) == pytest.approx(
        100 * np.mean([error.value for error in errors])
    )


@pytest.mark.long
def test_the_size_of_the_tce_with_a_critical_value_from_300_draws_is_about_eight_per_cent() -> None:
    perfect, rng = LogitDistortion(), np.random.default_rng(8)
    samples = (perfect.sample(1000, rng) for _ in range(1500))
    shares = np.array([rejected(s.y_true, s.y_prob, PavaBC()) for s in samples])
    null, fresh = shares[:300], shares[300:]
    size = np.mean([np.mean(null >= share) <= 0.05 for share in fresh])
    assert size == pytest.approx(0.08, abs=0.02)


def test_the_power_is_the_share_of_sets_that_are_rejected_at_five_per_cent() -> None:
    seen: list[Any] = []

    def spy(label: Any, prob: Any) -> float:
        seen.append((label, prob))
        return [0.05, 0.051, 0.3, 0.001][len(seen) % 4]

    found = powers({"spy": spy, "never": lambda *_: 1.0}, lambda p: p**2, n_sets=8)
    assert found.tolist() == [50, 0]
    assert {len(prob) for _, prob in seen} == {1000}
    label, prob = (np.concatenate(part) for part in zip(*seen, strict=True))
    error = ck.expected_calibration_error(label, prob)
    assert error.value == pytest.approx(1 / 6, abs=0.02)  # the mean of p - p^2
