"""Temperature scaling: the optimum, the bounds, and what it never changes."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special

from calibkit import CalibrationWarning
from calibkit.calibrators import TemperatureScaling
from tests.calibkit.families import fitted, logits_and_labels as problem
from tests.helpers import golden_data

LABELS, PROB = golden_data("three_classes")
TRAIN = slice(0, 600)


# --- optimum ------------------------------------------------------------------------------------


def test_golden():
    model = TemperatureScaling("probabilities").fit(PROB[TRAIN], LABELS[TRAIN])
    assert model.temperature_ == pytest.approx(2.3148976831878953, abs=1e-7)
    held_out = model.calibrate(PROB[600:])[np.arange(200), LABELS[600:]]
    assert -np.log(held_out).mean() == pytest.approx(0.7515874098716392, abs=1e-9)


def test_a_fit_that_is_refused_changes_nothing():
    model = TemperatureScaling("probabilities").fit([0.2, 0.7, 0.9, 0.8], [0, 1, 1, 0])
    said = model.calibrate([0.0])
    with pytest.raises(ValueError, match="is no weight"):
        model.fit([1e-99, 0.7], [0, 1], sample_weight=[-1, 1])
    assert model.calibrate([0.0]) == said


def test_one_event_is_two_classes():
    y, p = golden_data("binary")
    model = TemperatureScaling("probabilities").fit(p, y)
    assert 1 / model.temperature_ == pytest.approx(0.988381552498018, abs=1e-9)
    two = TemperatureScaling("probabilities").fit(np.column_stack([1 - p, p]), y)
    np.testing.assert_allclose(
        two.calibrate(np.column_stack([1 - p, p]))[:, 1], model.calibrate(p), atol=1e-9
    )


def test_of_one_event_it_is_a_straight_line_between_logits():
    y, p = golden_data("binary")
    model, said = TemperatureScaling("probabilities").fit(p, y), np.linspace(0.01, 0.99, 99)
    line = special.logit(said) / model.temperature_
    np.testing.assert_allclose(special.logit(model.calibrate(said)), line, atol=1e-12)


# --- bounds -------------------------------------------------------------------------------------


def test_all_right_stops_at_the_lower_bound():
    z, _ = problem(0, mixed=0)
    with pytest.warns(CalibrationWarning, match="lower bound"):
        model = TemperatureScaling("logits", bounds=(0.1, 10)).fit(z, z.argmax(axis=1))
    assert (model.temperature_, model.at_bound_, model.converged_) == (0.1, "lower", True)
    assert model.n_iter_ == 0  # known without a search


def test_worse_than_chance_stops_at_the_upper_bound():
    z, _ = problem(0, mixed=0)
    with pytest.warns(CalibrationWarning, match="do not help"):
        model = TemperatureScaling("logits").fit(z, z.argmin(axis=1))
    assert (model.temperature_, model.at_bound_) == (1e6, "upper")
    assert np.ptp(model.calibrate(z)) < 1e-4


@pytest.mark.parametrize(("bounds", "side"), [((5, 9), "lower"), ((0.1, 1.5), "upper")])
def test_an_optimum_outside(bounds, side):
    z, y = problem(1, mixed=0)
    with pytest.warns(CalibrationWarning, match=f"{side} bound"):
        model = TemperatureScaling("logits", bounds=bounds).fit(z, y)
    assert model.at_bound_ == side and model.temperature_ == bounds[side == "upper"]


def test_rows_without_contrast_have_temperature_one():
    model = TemperatureScaling("logits").fit(np.full((9, 3), 2.0), np.arange(9) % 3)
    assert (model.temperature_, model.n_parameters_) == (1.0, 0)


@pytest.mark.parametrize("shares", [(0.9, 100), (0.01, 1.1)])
def test_an_optimum_just_inside_is_found(shares):
    z, y = problem(0, mixed=0)
    best = TemperatureScaling("logits").fit(z, y).temperature_
    near = TemperatureScaling("logits", bounds=tuple(best * np.array(shares))).fit(z, y)
    assert near.at_bound_ is None and near.temperature_ == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("bounds", [(0, 1), (2, 1), (1, np.inf), (1,), None, ("a", 2)])
def test_bounds_are_checked(bounds):
    z, y = problem(0, mixed=0)
    with pytest.raises(ValueError, match="bounds must be two temperatures"):
        TemperatureScaling("logits", bounds=bounds).fit(z, y)


# --- what does not change -----------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1, 1e4]))
def test_the_first_class_stays_first(seed, scale):
    rng = np.random.default_rng(seed)
    z = (rng.normal(size=(30, 4)) * scale).astype(np.float32)
    model = fitted(TemperatureScaling("logits"), z, rng.integers(0, 4, 30))
    calibrated = model.calibrate(z)
    top = z.argmax(axis=1)
    assert (calibrated[np.arange(30), top] == calibrated.max(axis=1)).all()
    assert (calibrated.argmax(axis=1) == top).all()


def test_a_constant_per_row_is_without_effect():
    z, y = problem(2, mixed=0)
    shifted = z + np.random.default_rng(0).normal(size=(len(z), 1))
    a, b = (TemperatureScaling("logits").fit(x, y) for x in (z, shifted))
    np.testing.assert_allclose(a.calibrate(z), b.calibrate(shifted), atol=1e-12)


def test_logits_and_probabilities_give_the_same_map():
    z, y = problem(2, mixed=0)
    p = special.softmax(z, axis=1)
    a = TemperatureScaling("logits").fit(z, y).calibrate(z)
    b = TemperatureScaling("probabilities").fit(p, y).calibrate(p)
    np.testing.assert_allclose(a, b, atol=1e-10)


def test_row_order_and_class_order():
    z, y = problem(6, n=30_000, mixed=0)
    rows = np.random.default_rng(0).permutation(len(z))
    classes = np.array([2, 0, 3, 1])
    first = TemperatureScaling("logits").fit(z, y).temperature_
    again = TemperatureScaling("logits").fit(z[rows], y[rows]).temperature_
    renamed = TemperatureScaling("logits").fit(z[:, classes], np.argsort(classes)[y])
    assert first == pytest.approx(again, rel=1e-12)
    assert first == pytest.approx(renamed.temperature_, rel=1e-12)


def test_one_wrong_certainty_among_many_moves_little():
    """The limit of the logarithm decides what p = 0 for the truth costs."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 400)
    y = (rng.random(400) < p).astype(int)
    clean = TemperatureScaling("probabilities").fit(p, y).calibrate(p[1:])
    p[0], y[0] = 0.0, 1
    dirty = TemperatureScaling("probabilities").fit(p, y).calibrate(p[1:])

    def cost(q):
        return -np.log(np.where(y[1:] == 1, q, 1 - q)).mean()

    assert cost(dirty) - cost(clean) < 0.1
