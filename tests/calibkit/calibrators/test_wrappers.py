"""Wrappers around calibrators of one dimension, and the exact inverse of label smoothing."""

import numpy as np
import pytest
from sklearn.base import clone

from calibkit.calibrators import (
    BetaCalibrator,
    ClassWise,
    HistogramBinning,
    IsotonicCalibrator,
    OneVsRest,
    PlattCalibrator,
    Reduced,
)
from tests.helpers import class_data, each_case

Y, P = class_data(600, 4)
ROW = np.arange(len(Y))
TOP, CONFIDENCE = P.argmax(axis=1), P.max(axis=1)
ONE_DIMENSIONAL = [PlattCalibrator(), BetaCalibrator(), IsotonicCalibrator(), HistogramBinning(6)]


@pytest.mark.parametrize("inner", ONE_DIMENSIONAL, ids=lambda c: type(c).__name__)
class TestWhatTheyDo:
    def test_one_vs_rest_is_the_inner_map_divided_by_the_sum(self, inner):
        maps = [clone(inner).fit(P[:, c], np.equal(Y, c)).calibrate(P[:, c]) for c in range(4)]
        free = np.column_stack(maps)
        total = free.sum(axis=1, keepdims=True)
        model = OneVsRest("probabilities", inner).fit(P, Y)
        np.testing.assert_allclose(model.calibrate(P), free / total, atol=1e-15)

    def test_reduced_calibrates_the_confidence(self, inner):
        expected = clone(inner).fit(CONFIDENCE, Y == TOP)
        new = Reduced("probabilities", inner).fit(P, Y).calibrate(P)
        np.testing.assert_array_equal(new[ROW, TOP], expected.calibrate(CONFIDENCE))

    def test_class_wise_has_a_map_per_predicted_class(self, inner):
        new = ClassWise("probabilities", inner).fit(P, Y).calibrate(P)
        for c in range(4):
            mine = np.equal(TOP, c)
            expected = clone(inner).fit(CONFIDENCE[mine], Y[mine] == c)
            np.testing.assert_array_equal(new[mine, c], expected.calibrate(CONFIDENCE[mine]))

    def test_the_inner_calibrator_is_not_fitted(self, inner):
        OneVsRest("probabilities", inner).fit(P, Y)
        assert not hasattr(inner, "converged_")


class TestTheRest:
    def test_it_keeps_its_ratios(self):
        new = Reduced("probabilities").fit(P, Y).calibrate(P)
        odds = np.delete(P[0], TOP[0])
        np.testing.assert_allclose(
            np.delete(new[0], TOP[0]) / (1 - new[0, TOP[0]]), odds / odds.sum(), atol=1e-12
        )

    def test_certain_predictions_share_alike(self):
        p = np.vstack([P, np.eye(4)])
        new = Reduced("probabilities").fit(P, Y).calibrate(p)
        assert np.ptp(new[-1, :3]) < 1e-15 and np.isfinite(new).all()

    def test_logits_and_probabilities(self, subtests):
        for family in (OneVsRest, Reduced, ClassWise):
            with subtests.test(family=family.__name__):
                a = family("probabilities").fit(P, Y).calibrate(P)
                b = family("logits").fit(np.log(P) + 3, Y).calibrate(np.log(P) + 3)
                np.testing.assert_allclose(a, b, atol=1e-9)

    def test_rare_classes_use_the_map_of_all(self):
        model = ClassWise("probabilities", fewest=10**6).fit(P, Y)
        assert model.own_ == [] and len(model.calibrators_) == 1
        np.testing.assert_array_equal(
            model.calibrate(P), Reduced("probabilities").fit(P, Y).calibrate(P)
        )
        predicted = np.bincount(P.argmax(axis=1))
        for k, n in enumerate(predicted):  # as many rows as wanted are enough
            model = ClassWise("probabilities", fewest=n).fit(P, Y)
            assert model.own_ == np.flatnonzero(predicted >= n).tolist() and k in model.own_

    def test_a_row_without_hope_becomes_uniform(self):
        class Nothing(HistogramBinning):
            def calibrate(self, p):
                return np.zeros(len(p))

        new = OneVsRest("probabilities", Nothing()).fit(P, Y).calibrate(P)
        np.testing.assert_array_equal(new, np.full_like(P, 0.25))

    def test_numbers_of_parameters(self):
        assert OneVsRest("probabilities").fit(P, Y).n_parameters_ == 8
        assert Reduced("probabilities").fit(P, Y).n_parameters_ == 2
        assert ClassWise("probabilities").fit(P, Y).n_parameters_ == 10
        isotonic = OneVsRest("probabilities", IsotonicCalibrator()).fit(P, Y)
        assert isotonic.n_parameters_ is None


class TestBadOptions:
    @each_case("family", [OneVsRest, Reduced, ClassWise])
    @each_case("inner", [PlattCalibrator, "platt", 3, OneVsRest("logits")])
    def test_inner(self, family, inner):
        with pytest.raises(ValueError, match=r"must be one of calibkit.calibrators"):
            family("probabilities", inner).fit(P, Y)

    def test_others(self):
        with pytest.raises(ValueError, match="fewest"):
            ClassWise("probabilities", fewest=0).fit(P, Y)
