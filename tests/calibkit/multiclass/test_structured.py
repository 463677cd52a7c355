"""Structured matrix scaling: a wrapper, its checks, and what its absence says."""

import builtins
import subprocess
import sys
import warnings

import numpy as np
import pytest

from calibkit.multiclass import (
    MatrixScaling,
    StructuredMatrixScaling,
)
from tests.helpers import class_data

Y, P = class_data(800, 4)


def program():
    """Return the other package, or skip."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parts of torch that it imports are out of date
        return pytest.importorskip("probmetrics.calibrators")


def fitted(kind="probabilities", scores=P, y=Y):
    program()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return StructuredMatrixScaling(kind).fit(scores, y)


def log_loss(prob, y):
    return float(-np.log(prob[np.arange(len(y)), y]).mean())


class TestWithoutThePackage:
    def test_the_message_names_the_extra(self, monkeypatch):
        real = builtins.__import__

        def without(name, *arguments, **options):
            if name.startswith("probmetrics"):
                raise ModuleNotFoundError(f"No module named {name!r}")
            return real(name, *arguments, **options)

        monkeypatch.setattr(builtins, "__import__", without)
        with pytest.raises(ImportError, match=r'probmetrics.*pip install "calibkit\[maps\]"'):
            StructuredMatrixScaling("probabilities").fit(P, Y)

    @pytest.mark.slow
    def test_importing_the_room_loads_neither(self):
        code = (
            "import sys, calibkit.multiclass as m; "
            "m.StructuredMatrixScaling('logits'); "
            "print([n for n in ('torch', 'probmetrics', 'numba') if n in sys.modules])"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert out.stdout.strip() == "[]", out.stderr

    @pytest.mark.parametrize("kind", ["logits", "probabilities"])
    def test_input_is_checked_first(self, kind):
        wrong = P if kind == "logits" else np.log(P)
        with pytest.raises(ValueError, match=r"declared as logits|not a probability"):
            StructuredMatrixScaling(kind).fit(wrong, Y)
        with pytest.raises(ValueError, match="800 rows"):
            StructuredMatrixScaling("probabilities").fit(P, Y[:-1])
        with pytest.raises(ValueError, match="not fitted"):
            StructuredMatrixScaling(kind).calibrate(P)
        with pytest.raises(ValueError, match=r"needs scores of shape \(n, K\)"):
            StructuredMatrixScaling(kind).fit(P[:, 0], Y)


class TestWithThePackage:
    @pytest.mark.slow
    def test_the_numbers_are_its_own(self):
        model = fitted()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            theirs = program().SMSCalibrator().fit(P, Y).predict_proba(P)
        np.testing.assert_allclose(model.calibrate(P), theirs, atol=1e-6)
        np.testing.assert_allclose(model.calibrate(P).sum(axis=1), 1, atol=1e-12)
        assert model.calibrate(P).dtype == np.float64
        assert model.converged_ and model.gradient_norm_ < 1e-2
        assert model.n_parameters_ == 20 and model.n_classes_ == 4

    @pytest.mark.slow
    def test_it_helps_and_is_close_to_the_same_rule_here(self):
        model = fitted()
        y, p = class_data(4000, 4, seed=9)
        theirs = log_loss(model.calibrate(p), y)
        assert theirs < log_loss(p, y) - 0.02
        ours = MatrixScaling("probabilities").fit(P, Y)
        assert log_loss(ours.calibrate(p), y) == pytest.approx(theirs, abs=0.01)

    @pytest.mark.slow
    def test_logits_become_probabilities(self):
        z = np.log(P) + 3
        np.testing.assert_allclose(
            fitted("logits", z).calibrate(z), fitted().calibrate(P), atol=1e-5
        )

    @pytest.mark.slow
    def test_single_precision_and_absent_classes(self):
        single = fitted(scores=P.astype(np.float32))
        np.testing.assert_allclose(single.calibrate(P), fitted().calibrate(P), atol=2e-3)
        model = fitted(y=np.minimum(Y, 2))
        assert np.isfinite(model.calibrate(P)).all()
        with pytest.raises(ValueError, match=r"was fitted to \(n, 4\)"):
            model.calibrate(P[:, :3] / P[:, :3].sum(axis=1, keepdims=True))
