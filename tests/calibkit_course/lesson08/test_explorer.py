"""The outlier hunter: its view against the package, its words, its pictures."""

from functools import lru_cache

import numpy as np
import pytest

from calibkit.bins import EqualMass, Pava, PavaBC
from calibkit.hypothesis_tests import test_based_calibration_error
from calibkit_course import lesson08
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
