"""One-vs-rest: a calibrator of one event for each class."""

import numpy as np
import pytest
from sklearn.base import clone

from calibkit.calibrators import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    OneVsRest,
    PlattCalibrator,
)
from tests.helpers import class_data

Y, P = class_data(600, 4)
ONE_DIMENSIONAL = [PlattCalibrator(), BetaCalibrator(), IsotonicCalibrator(), HistogramBinning(6)]


@pytest.mark.parametrize("inner", ONE_DIMENSIONAL, ids=lambda c: type(c).__name__)
class TestOneVsRest:
    def test_one_vs_rest_is_the_inner_map_divided_by_the_sum(self, inner):
        maps = [clone(inner).fit(P[:, c], np.equal(Y, c)).calibrate(P[:, c]) for c in range(4)]
        free = np.column_stack(maps)
        total = free.sum(axis=1, keepdims=True)
        model = OneVsRest("probabilities", inner).fit(P, Y)
        np.testing.assert_allclose(model.calibrate(P), free / total, atol=1e-15)

    def test_the_inner_calibrator_is_not_fitted(self, inner):
        OneVsRest("probabilities", inner).fit(P, Y)
        assert not hasattr(inner, "converged_")


def test_numbers_of_parameters():
    assert OneVsRest("probabilities").fit(P, Y).n_parameters_ == 8
    assert OneVsRest("probabilities", IsotonicCalibrator()).fit(P, Y).n_parameters_ is None


@pytest.mark.parametrize("inner", [PlattCalibrator, "platt", 3, OneVsRest("logits")], ids=repr)
def test_an_inner_map_of_another_kind_is_refused(inner):
    with pytest.raises(ValueError, match=r"must be one of calibkit.calibrators"):
        OneVsRest("probabilities", inner).fit(P, Y)
