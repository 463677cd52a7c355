"""Losses against closed forms in NumPy, their optima, and the optimiser against torch's."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax
from scipy.stats import beta, kstest

from calibkit import nets
from calibkit.multiclass import undo_focal_loss, undo_label_smoothing

torch = pytest.importorskip("torch")

from calibkit.nets import _train as _losses  # noqa: E402

RNG = np.random.default_rng(3)
LOGITS, LABEL = RNG.normal(size=(6, 4)), np.array([0, 1, 2, 3, 3, 0])
LOG_P = log_softmax(LOGITS, axis=1)
ROW = np.arange(6)


def tensors() -> tuple[Any, Any]:
    return torch.tensor(LOGITS), _losses.one_hot(torch.tensor(LABEL), 4).double()


class TestClosedForms:
    def test_cross_entropy(self):
        value = _losses.cross_entropy(*tensors())
        assert float(value) == pytest.approx(-LOG_P[ROW, LABEL].mean(), abs=1e-14)

    @pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.5])
    def test_label_smoothing(self, share):
        logits, target = tensors()
        value = _losses.cross_entropy(logits, _losses.smooth(target, share))
        expected = -(1 - share) * LOG_P[ROW, LABEL].mean() - share * LOG_P.mean()
        assert float(value) == pytest.approx(expected, abs=1e-14)
        theirs = torch.nn.functional.cross_entropy(
            logits, torch.tensor(LABEL), label_smoothing=share
        )
        assert float(value) == pytest.approx(float(theirs), abs=1e-14)

    @pytest.mark.parametrize("gamma", [0.0, 1.0, 2.0, 3.0, 5.0])
    def test_focal(self, gamma):
        p = np.exp(LOG_P[ROW, LABEL])
        expected = -((1 - p) ** gamma * np.log(p)).mean()
        assert float(_losses.focal(*tensors(), gamma)) == pytest.approx(expected, abs=1e-14)

    def test_mixed_rows_and_targets(self):
        x = torch.tensor(RNG.normal(size=(6, 5)))
        _, target = tensors()
        order = torch.tensor([2, 0, 1, 5, 4, 3])
        mixed, both = _losses.mix(x, target, 0.3, order)
        np.testing.assert_allclose(mixed, 0.3 * x.numpy() + 0.7 * x.numpy()[order], atol=1e-15)
        # Row 0: 30 % class 0, and 70 % of row 2, which is class 2.
        np.testing.assert_allclose(both[0], [0.3, 0, 0.7, 0], atol=1e-15)
        np.testing.assert_allclose(both[4], [0, 0, 0, 1.0], atol=1e-15)
        np.testing.assert_allclose(both.sum(1), 1, atol=1e-15)

    def test_mixed_loss_is_the_mix_of_two_losses(self):
        logits, target = tensors()
        order = torch.tensor([2, 0, 1, 5, 4, 3])
        _, both = _losses.mix(logits, target, 0.3, order)
        two = -(0.3 * LOG_P[ROW, LABEL] + 0.7 * LOG_P[ROW, LABEL[order]]).mean()
        assert float(_losses.cross_entropy(logits, both)) == pytest.approx(two, abs=1e-14)

    @given(st.floats(-1e4, 1e4), st.sampled_from([0.0, 1.0, 1.5, 3.0, 5.0]))
    def test_value_and_slope_stay_finite(self, logit, gamma):
        logits = torch.tensor([[logit, 0.0, -logit]], dtype=torch.float32, requires_grad=True)
        target = torch.tensor([[1.0, 0.0, 0.0]])
        loss = _losses.focal(logits, target, gamma)
        (slope,) = torch.autograd.grad(loss, logits)
        assert torch.isfinite(loss) and torch.isfinite(slope).all()
        if gamma == 0:
            plain = _losses.cross_entropy(logits, target)
            (other,) = torch.autograd.grad(plain, logits)
            assert torch.equal(loss, plain) and torch.equal(slope, other)


class TestStrength:
    X = RNG.normal(size=(200, 6))
    Y = np.arange(200) % 3

    def fitted(self, **settings: Any) -> nets.NetClassifier:
        return nets.NetClassifier(hidden=(8,), epochs=4, **settings).fit(self.X, self.Y)

    @pytest.mark.parametrize("loss", ["label-smoothing", "focal", "mixup"])
    def test_zero_is_cross_entropy(self, loss):
        plain, other = self.fitted(), self.fitted(loss=loss, strength=0)
        for one, two in zip(plain.weights_, other.weights_, strict=True):
            np.testing.assert_array_equal(one, two)
        assert plain.history_.train_loss.tolist() == other.history_.train_loss.tolist()

    @pytest.mark.parametrize(
        ("loss", "strength"), [("label-smoothing", 0.1), ("focal", 3.0), ("mixup", 0.4)]
    )
    def test_the_usual_strength(self, loss, strength):
        usual, named = self.fitted(loss=loss), self.fitted(loss=loss, strength=strength)
        np.testing.assert_array_equal(usual.weights_[0], named.weights_[0])
        assert not np.array_equal(usual.weights_[0], self.fitted().weights_[0])

    @pytest.mark.parametrize("strength", [0.4, 5.0])
    def test_mixing_weights_are_beta(self, strength, monkeypatch):
        drawn = []
        original = _losses.mix

        def spy(x, target, weight, order):
            drawn.append(weight)
            assert sorted(order.tolist()) == list(range(len(x)))
            return original(x, target, weight, order)

        monkeypatch.setattr(_losses, "mix", spy)
        nets.NetClassifier(hidden=(), loss="mixup", strength=strength, batch_size=2, epochs=5).fit(
            self.X, self.Y
        )
        assert len(drawn) == 500
        # One false alarm in 10,000 seeds; the seed is fixed.
        assert kstest(drawn, beta(strength, strength).cdf).pvalue > 1e-4

    def test_weight_decay_makes_weights_small(self):
        size = [
            sum(float((w**2).sum()) for w in self.fitted(weight_decay=d).weights_)
            for d in (0.0, 1.0, 30.0)
        ]
        assert size[0] > size[1] > size[2]


class TestOptimum:
    """Four kinds of rows with known frequencies; the network has one logit per kind and class."""

    TRUTH = np.array([[14, 4, 2], [10, 6, 4], [1, 18, 1], [7, 7, 6]]) / 20
    X = np.repeat(np.eye(4), 20, axis=0)
    Y = np.concatenate([np.repeat(np.arange(3), np.rint(20 * row).astype(int)) for row in TRUTH])

    def optimum(self, **settings: Any) -> Any:
        net = nets.NetClassifier(
            hidden=(), epochs=1500, batch_size=80, learning_rate=0.02, **settings
        )
        return net.fit(self.X, self.Y).predict_proba(np.eye(4))

    def test_cross_entropy_finds_the_frequencies(self):
        np.testing.assert_allclose(self.optimum(), self.TRUTH, atol=2e-3)

    @pytest.mark.parametrize("amount", [0.3])
    def test_label_smoothing_is_undone(self, amount):
        prob = self.optimum(loss="label-smoothing", strength=amount)
        np.testing.assert_allclose(prob, (1 - amount) * self.TRUTH + amount / 3, atol=2e-3)
        np.testing.assert_allclose(undo_label_smoothing(prob, amount=amount), self.TRUTH, atol=4e-3)

    @pytest.mark.parametrize("gamma", [3])
    def test_focal_loss_is_undone(self, gamma):
        prob = self.optimum(loss="focal", strength=gamma)
        assert (prob.max(axis=1) < self.TRUTH.max(axis=1) - 0.003).all()
        np.testing.assert_allclose(undo_focal_loss(prob, gamma=gamma), self.TRUTH, atol=4e-3)
