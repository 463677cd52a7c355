"""The smooth curve beside R's printed numbers, naive fits and other libraries; bands that hold."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from calibkit_audit.clinic import smooth_curve
from calibkit_audit.clinic.smooth import Loess
from tests.helpers import assert_same, binary_data, golden, golden_data, refuses

BY_R = golden("by_r.json")


def test_the_loess_is_that_of_r_on_speed_and_stopping_distance_of_50_cars() -> None:
    """Ezekiel (1930)."""
    speed, distance = np.array(BY_R["cars speed"], float), np.array(BY_R["cars dist"], float)
    loess = Loess(speed, 0.75, 2)
    found = loess.basis(np.arange(5.0, 26)) @ loess.fit(distance)
    assert found == pytest.approx(BY_R["cars loess at 5 to 25"], abs=1e-9)


CURVES: dict[str, dict[str, Any]] = {"loess": {}, "loess 2/3 1": {"span": 2 / 3, "degree": 1}}


@pytest.mark.parametrize("name", CURVES)
def test_all_five_distances_are_those_of_r(name: str) -> None:
    curve = smooth_curve(*golden_data("binary"), **CURVES[name])
    assert curve.index_value == pytest.approx(BY_R[name], abs=1e-6)


def test_between_its_knots_it_is_near_a_local_fit_at_every_point() -> None:
    y, p = binary_data(300)
    for degree, span in ((2, 0.75), (1, 2 / 3)):
        fits = []
        for at in p:
            away = np.abs(p - at)
            reach = np.sort(away)[int(span * 300) - 1]
            root = np.sqrt(np.maximum(1 - (away / reach) ** 3, 0) ** 3)
            fits.append(np.polyfit(p - at, y, degree, w=root)[-1])
        curve = smooth_curve(y, p, span=span, degree=degree)
        assert np.abs(np.interp(p, curve.prob, curve.frequency) - fits).max() < 0.01
        assert float(curve) == pytest.approx(np.abs(fits - p).mean(), abs=1e-3)


@pytest.mark.parametrize("span", [0.2, 0.5, 0.75])
@pytest.mark.parametrize("degree", [1, 2])
def test_of_few_values_it_is_near_what_was_said(span: float, degree: int) -> None:
    """A window may end at a value: its rows weigh nothing there, but for rounding."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = rng.choice([0.1, 0.2, 0.25, 0.3, 0.6, 0.9], 1000)
        curve = smooth_curve(rng.random(1000) < p, p, span=span, degree=degree)
        assert np.abs(curve.frequency - curve.prob).max() < 0.3  # was 500,000


def test_distances_by_hand() -> None:
    """Where nothing happens the curve is 0, and each distance is the prediction itself."""
    p = np.arange(1, 11) / 20
    curve = smooth_curve(np.zeros(10, int), p)
    wanted = [0.275, 0.275, 0.455, 0.5, 100 * (p**2).mean()]
    assert curve.index_value == pytest.approx(wanted, abs=1e-12)
    assert curve.frequency == pytest.approx(0, abs=1e-12)
    assert "ICI 0.2750" in curve.describe()
    assert float(curve) == pytest.approx(0.275)


def test_order_and_clusters() -> None:
    y, p = binary_data(200)
    mixed = np.random.default_rng(0).permutation(200)
    one = smooth_curve(y, p, n_draws=5, rng=0)
    assert_same(one, smooth_curve(y[mixed], p[mixed], n_draws=5, rng=0))
    assert (one.all_high - one.all_low >= one.high - one.low).all()


@pytest.mark.slow
def test_bands_hold_the_true_curve_as_often_as_they_say() -> None:
    rng, points, everywhere = np.random.default_rng(3), [], []
    for _ in range(200):
        p = rng.uniform(0.02, 0.98, 500)
        truth = expit(0.2 + 0.8 * logit(p))
        found = smooth_curve(rng.random(500) < truth, p, level=0.9)
        true = expit(0.2 + 0.8 * logit(found.prob))
        points.append(((found.low <= true) & (true <= found.high)).mean())
        everywhere.append(((found.all_low <= true) & (true <= found.all_high)).all())
    assert 0.85 < np.mean(points) < 0.94  # standard error about 0.015
    assert 0.84 < np.mean(everywhere) < 0.97


def of_equal_halves(prob: Any, **options: Any) -> Any:
    return smooth_curve(np.arange(len(prob)) % 2, prob, **options)


test_refusals = refuses(
    (lambda: of_equal_halves([0.2] * 5), "at least 10 rows, got 5"),
    (lambda: of_equal_halves([0.2] * 20), "all predictions are equal"),
    (lambda: of_equal_halves([0.2] * 19 + [0.3]), "make span larger"),
    (lambda: of_equal_halves([0.2] * 10 + [0.3] * 10, span=0.5), "make span larger"),
    (lambda: of_equal_halves(np.linspace(0.1, 0.9, 20), degree=3), "degree must be 1 or 2"),
)
