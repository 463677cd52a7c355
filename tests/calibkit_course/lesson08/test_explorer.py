"""The outlier hunter: its view against the package, its words, its pictures."""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit.bins import EqualMass, Pava, PavaBC
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import (
    binomial_p_values,
    test_based_calibration_error,
    test_based_calibration_error as tce,
)
from calibkit_course import lesson08
from calibkit_course.lesson08 import mean_tce, powers, rejected
from calibkit_course.lesson08.diagram import acceptance_region
from calibkit_course.lesson08.view import MODELS, RULES, SIZES, Hunt


@lru_cache
def hunted(rule: str, model: str = "calibrated", n: int = 8000) -> Hunt:
    """Return a state that several tests look at."""
    return lesson08.outlier_hunter_view(n=n, rule=rule, model=model)


BINS = {"mass": EqualMass(10), "root": EqualMass(22), "pava": Pava(), "pava-bc": PavaBC(25, 100)}


@pytest.mark.slow
@pytest.mark.parametrize(("model", "n"), [(name, n) for name in MODELS for n in (500, 8000)])
def test_the_draw_that_is_shown_is_a_typical_one(model: str, n: int) -> None:
    samples = [MODELS[model].sample(n, seed) for seed in range(100, 120)]
    rows = [(sample.y_true, sample.y_prob) for sample in samples]
    found = [test_based_calibration_error(*r, bins=BINS["mass"], n_draws=0).value for r in rows]
    shown = hunted("mass", model, n).error.value
    assert abs(shown - np.mean(found)) < np.std(found)  # a fifth of all seeds, in four states


@pytest.mark.slow
def test_sizes_steer_pava_bc_and_nothing_else():
    found = {s: lesson08.outlier_hunter_view(n=400, rule="pava-bc", sizes=s) for s in SIZES}
    for sizes, (smallest, largest) in SIZES.items():
        count = found[sizes].error.table.count
        assert count.min() >= 400 // smallest and count.max() <= 400 // largest
    others = [lesson08.outlier_hunter_view(n=400, sizes=s).describe() for s in SIZES]
    assert len(set(others)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_an_over_confident_model_is_caught_with_enough_data(rule):
    assert hunted(rule, "over-confident").error.p_value < 0.02
    assert hunted(rule).error.p_value > 0.05


# --- the diagram ---------------------------------------------------------------------------------


def test_acceptance_regions_hold_the_accepted_predictions():
    sample = LogitDistortion(slope=0.7).sample(3000, rng=4)
    error = test_based_calibration_error(sample.y_true, sample.y_prob, n_draws=0)
    (low, high), verdict = acceptance_region(error), error.verdicts[0]
    accepted, prob = ~verdict.rejected, verdict.prob
    inside = (prob >= low[verdict.bin] - 1e-9) & (prob <= high[verdict.bin] + 1e-9)
    assert 0.2 < accepted.mean() < 0.8 and inside[accepted].all()
    assert (inside & ~accepted).mean() < 0.005  # gaps of the exact test are rare and narrow
    counted = binomial_p_values(verdict.hits, verdict.table.count, np.clip(high + 1e-6, 0, 1))
    assert (counted <= 0.05).all()


# --- the cells -----------------------------------------------------------------------------------


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
