"""Mean and weak calibration beside an independent fit, and with intervals that hold."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from calibkit.hypothesis_tests import cox_test
from calibkit_audit.clinic import (
    calibration_in_the_large,
    calibration_slope,
    observed_expected_ratio,
)
from tests.helpers import binary_data, golden, golden_data, refuses


def loss(a: float, b: float, y: np.ndarray, p: np.ndarray) -> float:
    return -float(stats.bernoulli.logpmf(y, expit(a + b * logit(p))).sum())


def test_by_cluster_the_slope_is_as_wide_as_the_sandwich_of_statsmodels() -> None:
    """Ours is the profile's; near the estimate they are alike."""
    sm = pytest.importorskip("statsmodels.api")
    y, p = binary_data(400)
    cluster = np.arange(400) // 4
    how = {"cov_type": "cluster", "cov_kwds": {"groups": cluster, "df_correction": True}}
    line = sm.GLM(y, sm.add_constant(logit(p)), sm.families.Binomial())
    robust = line.fit(tol=1e-12, **how)
    ours = calibration_slope(y, p, cluster=cluster)
    assert ours.high - ours.low == pytest.approx(2 * 1.984 * robust.bse[1], rel=0.05)


test_no_finite_line_is_said = refuses(
    (lambda: calibration_in_the_large([1, 1], [0.2, 0.3]), "the event always happened"),
    (lambda: calibration_slope([0, 1], [0.3, 0.2], sample_weight=[2, 0]), "never happened;"),
    (lambda: calibration_slope([0, 1], [0.2, 0.3]), "the slope is infinite"),
    (lambda: calibration_slope([0, 1], [0.2, 0.2]), "all predictions are equal"),
    (lambda: calibration_slope([1, 1, 0], [0.0, 0.2, 0.3]), "1 row wrongly said 0"),
    (lambda: calibration_in_the_large([0, 1], [0.0, 1.0]), "never happened beside rows that say 0"),
    (
        lambda: calibration_in_the_large([0, 0, 1], [1.0, 1.0, 0.4]),
        "2 rows wrongly said 0 or 1; no sh",
    ),
    (lambda: observed_expected_ratio([0, 1], [0.0, 0.0]), "all predictions are 0"),
)


def test_certain_rows_that_are_right_leave_the_line_as_it_is() -> None:
    """They are the limit of rows that are ever surer; only the ratio counts their events."""
    y, p = binary_data(400)
    z, q = np.r_[y, 0, 0, 1], np.r_[p, 0.0, 0, 1]
    for measure in (calibration_in_the_large, calibration_slope, observed_expected_ratio):
        for how in ({}, {"cluster": np.arange(403) // 2}, {"sample_weight": 1 + z + q}):
            found, limit = measure(z, q, **how), measure(z, q.clip(1e-12, 1 - 1e-12), **how)
            same = pytest.approx([float(limit), limit.low, limit.high], abs=1e-6)
            assert [float(found), found.low, found.high] == same, (measure, how)
    assert float(observed_expected_ratio(z, q)) == pytest.approx(z.sum() / q.sum(), abs=1e-12)


def test_they_are_what_r_gives() -> None:
    """R's profile ends are interpolated."""
    by_r, data = golden("by_r.json"), golden_data("binary")
    assert float(observed_expected_ratio(*data)) == pytest.approx(data[0].sum() / data[1].sum())
    for name, measure in (
        ("calibration in the large", calibration_in_the_large),
        ("calibration slope", calibration_slope),
    ):
        found = measure(*data)
        assert float(found) == pytest.approx(by_r[name][0], abs=1e-8), name
        assert [found.low, found.high] == pytest.approx(by_r[name][1:], abs=1e-3), name
    assert "ideal 1" in found.describe()
    assert cox_test(*data).intercept == pytest.approx(by_r["joint intercept"][0], abs=1e-6)


def test_by_cluster_the_profile_rises_as_much_as_the_design_asks() -> None:
    y, p = binary_data(300)
    cluster = np.sort(np.arange(300) % 40)
    y = np.where(np.arange(300) % 2 == 0, y, np.roll(y, 1))  # neighbours agree
    found = calibration_in_the_large(y, p, cluster=cluster)
    fitted = expit(float(found) + logit(p))
    sums = np.bincount(cluster, y - fitted)
    design = max(1, 40 / 39 * (sums**2).sum() / (fitted * (1 - fitted)).sum())
    assert design > 1.2
    for end in (found.low, found.high):
        rise = 2 * (loss(end, 1, y, p) - loss(float(found), 1, y, p))
        assert rise == pytest.approx(design * stats.t.ppf(0.975, 39) ** 2, rel=1e-3)
    alone = calibration_in_the_large(y, p)
    assert found.high - found.low > alone.high - alone.low


def test_rows_that_wrongly_said_0_or_1_count_in_the_means() -> None:
    """No line is fitted for O/E; in the large, the others make up for them."""
    y, p = np.array([0, 1, 1, 0, 1]), np.array([1, 0.5, 0.5, 0.2, 0.9])
    assert float(observed_expected_ratio(y, p)) == pytest.approx(3 / 3.1, abs=1e-12)
    assert float(observed_expected_ratio(1 - y, 1 - p)) == pytest.approx(2 / 1.9, abs=1e-12)
    large, other = calibration_in_the_large(y, p), calibration_in_the_large(1 - y, 1 - p)
    assert float(large) < 0 and float(large) == pytest.approx(-float(other), abs=1e-9)
    assert 1 + expit(large.value + logit(p[1:])).sum() == pytest.approx(3, abs=1e-9)
    found = observed_expected_ratio(np.zeros(50), np.full(50, 0.02))
    assert found.value == 0 and abs(found.low) < 1e-12 and 3 < found.high < 4  # rule of three


@pytest.mark.parametrize(("scale", "sure"), [(1, 0), (0.02, 0), (1, 100)])
def test_the_interval_of_the_ratio_holds_the_truth(scale: float, sure: int) -> None:
    """200 sets of 300 rows: 90 % intervals hold 180; fewer than 166 in one of 300 tries."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(200):
        true = scale * rng.beta(1, 3, 300)
        p = expit(logit(true) + 0.7)
        p[:sure], true[:sure] = 1.0, 0.8
        found = observed_expected_ratio((rng.random(300) < true) * 1, p, level=0.9)
        held += found.low <= true.sum() / p.sum() <= found.high
    assert held >= 166, held
