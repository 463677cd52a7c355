"""What every calibrator of many classes promises: one contract for all of them."""

from typing import Any

import numpy as np
import pytest
from scipy import special
from sklearn.base import clone

from calibkit.calibrators import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    OneVsRest,
    PlattCalibrator,
)
from tests.calibkit.families import MANY, fitted, make
from tests.helpers import class_data

every = pytest.mark.parametrize("name", MANY)
KINDS = pytest.mark.parametrize("kind", ["logits", "probabilities"])
Y, P = class_data(300, 3)
Z = np.log(P) + 0.5


def scores_of(kind: str) -> Any:
    return Z if kind == "logits" else P


@every
@KINDS
class TestContract:
    def test_rows_are_probabilities(self, name, kind):
        scores = scores_of(kind)
        model = make(name, kind)
        assert model.fit(scores, Y) is model
        calibrated = model.calibrate(scores)
        assert calibrated.shape == scores.shape and calibrated.dtype == np.float64
        assert (calibrated >= 0).all() and (calibrated <= 1).all()
        np.testing.assert_allclose(calibrated.sum(axis=1), 1, atol=1e-12)
        assert model.n_classes_ == 3 and model.n_iter_ >= 0
        assert model.converged_ is True or isinstance(model.converged_, bool)

    def test_it_helps(self, name, kind):
        y, p = class_data(4000, 3, seed=1)  # labels follow the squares of the predictions
        scores = np.log(p) if kind == "logits" else p
        model = make(name, kind).fit(scores[:2000], y[:2000])
        calibrated = model.calibrate(scores[2000:])
        one = np.eye(3)[y[2000:]]
        assert ((calibrated - one) ** 2).sum() < ((p[2000:] - one) ** 2).sum()

    def test_row_order(self, name, kind):
        scores = scores_of(kind)
        order = np.random.default_rng(0).permutation(len(Y))
        a = make(name, kind).fit(scores, Y).calibrate(scores)
        b = make(name, kind).fit(scores[order], Y[order]).calibrate(scores)
        np.testing.assert_allclose(a, b, atol=1e-12)

    def test_degenerate_data_give_probabilities(self, name, kind):
        scores, rng = scores_of(kind), np.random.default_rng(0)
        equal = np.full((60, 3), 1 / 3) if kind == "probabilities" else np.zeros((60, 3))
        certain = np.eye(3)[rng.integers(0, 3, 300)]
        for x, y in (
            (scores, np.zeros_like(Y)),  # one class
            (scores, np.minimum(Y, 1)),  # an absent one
            (equal, Y[:60]),
            (certain if kind == "probabilities" else 40 * certain, Y),
            *((scores[:n], Y[:n]) for n in (1, 2, 5)),
        ):
            calibrated = fitted(make(name, kind), x, y).calibrate(x)
            assert np.isfinite(calibrated).all()
            np.testing.assert_allclose(calibrated.sum(axis=1), 1, atol=1e-12)


@every
@pytest.mark.parametrize("labels", ["right", "wrong", "random"])
def test_large_logits_of_single_precision(name, labels):
    rng = np.random.default_rng(0)
    z = rng.uniform(-1e4, 1e4, (200, 5)).astype(np.float32)
    y = {"right": z.argmax(1), "wrong": z.argmin(1), "random": rng.integers(0, 5, 200)}[labels]
    single = fitted(make(name, "logits"), z, y).calibrate(z)
    assert np.isfinite(single).all()
    double = fitted(make(name, "logits"), z.astype(np.float64), y).calibrate(z)
    np.testing.assert_allclose(single, double, atol=1e-6)


@every
def test_one_event_and_rows_that_look_like_probabilities(name):
    model = make(name, "logits").fit(Z, Y)
    assert model.calibrate([[1.0, 0.0, 0.0]]).shape == (1, 3)
    if not model.takes_one_event:
        with pytest.raises(ValueError, match=r"needs scores of shape \(n, K\)"):
            model.fit(Z[:, 0], Y)
        return
    y = (Y == 0).astype(int)
    z = special.logit(P[:, 0])
    one = fitted(model, z, y)
    assert one.calibrate(z).shape == (300,)
    with pytest.raises(ValueError, match=r"was fitted to \(n,\)"):
        one.calibrate(Z)
    with pytest.raises(ValueError, match=r"all values lie in \[0, 1\]"):
        one.fit(P[:, 0], y)


Y4, P4 = class_data(600, 4)
ONE_DIMENSIONAL = [PlattCalibrator(), BetaCalibrator(), IsotonicCalibrator(), HistogramBinning(6)]


@pytest.mark.parametrize("inner", ONE_DIMENSIONAL, ids=lambda c: type(c).__name__)
class TestOneVsRest:
    def test_one_vs_rest_is_the_inner_map_divided_by_the_sum(self, inner):
        maps = [clone(inner).fit(P4[:, c], np.equal(Y4, c)).calibrate(P4[:, c]) for c in range(4)]
        free = np.column_stack(maps)
        total = free.sum(axis=1, keepdims=True)
        model = OneVsRest("probabilities", inner).fit(P4, Y4)
        np.testing.assert_allclose(model.calibrate(P4), free / total, atol=1e-15)

    def test_the_inner_calibrator_is_not_fitted(self, inner):
        OneVsRest("probabilities", inner).fit(P4, Y4)
        assert not hasattr(inner, "converged_")


def test_numbers_of_parameters():
    assert OneVsRest("probabilities").fit(P4, Y4).n_parameters_ == 8
    assert OneVsRest("probabilities", IsotonicCalibrator()).fit(P4, Y4).n_parameters_ is None


@pytest.mark.parametrize("inner", [PlattCalibrator, "platt", 3, OneVsRest("logits")], ids=repr)
def test_an_inner_map_of_another_kind_is_refused(inner):
    with pytest.raises(ValueError, match=r"must be one of calibkit.calibrators"):
        OneVsRest("probabilities", inner).fit(P4, Y4)
