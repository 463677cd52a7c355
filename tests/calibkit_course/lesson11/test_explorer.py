"""The calibrator race: its arithmetic against the package, its view, its words and its shells."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import integrate

from calibkit import log_loss
from calibkit.calibrators import IsotonicCalibrator, PlattCalibrator
from calibkit_course import lesson11
from calibkit_course.lesson11.explorer import _SCALES
from calibkit_course.lesson11.race import (
    MEASURES,
    METHODS,
    RUNS,
    SIZES,
    grid_of,
    measured,
    rows_of,
    runs_of,
)
from calibkit_course.lesson11.view import GROUPS, MEASURE_TEXTS

PLAIN = ["0.003", "0.01", "0.03", "0.1", "0.3"]


class TestMeasured:
    def test_the_truth_has_no_distance(self):
        truth = np.array([0.2, 0.5, 0.9])
        assert measured(truth, truth) == pytest.approx((0, 0, 0), abs=1e-15)

    def test_certain_outputs_lose_infinitely(self):
        assert measured(np.array([0.0, 0.5]), np.array([0.1, 0.5]))[2] == np.inf
        assert measured(np.array([1.0, 0.5]), np.array([0.1, 0.5]))[2] == np.inf

    def test_ties_cancel_in_the_error_left_alone(self):
        """One output for rows with truths .1 and .5: their mean is .3, as said."""
        distance, left, _ = measured(np.array([0.3, 0.3, 0.8]), np.array([0.1, 0.5, 0.8]))
        assert distance == pytest.approx(0.4 / 3) and left == pytest.approx(0)

    def test_the_order_of_rows_does_not_matter(self):
        rng = np.random.default_rng(0)
        fitted, truth = rng.choice([0.2, 0.4, 0.7], 50), rng.random(50)
        order = rng.permutation(50)
        one, other = measured(fitted, truth), measured(fitted[order], truth[order])
        assert one == pytest.approx(other, abs=1e-14)

    def test_the_loss_is_the_expected_log_loss_beyond_the_truth(self):
        """By sampling labels: the difference of two log losses of the package."""
        rng = np.random.default_rng(1)
        truth = rng.uniform(0.1, 0.9, 200_000)
        fitted = np.clip(truth + 0.1, 0, 0.95)
        label = (rng.random(200_000) < truth).astype(int)
        wanted = log_loss(label, fitted).value - log_loss(label, truth).value
        assert measured(fitted, truth)[2] == pytest.approx(wanted, abs=1e-3)

    @pytest.mark.parametrize("distortion", ["bent", "square"])
    def test_the_grid_is_fine_enough(self, distortion):
        """The distance of the predictions themselves, against an integral."""
        exact, _ = integrate.quad(
            lambda u: float(abs(np.subtract(*rows_of(distortion, np.array([u])))[0])),
            0,
            1,
            limit=200,
        )
        assert measured(*grid_of(distortion))[0] == pytest.approx(exact, abs=1e-5)


class TestRuns:
    def test_the_calibration_sets_are_those_that_are_said(self, subtests):
        """The first run of the first size, again and by hand."""
        rng = np.random.default_rng(11)
        said, chance = rows_of("bent", rng.random(100))
        label = (rng.random(100) < chance).astype(int)
        prob, truth = grid_of("bent")
        for name, maker in (("Platt", PlattCalibrator()), ("isotonic", IsotonicCalibrator())):
            with subtests.test(name):
                wanted = maker.fit(said, label).calibrate(prob)
                found = runs_of("bent", name, 15)
                np.testing.assert_array_equal(found.maps[0], wanted)
                assert tuple(found.values[:, 0, 0]) == measured(wanted, truth)

    def test_isotonic_knows_the_order_only(self):
        """Equal labels of equal ranks: the same blocks whatever the distortion of predictions."""
        bent, square = (runs_of(name, "isotonic", 15).values for name in ("bent", "square"))
        np.testing.assert_allclose(bent[0], square[0], atol=0.02)

    @pytest.mark.slow
    def test_bins_matter_where_there_are_bins(self):
        assert runs_of("line", "Platt", 5) is runs_of("line", "Platt", 50)
        few, many = (runs_of("line", "histogram", b).maps[0] for b in (2, 15))
        assert len(np.unique(few)) == 2 < len(np.unique(many))

    def test_a_calibrated_model_can_only_lose(self):
        prob, truth = grid_of("none")
        assert measured(prob, truth)[0] == 0
        assert (runs_of("none", "Platt", 15).values[0] > 0).all()


class TestView:
    @pytest.mark.slow
    @pytest.mark.parametrize("measure", MEASURES)
    def test_quantiles_are_those_of_the_runs(self, measure):
        found = lesson11.calibrator_race_view(methods="free", measure=measure, n=500)
        values = runs_of("bent", "Venn-Abers", 15).values[MEASURES.index(measure)]
        assert values.shape == (len(SIZES), RUNS)
        assert all(found.middle[1, s] in values[s] for s in range(len(SIZES)))
        below = (values <= found.middle[1][:, None]).sum(axis=1)
        assert (below >= RUNS / 2).all()
        assert (found.low <= found.middle).all() and (found.middle <= found.high).all()

    def test_infinite_losses_stay_infinite(self):
        found = lesson11.calibrator_race_view(methods="free", measure="loss")
        assert np.isinf(found.middle[0]).all() and np.isfinite(found.middle[1]).all()
        assert "isotonic infinite" in found.describe()

    def test_it_says_who_is_ahead(self):
        found = lesson11.calibrator_race_view(n=10_000)
        assert "distance from the true map" in found.describe()
        assert "10,000 rows, is: isotonic 0.0167, Platt 0.0398" in found.describe()
        assert found.describe().endswith("Without repair it is 0.0399.")
        assert list(found.to_frame()) == ["method", "rows", "low", "median", "high"]

    @pytest.mark.slow
    def test_what_the_lesson_says_to_look_for(self, subtests):
        line = lesson11.calibrator_race_view(distortion="line", methods="all")
        for size in SIZES:
            with subtests.test(size=size):
                others = [line.at(name, size) for name in METHODS if name != "Platt"]
                assert line.at("Platt", size) < min(others)
        loss = lesson11.calibrator_race_view(methods="all", measure="loss", n=100)
        assert sum(np.isinf(loss.at(name)) for name in METHODS) == 2
        near, left = (
            lesson11.calibrator_race_view(methods="binned", measure=m, distortion="line")
            for m in ("map", "left")
        )
        for name in GROUPS["binned"]:
            with subtests.test(name):
                assert left.at(name, 10_000) < 0.7 * near.at(name, 10_000)


class TestExplorer:
    @pytest.mark.parametrize(
        ("measure", "wanted"),
        [("map", PLAIN), ("loss", ["0.00003", "0.0001", "0.0003", "0.001", *PLAIN])],
    )
    def test_the_logarithmic_scale_has_plain_numbers(self, measure, wanted):
        race = lesson11.calibrator_race()
        figure = plt.figure(layout="constrained")
        race.draw(race.view(measure=measure), figure, False)
        axis = figure.axes[0].yaxis
        low, high = _SCALES[MEASURE_TEXTS[measure]]
        ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        shown = [text.get_text() for at, text in ticks if 0.999 * low <= at <= 1.001 * high]
        assert shown == wanted
