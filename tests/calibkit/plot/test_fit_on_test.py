"""Fitted maps, tested by what their artists hold."""

import numpy as np
import pytest
from matplotlib.axes import Axes

import calibkit as ck
from calibkit import plot
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
from calibkit.plot import frames
from tests.drawn import area, drawn, find

SHAPE = SyntheticShape("beta2")
EVALUATORS = {
    "slope-1": SlopeOneBinning(10),
    "flat": HistogramBinning(10),
    "isotonic": IsotonicCalibrator(),
    "Platt": PlattCalibrator(),
    "beta": BetaCalibrator(),
}


@pytest.fixture(scope="module")
def results():
    sample = SHAPE.sample(600, seed=2)
    return {
        name: fit_on_test(sample.y_true, sample.y_prob, evaluator=evaluator)
        for name, evaluator in EVALUATORS.items()
    }


@pytest.fixture(scope="module")
def six():
    p, y = [0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 1, 0, 1, 1, 1]
    return {
        name: fit_on_test(y, p, evaluator=family(2))
        for name, family in (("flat", HistogramBinning), ("slope-1", SlopeOneBinning))
    }


def segments(ax: Axes, gid: str) -> np.ndarray:
    parts = [np.array(a.get_segments()) for s in ("over", "under") for a in find(ax, f"{gid}-{s}")]
    return np.concatenate(parts)


def on_logit_axes(result):
    return frames.fitted_line(result.line_x, result.line_y, result.evaluator.curve, "logit")


class TestElements:
    def test_elements_that_need_bins_are_refused(self, results, subtests):
        for name in ("bars", "means"):
            with subtests.test(name), pytest.raises(ValueError, match='"isotonic" has no bins'):
                plot.fit_on_test(results["isotonic"], show=name)


class TestGeometry:
    @pytest.mark.parametrize("name", ["slope-1", "flat"])
    def test_the_lines_have_the_estimate_as_their_mean_length(self, six, name):
        lines = segments(plot.fit_on_test(six[name], show="distances"), "distances")
        assert len(lines) == 6 and (lines[:, 0, 0] == lines[:, 1, 0]).all()
        assert (lines[:, 0, 0] == lines[:, 0, 1]).all()  # they start on the diagonal
        lengths = np.abs(lines[:, 1, 1] - lines[:, 0, 1])
        assert lengths.mean() == pytest.approx(six[name].value, abs=1e-12)
        assert lengths.mean() == pytest.approx({"flat": 0.1889, "slope-1": 0.1667}[name], abs=5e-5)

    def test_of_many_predictions_some_get_a_line(self, results):
        ax = plot.fit_on_test(results["Platt"], show="distances")
        assert "Lines stand at 120 of 600 predictions." in plot.alt_text(ax)

    @pytest.mark.slow
    def test_the_area_of_slanted_tops_is_the_error_if_bins_weigh_the_same(self):
        y_prob = (np.arange(500) + 0.5) / 500
        y_true = np.random.default_rng(0).random(500) < y_prob**2
        result = fit_on_test(y_true, y_prob, evaluator=SlopeOneBinning(10))
        ax = plot.fit_on_test(result)
        found = area(ax, "filling-over") + area(ax, "filling-under")
        assert found == pytest.approx(result.value, abs=1e-9)
        ece = ck.expected_calibration_error(y_true, y_prob, bins=10).value
        assert found == pytest.approx(ece, abs=1e-9)

    def test_the_area_of_flat_tops_is_their_own_error(self):
        # Dense predictions: the mean over them is the area, up to their spacing.
        y_prob = (np.arange(20_000) + 0.5) / 20_000
        y_true = np.random.default_rng(0).random(20_000) < y_prob
        result = fit_on_test(y_true, y_prob, evaluator=HistogramBinning(4))
        ax = plot.fit_on_test(result)
        found = area(ax, "filling-over") + area(ax, "filling-under")
        assert found == pytest.approx(result.value, abs=1e-4)
        assert result.value > ck.expected_calibration_error(y_true, y_prob, bins=4).value + 0.05

    def test_the_frame_grows_with_a_map_that_leaves_it(self, six):
        flat, slanted = (plot.fit_on_test(six[name]).get_ylim() for name in ("flat", "slope-1"))
        assert flat == pytest.approx((-0.025, 1.025))
        assert slanted == pytest.approx((-0.025, six["slope-1"].fitted.max() + 0.025))

    def test_a_map_without_bins_gets_twenty_columns_of_counts(self, results):
        ax = plot.fit_on_test(results["isotonic"])
        count = np.histogram(results["isotonic"].prob, 20, (0, 1))[0]
        assert np.array(drawn(ax, "counts"))[:, 3].tolist() == count[count > 0].tolist()


class TestLogitAxes:
    @pytest.mark.parametrize("name", EVALUATORS)
    def test_the_bent_line_lies_on_the_map(self, results, name):
        result = results[name]
        x, y = on_logit_axes(result)
        low, high = frames.ends("logit")
        rows = ~np.isnan(x)
        across, up = x[rows], y[rows]
        assert ((across >= low) & (across <= high) & (up >= low) & (up <= high)).all()
        wanted = np.clip(result.evaluator.curve(across), low, high)
        # The right end of a bin belongs to the next one: there the drawn piece ends.
        close = np.isclose(up, wanted, atol=1e-9)
        edges = getattr(result.evaluator, "edges_", np.array([]))
        at_edge = np.isclose(across[:, None], edges[None, :], atol=1e-9).any(axis=1)
        assert (close | at_edge).all() and close.mean() > 0.9

    def test_platt_scaling_is_a_straight_line(self, results):
        x, y = on_logit_axes(results["Platt"])
        model = results["Platt"].evaluator
        assert logit(y) == pytest.approx(model.slope_ * logit(x) + model.intercept_, abs=1e-9)

    def test_slanted_tops_are_bent(self):
        x, y = frames.polyline(np.array([0.0, 0.5]), np.array([0.1, 0.6]), "logit")
        assert len(x) > 10
        assert y == pytest.approx(x + 0.1)
        assert x[0] == pytest.approx(expit(-frames.LOGIT_END))

    def test_pieces_stay_apart(self):
        x = np.array([0.0, 0.4, np.nan, 0.4, 1.0])
        across, up = frames.polyline(x, x, "logit")
        assert np.isnan(across).sum() == np.isnan(up).sum() > 0
        assert frames.polyline(x, x, "linear")[0] is x

    def test_a_jump_is_drawn_upright(self):
        x, y = frames.polyline(np.array([0.3, 0.3]), np.array([0.2, 0.6]), "logit")
        assert (x == pytest.approx(0.3)) and y[0] == pytest.approx(0.2)
        assert y[-1] == pytest.approx(0.6)
