"""What the cells of lesson 08 measure: over how many sets, of which rows, in per cent."""

from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import binomial_p_values, test_based_calibration_error as tce
from calibkit_course.lesson08 import mean_of_bin_tests, mean_tce, powers

FAKE = LogitDistortion(slope=0.7)


def samples() -> list[Any]:
    rng = np.random.default_rng(8)
    return [FAKE.sample(500, rng) for _ in range(3)]


def test_the_mean_rejected_share_is_in_per_cent() -> None:
    errors = [tce(s.y_true, s.y_prob, bins=10, n_draws=0) for s in samples()]
    assert mean_tce(FAKE, 500, 10, n_sets=3) == pytest.approx(
        100 * np.mean([error.value for error in errors])
    )


def test_a_bin_is_rejected_as_a_whole() -> None:
    shares = []
    for sample in samples():
        parts = np.array_split(np.argsort(sample.y_prob), 10)
        hits = [int(sample.y_true[rows].sum()) for rows in parts]
        means = [sample.y_prob[rows].mean() for rows in parts]
        p_values = [binomial_p_values(k, 50, [p])[0] for k, p in zip(hits, means, strict=True)]
        shares.append(10 * np.sum(np.array(p_values) <= 0.05))
    assert mean_of_bin_tests(FAKE, 500, n_sets=3) == pytest.approx(np.mean(shares))


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
