"""Intra order-preserving maps: ranks stay, classes can be renamed, and the fit is a minimum."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import log_softmax, softmax

import calibkit as ck
from calibkit import CalibrationWarning
from calibkit.calibrators import TemperatureScaling
from calibkit_course.data import available, load
from calibkit_course.lesson10.nets import OrderPreserving
from tests.helpers import refuses

torch = pytest.importorskip("torch")

from calibkit_course.lesson10.nets.order_preserving import _Problem  # noqa: E402


def draw(n: int, k: int, seed: int = 0) -> tuple[Any, Any]:
    """Over-confident logits, and the more so the larger the first gap; labels follow the rest."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, k)) * 1.5
    label = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    top = truth.max(axis=1, keepdims=True)
    gap = top - np.sort(truth, axis=1)[:, -2:-1]
    return truth + (truth == top) * 2 * gap, label


Z, Y = draw(3000, 5)
MODEL = OrderPreserving("logits").fit(Z, Y)
# Differences below the rounding of a probability cannot be kept by any map.
ROWS = arrays(np.float64, (4, 5), elements=st.integers(-30_000, 30_000).map(lambda i: i / 1000))


def loss(prob: Any, label: Any) -> float:
    return float(ck.log_loss(label, prob))


@given(rows=ROWS)
@settings(max_examples=50)
def test_no_two_classes_change_places(rows):
    prob = MODEL.calibrate(rows)
    assert np.isfinite(prob).all()
    np.testing.assert_allclose(prob.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(prob.argmax(axis=1), rows.argmax(axis=1))
    lower = rows[:, :, np.newaxis] < rows[:, np.newaxis, :]
    assert (prob[:, :, np.newaxis] <= prob[:, np.newaxis, :])[lower].all()
    tied = rows[:, :, np.newaxis] == rows[:, np.newaxis, :]
    assert (prob[:, :, np.newaxis] == prob[:, np.newaxis, :])[tied].all()


def test_logits_and_probabilities_are_the_same_thing():
    prob = softmax(Z[:800], axis=1)
    other = OrderPreserving("probabilities").fit(prob, Y[:800])
    model = OrderPreserving("logits").fit(Z[:800], Y[:800])
    np.testing.assert_allclose(other.calibrate(prob), model.calibrate(Z[:800]), atol=1e-4)


class TestFit:
    def test_never_above_temperature_scaling(self):
        model = MODEL
        cooled = TemperatureScaling("logits").fit(Z, Y)
        assert model.temperature_ == pytest.approx(cooled.temperature_, rel=1e-9)
        assert model.objective_ < loss(cooled.calibrate(Z), Y)
        assert model.converged_ and model.n_iter_ > 1 and model.gradient_norm_ < 1e-5
        assert model.n_parameters_ == 1 + 5 * 8 + 8 + 8 * 4 + 4

    def test_no_freedom_is_temperature_scaling(self):
        model = OrderPreserving("logits", spread=1e-6).fit(Z, Y)
        cooled = TemperatureScaling("logits").fit(Z, Y)
        np.testing.assert_allclose(model.calibrate(Z), cooled.calibrate(Z), atol=1e-8)

    @pytest.mark.parametrize("kind", [np.float32, np.float64])
    @pytest.mark.parametrize("factor", [1e-4, 1e4])
    def test_extreme_logits(self, kind, factor):
        z = (Z[:300] * factor).astype(kind)
        prob = OrderPreserving("logits").fit(z, Y[:300]).calibrate(z)
        assert np.isfinite(prob).all()
        np.testing.assert_array_equal(prob.argmax(axis=1), z.argmax(axis=1))

    @pytest.mark.parametrize("right", [True, False])
    def test_always_right_and_always_wrong(self, right):
        z = Z[:200]
        label = (z if right else -z).argmax(axis=1)
        with pytest.warns(CalibrationWarning, match="bound"):
            model = OrderPreserving("logits").fit(z, label)
        prob = model.calibrate(z)
        assert np.isfinite(prob).all()
        np.testing.assert_array_equal(prob.argmax(axis=1), z.argmax(axis=1))

    @pytest.mark.slow
    def test_two_classes_and_an_absent_one(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            z, y = Z[:600], Y[:600]
            two = OrderPreserving("logits").fit(z[:, :2], y % 2).calibrate(z[:, :2])
            few = OrderPreserving("logits").fit(z[y < 4], y[y < 4]).calibrate(z)
        assert two.shape == (600, 2) and np.isfinite(few).all()


def test_the_slope_is_that_of_the_objective():
    rng = np.random.default_rng(5)
    seen, gaps = rng.normal(size=(20, 4)), rng.random((20, 3))
    weights = (rng.normal(size=(4, 3)), np.zeros(3), rng.normal(size=(3, 3)), np.zeros(3))
    problem = _Problem(seen, gaps, rng.integers(0, 4, 20), weights, 0.5)
    place = problem.start + 0.1 * rng.normal(size=problem.start.size)
    _, slope = problem(place)
    for k in range(len(place)):
        step = 1e-6 * (np.arange(len(place)) == k)
        rise = (problem(place + step)[0] - problem(place - step)[0]) / 2e-6
        assert slope[k] == pytest.approx(rise, abs=1e-7)


def test_the_map_by_hand():
    """One row, with the formula of the class written out."""
    model, row = MODEL, Z[0] / MODEL.temperature_
    order = np.argsort(-row)
    ranked = row[order]
    first, a, second, b = model.weights_
    hidden = np.tanh(log_softmax(ranked) / model.scale_ @ first + a)
    factor = np.log1p(np.exp(hidden @ second + b))
    new = [sum(((ranked[j] - ranked[j + 1]) * factor[j]) for j in range(k, 4)) for k in range(5)]
    prob = np.empty(5)
    prob[order] = softmax(new)
    np.testing.assert_allclose(model.calibrate(Z[:1])[0], prob, atol=1e-13)


def fit(scores=Z, label=Y, **options):
    return OrderPreserving(**{"input": "logits", **options}).fit(scores, label)


test_bad_input_is_refused = refuses(
    (lambda: fit(hidden=0), "hidden"),
    (lambda: fit(spread=0.0), "spread"),
    (lambda: fit(rng=-3), "rng"),
    (lambda: fit(input="scores"), "input must be"),
    (lambda: fit(softmax(Z, axis=1)), "as probabilities do"),
    (lambda: fit(Z[:, 0], Y > 0), r"needs scores of shape \(n, K\)"),
)


@pytest.mark.data
@pytest.mark.long
def test_a_real_network_with_a_hundred_classes():
    """Fitted to the first half: the second half is predicted better than by a temperature."""
    if not available("cifar100-densenet"):
        pytest.skip("the predictions of DenseNet are not in CALIBKIT_DATA")
    data = load("cifar100-densenet")
    prob, label = data.y_prob, data.y_true
    cooled = TemperatureScaling("probabilities").fit(prob[:5000], label[:5000])
    model = OrderPreserving("probabilities").fit(prob[:5000], label[:5000])
    after = loss(model.calibrate(prob[5000:]), label[5000:])
    assert after < loss(cooled.calibrate(prob[5000:]), label[5000:]) - 0.0005
