"""Evaluators: one of them, and several of them."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibkit as ck
from calibkit.calibrators import (
    BetaCalibrator,
    CrossValidatedBinning,
    IsotonicCalibrator,
    PlattCalibrator,
    SlopeOneBinning,
    SweepBinning,
    TemperatureScaling,
)
from calibkit.fit_on_test import compare_evaluators, fit_on_test
from tests.calibkit.families import ONE_EVENT, each
from tests.helpers import binary_data, refuses_options, rows_with

# --- one evaluator ------------------------------------------------------------------------------


@each(ONE_EVENT)
def test_the_estimate_is_the_distance_of_the_map_from_the_diagonal(model):
    y, p = binary_data(300)
    before = repr(vars(model))
    result = fit_on_test(y, p, evaluator=model)
    assert repr(vars(model)) == before and result.evaluator is not model
    assert f"{result.value:.4f} from the diagonal" in result.describe()
    assert np.isnan([result.null_mean, result.null_sd, result.p_value]).all()
    assert np.array_equal(result.prob, np.sort(p))
    assert np.array_equal(result.fitted, result.evaluator.curve(result.prob))
    gap = np.abs(result.fitted - result.prob)
    assert result.value == result.error(1) == float(result) == pytest.approx(gap.mean())
    assert result.squared == result.error(2) == pytest.approx((gap**2).mean())
    assert result.error(0.5) == pytest.approx((gap**0.5).mean())
    assert (result.n, result.view) == (300, "positive class") and result.label.sum() == y.sum()
    slanted = isinstance(model, SlopeOneBinning | CrossValidatedBinning | SweepBinning)
    assert np.isfinite([result.debiased, result.debiased_squared]).tolist() == [slanted] * 2
    assert ("debiased" in result.describe()) == slanted


# --- slope one ----------------------------------------------------------------------------------


@given(rows_with(st.sampled_from(np.arange(31) / 30)))
def test_the_default_is_the_expected_calibration_error(rows):
    y, p = rows
    result = fit_on_test(y, p)
    assert result.value == pytest.approx(ck.expected_calibration_error(y, p).value, abs=1e-12)
    square = ck.root_mean_square_calibration_error(y, p).value ** 2
    assert result.squared == pytest.approx(square, abs=1e-12)
    assert (result.family, result.loss) == ("slope-1 bins", "Brier")


@pytest.mark.slow
def test_the_quick_null_level_is_that_of_refitting():
    """The bins of one evaluator are wrapped so that each redraw is fitted."""

    class Slow(SlopeOneBinning):
        pass

    y, p = binary_data()
    quick, slow = (
        fit_on_test(y, p, evaluator=kind(6), n_draws=2000, rng=0)
        for kind in (SlopeOneBinning, Slow)
    )
    error = np.hypot(quick.null_sd, slow.null_sd) / np.sqrt(2000)
    assert abs(quick.null_mean - slow.null_mean) < 4 * error
    assert quick.null_sd == pytest.approx(slow.null_sd, rel=0.1)


TWO = [0, 1], [0.25, 0.75]
NO_EVALUATORS = PlattCalibrator, "Platt", 15, len, TemperatureScaling("probabilities")
test_impossible_options = refuses_options(
    partial(fit_on_test, *TWO),
    *(({"evaluator": one}, "An evaluator is a calibrator of one") for one in NO_EVALUATORS),
    ({"n_draws": 3, "rng": -1}, "rng must be"),
    ({"view": "class-wise"}, "class-wise"),
)


@pytest.mark.parametrize("alpha", [0, -1, np.inf, np.nan, "1", True, None])
def test_impossible_powers_are_refused(alpha):
    with pytest.raises(ValueError, match="alpha must be"):
        fit_on_test(*TWO).error(alpha)


# --- several ------------------------------------------------------------------------------------

FEW = {"slope-1": SlopeOneBinning(5), "Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}


# --- comparison ---------------------------------------------------------------------------------


def test_rows_are_those_of_single_fits_in_the_given_order():
    y, p = binary_data(300)
    comparison = compare_evaluators(y, p, evaluators=FEW)
    assert comparison.names == tuple(FEW)
    for name, evaluator in FEW.items():
        alone = fit_on_test(y, p, evaluator=evaluator)
        assert comparison[name].value == alone.value
    frame = comparison.to_frame()
    assert frame["evaluator"].tolist() == list(FEW)
    assert frame["parameters"].tolist() == ["5", "2", "–"]
    assert list(frame) == ["evaluator", "parameters", "loss", "estimate", "debiased"]
    assert np.isnan(comparison.true_error) and np.isnan(comparison.map_error).all()
    assert "true error" not in comparison.describe()
    with pytest.raises(KeyError, match="'beta' was not compared; there are slope-1"):
        comparison["beta"]


@pytest.mark.parametrize("as_map", [True, False])
def test_with_the_truth_maps_are_judged(as_map):
    y, p = binary_data(300)
    p = np.round(p, 2)
    truth = p**1.3
    comparison = compare_evaluators(
        y, p, evaluators=FEW, truth=(lambda q: q**1.3) if as_map else truth
    )
    for error, name in zip(comparison.map_error, FEW, strict=True):
        wanted = np.mean(np.abs(comparison[name].evaluator.curve(p) - truth))
        assert error == pytest.approx(wanted, abs=1e-14)
    assert comparison.true_error == pytest.approx(np.mean(np.abs(p - truth)), abs=1e-14)
    assert comparison.to_frame()["map_error"].tolist() == list(comparison.map_error)
    assert "The true error is" in comparison.describe()


def test_truths_of_rows_may_differ_within_a_tie():
    y, p, truth = [0, 1, 1, 0], [0.5, 0.5, 0.2, 0.2], [0.1, 0.9, 0.3, 0.5]
    comparison = compare_evaluators(y, p, evaluators=FEW, truth=truth)
    order = [2, 0, 1, 3]
    again = compare_evaluators(
        *(np.take(part, order) for part in (y, p)), evaluators=FEW, truth=np.take(truth, order)
    )
    np.testing.assert_allclose(comparison.map_error, again.map_error, rtol=0, atol=1e-12)
    assert comparison.true_error == pytest.approx(0.3)


def test_one_more_evaluator_changes_no_other_row():
    y, p = binary_data(300)
    few = compare_evaluators(y, p, evaluators=FEW, n_draws=5, rng=3)
    more = compare_evaluators(y, p, evaluators={"beta": BetaCalibrator(), **FEW}, n_draws=5, rng=3)
    for name in FEW:
        assert few[name].null_mean == more[name].null_mean
    assert {"null_mean", "null_sd", "p_value"} <= set(few.to_frame())


test_impossible_comparisons = refuses_options(
    lambda **options: compare_evaluators(*TWO, **{"evaluators": FEW, **options}),
    ({"evaluators": {}}, "evaluators is empty"),
    ({"evaluators": {"x": 3}}, "An evaluator is"),
    ({"truth": [0.5]}, "truth has shape"),
    ({"truth": [0.5, 1.5]}, r"truth\[1\] = 1.5 is not a probability"),
    ({"truth": lambda q: q * np.nan}, r"truth\[0\] = nan"),
    ({"truth": lambda q: 0.5}, "scalar"),
    ({"rng": "x"}, "rng must be"),
)
