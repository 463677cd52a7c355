"""Calibrators in scikit-learn's words: its own checks, pipelines, searches, frames, weights."""

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from packaging.version import Version
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

import calibkit as ck
from calibkit.calibrators import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    OneVsRest,
    PiecewiseLinear,
    PlattCalibrator,
    SweepBinning,
    VectorScaling,
    VennAbers,
)
from calibkit.inputs import expit
from tests.calibkit.families import MANY, ONE_EVENT, each, fitted, make
from tests.helpers import binary_data, class_data

Y, P = binary_data(300, exponent=1.5)
LABELS, PROB = class_data(300)
GRID = np.linspace(0, 1, 41)

MODELS = [make(name) for name in MANY if name != "matrix, free"]


# --- scikit-learn's own checks -------------------------------------------------------------------

# Labels are column numbers: 0 .. K-1, where the checks take 1 and 2, words, or three for two
# columns. To recode them would be a guess about which column is which.
# They are refused as well, but in calibkit's own words; and of one class of labels the map of two
# columns still gives both.
OF_LABELS = {
    *("check_estimators_overwrite_params", "check_estimators_fit_returns_self"),
    *("check_readonly_memmap_input", "check_sample_weights_pandas_series"),
    *("check_sample_weights_not_an_array", "check_sample_weights_shape"),
    *("check_sample_weights_not_overwritten", "check_classifier_data_not_an_array"),
    *("check_classifiers_classes", "check_classifiers_train", "check_classifiers_one_label"),
}
OF_WORDS = {
    *("check_complex_data", "check_dtype_object", "check_estimators_empty_data_messages"),
    *("check_classifiers_regression_target", "check_supervised_y_2d", "check_fit2d_1feature"),
    *("check_fit2d_predict1d", "check_requires_y_none"),
}
OF_LOGITS = [kind("logits") for kind in dict.fromkeys(map(type, MODELS))]


modern = pytest.mark.skipif(
    Version(sklearn.__version__) < Version("1.6"), reason="these checks report in another way"
)


@pytest.mark.slow
@modern
@each(OF_LOGITS)
def test_checks_of_scikit_learn_on_maps_of_many_classes(model: Any) -> None:
    """A check that is run with several options is expected to fail if it does with one of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tiny data that can be separated
        results = estimator_checks.check_estimator(model, on_fail=None, on_skip=None)
    failed = {r["check_name"] for r in results if r["status"] == "failed"}
    assert failed <= OF_LABELS | OF_WORDS
    passed = (OF_LABELS | OF_WORDS) - failed
    assert passed <= {"check_classifiers_one_label"}, "no longer an exception: take it out"
    assert sum(r["status"] == "passed" for r in results) >= 45


# What can be checked without data: scikit-learn leaves out all others for an estimator whose tag
# says that it takes no table. They are made below, with data that are probabilities.
WITHOUT_DATA = (
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_set_params",
    "check_valid_tag_types",
)


@modern
@pytest.mark.parametrize("check", WITHOUT_DATA)
@each(ONE_EVENT)
def test_checks_of_scikit_learn_on_maps_of_one_event(model: Any, check: str) -> None:
    tags = model.__sklearn_tags__()
    assert tags.input_tags.one_d_array and not tags.input_tags.two_d_array
    assert tags.estimator_type == "classifier"
    getattr(estimator_checks, check)(type(model).__name__, clone(model))


# --- the words -----------------------------------------------------------------------------------


def data_of(model: Any) -> tuple[Any, Any]:
    return (LABELS, PROB) if hasattr(model, "input") else (Y, P)


@each([*ONE_EVENT, *MODELS])
def test_a_calibrator_in_their_words(model: Any) -> None:
    y, p = data_of(model)
    fitted = clone(model).fit(p, y)
    table, calibrated = fitted.predict_proba(p), fitted.calibrate(p)
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(table if p.ndim == 2 else table[:, 1], calibrated)
    np.testing.assert_array_equal(fitted.transform(p), calibrated)
    np.testing.assert_array_equal(fitted.predict(p), table.argmax(axis=1))
    squares = np.square(calibrated - (np.eye(3)[y] if p.ndim == 2 else y))
    assert fitted.score(p, y) == pytest.approx(-squares.sum() / 300)
    assert fitted.n_features_in_ == len(np.atleast_2d(p.T))
    assert fitted.classes_.tolist() == list(range(table.shape[1])) and is_classifier(fitted)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(p), table)


def test_scores_weigh_rows() -> None:
    model = PlattCalibrator().fit(P, Y)
    weight = np.arange(300) % 3
    repeated = model.score(P.repeat(weight), Y.repeat(weight))
    assert model.score(P, Y, sample_weight=weight) == pytest.approx(repeated, abs=1e-14)


def test_a_search_finds_the_number_of_bins() -> None:
    y, p = binary_data(5000, exponent=3)
    search = GridSearchCV(HistogramBinning(), {"bins": [1, 2, 20]}, cv=4).fit(p, y)
    assert search.best_params_ == {"bins": 20}
    inner = {"calibrator__bins": [2, 20]}
    table = np.column_stack([1 - p, p])
    wrapped = GridSearchCV(OneVsRest("probabilities", HistogramBinning()), inner, cv=3).fit(
        table, y
    )
    assert wrapped.best_params_ == {"calibrator__bins": 20}


def test_steps_of_pipelines() -> None:
    link = FunctionTransformer(expit)
    chain = make_pipeline(link, PlattCalibrator(), IsotonicCalibrator()).fit(P * 4 - 2, Y)
    first = PlattCalibrator().fit(expit(P * 4 - 2), Y).calibrate(expit(P * 4 - 2))
    np.testing.assert_array_equal(
        chain.predict_proba(P * 4 - 2)[:, 1], IsotonicCalibrator().fit(first, Y).calibrate(first)
    )


def test_frames_come_out() -> None:
    column = pd.Series(P[:4], index=[7, 5, 3, 1])
    model = PlattCalibrator().set_output(transform="pandas").fit(P, Y)
    frame = model.transform(column)
    assert frame.columns.tolist() == ["calibrated"]
    if Version(sklearn.__version__) >= Version("1.6"):  # before, it kept those of frames only
        assert frame.index.tolist() == [7, 5, 3, 1]
    np.testing.assert_array_equal(frame["calibrated"], model.calibrate(P[:4]))
    table = VectorScaling("probabilities").set_output(transform="pandas").fit(PROB, LABELS)
    assert table.transform(PROB).columns.tolist() == ["class_0", "class_1", "class_2"]


@each(MODELS)
def test_columns_in_another_order_are_refused(model: Any) -> None:
    frame = pd.DataFrame(PROB, columns=["cat", "dog", "fox"])
    fitted = clone(model).fit(frame, LABELS)
    assert fitted.feature_names_in_.tolist() == ["cat", "dog", "fox"]
    plain = clone(model).fit(PROB, LABELS).calibrate(PROB)
    np.testing.assert_allclose(fitted.calibrate(frame), plain, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        fitted.calibrate(frame[["fox", "dog", "cat"]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        fitted.predict_proba(frame.rename(columns={"fox": "wolf"}))


@each([*ONE_EVENT, *MODELS])
def test_a_failed_fit_leaves_nothing(model: Any) -> None:
    y, prob = data_of(model)
    for failed in (clone(model), clone(model).fit(prob, y)):
        with pytest.raises(ValueError, match="y_prob"):
            failed.fit(prob + 2, y)
    with pytest.raises(NotFittedError):
        getattr(clone(model), "polyline", clone(model).get_feature_names_out)()
    for method in ("calibrate", "predict", "predict_proba", "transform"):
        with pytest.raises(NotFittedError, match="is not fitted yet; call fit"):
            getattr(clone(model), method)(prob)


# --- weights -------------------------------------------------------------------------------------


@each([*ONE_EVENT, *MODELS])
def test_two_is_the_row_twice_and_zero_is_none(model: Any) -> None:
    weight = np.random.default_rng(0).integers(0, 4, 300)
    cases = [data_of(model), (Y, P.round(2))]
    for labels, prob in cases if getattr(model, "takes_one_event", True) else cases[:1]:
        one = fitted(model, prob, labels, sample_weight=weight)
        other = fitted(model, prob.repeat(weight, axis=0), labels.repeat(weight))
        np.testing.assert_allclose(one.calibrate(prob), other.calibrate(prob), rtol=0, atol=1e-7)
        assert one.n_parameters_ == other.n_parameters_


def test_fractions_are_refused_where_only_rows_count() -> None:
    weight = np.where(np.arange(300) == 4, 0.5, 1.0)
    models = (HistogramBinning(ck.EqualMass(4)), PiecewiseLinear(n_pieces=2))
    for model in models:
        with pytest.raises(ValueError, match=r"whole numbers.*sample_weight\[4\] = 0.5"):
            model.fit(P, Y, sample_weight=weight)
    with pytest.raises(ValueError, match="whole numbers"):
        SweepBinning().fit(P, Y, sample_weight=np.full(300, 1e8))
    with pytest.raises(ValueError, match=r"shape \(3,\); 300 rows need shape"):
        PlattCalibrator().fit(P, Y, sample_weight=[1, 2, 3])


# --- one roof, and what may say 0 ----------------------------------------------------------------


@each(ONE_EVENT)
def test_what_may_say_zero_says_so(model: Any) -> None:
    """Labels that a threshold separates tempt every map; a finite log loss is what is promised."""
    p = np.linspace(0.05, 0.95, 200)
    y = (p > 0.5).astype(int)
    q = fitted(model, p, y).calibrate(GRID[2:-2])
    says = bool(((q == 0) | (q == 1)).any())
    if isinstance(model, PlattCalibrator | BetaCalibrator) and not getattr(model, "smoothing", 0):
        return  # no finite optimum: a warning says that the map is nearly a step
    assert says == model.can_say_zero


@pytest.mark.slow
@pytest.mark.parametrize("outcome", ["refit", "fold-ensemble"])
@pytest.mark.parametrize("loss", ["log-loss", "brier"])
def test_piecewise_maps_keep_to_laplaces_rule(loss: str, outcome: str) -> None:
    rng = np.random.default_rng(5)
    p = rng.random(400)
    y = (rng.random(400) < np.clip(2 * p - 0.5, 0, 1)).astype(int)
    model = PiecewiseLinear(n_pieces=4, loss=loss, outcome=outcome, cv=4).fit(p, y)
    curve, q = model.curve(GRID), model.calibrate(GRID)
    assert curve.min() < 1 / 402, "else the cut is not felt"
    np.testing.assert_array_equal(q, np.clip(curve, 1 / 402, 401 / 402))
    cost = ck.log_loss(y, model.calibrate(p)).value - ck.log_loss(y, model.curve(p)).value
    assert cost < 1 / 400


def test_steep_piecewise_maps_between_logits_are_never_certain() -> None:
    p = np.linspace(0.05, 0.95, 200)
    model = fitted(PiecewiseLinear("logit", 2), p, (p > 0.5).astype(int))
    assert model.curve([0.95]) == 1
    assert 0 < model.calibrate([0.05])[0] < model.calibrate([0.95])[0] < 1


# --- batches, many classes -----------------------------------------------------------------------


def test_scores_that_rounding_moves_are_one_score() -> None:
    score = np.array([0.1, 0.3, 0.3 * (1 + 1e-15), 0.4, 0.6, 0.9])
    label = [0, 1, 0, 1, 0, 1]
    model = VennAbers("probabilities").fit(score, label)
    same = VennAbers("probabilities").fit(np.round(score, 3), label)
    for off in (-1e-15, 0.0, 1e-15):
        np.testing.assert_array_equal(
            model.interval(score * (1 + off)), same.interval(score.round(3))
        )
