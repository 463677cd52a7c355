"""The binary fake classifier with a straight line between logits: exact truth, honest samples.

The other fake classifiers have test modules of their own.
"""

from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit

import calibkit as ck
from calibkit.fakes import LogitDistortion
from tests.helpers import assert_same

DIALS = [
    {},
    {"slope": 0.5},
    {"slope": 2},
    {"slope": 50},
    {"slope": 0},
    {"slope": 0, "shift": 1.0},
    {"slope": 1, "shift": -0.7},
    {"slope": 0.5, "shift": -1, "scores": (2, 5)},
    {"slope": 3, "scores": (200, 2)},
    {"slope": 0.5, "scores": (0.05, 0.05)},
]


class TestTrueMap:
    @pytest.mark.parametrize("dials", DIALS, ids=str)
    def test_the_formula(self, dials: dict[str, Any]) -> None:
        fake, prob = LogitDistortion(**dials), np.linspace(0.001, 0.999, 99)
        expected = expit(fake.slope * logit(prob) + fake.shift)
        assert fake.true_map(prob) == pytest.approx(expected, abs=1e-14)

    @pytest.mark.parametrize("dials", DIALS, ids=str)
    def test_it_stays_a_probability_at_the_ends(self, dials: dict[str, Any]) -> None:
        fake = LogitDistortion(**dials)
        ends = fake.true_map([0.0, 1.0])
        assert ends.tolist() == ([0, 1] if fake.slope else [expit(fake.shift)] * 2)

    @pytest.mark.slow
    @given(st.floats(0, 5), st.floats(-3, 3), st.lists(st.floats(0, 1), min_size=2))
    @settings(max_examples=100)
    def test_it_never_decreases(self, slope: float, shift: float, prob: list[float]) -> None:
        true = LogitDistortion(slope=slope, shift=shift).true_map(sorted(prob))
        assert (np.diff(true) >= -1e-15).all()
        assert ((true >= 0) & (true <= 1)).all()

    def test_calibrated_means_equal_to_the_last_digit(self) -> None:
        prob = np.random.default_rng(0).random(1000)
        true = LogitDistortion().true_map(prob)
        assert np.array_equal(true, prob)
        assert not np.shares_memory(true, prob)

    def test_over_and_under(self) -> None:
        """Slope below 1: the truth is less extreme than the prediction."""
        prob = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
        over = np.abs(LogitDistortion(slope=0.5).true_map(prob) - 0.5)
        under = np.abs(LogitDistortion(slope=2).true_map(prob) - 0.5)
        said = np.abs(prob - 0.5)
        outer = said > 0
        assert (over[outer] < said[outer]).all()
        assert (under[outer] > said[outer]).all()
        assert LogitDistortion(slope=0.5).true_map(0.9) == pytest.approx(0.75)


class TestTrueError:
    @pytest.mark.parametrize("dials", DIALS, ids=str)
    @pytest.mark.parametrize("norm", [1, 2, 3.5])
    def test_against_monte_carlo(self, dials: dict[str, Any], norm: float) -> None:
        """Four standard errors of 200 000 predictions."""
        fake = LogitDistortion(**dials)
        sample = fake.sample(200_000, rng=1)
        powers = np.abs(sample.y_prob - sample.true_prob) ** norm
        allowed = 4 * powers.std() / sqrt(len(powers)) + 1e-12
        assert fake.true_error(norm) ** norm == pytest.approx(powers.mean(), abs=allowed)

    def test_calibrated_is_zero(self) -> None:
        for norm in (1, 2, 10):
            assert LogitDistortion(scores=(2, 3)).true_error(norm) == 0

    def test_closed_forms(self) -> None:
        """Constant truth 1/2; a shift of uniform predictions, by an integral on paper."""
        flat = LogitDistortion(slope=0)
        assert flat.true_error() == pytest.approx(1 / 4, abs=1e-9)
        assert flat.true_error(2) == pytest.approx(sqrt(1 / 12), abs=1e-9)
        a = exp(0.7)
        mean = a * ((a - 1) - log(a)) / (a - 1) ** 2
        assert LogitDistortion(shift=0.7).true_error() == pytest.approx(mean - 0.5, abs=1e-9)

    def test_slope_one_half_and_two_mirror_each_other(self) -> None:
        half, twice = LogitDistortion(slope=0.5), LogitDistortion(slope=2)
        assert half.true_error() == pytest.approx(twice.true_error(), abs=1e-9)
        assert half.true_error() == pytest.approx(0.0965735903, abs=1e-9)

    def test_both_signs_of_the_shift_are_alike_for_symmetric_scores(self) -> None:
        low, high = (LogitDistortion(0.8, shift, (2, 2)).true_error() for shift in (-1, 1))
        assert low == pytest.approx(high, abs=1e-9)

    def test_norms_rise(self) -> None:
        fake = LogitDistortion(slope=0.3, shift=0.4, scores=(2, 3))
        values = [fake.true_error(norm) for norm in (1, 1.5, 2, 4, 8)]
        assert values == sorted(values)

    def test_measured_errors_approach_it(self) -> None:
        """Many predictions, fine bins: the expected error finds the truth to a few per cent."""
        fake = LogitDistortion(slope=0.5)
        sample = fake.sample(400_000, rng=0)
        found = ck.expected_calibration_error(sample.y_true, sample.y_prob, bins=50)
        assert float(found) == pytest.approx(fake.true_error(), rel=0.03)


class TestSamples:
    @pytest.mark.parametrize("dials", DIALS, ids=str)
    def test_what_is_in_a_sample(self, dials: dict[str, Any]) -> None:
        fake = LogitDistortion(**dials)
        sample = fake.sample(500, rng=0)
        assert sample.n == len(sample.y_true) == len(sample.y_prob) == len(sample.true_prob) == 500
        assert set(np.unique(sample.y_true)) <= {0, 1}
        assert sample.y_true.dtype == np.int64
        assert np.array_equal(sample.true_prob, fake.true_map(sample.y_prob))

    def test_predictions_follow_the_beta_distribution(self) -> None:
        sample = LogitDistortion(scores=(2, 5)).sample(5000, rng=0)
        assert stats.kstest(sample.y_prob, stats.beta(2, 5).cdf).pvalue > 1e-3

    @pytest.mark.parametrize("dials", DIALS, ids=str)
    def test_labels_follow_the_true_probabilities(self, dials: dict[str, Any]) -> None:
        """In each tenth of the predictions, four standard errors."""
        sample = LogitDistortion(**dials).sample(40_000, rng=2)
        order = np.argsort(sample.y_prob)
        for rows in np.array_split(order, 10):
            true = sample.true_prob[rows]
            allowed = 4 * sqrt((true * (1 - true)).sum()) + 1e-9
            assert abs(sample.y_true[rows].sum() - true.sum()) <= allowed

    def test_the_same_seed_gives_the_same_sample(self) -> None:
        fake = LogitDistortion(slope=0.5)
        assert_same(fake.sample(50, 3), fake.sample(50, np.random.default_rng(3)), tolerance=0)
        assert not np.array_equal(fake.sample(50, 3).y_prob, fake.sample(50, 4).y_prob)

    def test_a_generator_moves_on(self) -> None:
        generator = np.random.default_rng(3)
        one, two = (LogitDistortion().sample(50, generator) for _ in range(2))
        assert not np.array_equal(one.y_prob, two.y_prob)

    def test_dials_change_labels_but_not_predictions(self) -> None:
        """The same seed asks both forecasters about the same days."""
        one, two = LogitDistortion().sample(500, 3), LogitDistortion(slope=0.2).sample(500, 3)
        assert np.array_equal(one.y_prob, two.y_prob)
        assert not np.array_equal(one.y_true, two.y_true)

    def test_samples_are_read_only(self) -> None:
        sample = LogitDistortion().sample(5, 0)
        for array in (sample.y_true, sample.y_prob, sample.true_prob):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    def test_labels_for_given_predictions(self) -> None:
        prob = np.array([0.0, 0.2, 0.8, 1.0])
        sample = LogitDistortion(slope=0.5).label(prob, rng=0)
        assert np.array_equal(sample.y_prob, prob)
        assert (sample.y_true[0], sample.y_true[-1]) == (0, 1)
        prob[0] = 0.9  # the sample keeps its own copy
        assert sample.y_prob[0] == 0
        share = np.mean(
            [LogitDistortion(0.5).label(prob[1:3], seed).y_true for seed in range(900)], 0
        )
        assert share == pytest.approx(LogitDistortion(0.5).true_map(prob[1:3]), abs=4 * 0.5 / 30)


class TestBadDials:
    @pytest.mark.parametrize("slope", [-0.1, np.nan, np.inf, "1", None, True])
    def test_slopes(self, slope: Any) -> None:
        with pytest.raises(ValueError, match="slope must be a finite number of at least 0, got"):
            LogitDistortion(slope=slope)

    @pytest.mark.parametrize("shift", [np.nan, np.inf, -np.inf, "0", None])
    def test_shifts(self, shift: Any) -> None:
        with pytest.raises(ValueError, match="shift must be finite, got"):
            LogitDistortion(shift=shift)

    @pytest.mark.parametrize(
        "scores", [(0, 1), (1, -1), (1,), (1, 2, 3), 1.0, "ab", (1, np.inf), (np.nan, 1), None]
    )
    def test_scores(self, scores: Any) -> None:
        with pytest.raises(ValueError, match=r"scores(\[\d\])? must be (two|a) positive"):
            LogitDistortion(scores=scores)

    @pytest.mark.parametrize("norm", [0.5, np.inf, np.nan, "2", None])
    def test_norms(self, norm: Any) -> None:
        with pytest.raises(ValueError, match="norm must be a finite number from 1 on, got"):
            LogitDistortion(slope=0.5).true_error(norm)

    @pytest.mark.parametrize("n", [0, -1, 2.5, "ten", True])
    def test_sizes(self, n: Any) -> None:
        with pytest.raises(ValueError, match="n must be a whole number of at least 1, got"):
            LogitDistortion().sample(n)

    @pytest.mark.parametrize(
        ("prob", "words"),
        [
            ([0.2, 1.2], r"y_prob\[1\] = 1.2"),
            ([0.2, np.nan], r"y_prob\[1\] = nan"),
            ([[0.5, 0.5]], "one-dimensional"),
            ([], "empty"),
        ],
    )
    def test_predictions_to_label(self, prob: Any, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            LogitDistortion().label(prob)

    def test_a_bad_seed(self) -> None:
        with pytest.raises(ValueError, match="rng must be a non-negative int"):
            LogitDistortion().sample(5, "seed")


@pytest.mark.parametrize(
    ("dials", "words"),
    [
        ({}, "calibrated: predictions are the true probabilities"),
        ({"slope": 0.5}, "over-confident (slope 0.5 between logits)"),
        ({"slope": 2}, "under-confident (slope 2 between logits)"),
        ({"shift": 0.4}, "predictions too low (shift 0.4 between logits)"),
        (
            {"slope": 0.5, "shift": -1},
            "over-confident (slope 0.5 between logits), predictions too high (shift -1 between "
            "logits)",
        ),
    ],
)
def test_words(dials: dict[str, Any], words: str) -> None:
    assert LogitDistortion(**dials).describe() == words


def test_fakes_are_values() -> None:
    assert LogitDistortion(0.5, scores=[2, 3]) == LogitDistortion(0.5, scores=(2, 3))
    assert len({LogitDistortion(0.5), LogitDistortion(0.5), LogitDistortion(0.6)}) == 2
