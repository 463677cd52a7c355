"""The bin tuner: its arithmetic against the package, its view, its redraws, what artists hold."""

from itertools import product

import numpy as np
import pytest

import calibkit as ck
from calibkit.calibrators import CrossValidatedBinning, SweepBinning
from calibkit.fakes import SyntheticShape
from calibkit_course import lesson06
from calibkit_course.lesson06 import Replicates
from calibkit_course.lesson06.draws import OutcomeDraws
from calibkit_course.lesson06.view import _folds


def draws_of(n: int, shape: str = "stairs", n_replicates: int = 12, seed: int = 0) -> OutcomeDraws:
    """Draw outcomes for random predictions, so that bins do not fall on a regular grid."""
    rng = np.random.default_rng(seed)
    true_prob = np.sort(rng.random(n))
    prob = SyntheticShape.with_error(shape, 0.05).predict(true_prob)
    return OutcomeDraws.draw(prob, true_prob, n_replicates, rng)


def columns(draws: OutcomeDraws):
    return [draws.events[:, r].astype(int) for r in range(draws.events.shape[1])]


def fitted(calibrator, draws: OutcomeDraws):
    """Fit to each replicate; return numbers of bins, and errors of the fitted maps."""
    numbers, errors = [], []
    for label in columns(draws):
        one = calibrator.fit(draws.prob, label)
        numbers.append(one.n_bins_)
        errors.append(np.abs(one.curve(draws.prob) - draws.prob).mean())
    return numbers, errors


class TestOutcomeDraws:
    @pytest.mark.parametrize(("n", "n_bins"), [(60, 1), (60, 30), (97, 10), (400, 15)])
    def test_both_errors_are_those_of_the_package(self, n, n_bins):
        draws, bins = draws_of(n), ck.EqualMass(n_bins)
        plain, debiased = (
            [error(label, draws.prob, bins=bins, norm=1).value for label in columns(draws)]
            for error in (ck.calibration_error, ck.debiased_calibration_error)
        )
        np.testing.assert_allclose(draws.plain(n_bins), plain, rtol=0, atol=1e-12)
        np.testing.assert_allclose(draws.debiased(n_bins), debiased, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("n", [60, 211, 1000])
    def test_cross_validation_chooses_like_the_package(self, n):
        draws = draws_of(n)
        numbers, errors = fitted(CrossValidatedBinning(max_bins=40), draws)
        chosen = draws.cross_validated(range(1, 41), _folds(n), 0.001)
        assert chosen.tolist() == numbers
        np.testing.assert_allclose(draws.at(chosen), errors, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("n", [60, 211, 1000])
    def test_the_sweep_stops_like_that_of_the_package(self, n):
        draws = draws_of(n)
        numbers, errors = fitted(SweepBinning(), draws)
        assert draws.sweep().tolist() == numbers
        np.testing.assert_allclose(draws.at(draws.sweep()), errors, rtol=0, atol=1e-12)

    def test_unsorted_or_tied_predictions_are_refused(self):
        for prob in ([0.2, 0.1], [0.1, 0.1]):
            with pytest.raises(ValueError, match="increase strictly"):
                OutcomeDraws.from_events(np.array(prob), np.zeros((2, 3), dtype=bool))


def test_error_is_bias_and_spread():
    three = Replicates(name="toy", values=np.array([0.1, 0.2, 0.6]), truth=0.2)
    assert three.mean == pytest.approx(0.3)
    assert three.mean_squared_error == pytest.approx(three.bias**2 + three.sd**2)
    assert "mean 0.3000" in three.describe() and "bias is +0.1000" in three.describe()


@pytest.mark.parametrize("bad", [[], [[0.1]], [0.1, np.nan], [np.inf]])
def test_bad_values_are_named(bad):
    with pytest.raises(ValueError, match="values"):
        Replicates(name="toy", values=np.array(bad), truth=0.0)


class TestBinTunerView:
    @pytest.mark.parametrize("shape", ["stairs", "square"])
    @pytest.mark.parametrize("error", [0.0, 0.05])
    def test_the_truth_is_the_true_error(self, shape, error):
        view = lesson06.bin_tuner_view(shape=shape, error=error, n=2000)
        assert view.truth == pytest.approx(error, abs=1e-5)
        assert view.replicates.truth == view.truth

    def test_endless_data_give_a_lower_bound_that_splits_raise(self):
        view = lesson06.bin_tuner_view(n=250)
        limit = dict(zip(view.grid.tolist(), view.limit.tolist(), strict=True))
        assert max(limit.values()) <= 0.05 + 1e-9
        for few, many in product(limit, limit):
            if many % few == 0:  # each bin is split
                assert limit[many] >= limit[few] - 1e-12, (few, many)
        assert limit[4] < limit[3] - 0.01  # four bins do not split three

    def test_wide_bins_hide_error_and_narrow_bins_add_chance(self):
        view = lesson06.bin_tuner_view(n=1000)
        assert max(view.limit[:2]) < 0.4 * view.truth < 0.98 * view.truth < min(view.limit[-5:])
        chance = view.plain_mean - view.limit
        assert min(chance) > 0 and chance[-1] > 10 * chance[0]

    def test_plain_means_grow_with_the_bins_and_fall_with_the_predictions(self):
        views = [lesson06.bin_tuner_view(n=n, error=0.0) for n in (250, 1000, 5000)]
        for view in views:
            assert (np.diff(view.plain_mean) > 0).all()
        assert (np.diff([view.plain_mean for view in views], axis=0) < 0).all()
