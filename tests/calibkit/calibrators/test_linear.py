"""Vector, matrix and Dirichlet scaling: golden values, optimality, penalties."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from calibkit import CalibrationWarning
from calibkit.calibrators import (
    DirichletCalibrator,
    MatrixScaling,
    TemperatureScaling,
    VectorScaling,
)
from calibkit_course import data
from tests.calibkit.families import logits_and_labels as problem
from tests.helpers import class_data, golden_data

LABELS, PROB = golden_data("three_classes")
FAMILIES = [VectorScaling, MatrixScaling, DirichletCalibrator]


def log_loss(prob, y):
    return float(-np.log(prob[np.arange(len(y)), y]).mean())


# Fits of the first 600 rows by a program of its own (training and held-out log loss), checked
# against dirichletcal 0.5.3 with ref_row=False.
GOLDEN = {
    "vector": (VectorScaling, {"penalty": 0}, 0.7848424268837773, 0.682255572653312),
    "full": (MatrixScaling, {"penalty": 0}, 0.7825852284581439, 0.6764756583419821),
    "ODIR .01": (DirichletCalibrator, {"penalty": 1e-2}, 0.7833922973012207, 0.6796180201402235),
    "ODIR 1": (MatrixScaling, {"penalty": 1}, 0.792108246984028, 0.6993594839813008),
    "ODIR 1000": (DirichletCalibrator, {"penalty": 1e3}, 0.8076484748485007, 0.723889975871998),
}


# --- golden -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOLDEN)
def test_losses(name):
    family, options, training, held_out = GOLDEN[name]
    model = family("probabilities", **options).fit(PROB[:600], LABELS[:600])
    assert model.training_loss_ == pytest.approx(training, abs=1e-9)
    assert log_loss(model.calibrate(PROB[600:]), LABELS[600:]) == pytest.approx(held_out, abs=1e-8)
    assert model.gradient_norm_ <= 1e-8


def test_weights():
    model = DirichletCalibrator("probabilities", penalty=1e-2)
    model.fit(PROB[:600], LABELS[:600])
    expected = [
        [0.45537292478457786, 0.023512661357587398, 0.033110332629997734],
        [-0.03886005494114188, 0.8091299597370011, -0.03311032871305266],
        [0.038860053089639926, -0.023512652562769253, 0.44545977161055456],
    ]
    np.testing.assert_allclose(model.weights_, expected, atol=1e-5)
    np.testing.assert_allclose(
        model.bias_, [-0.24981835898254, 0.296188910294733, -0.046370551312192], atol=1e-5
    )


# --- optimality ---------------------------------------------------------------------------------


def test_against_logistic_regression():
    x, y = problem(0)
    model = MatrixScaling("logits", penalty=0).fit(x, y)
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(x, y)
    assert model.training_loss_ <= log_loss(other.predict_proba(x), y) + 1e-12
    np.testing.assert_allclose(model.calibrate(x), other.predict_proba(x), atol=1e-4)


@pytest.mark.slow
def test_the_automatic_rule_is_close_to_that_of_its_authors():
    """Their program stops early, and mixes the temperature with the uniform prediction."""
    y, p = class_data(800, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parts of torch that it imports are out of date
        theirs = pytest.importorskip("probmetrics.calibrators").SMSCalibrator().fit(p, y)
        new, prob = class_data(4000, 4, seed=9)
        other = log_loss(np.float64(theirs.predict_proba(prob)), new)
    ours = log_loss(MatrixScaling("probabilities").fit(p, y).calibrate(prob), new)
    assert ours == pytest.approx(other, abs=0.01) and ours < log_loss(prob, new) - 0.02


def test_a_constant_for_all_classes_is_no_parameter_and_is_fixed():
    x, y = problem(0)
    for family, n_parameters in ((VectorScaling, 7), (MatrixScaling, 15)):
        model = family("logits", penalty=0).fit(x, y)
        assert model.n_parameters_ == n_parameters
        assert model.bias_.sum() == pytest.approx(0, abs=1e-12)
    slope = TemperatureScaling("logits").fit(x, y).temperature_ ** -1
    np.testing.assert_allclose(model.weights_.sum(axis=0), slope, rtol=1e-6)


@pytest.fixture(scope="module")
def halves():
    network = data.load("cifar100-densenet")
    p, y = np.asarray(network.y_prob), np.asarray(network.y_true)
    return (p[:5000], y[:5000]), (p[5000:], y[5000:])


@pytest.mark.data
class TestRealNetwork:
    """A DenseNet on CIFAR-100: fitted to the first 5000 predictions, judged on the others."""

    def test_temperature(self, halves):
        (p, y), (p_test, y_test) = halves
        model = TemperatureScaling("probabilities").fit(p, y)
        assert model.temperature_ == pytest.approx(2.12, abs=0.002)
        assert log_loss(p_test.astype(np.float64), y_test) == pytest.approx(1.2116, abs=2e-4)
        assert log_loss(model.calibrate(p_test), y_test) == pytest.approx(0.8666, abs=2e-4)

    @pytest.mark.long
    @pytest.mark.parametrize("family", [VectorScaling, MatrixScaling])
    def test_lower_still_without_tuning(self, halves, family):
        (p, y), (p_test, y_test) = halves
        model = family("probabilities").fit(p, y)
        assert model.gradient_norm_ <= 1e-8
        assert log_loss(model.calibrate(p_test), y_test) < 0.862


# --- theorems -----------------------------------------------------------------------------------


def test_families_are_nested():
    x, y = problem(0)
    temperature = log_loss(TemperatureScaling("logits").fit(x, y).calibrate(x), y)
    vector = VectorScaling("logits", penalty=0).fit(x, y).training_loss_
    matrix = MatrixScaling("logits", penalty=0).fit(x, y).training_loss_
    assert matrix < vector < temperature


def test_a_matrix_may_change_answers_and_overfit():
    few, new = slice(0, 30), slice(600, 800)
    losses = []
    for model in (TemperatureScaling("probabilities"), DirichletCalibrator("probabilities", 0)):
        model.fit(PROB[few], LABELS[few])
        moved = model.calibrate(PROB[new]).argmax(axis=1) != PROB[new].argmax(axis=1)
        assert moved.any() == isinstance(model, DirichletCalibrator)
        losses.append([log_loss(model.calibrate(PROB[rows]), LABELS[rows]) for rows in (few, new)])
    assert losses[1][0] < losses[0][0] < losses[0][1] + 0.1 < losses[1][1]


def test_vector_scaling_depends_on_the_constant_of_a_row():
    x, y = problem(0)
    shifted = x + np.random.default_rng(1).normal(size=(len(x), 1))
    a = VectorScaling("logits", penalty=0).fit(x, y).training_loss_
    b = VectorScaling("logits", penalty=0).fit(shifted, y).training_loss_
    assert abs(a - b) > 1e-4


def test_dirichlet_does_not_depend_on_it():
    x, y = problem(0)
    shifted = x + np.random.default_rng(1).normal(size=(len(x), 1))
    a = DirichletCalibrator("logits").fit(x, y).calibrate(x)
    b = DirichletCalibrator("logits").fit(shifted, y).calibrate(shifted)
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_dirichlet_is_matrix_scaling_of_log_probabilities():
    p = PROB[:600]
    a = DirichletCalibrator("probabilities", penalty=0.01).fit(p, LABELS[:600])
    b = MatrixScaling("logits", penalty=0.01).fit(np.log(p), LABELS[:600])
    np.testing.assert_allclose(a.calibrate(p), b.calibrate(np.log(p)), atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("penalty", ["auto", 0.01])
def test_classes_are_treated_alike(family, penalty):
    x, y = problem(0)
    order = np.array([2, 0, 3, 1])
    a = family("logits", penalty=penalty).fit(x, y).calibrate(x)
    b = family("logits", penalty=penalty).fit(x[:, order], np.argsort(order)[y])
    np.testing.assert_allclose(a[:, order], b.calibrate(x[:, order]), atol=1e-9)


def test_units_of_the_logits():
    x, y = problem(0)
    a = MatrixScaling("logits", penalty="auto").fit(x, y).calibrate(x)
    b = MatrixScaling("logits", penalty="auto").fit(1e3 * x, y).calibrate(1e3 * x)
    np.testing.assert_allclose(a, b, atol=1e-9)


# --- no optimum ---------------------------------------------------------------------------------


def test_an_absent_class_is_reported():
    x, y = problem(0)
    y = np.where(y == 3, 0, y)
    with pytest.warns(CalibrationWarning, match="no finite optimum"):
        model = VectorScaling("logits", penalty=0).fit(x, y)
    assert not model.converged_ and np.isfinite(model.calibrate(x)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_penalty_makes_it_finite(family):
    x, y = problem(0)
    assert family("logits").fit(x, np.where(y == 3, 0, y)).converged_


# --- bad options --------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [-1, np.nan, np.inf, "cv", None, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_impossible_penalties(penalty, family):
    with pytest.raises(ValueError, match="penalty must be"):
        family("probabilities", penalty=penalty).fit(PROB, LABELS)


def test_an_impossible_penalty_of_the_bias():
    with pytest.raises(ValueError, match="bias_penalty must be"):
        MatrixScaling("probabilities", penalty=1, bias_penalty=-1).fit(PROB, LABELS)
