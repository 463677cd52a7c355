"""Networks: the same numbers twice, nothing global touched, the rule for stopping, bad input."""

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from packaging.version import Version
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import calibkit as ck
from calibkit import nets
from calibkit.multiclass import Calibrated, TemperatureScaling

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 8)).astype(np.float32)
Y = (X[:, :3] + RNG.gumbel(size=(500, 3))).argmax(axis=1)
TRAIN, HELD = (X[:300], Y[:300]), (X[300:], Y[300:])
SMALL: dict[str, Any] = {"hidden": (16,), "epochs": 5, "batch_size": 50}
LOSSES = ("cross-entropy", "label-smoothing", "focal", "mixup")


def trained(validation: Any = None, **settings: Any) -> nets.NetClassifier:
    return nets.NetClassifier(**{**SMALL, **settings}).fit(*TRAIN, validation=validation)


def assert_equal_weights(one: nets.NetClassifier, other: nets.NetClassifier) -> None:
    for left, right in zip(one.weights_, other.weights_, strict=True):
        np.testing.assert_array_equal(left, right)


class TestTheSameTwice:
    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("architecture", ["mlp", "cnn"])
    def test_bit_by_bit(self, architecture, loss):
        torch.manual_seed(1)
        one = trained(architecture=architecture, loss=loss)
        torch.manual_seed(2)
        torch.rand(3)
        assert_equal_weights(one, trained(architecture=architecture, loss=loss))

    def test_another_seed_is_another_network(self):
        assert not np.array_equal(trained().weights_[0], trained(rng=1).weights_[0])

    def test_a_generator_goes_on(self):
        rng = np.random.default_rng(5)
        one, other = trained(rng=rng), trained(rng=rng)
        assert not np.array_equal(one.weights_[0], other.weights_[0])
        assert_equal_weights(one, trained(rng=np.random.default_rng(5)))

    def test_global_generators_are_left_alone(self):
        before = torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
        trained(loss="mixup")
        assert torch.equal(before[0], torch.get_rng_state())
        np.testing.assert_array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002

    def test_settings_of_the_caller_do_not_matter(self):
        plain = trained(validation=HELD)
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        try:
            with torch.no_grad():
                other = trained(validation=HELD)
                prob = other.predict_proba(X)
        finally:
            torch.set_default_dtype(torch.float32)
            torch.set_default_device("cpu")
        assert_equal_weights(plain, other)
        np.testing.assert_array_equal(prob, plain.predict_proba(X))

    def test_arguments_are_not_changed(self):
        x, y = X.copy(), Y.copy()
        trained(loss="mixup", validation=HELD).predict_proba(x)
        np.testing.assert_array_equal(x, X)
        np.testing.assert_array_equal(y, Y)

    def test_read_only_input(self):
        x = X.view()
        x.flags.writeable = False
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nets.NetClassifier(**SMALL).fit(x, Y).predict(x)


class TestLogits:
    def test_they_are_what_the_formula_says(self):
        """Dense layers, by hand and in double precision."""
        net = trained(hidden=(16, 7))
        first, a, second, b, third, c = (w.astype(np.float64) for w in net.weights_)
        hidden = np.maximum(np.maximum(X @ first.T + a, 0) @ second.T + b, 0)
        np.testing.assert_allclose(net.logits(X), hidden @ third.T + c, rtol=0, atol=1e-6)
        assert net.logits(X).dtype == np.float32

    def test_convolution_by_loops(self):
        net = trained(architecture="cnn", hidden=(4,))
        kernel, bias, dense, shift = (w.astype(np.float64) for w in net.weights_)
        padded = np.pad(X[:5].astype(np.float64), ((0, 0), (2, 2)))
        hidden = np.zeros((5, 4, 4))
        for channel in range(4):
            for place in range(4):
                window = padded[:, 2 * place : 2 * place + 5]
                hidden[:, channel, place] = window @ kernel[channel, 0] + bias[channel]
        expected = np.maximum(hidden, 0).reshape(5, -1) @ dense.T + shift
        np.testing.assert_allclose(net.logits(X[:5]), expected, rtol=0, atol=1e-6)

    @pytest.mark.parametrize("n_features", [1, 2, 5, 8, 40])
    def test_convolutions_take_signals_of_any_length(self, n_features):
        x = np.random.default_rng(0).normal(size=(60, n_features))
        net = nets.NetClassifier("cnn", hidden=(3, 3), epochs=1).fit(x, Y[:60])
        assert net.logits(x).shape == (60, 3)

    def test_probabilities_are_their_softmax(self):
        net = trained()
        np.testing.assert_allclose(
            net.predict_proba(X), softmax(net.logits(X).astype(np.float64), axis=1), atol=1e-15
        )
        np.testing.assert_array_equal(net.predict(X), net.logits(X).argmax(axis=1))

    @pytest.mark.parametrize("architecture", ["mlp", "cnn"])
    def test_a_row_does_not_depend_on_the_others(self, architecture):
        net = trained(architecture=architecture)
        all_rows, order = net.logits(X), np.random.default_rng(1).permutation(len(X))
        np.testing.assert_array_equal(net.logits(X[order]), all_rows[order])
        np.testing.assert_array_equal(net.logits(X[7:8]), all_rows[7:8])

    def test_many_rows_go_in_blocks(self):
        net = trained()
        many = np.tile(X, (9, 1))
        np.testing.assert_array_equal(net.logits(many), np.tile(net.logits(X), (9, 1)))


class TestStopping:
    @pytest.mark.parametrize(("stop", "column"), [("loss", "log_loss"), ("refined", None)])
    def test_the_epoch_of_least_loss_is_kept(self, stop, column):
        settings = {"hidden": (64,), "epochs": 25, "learning_rate": 0.01}
        net = trained(validation=HELD, stop=stop, **settings)
        history = net.history_
        losses = getattr(history, column or "refined_log_loss")
        assert history.chosen_epoch == losses.argmin() + 1 < 25
        again = trained(**{**settings, "epochs": history.chosen_epoch})
        assert_equal_weights(net, again)

    def test_last_keeps_the_last(self):
        assert trained(validation=HELD).history_.chosen_epoch == 5
        assert trained().history_.chosen_epoch == 5

    def test_watching_does_not_change_the_training(self):
        assert_equal_weights(trained(), trained(validation=HELD, keep_logits=True))

    def test_history_is_what_the_package_measures(self):
        net = trained(validation=HELD, keep_logits=True, stop="refined", epochs=8)
        history = net.history_
        for epoch, logits in enumerate(history.logits):
            scaling = TemperatureScaling("logits").fit(logits, HELD[1])
            assert history.temperature[epoch] == pytest.approx(scaling.temperature_, rel=1e-9)
            before, after = softmax(logits.astype(float), axis=1), scaling.calibrate(logits)
            pairs = {
                "log_loss": float(ck.log_loss(HELD[1], before)),
                "refined_log_loss": float(ck.log_loss(HELD[1], after)),
                "accuracy": np.mean(logits.argmax(axis=1) == HELD[1]),
                "calibration_error": float(
                    ck.expected_calibration_error(HELD[1], before, view="top-label")
                ),
            }
            for name, value in pairs.items():
                assert getattr(history, name)[epoch] == pytest.approx(value, abs=1e-12), name
        kept = history.logits[history.chosen_epoch - 1]
        np.testing.assert_allclose(net.logits(HELD[0]), kept, rtol=0, atol=1e-5)
        np.testing.assert_array_equal(history.labels, HELD[1])
        assert (history.refined_log_loss <= history.log_loss + 1e-12).all()

    def test_without_validation(self):
        history = trained().history_
        assert np.isnan(history.log_loss).all() and history.logits is None
        assert history.describe() == "5 epochs, weights of epoch 5 kept; no validation data."
        assert np.isfinite(history.train_loss).all()
        assert history.train_loss[-1] < history.train_loss[0]

    def test_it_is_a_frozen_result(self):
        history = trained(validation=HELD, keep_logits=True).history_
        with pytest.raises(AttributeError):
            history.stop = "loss"
        with pytest.raises(ValueError, match="read-only"):
            history.log_loss[0] = 0
        assert "on 200 validation rows" in history.describe()
        assert list(history.to_frame().columns[:2]) == ["epoch", "train_loss"]
        assert pickle.loads(pickle.dumps(history)).chosen_epoch == 5


class TestScikitLearn:
    @pytest.mark.slow
    @pytest.mark.skipif(Version(sklearn.__version__) < Version("1.6"), reason="reports otherwise")
    @pytest.mark.parametrize("ensemble", [False, True])
    def test_checks_of_scikit_learn(self, ensemble):
        model: Any = nets.NetClassifier(hidden=(32,), epochs=15, batch_size=10, learning_rate=0.02)
        model = nets.DeepEnsemble(model, members=2) if ensemble else model
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # checks that were skipped
            results = check_estimator(model, on_fail=None, on_skip=None)
        failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
        assert not failed
        assert sum(r["status"] == "passed" for r in results) >= 50

    def test_names_of_classes(self):
        names = np.array(["cat", "dog", "eel"])[Y]
        net = nets.NetClassifier(**SMALL).fit(X, names, validation=(X[:9], names[:9]))
        assert net.classes_.tolist() == ["cat", "dog", "eel"]
        assert set(net.predict(X)) <= set(names)
        np.testing.assert_array_equal(net.logits(X), trained_on_all().logits(X))

    def test_clone_and_pickle(self):
        net = trained(loss="focal", strength=2.0)
        assert clone(net).get_params() == net.get_params()
        again = pickle.loads(pickle.dumps(net))
        np.testing.assert_array_equal(again.logits(X), net.logits(X))

    def test_inside_calibrated(self):
        net = nets.NetClassifier(hidden=(64,), epochs=40, learning_rate=0.01)
        for calibrator in (TemperatureScaling("logits"), TemperatureScaling("probabilities")):
            model = Calibrated(net, calibrator, cv=3).fit(*TRAIN)
            assert model.calibrator_.temperature_ > 1.5
            assert model.predict_proba(X).shape == (500, 3)

    def test_two_classes(self):
        net = nets.NetClassifier(**SMALL).fit(X, Y == 1)
        margin = net.decision_function(X)
        assert margin.shape == (500,) and net.logits(X).shape == (500, 2)
        np.testing.assert_array_equal(net.predict(X), margin > 0)

    def test_progress_goes_to_standard_error(self, capsys):
        trained(progress=True)
        assert "epochs" in capsys.readouterr().err
        trained()
        assert capsys.readouterr().err == ""


def trained_on_all() -> nets.NetClassifier:
    return nets.NetClassifier(**SMALL).fit(X, Y)


class TestEnsemble:
    MODEL = nets.DeepEnsemble(nets.NetClassifier(**SMALL), members=3).fit(*TRAIN)

    def test_mean_of_members(self):
        prob = self.MODEL.member_proba(X)
        assert prob.shape == (3, 500, 3)
        np.testing.assert_array_equal(self.MODEL.predict_proba(X), prob.mean(axis=0))
        np.testing.assert_allclose(
            self.MODEL.logits(X), np.log(prob.mean(axis=0)), rtol=0, atol=1e-6
        )
        np.testing.assert_array_equal(self.MODEL.predict(X), prob.mean(axis=0).argmax(axis=1))
        assert self.MODEL.n_features_in_ == 8

    def test_members_differ_and_come_back(self):
        seeds = {member.rng for member in self.MODEL.members_}
        assert len(seeds) == 3
        again = nets.DeepEnsemble(nets.NetClassifier(**SMALL), members=3).fit(*TRAIN)
        np.testing.assert_array_equal(again.logits(X), self.MODEL.logits(X))

    def test_its_log_loss_is_below_the_mean_of_the_members(self):
        """Jensen's inequality, for every data set."""
        prob, row = self.MODEL.member_proba(HELD[0]), np.arange(200)
        members = -np.log(prob[:, row, HELD[1]]).mean()
        assert float(ck.log_loss(HELD[1], self.MODEL.predict_proba(HELD[0]))) < members

    def test_small_probabilities_do_not_become_zero(self):
        model = nets.DeepEnsemble(nets.NetClassifier(**SMALL), members=2).fit(*TRAIN)
        for member in model.members_:
            member.weights_[-1] = np.array([2000, 0, 0], dtype=np.float32)
        np.testing.assert_allclose(model.logits(X[:1])[0, 1:], -2000, atol=20)

    @pytest.mark.parametrize("settings", [{"members": 0}, {"members": 2.0}, {"member": "mlp"}])
    def test_bad_settings(self, settings):
        with pytest.raises(ValueError, match="member"):
            nets.DeepEnsemble(**settings).fit(*TRAIN)


BAD_SETTINGS = [
    ({"architecture": "resnet"}, "architecture must be one of mlp, cnn"),
    ({"loss": "brier"}, "loss must be one of"),
    ({"stop": "early"}, "stop must be one of"),
    ({"stop": "refined"}, r"pass validation=\(X, y\)"),
    ({"strength": 0.1}, "no meaning"),
    ({"loss": "label-smoothing", "strength": 1.0}, "below 1"),
    ({"loss": "label-smoothing", "strength": -0.1}, "at least 0"),
    ({"loss": "focal", "strength": 0.5}, "0, or at least 1"),
    ({"loss": "mixup", "strength": np.nan}, "finite"),
    ({"loss": "mixup", "strength": "0.4"}, "finite"),
    ({"weight_decay": -1.0}, "weight_decay"),
    ({"epochs": 0}, "epochs"),
    ({"batch_size": 2.5}, "batch_size"),
    ({"learning_rate": 0.0}, "learning_rate"),
    ({"hidden": 256}, "hidden"),
    ({"hidden": (0,)}, r"hidden\[0\]"),
    ({"hidden": "256"}, "hidden"),
    ({"architecture": "cnn", "hidden": ()}, "hidden"),
    ({"rng": -1}, "rng"),
]


class TestBadInput:
    @pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS)
    def test_settings(self, settings, message):
        with pytest.raises(ValueError, match=message):
            trained(**settings)

    def test_values(self):
        for value in (np.nan, np.inf, 1e39):
            bad = X.astype(np.float64)
            bad[3, 2] = value
            with pytest.raises(ValueError, match=r"X\[3, 2\] = .*not a finite number"):
                nets.NetClassifier(**SMALL).fit(bad, Y)
        with pytest.raises(ValueError, match="only one class"):
            nets.NetClassifier(**SMALL).fit(X, np.zeros(500))
        with pytest.raises(ValueError, match="y has 499 entries, but there are 500 rows"):
            nets.NetClassifier(**SMALL).fit(X, Y[:-1])
        with pytest.raises(ValueError, match="continuous"):
            nets.NetClassifier(**SMALL).fit(X, X[:, 0])
        with pytest.raises(ValueError, match="expecting 8 features"):
            trained().logits(X[:, :5])

    @pytest.mark.parametrize("settings", [{"learning_rate": 1e30}, {"weight_decay": 1e30}])
    def test_training_that_diverges(self, settings):
        with pytest.raises(ValueError, match=r"diverged: in epoch 1 .*smaller learning_rate"):
            trained(validation=HELD, **settings)

    def test_validation(self):
        for validation, message in (
            (X, "must be a pair"),
            ((X, Y, Y), "must be a pair"),
            ((X[:, :4], Y), "expecting 8 features"),
            ((X, Y[:4]), "validation y has 4 entries"),
            ((X, Y + 1), r"validation y\[\d+\] = 3 is not among"),
        ):
            with pytest.raises(ValueError, match=message):
                trained(validation=validation)

    def test_unfitted(self):
        for model in (nets.NetClassifier(), nets.DeepEnsemble()):
            for method in ("logits", "predict_proba", "predict", "decision_function"):
                with pytest.raises(NotFittedError):
                    getattr(model, method)(X)


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
from calibkit import nets
data = nets.digits()
try:
    nets.NetClassifier().fit(data.train_x, data.train_y)
except ImportError as error:
    assert "calibkit[nets]" in str(error)
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.slow
def test_a_network_grows_over_confident_and_cools_down():
    """On MNIST-1D: two thirds right, far too sure; one temperature repairs it."""
    pytest.importorskip("mnist1d")
    data = nets.mnist1d()
    net = nets.NetClassifier().fit(data.train_x, data.train_y)
    scaling = TemperatureScaling("logits")
    scaling.fit(net.logits(data.validation_x), data.validation_y)
    before, after = net.predict_proba(data.test_x), scaling.calibrate(net.logits(data.test_x))
    errors = [
        float(ck.expected_calibration_error(data.test_y, p, view="top-label"))
        for p in (before, after)
    ]
    assert errors[0] > 0.15 and errors[1] < 0.035
    assert 2.5 < scaling.temperature_ < 3.5
    np.testing.assert_array_equal(before.argmax(axis=1), after.argmax(axis=1))
    assert float(ck.log_loss(data.test_y, before)) > 1.4
    cooled = float(ck.log_loss(data.test_y, after))
    assert cooled < 1.0
    smoothed = nets.NetClassifier(loss="label-smoothing").fit(data.train_x, data.train_y)
    prob = smoothed.predict_proba(data.test_x)
    assert float(ck.expected_calibration_error(data.test_y, prob, view="top-label")) < 0.04
    scaling.fit(smoothed.logits(data.validation_x), data.validation_y)
    assert float(ck.log_loss(data.test_y, scaling.calibrate(smoothed.logits(data.test_x)))) > (
        cooled + 0.05
    )
