"""Maps side by side, tested by what their artists hold."""

import numpy as np
import pytest

from calibkit import plot
from calibkit.calibrators import (
    HistogramBinning,
    IsotonicCalibrator,
    PlattCalibrator,
    SlopeOneBinning,
)
from calibkit.fakes import SyntheticShape
from calibkit.fit_on_test import compare_evaluators
from calibkit_course.lesson05 import compare_maps
from tests.drawn import one

SHAPE = SyntheticShape("beta2")
FAMILIES = {
    "slope-1": SlopeOneBinning(10),
    "flat": HistogramBinning(10),
    "isotonic": IsotonicCalibrator(),
    "Platt": PlattCalibrator(),
}


@pytest.fixture(scope="module")
def results():
    sample = SHAPE.sample(600, seed=2)
    return compare_evaluators(sample.y_true, sample.y_prob, evaluators=FAMILIES)


def test_a_map_goes_through_its_fitted_values_on_both_axes(results):
    platt = results["Platt"]
    for scale in ("linear", "logit"):
        ax = compare_maps(results, scale=scale)
        up = np.interp(0.5, *one(ax, "map Platt").get_data())
        assert up == pytest.approx(np.interp(0.5, platt.prob, platt.fitted), abs=0.01)
        assert f"Platt {platt.value:.3f}" in plot.alt_text(ax)
