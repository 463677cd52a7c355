"""The maps that only the pseudo-real study fits: a spline, and kernel densities."""

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from book.experiments.pseudo_real.kernel import KernelDensityCalibrator
from book.experiments.pseudo_real.spline import SplineCalibrator
from tests.helpers import binary_data, coarse_binary

GRID = np.linspace(0, 1, 201)


def cumulative_gap(y: Any, p: Any) -> tuple[Any, Any]:
    """Return k / n and the curve that is smoothed, one row at a time; no ties."""
    order = np.argsort(p)
    total, curve = 0.0, [0.0]
    for row in order:
        total += (y[row] - p[row]) / len(p)
        curve.append(total)
    return np.arange(len(p) + 1) / len(p), np.array(curve)


def spline_of(model: SplineCalibrator) -> CubicSpline:
    heights = model.knot_heights_
    return CubicSpline(np.linspace(0, 1, len(heights)), heights, bc_type="natural")


class TestSpline:
    @pytest.mark.parametrize("n_knots", [3, 6, 9])
    def test_it_is_the_least_squares_spline_of_the_gaps(self, n_knots):
        y, p = binary_data(300, 1)
        t, curve = cumulative_gap(y, p)
        basis = CubicSpline(np.linspace(0, 1, n_knots), np.eye(n_knots), bc_type="natural")(t)
        heights = np.linalg.lstsq(basis, curve, rcond=None)[0]
        model = SplineCalibrator(n_knots).fit(p, y)
        assert model.knot_heights_ == pytest.approx(heights, abs=1e-10)
        assert model.n_parameters_ == n_knots
        # The map adds the mean slope over the share of one prediction, 1 / n.
        want = np.sort(p) + np.diff(spline_of(model)(t)) * 300
        assert model.curve(np.sort(p)) == pytest.approx(want, abs=1e-9)

    def test_ties_share_the_mean_slope(self):
        y, p = coarse_binary(400, 7)
        model = SplineCalibrator().fit(p, y)
        spline = spline_of(model)
        # Whatever the ties: the corrections add up to what the spline rises from 0 to 1.
        assert (model.curve(p) - p).mean() == pytest.approx(spline(1) - spline(0), abs=1e-12)
        count = np.array([(p == v).sum() for v in model.value_])
        places = np.concatenate(([0], np.cumsum(count))) / len(p)
        slopes = np.diff(spline(places)) / np.diff(places)
        assert model.height_ - model.value_ == pytest.approx(slopes, abs=1e-10)

    def test_between_predictions_it_is_linear_and_the_swap_would_show(self):
        y, p = binary_data(40, 3)
        model = SplineCalibrator().fit(p, y)
        x, height = model.value_, model.height_
        right = 0.75  # three quarters of the way to the right neighbour
        at = (1 - right) * x[:-1] + right * x[1:]
        want = (1 - right) * height[:-1] + right * height[1:]
        swapped = right * height[:-1] + (1 - right) * height[1:]  # the authors' program
        assert model.curve(at) == pytest.approx(want, abs=1e-12)
        assert np.abs(swapped - want).max() > 0.01
        assert model.curve(x) == pytest.approx(height, abs=1e-15)


def all_pairs(y: Any, p: Any, bandwidth: float, at: Any) -> Any:
    """Return kernel averages over the data and their mirror images, pair by pair."""
    weight = np.zeros((len(at), len(p)))
    for image in (p, -p, 2 - p):
        u = (at[:, None] - image) / (3 * bandwidth)
        weight += np.where(np.abs(u) < 1, (1 - u**2) ** 3, 0)
    total = weight.sum(axis=1)
    seen = total > 0
    return np.where(seen, weight @ y / np.where(seen, total, 1), np.nan)


class TestKernelDensity:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("bandwidth", "error"), [("rule", 1e-4), (1 / 3, 1e-5), (0.01, 1e-4), (5e-4, 2e-3)]
    )
    @pytest.mark.parametrize("shape", ["uniform", "confident"])
    def test_the_grid_is_fine_enough(self, bandwidth, error, shape):
        rng = np.random.default_rng(0)
        p = rng.random(1000) if shape == "uniform" else np.round(rng.beta(0.1, 0.1, 1000), 3)
        y = (rng.random(1000) < p**1.5).astype(int)
        model = KernelDensityCalibrator(bandwidth).fit(p, y)
        want = all_pairs(y, p, model.bandwidth_, GRID)
        seen = ~np.isnan(want)
        # Where a kernel only just reaches a prediction, the grid decides: the two ends of gaps.
        difference = np.abs(model.calibrate(GRID) - want)[seen]
        assert np.quantile(difference, 0.98) < error
        if bandwidth != 5e-4:
            assert difference.max() < error

    def test_the_rule(self):
        y, p = binary_data(800, 1)
        model = KernelDensityCalibrator().fit(p, y)
        assert model.bandwidth_ == pytest.approx(p[y == 0].std() * 1600**-0.2, abs=1e-15)

    def test_masses_at_0_and_1_are_points_like_others(self):
        # 30 % of the zeros and 60 % of the ones are events. A density forced to 0 at the ends
        # would answer with what is next to them, .5.
        p = np.repeat([0.0, 1.0, 0.4, 0.6], [1000, 1000, 100, 100])
        y = np.concatenate([np.arange(1000) < 300, np.arange(1000) < 600, np.arange(200) % 2])
        model = KernelDensityCalibrator(bandwidth=0.02).fit(p, y)
        want = [0.3, 0.6, 0.5, 0.5]
        assert model.calibrate([0.0, 1.0, 0.4, 0.6]) == pytest.approx(want, abs=1e-12)
