"""Intervals by inverted tests: against a closed form, at their borders, and their coverage."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm as normal

import calibkit as ck
from calibkit.chance import _inversion, redraws
from tests.helpers import binary_data, class_data

ECE = ck.expected_calibration_error


def inversion(data: Any, n_resamples: int = 500, **options: Any) -> _inversion.Inversion:
    """Return what inverts the tests of an error."""
    kept = redraws.redraws_of(ck.calibration_error(*data, **options), *data)
    assert kept is not None
    return _inversion.Inversion(kept, n_resamples, np.random.default_rng(0))


# --- what the interval is ------------------------------------------------------------------------


def constant(n: int, hits: int, said: float) -> tuple[Any, Any]:
    """One prediction for all rows: the error is a distance of a mean from a constant."""
    return np.arange(n) < hits, np.full(n, said)


def folded(gap: float, sd: float, share: float) -> float:
    """Return the a at which |N(a, sd^2)| is below the gap with this probability; 0 if nowhere."""

    def surplus(a: float) -> float:
        return float(normal.cdf((gap - a) / sd) - normal.cdf((-gap - a) / sd)) - share

    return 0.0 if surplus(0.0) < 0 else float(brentq(surplus, 0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("norm", [1, np.inf])
@pytest.mark.parametrize("hits", [500, 475, 520, 325])
def test_one_bin_is_a_folded_normal_distribution(hits: int, norm: float) -> None:
    """Half of 1000 expected; the tolerance covers steps of 1 / 1000 and 8000 draws."""
    n, frequency = 1000, hits / 1000
    gap, sd = abs(0.5 - frequency), np.sqrt(frequency * (1 - frequency) / n)
    options: dict[str, Any] = {"bins": 1, "norm": norm, "n_resamples": 8000, "rng": 0}
    found = ck.bootstrap_interval(ck.calibration_error, *constant(n, hits, 0.5), **options)
    # Luck counts as the median of a calibrated model.
    high = folded(max(gap, sd * normal.ppf(0.75)), sd, 0.05)
    assert found.low == pytest.approx(folded(gap, sd, 0.95), abs=0.12 * sd)
    assert found.high == pytest.approx(high, abs=0.12 * sd)


@pytest.mark.parametrize("options", [{}, {"norm": 2}, {"weights": "equal"}])
@pytest.mark.parametrize("slope", [0.5, 1.0])
def test_ends_are_borders_of_the_tests(slope: float, options: dict[str, Any]) -> None:
    sample = ck.fakes.LogitDistortion(slope=slope).sample(600, 3)
    inverted = inversion((sample.y_true, sample.y_prob), **options)
    low, high = inverted.interval(0.8)
    value = inverted.error.value
    lucky = max(value, np.median(inverted.at(0.0)))
    step = 1e-4 * value
    assert (inverted.at(high) <= lucky).mean() == pytest.approx(0.1, abs=0.006)
    assert (inverted.at(high + step) <= lucky).mean() <= 0.1
    if low == 0:
        assert (inverted.at(0.0) >= value).mean() > 0.098
    else:
        assert (inverted.at(low) >= value).mean() == pytest.approx(0.1, abs=0.006)
    assert 0 <= low <= high <= 1


def test_an_error_of_0_shows_what_a_calibrated_model_shows() -> None:
    data = binary_data(800)
    inverted, null = inversion(data, 4000), ck.null_level(ECE, *data, n_draws=4000, rng=1)
    drawn = inverted.at(0.0)
    # The weights of the bins are resampled, so the spread is a little larger.
    assert drawn.mean() == pytest.approx(null.mean, rel=0.03)
    assert drawn.std() == pytest.approx(null.sd, rel=0.1)


def test_the_measured_error_shows_what_resamples_show() -> None:
    data = binary_data(4000)
    inverted = inversion(data, 2000, bins=5)
    drawn = inverted.at(inverted.error.value)
    assert drawn.mean() == pytest.approx(inverted.draws.mean(), rel=0.01)
    assert drawn.std() == pytest.approx(inverted.draws.std(), rel=0.03)


def test_more_content_means_a_longer_interval() -> None:
    sample = ck.fakes.LogitDistortion(slope=0.6).sample(500, 1)
    data = (sample.y_true, sample.y_prob)
    ends = [ck.bootstrap_interval(ECE, *data, level=level, rng=0) for level in (0.5, 0.8, 0.95)]
    lows, highs = [one.low for one in ends], [one.high for one in ends]
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)
    assert len(set(lows)) == len(set(highs)) == 3


def test_every_view(subtests: pytest.Subtests) -> None:
    for view in ("top-label", "class-wise", 1):
        with subtests.test(view):
            found = ck.bootstrap_interval(ECE, *class_data(500), view=view, bins=8, rng=0)
            assert found.method == "inverted"
            assert found.low <= found.value <= found.high


# --- extremes ------------------------------------------------------------------------------------


def test_a_gap_of_exactly_0_has_an_upper_end() -> None:
    found = ck.bootstrap_interval(ECE, *constant(400, 200, 0.5), bins=1, rng=0)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(0.053, abs=0.01)


@pytest.mark.parametrize(
    ("labels", "prob", "ends"),
    [
        ([0, 1, 1, 0], [0.0, 1.0, 1.0, 0.0], (0, 0)),  # certain, and always right
        ([0, 1, 1, 0], [1.0, 0.0, 0.0, 1.0], (1, 1)),  # certain, and always wrong
        ([0, 1, 1, 0], [0.5] * 4, (0, 0.5)),  # no frequency is farther from a half
    ],
)
def test_no_end_lies_beyond_what_is_possible(
    labels: list[int], prob: list[float], ends: tuple[float, float]
) -> None:
    found = ck.bootstrap_interval(ECE, labels, prob, bins=2, rng=0)
    assert (found.low, found.high) == ends


def test_a_calibrated_model_in_luck_gets_no_narrow_interval() -> None:
    """Frequencies as close to the predictions as can be: less error than chance would show."""
    prob = np.repeat(np.arange(0.05, 1, 0.1), 100)
    labels = np.concatenate([np.arange(100) < round(100 * p) for p in np.arange(0.05, 1, 0.1)])
    found = ck.bootstrap_interval(ECE, labels, prob, bins=10, rng=0)
    null = ck.null_level(ECE, labels, prob, bins=10, rng=0)
    assert found.value < 1e-12 < null.low
    assert found.low == 0
    assert found.high > 0.5 * null.median


# --- which method --------------------------------------------------------------------------------


def test_other_measures_get_the_reflected_form(subtests: pytest.Subtests) -> None:
    data = binary_data(200)
    for measure in (ck.brier_score, lambda y, p: 0.25 + 0 * p[0]):
        with subtests.test(measure=measure):
            found = ck.bootstrap_interval(measure, *data, n_resamples=20, rng=0)
            assert found.method == "reflected"
    labelled = ck.bootstrap_interval(ECE, *data, bins=ck.Pava(), n_resamples=20, rng=0)
    assert labelled.method == "reflected"


def test_too_many_bins_for_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_inversion, "LARGEST", 100)
    found = ck.bootstrap_interval(ECE, *binary_data(50), n_resamples=20, rng=0)
    assert found.method == "reflected"
    with pytest.raises(ValueError, match="resampled bins"):
        ck.bootstrap_interval(ECE, *binary_data(50), n_resamples=20, rng=0, method="inverted")


@pytest.mark.parametrize("norm", [1, 2])
def test_a_debiased_error_gets_the_interval_of_its_bins(norm: int) -> None:
    data, options = binary_data(400), {"bins": 6, "norm": norm, "n_resamples": 200, "rng": 2}
    plain = ck.bootstrap_interval(ck.calibration_error, *data, **options)
    debiased = ck.bootstrap_interval(ck.debiased_calibration_error, *data, **options)
    assert debiased.method == plain.method == "inverted"
    assert (debiased.low, debiased.high) == pytest.approx((plain.low, plain.high), abs=1e-12)
    assert debiased.value == float(ck.debiased_calibration_error(*data, bins=6, norm=norm))
    assert "debiased" in debiased.name


def test_sums_give_the_errors_of_the_resamples() -> None:
    labels, prob = class_data(200)
    error = ck.class_wise_calibration_error(labels, prob, bins=4)
    kept = redraws.redraws_of(error, labels, prob)
    assert kept is not None
    drawn = kept.resampled_errors(30, np.random.default_rng(5))
    rows = np.random.default_rng(5).integers(0, 200, size=(30, 200))
    wanted = [float(ck.class_wise_calibration_error(labels[i], prob[i], bins=4)) for i in rows]
    np.testing.assert_allclose(drawn, wanted, rtol=0, atol=1e-12)
