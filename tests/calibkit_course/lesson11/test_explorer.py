"""The calibrator race, bins that numbers choose, ends of Venn-Abers, VGG16's look-alike."""

import numpy as np
import pytest
from scipy import integrate

import calibkit as ck
from calibkit import log_loss
from calibkit.bins import EqualMass
from calibkit.calibrators import HistogramBinning, IsotonicCalibrator, PlattCalibrator
from calibkit_course import data, lesson11
from calibkit_course.lesson11 import number, race, vgg16_lookalike


class TestMeasured:
    def test_the_truth_has_no_distance(self):
        truth = np.array([0.2, 0.5, 0.9])
        assert race.measured(truth, truth) == pytest.approx((0, 0, 0), abs=1e-15)

    def test_certain_outputs_lose_infinitely(self):
        assert race.measured(np.array([0.0, 0.5]), np.array([0.1, 0.5]))[2] == np.inf
        assert race.measured(np.array([1.0, 0.5]), np.array([0.1, 0.5]))[2] == np.inf

    def test_ties_cancel_in_the_error_left_alone(self):
        """One output for rows with truths .1 and .5: their mean is .3, as said."""
        distance, left, _ = race.measured(np.array([0.3, 0.3, 0.8]), np.array([0.1, 0.5, 0.8]))
        assert distance == pytest.approx(0.4 / 3) and left == pytest.approx(0)

    def test_the_loss_is_the_expected_log_loss_beyond_the_truth(self):
        """By sampling labels: the difference of two log losses of the package."""
        rng = np.random.default_rng(1)
        truth = rng.uniform(0.1, 0.9, 200_000)
        fitted = np.clip(truth + 0.1, 0, 0.95)
        label = (rng.random(200_000) < truth).astype(int)
        wanted = log_loss(label, fitted).value - log_loss(label, truth).value
        assert race.measured(fitted, truth)[2] == pytest.approx(wanted, abs=1e-3)

    @pytest.mark.parametrize("distortion", ["bent", "square"])
    def test_the_grid_is_fine_enough(self, distortion):
        """The distance of the predictions themselves, against an integral."""
        exact, _ = integrate.quad(
            lambda u: abs(np.subtract(*race.rows_of(distortion, np.array([u])))[0]), 0, 1, limit=200
        )
        assert race.measured(*race.grid_of(distortion))[0] == pytest.approx(exact, abs=1e-5)


class TestRace:
    def test_the_calibration_sets_are_those_that_are_said(self):
        """The first run of the first size, again and by hand."""
        rng = np.random.default_rng(11)
        said, chance = race.rows_of("bent", rng.random(100))
        label = (rng.random(100) < chance).astype(int)
        prob, truth = race.grid_of("bent")
        for name, maker in (("Platt", PlattCalibrator()), ("isotonic", IsotonicCalibrator())):
            wanted = maker.fit(said, label).calibrate(prob)
            assert tuple(race.runs_of("bent", name, 15)[:, 0, 0]) == race.measured(wanted, truth)

    @pytest.mark.slow
    @pytest.mark.parametrize("measure", race.MEASURES)
    def test_medians_are_those_of_the_runs(self, measure):
        found = lesson11.calibrator_race(methods="all", measure=measure)
        values = race.runs_of("bent", "Venn-Abers", 15)[race.MEASURES.index(measure)]
        assert values.shape == (len(race.SIZES), race.RUNS)
        for s, size in enumerate(race.SIZES):
            middle = found.at("Venn-Abers", size)
            assert middle in values[s] and (values[s] <= middle).sum() >= race.RUNS / 2

    @pytest.mark.parametrize(
        "bad", [{"n_bins": 0}, {"n_bins": 51}, {"measure": "x"}, {"distortion": "x"}]
    )
    def test_bad_values_are_named(self, bad):
        with pytest.raises(ValueError, match="|".join(bad)):
            lesson11.calibrator_race(**bad)
        with pytest.raises(ValueError, match="no 'Platt' with 101 rows"):
            lesson11.calibrator_race().at("Platt", 101)

    @pytest.mark.long
    def test_what_the_lesson_says_of_other_races(self):
        line = lesson11.calibrator_race(distortion="line", methods="all")
        for size in race.SIZES:
            others = [line.at(name, size) for name in race.METHODS if name != "Platt"]
            assert line.at("Platt", size) < min(others)
        loss = lesson11.calibrator_race(methods="all", measure="loss")
        infinite = {name for name in race.METHODS if np.isinf(loss.at(name, 100))}
        assert {"isotonic", "histogram"} <= infinite and "Venn-Abers" not in infinite
        near, left = (
            lesson11.calibrator_race(methods="binned", measure=m, distortion="line")
            for m in ("map", "left")
        )
        for name in near.methods:
            assert left.at(name, 10_000) < 0.7 * near.at(name, 10_000)


def test_numbers_of_bins_are_measured_as_the_package_does():
    """The first draw of five bins, by hand; and what each number chooses."""
    view = lesson11.which_number_view(n_bins=5)
    old = number.BOLD.sample(number.FITTED, 0)
    wanted = HistogramBinning(EqualMass(5)).fit(old.y_prob, old.y_true).calibrate(number.GRID)
    np.testing.assert_array_equal(view.fitted, wanted)
    last = lesson11.which_number_view(n_bins=100)
    chosen = [last.chosen(values) for values in (last.ece, last.loss, last.far)]
    assert chosen == [1, 12, 12] and np.isinf(last.loss[-1])
    assert last.ece[3] == view.ece[-1] and "the log loss is infinite" in last.describe()


def test_the_lookalike_has_the_numbers_of_the_network() -> None:
    fake = vgg16_lookalike()
    truth = fake.truth()
    assert (fake.n_classes, fake.direction) == (10, "over")
    assert truth.accuracy == pytest.approx(0.936, abs=1e-12)
    assert truth.mean_confidence == pytest.approx(0.9756, abs=1e-12)
    assert 1 - float(fake.law.cdf(fake.true_map(14 / 15))) == pytest.approx(0.917, abs=1e-12)
    sample = fake.sample(200_000, rng=0)
    confidence = sample.y_prob.max(axis=1)
    assert abs((confidence >= 14 / 15).mean() - 0.917) < 4 * np.sqrt(0.917 * 0.083 / 200_000)
    assert np.mean(confidence == 1) < 0.001  # no heap of certain predictions
    binned = ck.expected_calibration_error(sample.y_true, sample.y_prob, view="top-label")
    assert float(binned) == pytest.approx(truth.expected, abs=0.003)


@pytest.mark.data
def test_the_numbers_are_those_of_the_network() -> None:
    if not data.available("cifar10-vgg16", original=True):
        pytest.skip("the predictions of VGG16 are not among the available data")
    real = data.load("cifar10-vgg16", original=True)
    confidence = np.asarray(real.y_prob).max(axis=1)
    hit = np.asarray(real.y_prob).argmax(axis=1) == np.asarray(real.y_true)
    assert hit.mean() == pytest.approx(0.936, abs=5e-4)
    assert confidence.mean() == pytest.approx(0.9756, abs=5e-4)
    assert (confidence >= 14 / 15).mean() == pytest.approx(0.917, abs=5e-4)
