"""Networks on images: the same numbers twice, nothing global touched, losses, bad input."""

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import log_softmax, softmax

import calibkit as ck
from calibkit.calibrators import TemperatureScaling
from calibkit_course.lesson10 import nets
from tests.helpers import refuses

torch = pytest.importorskip("torch")

from calibkit_course.lesson10.nets import training  # noqa: E402
from calibkit_course.lesson10.nets._torch import one_thread  # noqa: E402

RNG = np.random.default_rng(0)
LOSSES = ("cross-entropy", "label-smoothing", "focal", "mixup")


def made_split(n: int = 60, seed: int = 0) -> nets.Split:
    """Return images in which the class is the brightest of ten strips, under noise."""
    rng = np.random.default_rng(seed)
    parts: dict[str, Any] = {}
    for name in ("train", "validation", "test"):
        label = rng.integers(0, 10, n)
        images = rng.random((n, 28, 28), dtype=np.float32)
        images[np.arange(n), :, 2 * label + 4] += 1
        parts |= {f"{name}_x": images, f"{name}_y": label}
    return nets.Split(noise=0.0, **parts)


SPLIT = made_split()


def trained(network: Any = None, **settings: Any) -> tuple[Any, nets.TrainingHistory]:
    network = nets.image_network((3, 4), 5, rng=1) if network is None else network
    return network, nets.train_network(network, SPLIT, **{"epochs": 3, **settings})


def weights(network: Any) -> Any:
    return np.concatenate([w.detach().numpy().ravel() for w in network.parameters()])


class TestTheSameTwice:
    @pytest.mark.parametrize("loss", LOSSES)
    def test_bit_by_bit(self, loss):
        """And the generators of all others are left alone."""
        torch.manual_seed(1)
        before = torch.get_rng_state(), str(np.random.get_state())  # noqa: NPY002
        one = trained(loss=loss)[0]
        assert torch.equal(before[0], torch.get_rng_state())
        assert before[1] == str(np.random.get_state())  # noqa: NPY002
        torch.manual_seed(2)
        np.testing.assert_array_equal(weights(one), weights(trained(loss=loss)[0]))

    def test_another_seed_is_another_network_and_another_training(self):
        first = [weights(nets.image_network(rng=seed)) for seed in (0, 1)]
        assert not np.array_equal(*first)
        last = [weights(trained(rng=seed)[0]) for seed in (0, 1)]
        assert not np.array_equal(*last)

    def test_settings_of_the_caller_do_not_matter(self):
        plain = trained()[0]
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        try:
            with torch.no_grad():
                other = trained()[0]
                logits = nets.logits_of(other, SPLIT.test_x)
        finally:
            torch.set_default_dtype(torch.float32)
            torch.set_default_device("cpu")
        np.testing.assert_array_equal(weights(plain), weights(other))
        np.testing.assert_array_equal(logits, nets.logits_of(plain, SPLIT.test_x))

    def test_following_does_not_change_the_training(self):
        other = trained(keep_logits=True)[0]
        np.testing.assert_array_equal(weights(trained()[0]), weights(other))


def test_the_network_is_the_one_that_its_words_describe():
    network = nets.image_network()
    assert sum(each.numel() for each in network.parameters()) == 56_970
    layers = ["Conv2d", "ReLU", "Conv2d", "ReLU", "Flatten", "Linear", "ReLU", "Linear"]
    assert [type(layer).__name__ for layer in network] == layers
    assert [network[place].kernel_size for place in (0, 2)] == [(5, 5), (3, 3)]
    assert network[0].stride == network[2].stride == (2, 2)
    assert nets.logits_of(network, SPLIT.test_x[:1]).dtype == np.float32


def test_a_row_does_not_depend_on_the_others_outside_of_training():
    network = nets.image_network((3, 4), 5, batch_norm=True, rng=1)
    modes = []

    def step(network: Any, *batch: Any) -> float:
        modes.append(network.training)
        return nets.training_step(network, *batch)

    trained(network, step=step)
    assert set(modes) == {True} and not network.training
    assert sum(isinstance(part, torch.nn.BatchNorm2d) for part in network) == 2
    many = np.tile(SPLIT.test_x, (10, 1, 1))  # more than go in one block
    once = nets.logits_of(network, SPLIT.test_x)
    np.testing.assert_allclose(nets.logits_of(network, many), np.tile(once, (10, 1)), atol=1e-5)


def test_a_step_of_ones_own_gets_batches_of_images():
    seen = []

    def step(network: Any, optimiser: Any, images: Any, labels: Any) -> Any:
        seen.append((tuple(images.shape), tuple(labels.shape)))
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss  # with its slope, as learners do

    own, history = trained(step=step, epochs=1)
    assert seen == [((n, 1, 28, 28), (n,)) for n in (50, 10)]
    plain, other = trained(epochs=1)
    np.testing.assert_array_equal(weights(own), weights(plain))
    assert history.train_loss[0] == other.train_loss[0]


@pytest.fixture
def two_threads():
    """Ask for two threads, as a caller would."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_one_thread_inside_also_after_leaving_an_inner_block(two_threads):
    with one_thread():
        assert torch.get_num_threads() == 1
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    with pytest.raises(KeyboardInterrupt), one_thread():
        raise KeyboardInterrupt
    assert torch.get_num_threads() == 2


def test_training_is_in_one_thread(two_threads):
    seen = []
    trained(step=lambda *_: float(seen.append(torch.get_num_threads()) or 0), epochs=1)
    assert set(seen) == {1} and torch.get_num_threads() == 2
    z, y = np.random.default_rng(0).normal(size=(200, 4)), np.arange(200) % 4
    one = nets.OrderPreserving("logits").fit(z, y).calibrate(z)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
    np.testing.assert_array_equal(nets.OrderPreserving("logits").fit(z, y).calibrate(z), one)


class TestLosses:
    LOGITS, LABEL = RNG.normal(size=(6, 4)), np.array([0, 1, 2, 3, 3, 0])
    LOG_P, ROW = log_softmax(LOGITS, axis=1), np.arange(6)

    def value(self, loss: str, amount: float, rng: Any = None) -> float:
        """Return a loss of given logits: here the "network" leaves its input as it is."""
        logits, label = torch.tensor(self.LOGITS), torch.tensor(self.LABEL)
        return float(training._LOSS[loss](lambda x: x, logits, label, amount, rng))

    @pytest.mark.parametrize("share", [0.05, 0.1, 0.5])
    def test_label_smoothing(self, share):
        right = self.LOG_P[self.ROW, self.LABEL].mean()
        wanted = -(1 - share) * right - share * self.LOG_P.mean()
        assert self.value("label-smoothing", share) == pytest.approx(wanted, abs=1e-14)

    @pytest.mark.parametrize("gamma", [1.0, 2.0, 5.0])
    def test_focal(self, gamma):
        p = np.exp(self.LOG_P[self.ROW, self.LABEL])
        wanted = -((1 - p) ** gamma * np.log(p)).mean()
        assert self.value("focal", gamma) == pytest.approx(wanted, abs=1e-14)

    def test_mixup(self):
        found = self.value("mixup", 0.4, np.random.default_rng(3))
        rng = np.random.default_rng(3)
        share, order = rng.beta(0.4, 0.4), rng.permutation(6)
        log_p = log_softmax(share * self.LOGITS + (1 - share) * self.LOGITS[order], axis=1)
        one, two = log_p[self.ROW, self.LABEL], log_p[self.ROW, self.LABEL[order]]
        assert found == pytest.approx(-(share * one + (1 - share) * two).mean(), abs=1e-14)

    @given(st.floats(-1e4, 1e4), st.sampled_from([1.0, 1.5, 3.0]))
    def test_focal_loss_and_its_slope_stay_finite(self, logit, gamma):
        logits = torch.tensor([[logit, 0.0, -logit]], dtype=torch.float32, requires_grad=True)
        loss = training.focal(lambda x: x, logits, torch.tensor([0]), gamma, None)
        (slope,) = torch.autograd.grad(loss, logits)
        assert torch.isfinite(loss) and torch.isfinite(slope).all()

    def test_each_loss_trains_another_network(self):
        found = [weights(trained(loss=loss)[0]) for loss in LOSSES]
        assert len(np.unique(found, axis=0)) == len(LOSSES)

    def test_weight_decay_makes_weights_small(self):
        size = [np.square(weights(trained(weight_decay=d)[0])).sum() for d in (0.0, 1.0, 30.0)]
        assert size[0] > size[1] > size[2]


def test_it_is_what_the_package_measures():
    network, history = trained(keep_logits=True, epochs=8)
    assert history.logits is not None and history.logits.shape == (8, 60, 10)
    y = SPLIT.validation_y
    for epoch, logits in enumerate(history.logits):
        with warnings.catch_warnings(action="ignore"):  # at first, logits are of no use
            scaling = TemperatureScaling("logits").fit(logits, y)
        assert history.temperature[epoch] == pytest.approx(scaling.temperature_, rel=1e-9)
        before, after = softmax(logits.astype(float), axis=1), scaling.calibrate(logits)
        error = ck.expected_calibration_error(y, before, view="top-label").value
        assert history.log_loss[epoch] == pytest.approx(ck.log_loss(y, before).value)
        assert history.refined_log_loss[epoch] == pytest.approx(ck.log_loss(y, after).value)
        assert history.accuracy[epoch] == np.mean(logits.argmax(axis=1) == y)
        assert history.calibration_error[epoch] == pytest.approx(error, abs=1e-12)
    last = nets.logits_of(network, SPLIT.validation_x)
    np.testing.assert_array_equal(history.logits[-1], last)
    assert (history.refined_log_loss <= history.log_loss + 1e-12).all()


def test_it_is_a_frozen_result():
    history = trained()[1]
    assert history.logits is None
    with pytest.raises(ValueError, match="read-only"):
        history.log_loss[0] = 0
    assert "3 epochs" in history.describe() and "60 validation rows" in history.describe()
    assert pickle.loads(pickle.dumps(history)).epoch.tolist() == [1, 2, 3]


test_bad_settings = refuses(
    (lambda: trained(loss="brier"), "loss must be"),
    (lambda: trained(weight_decay=-1.0), "weight_decay"),
    (lambda: trained(epochs=0), "epochs"),
    (lambda: trained(rng=-1), "rng"),
    (
        lambda: trained(step=lambda network, *_: network[0].weight.data.fill_(np.nan).sum()),
        "in epoch 1 .*new",
    ),
)


@pytest.mark.long
def test_the_room_opens_without_torch():
    """The error at first use says what to install."""
    code = """
import importlib.abc
import sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
from calibkit_course.lesson10 import nets
try:
    nets.image_network()
except ImportError as error:
    assert "calibkit[nets]" in str(error)
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
