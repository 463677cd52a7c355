"""A map's gain on rows that it has not seen: a lower bound, and what probmetrics computes."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from calibkit.calibrators import (
    BetaCalibrator,
    Calibrator,
    DirichletCalibrator,
    IsotonicCalibrator,
    MulticlassCalibrator,
    PlattCalibrator,
    TemperatureScaling,
)
from calibkit.calibrators.folds import assign_folds
from calibkit.fit_on_test import cross_fitted_error
from tests.helpers import binary_data, class_data, refuses_options


class Square(Calibrator):
    """A family of one map, which is the truth of the data below."""

    family = "square"

    def _fit(self, prob, label):
        self.n_parameters_, self.n_iter_ = 0, 0

    def _curve(self, prob):
        return prob**2


class Powers(MulticlassCalibrator):
    """The same for whole rows: squares, made to sum to 1."""

    family, input = "squares", "probabilities"

    def _fit(self, scores, label):
        self.n_parameters_, self.n_iter_, self.converged_ = 0, 0, True

    def _prepared(self, scores):
        return scores

    def _calibrate(self, scores):
        return scores**2 / (scores**2).sum(axis=1, keepdims=True)


@pytest.mark.slow
@pytest.mark.parametrize("norm", [1, 1.5, 2, np.inf])
def test_the_true_map_gains_the_whole_error_and_others_less(norm) -> None:
    """Hölder: no map gains more than the true one, and the true one gains ``E ||f - c||_p``."""
    y, p = binary_data(20_000, exponent=2)
    rows = class_data(20_000)
    for (label, prob), truth, family, other in [
        ((y, p), p**2, Square(), PlattCalibrator()),
        (rows, Powers()._calibrate(rows[1]), Powers(), TemperatureScaling("probabilities")),
    ]:
        apart = np.linalg.norm((prob - truth).reshape(len(y), -1), norm, axis=1).mean()
        best = cross_fitted_error(label, prob, evaluator=family, loss=norm)
        assert abs(best.value - apart) < 4 * best.standard_error
        less = cross_fitted_error(label, prob, evaluator=other, loss=norm)
        assert less.value < apart + 4 * less.standard_error


def test_the_interval_is_that_of_a_mean_gain() -> None:
    found = cross_fitted_error(*binary_data(300, exponent=2), cv=2)
    assert found.value == pytest.approx(found.gain.mean())
    half = stats.norm.ppf(0.95) * found.standard_error
    assert found.interval() == pytest.approx((found.value - half, found.value + half))
    assert found.standard_error == pytest.approx(found.gain.std(ddof=1) / np.sqrt(300))


def test_rows_may_come_in_any_order() -> None:
    label, prob = class_data(300)
    shuffled = np.random.default_rng(0).permutation(300)
    for options in ({}, {"view": 1}, {"view": "top-label", "evaluator": IsotonicCalibrator()}):
        one = cross_fitted_error(label, prob, **options)
        other = cross_fitted_error(label[shuffled], prob[shuffled], **options)
        np.testing.assert_allclose(other.gain, one.gain[shuffled], atol=1e-12)
        assert one.gain.mean() == one.value


test_impossible_options = refuses_options(
    partial(cross_fitted_error, *binary_data(50)),
    ({"loss": 0.5}, 'loss must be "brier" or a norm from 1 on, got 0.5'),
    ({"loss": "log"}, 'loss must be "brier" or a norm'),
    ({"evaluator": "isotonic"}, "An evaluator is a calibrator"),
)
test_what_does_not_suit_rows = refuses_options(
    partial(cross_fitted_error, *class_data(50)),
    ({"evaluator": BetaCalibrator()}, "one of calibkit.calibrators with"),
    ({"evaluator": TemperatureScaling("logits")}, "one of calibkit.calibrators with"),
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Input shape")
def test_probmetrics_finds_the_same_numbers() -> None:
    """With our folds and families: whole rows by its own loop, one event by its losses."""
    metrics = pytest.importorskip("probmetrics.metrics")
    torch = pytest.importorskip("torch")
    label, prob = class_data(400)
    order = np.lexsort((label, *prob.T))
    label, prob = label[order], prob[order]
    fold, n = assign_folds(np.zeros(400), label, 5, 0)

    class Folds:
        def get_splits(self, **_):
            return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n)]

        def get_name(self):
            return "ours"

    losses = [(norm, metrics.ProperLpLoss(norm)) for norm in (1, 2, np.inf)]
    for family in (TemperatureScaling("probabilities"), DirichletCalibrator("probabilities")):
        for loss, theirs in [*losses, ("brier", metrics.BrierLoss())]:
            found = metrics.MetricsWithCalibration(
                theirs, calibrator=family, val_splitter=Folds()
            ).compute_all_from_labels_probs(torch.as_tensor(label), torch.as_tensor(prob))
            number = next(float(v) for k, v in found.items() if k.startswith("calib-err"))
            ours = cross_fitted_error(label, prob, evaluator=family, loss=loss)
            assert float(ours) == pytest.approx(number, abs=1e-12)
