"""Wrappers around calibrators of one dimension, and the exact inverse of label smoothing."""

import numpy as np
import pytest
from scipy import optimize
from sklearn.base import clone

from calibkit.calibrators import BetaCalibrator, FlatBinning, IsotonicCalibrator, PlattCalibrator
from calibkit.multiclass import ClassWise, OneVsRest, Reduced, undo_label_smoothing
from tests.helpers import class_data, each_case

Y, P = class_data(600, 4)
ROW = np.arange(len(Y))
TOP, CONFIDENCE = P.argmax(axis=1), P.max(axis=1)
ONE_DIMENSIONAL = [PlattCalibrator(), BetaCalibrator(), IsotonicCalibrator(), FlatBinning(6)]


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
        class Nothing(FlatBinning):
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


TRUTH = np.array([0.7, 0.2, 0.1])


class TestLabelSmoothing:
    @each_case("amount", [0.0, 0.05, 0.1, 0.5, 0.99])
    @each_case("k", [2, 3, 10])
    def test_it_inverts_the_optimum(self, amount, k):
        truth = np.random.default_rng(k).dirichlet(np.ones(k), 50)
        truth[0] = np.eye(k)[0]
        smoothed = (1 - amount) * truth + amount / k
        recovered = undo_label_smoothing(smoothed, amount=amount)
        np.testing.assert_allclose(recovered, truth, atol=1e-13 / (1 - amount))

    def test_the_optimum_of_the_loss(self):
        """Minimise the smoothed cross-entropy by a program, then invert."""
        target = (1 - 0.1) * TRUTH + 0.1 / 3

        def loss(z):
            log = np.append(z, 0) - np.log(np.exp(np.append(z, 0)).sum())
            return -(target * log).sum()

        z = optimize.minimize(loss, np.zeros(2), options={"gtol": 1e-12}).x
        p = np.exp(np.append(z, 0)) / np.exp(np.append(z, 0)).sum()
        recovered = undo_label_smoothing(p[np.newaxis], amount=0.1)[0]
        np.testing.assert_allclose(recovered, TRUTH, atol=1e-6)

    def test_one_event(self):
        two = undo_label_smoothing([[0.3, 0.7]], amount=0.2)[0, 1]
        assert undo_label_smoothing([0.7], amount=0.2)[0] == pytest.approx(two, abs=1e-15)

    def test_what_no_optimum_says(self):
        with pytest.raises(ValueError, match=r"y_prob\[1, 2\] = 0.01 lies outside"):
            undo_label_smoothing([TRUTH, [0.5, 0.49, 0.01]], amount=0.1)
        with pytest.raises(ValueError, match=r"y_prob\[0\] = 0.99 lies outside"):
            undo_label_smoothing([0.99], amount=0.1)

    @pytest.mark.parametrize("amount", [1, -0.1, np.nan, "a", None, True])
    def test_amount(self, amount):
        with pytest.raises(ValueError, match="amount must be"):
            undo_label_smoothing([TRUTH], amount=amount)
