"""What every calibrator of many classes promises: one contract for all of them."""

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import special

from calibkit import CalibrationWarning, calibrators
from calibkit.calibrators import (
    DirichletCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    MatrixScaling,
    MulticlassCalibrator,
    OneVsRest,
    TemperatureScaling,
    VectorScaling,
    VennAbers,
)
from tests.helpers import class_data, each_case

FAMILIES: dict[str, tuple[type[MulticlassCalibrator], dict[str, Any]]] = {
    "temperature": (TemperatureScaling, {}),
    "vector": (VectorScaling, {}),
    "vector, free": (VectorScaling, {"penalty": 0}),
    "matrix": (MatrixScaling, {}),
    "matrix, ODIR": (MatrixScaling, {"penalty": 0.01}),
    "matrix, free": (MatrixScaling, {"penalty": 0}),
    "Dirichlet": (DirichletCalibrator, {}),
    "one-vs-rest": (OneVsRest, {}),
    "one-vs-rest, isotonic": (OneVsRest, {"calibrator": IsotonicCalibrator()}),
    "one-vs-rest, bins": (OneVsRest, {"calibrator": HistogramBinning(5)}),
    "Venn-Abers": (VennAbers, {}),
}
for one in vars(calibrators).values():  # a calibrator that is added is tried as it comes
    new = inspect.isclass(one) and issubclass(one, MulticlassCalibrator)
    if new and one not in (MulticlassCalibrator, *(family for family, _ in FAMILIES.values())):
        FAMILIES[one.__name__] = (one, {})
each = pytest.mark.parametrize("name", FAMILIES)
KINDS = pytest.mark.parametrize("kind", ["logits", "probabilities"])
Y, P = class_data(300, 3)
Z = np.log(P) + 0.5


def make(name, kind="probabilities"):
    family, options = FAMILIES[name]
    return family(kind, **options)


def scores_of(kind):
    return Z if kind == "logits" else P


def fitted(model, scores, y):
    """Fit, whatever the data; that the fit found no finite optimum is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return model.fit(scores, y)


@each
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

    def test_degenerate_data_give_probabilities(self, name, kind, subtests):
        scores, rng = scores_of(kind), np.random.default_rng(0)
        equal = np.full((60, 3), 1 / 3) if kind == "probabilities" else np.zeros((60, 3))
        certain = np.eye(3)[rng.integers(0, 3, 300)]
        cases = {
            "one class": (scores, np.zeros_like(Y)),
            "an absent class": (scores, np.minimum(Y, 1)),
            "constant scores": (equal, Y[:60]),
            "certain scores": (certain if kind == "probabilities" else 40 * certain, Y),
            **{f"{n} rows": (scores[:n], Y[:n]) for n in (1, 2, 5)},
        }
        for case, (x, y) in cases.items():
            with subtests.test(case):
                calibrated = fitted(make(name, kind), x, y).calibrate(x)
                assert np.isfinite(calibrated).all()
                np.testing.assert_allclose(calibrated.sum(axis=1), 1, atol=1e-12)


@each
@each_case("labels", ["right", "wrong", "random"])
def test_large_logits_of_single_precision(name, labels):
    rng = np.random.default_rng(0)
    z = rng.uniform(-1e4, 1e4, (200, 5)).astype(np.float32)
    y = {"right": z.argmax(1), "wrong": z.argmin(1), "random": rng.integers(0, 5, 200)}[labels]
    single = fitted(make(name, "logits"), z, y).calibrate(z)
    assert np.isfinite(single).all()
    double = fitted(make(name, "logits"), z.astype(np.float64), y).calibrate(z)
    np.testing.assert_allclose(single, double, atol=1e-6)


@each
class TestBadInput:
    def test_few_rows_may_look_like_probabilities(self, name):
        assert make(name, "logits").fit(Z, Y).calibrate([[1.0, 0.0, 0.0]]).shape == (1, 3)

    def test_one_event(self, name):
        model = make(name, "logits")
        if model.takes_one_event:
            y = (Y == 0).astype(int)
            z = special.logit(P[:, 0])
            assert fitted(model, z, y).calibrate(z).shape == (300,)
            with pytest.raises(ValueError, match=r"was fitted to \(n,\)"):
                model.calibrate(Z)
            with pytest.raises(ValueError, match=r"all values lie in \[0, 1\]"):
                model.fit(P[:, 0], y)
        else:
            with pytest.raises(ValueError, match=r"needs scores of shape \(n, K\)"):
                model.fit(Z[:, 0], Y)
