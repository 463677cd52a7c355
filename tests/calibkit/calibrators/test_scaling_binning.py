"""Scaling-binning: golden values, and what its definition says."""

import numpy as np
import pytest

from calibkit.bins import EqualMass
from calibkit.calibrators import BetaCalibrator, IsotonicCalibrator, PlattCalibrator, ScalingBinning
from tests.helpers import binary_data, golden_data


class TestScalingBinning:
    # PlattBinnerCalibrator of uncertainty-calibration 0.1.4, the first 400 rows of `binary.csv`.
    # It stops its optimiser early: 1e-3 on the values.
    GOLDEN = {
        5: [0.21165808, 0.45675140, 0.64775212, 0.81029522, 0.93609312],
        10: [
            *[0.13698414, 0.28633203, 0.40979789, 0.50370491, 0.60609960],
            *[0.68940464, 0.77266682, 0.84792362, 0.91162368, 0.96056257],
        ],
    }

    @pytest.mark.parametrize("n_bins", GOLDEN)
    def test_golden(self, n_bins):
        y, p = golden_data("binary")
        model = ScalingBinning(n_bins, PlattCalibrator(smoothing=False)).fit(p[:400], y[:400])
        assert model.value_ == pytest.approx(self.GOLDEN[n_bins], abs=1e-4)
        assert model.count_.tolist() == [400 // n_bins] * n_bins
        if n_bins == 5:
            places = [4, 2, 3, 3, 3, 1, 2, 0, 4, 2]
            assert model.calibrate(p[400:410]) == pytest.approx(model.value_[places])

    @pytest.mark.parametrize("scaler", [None, BetaCalibrator(), IsotonicCalibrator()], ids=str)
    def test_the_output_is_the_mean_of_the_scaled_predictions(self, scaler):
        y, p = binary_data(900, 3)
        model = ScalingBinning(7, scaler).fit(p, y)
        out, scaled = model.calibrate(p), model.scaler_.calibrate(p)
        assert np.array_equal(model.edges_, EqualMass(7).edges(scaled))
        assert len(np.unique(out)) <= 7
        assert model.scaler_ is not scaler
        assert out.mean() == pytest.approx(scaled.mean(), abs=1e-14)
        for value in np.unique(out):
            assert value == pytest.approx(scaled[out == value].mean(), abs=1e-14)

    def test_steps_are_drawn_where_they_are(self):
        y, p = binary_data(500, 2)
        model = ScalingBinning(6).fit(p, y)
        x, height = model.polyline()
        pieces = np.split(np.flatnonzero(~np.isnan(height)), 6)
        assert len(x) == 17
        for piece in pieces:
            left, right = x[piece]
            inner = np.linspace(left, right, 7)[1:-1]
            assert model.curve(inner) == pytest.approx(height[piece[0]], abs=0)
            assert height[piece[0]] == height[piece[1]]
        assert x[0] == 0 and x[-1] == 1

    @pytest.mark.parametrize("scaler", ["Platt", PlattCalibrator])
    def test_a_scaler_of_another_kind_is_refused(self, scaler):
        with pytest.raises(ValueError, match="Calibrator or None"):
            ScalingBinning(scaler=scaler).fit([0.1, 0.9], [0, 1])
