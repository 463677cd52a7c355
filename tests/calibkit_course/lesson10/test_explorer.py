"""The thermostat: its view against the package, its words, its pictures.

Most tests look at a made network, the last one at the stored training.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize
from scipy.special import softmax

import calibkit as ck
from calibkit_course.lesson10 import figures, runs, undo_label_smoothing
from calibkit_course.lesson10.problems import made_logits
from calibkit_course.lesson10.view import _curves, thermostat_view
from tests.drawn import one

STORED = runs.stored


def made_network() -> runs.Run:
    """Return logits that grow bolder from epoch to epoch: T from 0.5 to 3."""
    logits, labels = made_logits(1500, 1.0, seed=11)
    factors = np.linspace(0.5, 3.0, len(runs.KEPT))[:, None, None]
    kept = (factors * logits).astype(np.float32)
    history = replace(STORED().history, labels=labels.astype(np.int64))
    return replace(STORED(), history=history, kept=kept)


@pytest.fixture(scope="module")
def network():
    return made_network()


@pytest.fixture(autouse=True)
def made(network, monkeypatch):
    monkeypatch.setattr(runs, "stored", lambda: network)
    _curves.cache_clear()
    yield
    _curves.cache_clear()


def test_the_curves_are_the_measures_at_each_temperature(network):
    view = thermostat_view(n=200)
    logits, y = network.kept[-1, :200].astype(float), network.history.labels[:200]
    for k in (0, 40, 120):
        prob = softmax(logits / view.temperatures[k], axis=1)
        assert view.log_losses[k] == pytest.approx(ck.log_loss(y, prob).value, abs=1e-9)
        wanted = ck.expected_calibration_error(y, prob, view="top-label").value
        assert view.errors[k] == pytest.approx(wanted, abs=1e-12)


def test_the_log_loss_has_one_valley_and_the_error_has_many():
    """What the lesson says of the two curves."""
    view = thermostat_view(n=200)
    turns = [np.sum(np.diff(np.sign(np.diff(c))) > 0) for c in (view.log_losses, view.errors)]
    assert turns[0] == 1 and turns[1] > 3
    lowest = view.temperatures[view.log_losses.argmin()]
    assert lowest == pytest.approx(view.best_temperature, rel=0.03)


def test_a_temperature_moves_no_answer():
    cold, hot = (thermostat_view(temperature=t) for t in (0.25, 8.0))
    assert cold.accuracy == hot.accuracy
    assert np.array_equal(cold.chances.argmax(axis=1), hot.chances.argmax(axis=1))
    assert cold.chances.max(axis=1).min() > hot.chances.max(axis=1).max()


def test_the_examples_are_what_they_are_called():
    view = thermostat_view()
    first, confidence = view.chances.argmax(axis=1), view.chances.max(axis=1)
    assert first[0] == view.labels[0] and first[1] != view.labels[1]
    assert confidence[0] > 0.9 and confidence[1] > 0.9 and confidence[2] < 0.6
    assert view.chances.sum(axis=1) == pytest.approx(np.ones(3))


def test_a_certain_mistake_costs_a_finite_log_loss(network, monkeypatch):
    bold = replace(network, kept=network.kept * np.float32(300))
    monkeypatch.setattr(runs, "stored", lambda: bold)
    view = thermostat_view(temperature=0.25)
    assert np.isfinite(view.log_losses).all()
    ax = figures.temperature_curve(view)  # the valley is seen, and the mark lies inside
    low, high = ax.get_ylim()
    assert low <= one(ax, "set").get_ydata()[0] <= high < view.log_losses.max() / 3


def test_the_stored_training_ends_too_cold_and_starts_too_hot(monkeypatch):
    """What the lesson shows: early T below 1, late T above 2.5, and the bars on the diagonal."""
    monkeypatch.undo()
    _curves.cache_clear()
    early, late = (thermostat_view(epoch=epoch, n=1500) for epoch in (2, 40))
    assert early.best_temperature < 1 and late.best_temperature > 2.5
    assert late.error.value > 0.08 and late.error.null_mean < 0.03
    assert thermostat_view(temperature=late.best_temperature, n=1500).error.value < 0.045
    assert runs.stored() is runs.stored()
    _curves.cache_clear()


# --- label smoothing undone ----------------------------------------------------------------------


TRUTH = np.array([0.7, 0.2, 0.1])


@pytest.mark.parametrize("amount", [0.0, 0.1, 0.99])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_it_inverts_the_optimum(amount, k):
    truth = np.random.default_rng(k).dirichlet(np.ones(k), 50)
    truth[0] = np.eye(k)[0]
    smoothed = (1 - amount) * truth + amount / k
    recovered = undo_label_smoothing(smoothed, amount=amount)
    np.testing.assert_allclose(recovered, truth, atol=1e-13 / (1 - amount))


def test_the_optimum_of_the_loss():
    """Minimise the smoothed cross-entropy by a program, then invert."""
    target = (1 - 0.1) * TRUTH + 0.1 / 3

    def loss(z):
        log = np.append(z, 0) - np.log(np.exp(np.append(z, 0)).sum())
        return -(target * log).sum()

    z = optimize.minimize(loss, np.zeros(2), options={"gtol": 1e-12}).x
    p = np.exp(np.append(z, 0)) / np.exp(np.append(z, 0)).sum()
    recovered = undo_label_smoothing(p[np.newaxis], amount=0.1)[0]
    np.testing.assert_allclose(recovered, TRUTH, atol=1e-6)


def test_one_event():
    two = undo_label_smoothing([[0.3, 0.7]], amount=0.2)[0, 1]
    assert undo_label_smoothing([0.7], amount=0.2)[0] == pytest.approx(two, abs=1e-15)


def test_what_no_optimum_says():
    with pytest.raises(ValueError, match=r"y_prob\[1, 2\] = 0.01 lies outside"):
        undo_label_smoothing([TRUTH, [0.5, 0.49, 0.01]], amount=0.1)
    with pytest.raises(ValueError, match=r"y_prob\[0\] = 0.99 lies outside"):
        undo_label_smoothing([0.99], amount=0.1)


@pytest.mark.parametrize("amount", [1, -0.1, np.nan, "a", None, True])
def test_amount(amount):
    with pytest.raises(ValueError, match="amount must be"):
        undo_label_smoothing([TRUTH], amount=amount)
