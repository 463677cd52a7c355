"""Maps on logit axes: the drawn line is the map."""

import numpy as np
import pytest

from calibkit.calibrators import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    PlattCalibrator,
    SlopeOneBinning,
)
from calibkit.fakes import SyntheticShape
from calibkit.fit_on_test import fit_on_test
from calibkit.inputs import expit, logit
from calibkit_course import logit_axes

EVALUATORS = {
    "slope-1": SlopeOneBinning(10),
    "flat": HistogramBinning(10),
    "isotonic": IsotonicCalibrator(),
    "Platt": PlattCalibrator(),
    "beta": BetaCalibrator(),
}


@pytest.mark.parametrize("name", EVALUATORS)
def test_the_line_lies_on_the_map(name):
    sample = SyntheticShape("beta2").sample(600, seed=2)
    result = fit_on_test(sample.y_true, sample.y_prob, evaluator=EVALUATORS[name])
    x, y = logit_axes.fitted_line(result.line_x, result.line_y, result.evaluator.curve, "logit")
    low, high = logit_axes.ends("logit")
    rows = ~np.isnan(x)
    across, up = x[rows], y[rows]
    assert ((across >= low) & (across <= high) & (up >= low) & (up <= high)).all()
    wanted = np.clip(result.evaluator.curve(across), low, high)
    # The right end of a bin belongs to the next one: there the drawn piece ends.
    close = np.isclose(up, wanted, atol=1e-9)
    edges = getattr(result.evaluator, "edges_", np.array([]))
    at_edge = np.isclose(across[:, None], edges[None, :], atol=1e-9).any(axis=1)
    assert (close | at_edge).all() and close.mean() > 0.9
    if name == "Platt":  # a straight line
        model = result.evaluator
        assert logit(y) == pytest.approx(model.slope_ * logit(x) + model.intercept_, abs=1e-9)


def test_slanted_tops_are_bent_pieces_stay_apart_and_jumps_are_upright():
    x, y = logit_axes.polyline(np.array([0.0, 0.5]), np.array([0.1, 0.6]), "logit")
    assert len(x) > 10
    assert y == pytest.approx(x + 0.1)
    assert x[0] == pytest.approx(expit(-logit_axes.LOGIT_END))
    x = np.array([0.0, 0.4, np.nan, 0.4, 1.0])
    across, up = logit_axes.polyline(x, x, "logit")
    assert np.isnan(across).sum() == np.isnan(up).sum() > 0
    assert logit_axes.polyline(x, x, "linear")[0] is x
    x, y = logit_axes.polyline(np.array([0.3, 0.3]), np.array([0.2, 0.6]), "logit")
    assert (x == pytest.approx(0.3)) and (y[0], y[-1]) == pytest.approx((0.2, 0.6))
