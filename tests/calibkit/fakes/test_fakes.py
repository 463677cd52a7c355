"""The binary fake classifier with a straight line between logits: exact truth, honest samples.

The other fake classifiers have test modules of their own.
"""

from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from calibkit.fakes import LogitDistortion
from tests.helpers import each_case

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
    @each_case("dials", DIALS)
    def test_the_formula(self, dials: dict[str, Any]) -> None:
        fake, prob = LogitDistortion(**dials), np.linspace(0.001, 0.999, 99)
        expected = expit(fake.slope * logit(prob) + fake.shift)
        assert fake.true_map(prob) == pytest.approx(expected, abs=1e-14)

    @each_case("dials", DIALS)
    def test_it_stays_a_probability_at_the_ends(self, dials: dict[str, Any]) -> None:
        fake = LogitDistortion(**dials)
        ends = fake.true_map([0.0, 1.0])
        assert ends.tolist() == ([0, 1] if fake.slope else [expit(fake.shift)] * 2)

    def test_calibrated_means_equal_to_the_last_digit(self) -> None:
        prob = np.random.default_rng(0).random(1000)
        true = LogitDistortion().true_map(prob)
        assert np.array_equal(true, prob) and not np.shares_memory(true, prob)


class TestTrueError:
    @pytest.mark.slow
    @pytest.mark.parametrize("dials", DIALS, ids=str)
    @pytest.mark.parametrize("norm", [1, 2, 3.5])
    def test_against_monte_carlo(self, dials: dict[str, Any], norm: float) -> None:
        """Four standard errors of 200 000 predictions."""
        fake = LogitDistortion(**dials)
        sample = fake.sample(200_000, rng=1)
        powers = np.abs(sample.y_prob - sample.true_prob) ** norm
        allowed = 4 * powers.std() / sqrt(len(powers)) + 1e-12
        assert fake.true_error(norm) ** norm == pytest.approx(powers.mean(), abs=allowed)

    def test_closed_forms(self) -> None:
        """Constant truth 1/2; a shift of uniform predictions, by an integral on paper."""
        flat = LogitDistortion(slope=0)
        assert flat.true_error() == pytest.approx(1 / 4, abs=1e-9)
        assert flat.true_error(2) == pytest.approx(sqrt(1 / 12), abs=1e-9)
        a = exp(0.7)
        mean = a * ((a - 1) - log(a)) / (a - 1) ** 2
        assert LogitDistortion(shift=0.7).true_error() == pytest.approx(mean - 0.5, abs=1e-9)


class TestSamples:
    def test_predictions_follow_the_beta_distribution(self) -> None:
        sample = LogitDistortion(scores=(2, 5)).sample(5000, rng=0)
        assert stats.kstest(sample.y_prob, stats.beta(2, 5).cdf).pvalue > 1e-3

    @pytest.mark.parametrize("dials", DIALS, ids=str)
    def test_labels_follow_the_true_probabilities(self, dials: dict[str, Any], subtests) -> None:
        """In each tenth of the predictions, four standard errors."""
        sample = LogitDistortion(**dials).sample(40_000, rng=2)
        order = np.argsort(sample.y_prob)
        for tenth, rows in enumerate(np.array_split(order, 10)):
            true = sample.true_prob[rows]
            allowed = 4 * sqrt((true * (1 - true)).sum()) + 1e-9
            with subtests.test(tenth=tenth):
                assert abs(sample.y_true[rows].sum() - true.sum()) <= allowed

    def test_dials_change_labels_but_not_predictions(self) -> None:
        """The same seed asks both forecasters about the same days."""
        one, two = LogitDistortion().sample(500, 3), LogitDistortion(slope=0.2).sample(500, 3)
        assert np.array_equal(one.y_prob, two.y_prob)
        assert not np.array_equal(one.y_true, two.y_true)

    def test_labels_for_given_predictions(self) -> None:
        prob = np.array([0.0, 0.2, 0.8, 1.0])
        sample = LogitDistortion(slope=0.5).label(prob, rng=0)
        assert np.array_equal(sample.y_prob, prob)
        assert (sample.y_true[0], sample.y_true[-1]) == (0, 1)
        prob[0] = 0.9  # the sample keeps its own copy
        assert sample.y_prob[0] == 0
        share = np.mean([LogitDistortion(0.5).label(prob[1:3], s).y_true for s in range(900)], 0)
        assert share == pytest.approx(LogitDistortion(0.5).true_map(prob[1:3]), abs=4 * 0.5 / 30)


BAD: list[tuple[dict[str, Any], str]] = [
    *(({"slope": bad}, "slope must be a finite number of") for bad in (-0.1, np.nan, "1", True)),
    *(({"shift": bad}, "shift must be finite, got") for bad in (np.nan, -np.inf, "0", None)),
    *(
        ({"scores": bad}, r"scores(\[\d\])? must be (two|a) positive")
        for bad in ((0, 1), (1, 2, 3), 1.0, "ab", (1, np.inf), None)
    ),
]
REFUSED = {"y_prob\\[1\\] = nan": [0.2, np.nan], "one-dimensional": [[0.5, 0.5]], "empty": []}


def test_bad_dials_norms_and_predictions_are_refused(subtests: pytest.Subtests) -> None:
    for dials, words in BAD:
        with subtests.test(str(dials)), pytest.raises(ValueError, match=words):
            LogitDistortion(**dials)
    for norm in (0.5, np.inf, "2"):
        with subtests.test(norm=norm), pytest.raises(ValueError, match="norm must be a finite"):
            LogitDistortion(slope=0.5).true_error(norm)  # type: ignore[arg-type]
    for words, prob in REFUSED.items():
        with subtests.test(words), pytest.raises(ValueError, match=words):
            LogitDistortion().label(prob)
